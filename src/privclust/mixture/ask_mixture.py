"""The questions of a mixture: a count, a start by released cells or centres, and noisy steps.

Whatever is decided on the way, such as shares and the number of steps, follows from the budget and
from noisy answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.clustering.auto import ask_auto
from privclust.clustering.missing import MissingCounts
from privclust.clustering.spread import Allowance
from privclust.clustering.summarise import ask_summary
from privclust.data.points.view import PointsView
from privclust.data.public import Noisy
from privclust.mixture.cell_mixtures import fit_cells, score_numbers
from privclust.mixture.clipping import Clip
from privclust.mixture.model import CovarianceType, Gaussians
from privclust.mixture.noisy_step import Background, Fitted, ask_step
from privclust.mixture.settling import errors_of
from privclust.notes import Note

COUNT = 0.02
# If the number of components is open: how many are tried, and how many the shares are made for.
MOST_CHOSEN, ASSUMED = 16, 5
# The first guess at the share of rows that belong to no component.
_BACKGROUND = 0.02
# The start's share of the budget: so much over the signal of a component, within these. No step
# finds out of a wrong optimum that the start is in.
_SHARE = {"pure": 240.0, "zcdp": 36.0}
_SHARES = 0.33, 0.5
# Below such a signal centres of k-means are the better start, and often the better answer.
_CENTRES_BELOW = {"pure": 180.0, "zcdp": 30.0}
_DOUBTED_BELOW = {"pure": 300.0, "zcdp": 60.0}
# As many steps as leave the shapes visible, each with more of the budget than the one before.
_STEPS, _FEWEST_STEPS, _VISIBLE_SHAPE, _GROWTH = (5, 3), 2, 0.3, 1.5
# The widest clip that leaves shapes clear; a shape for each component alone cannot use the widest.
_WIDTHS, _WIDEST_FULL, _CLEAR_SHAPE = (3.0, 2.0, 1.5), 1.5, 0.08
# A component around a centre: its width in distances to the nearest other centre, and the least
# and the most of it in half widths of the bounds; its weight is at least this part of an equal one.
_WIDTH, _NARROWEST, _WIDEST, _LIGHTEST = 1 / 3, 0.02, 0.8, 0.2


_HIDDEN = Note(
    "components-hidden",
    "Noise hides some of the components, which stay where they began; ask for fewer of them, raise "
    "epsilon, or allow a delta.",
)
_FEW_ROWS = Note(
    "few-rows",
    "There are few rows for a mixture at this budget; use PrivateKMeans, which often finds such "
    "clusters better, raise epsilon, or allow a delta.",
)
_SHAPES_HIDDEN = Note(
    "shapes-hidden",
    "Noise hides the shapes of the components, which are mostly those that they began with; ask "
    "for covariance_type='diag' or 'spherical', raise epsilon, or allow a delta.",
)


@dataclass(frozen=True)
class MixtureResult:
    """What a run releases, in the coordinates of the unit ball."""

    fitted: Fitted
    number: Noisy
    n_steps: int
    weights_error: Floats
    means_error: Floats
    scores: Floats | None = None  # of each number of components from one, if it was chosen
    notes: tuple[Note, ...] = ()
    missing: MissingCounts | None = None  # how many values rules stood for, if that was asked


@dataclass(frozen=True)
class Wanted:
    """What is asked for."""

    n_components: int | None  # None to choose it from the cells of the start
    kind: CovarianceType
    reg_covar: float  # the least variance, in squares of half a declared width
    background: bool = False


def ask_mixture(
    view: PointsView, budget: Share, wanted: Wanted, rng: np.random.Generator
) -> MixtureResult:
    """Fit a mixture to the rows of ``view`` within ``budget``."""
    d = view.domain.dimension
    least = max(wanted.reg_covar / d, 2.0**-25)
    purse = Allowance(budget)
    number = view.ask_count("number of rows", purse.take(COUNT))
    n_rows = max(1.0, float(number.value[0]))
    signal = measure_signal(view, budget, n_rows / (wanted.n_components or ASSUMED))
    share = float(np.clip(_SHARE[budget.currency] / signal, *_SHARES))
    mixture, scores, notes = _ask_start(
        view, purse, _FirstAsked(number, share, signal, least), wanted, rng
    )
    rows = n_rows / mixture.n_components
    clip = choose_clip(view, purse.remaining, rows, d, wanted.kind)
    fitted = Fitted.at_start(mixture, _background(view, number) if wanted.background else None)
    shares = _split_steps(view, purse.remaining, rows, clip)
    for step, part in enumerate(shares, start=1):
        fitted = ask_step(view, f"components, step {step}", part, fitted, clip, least)
    noise = expected_shape_noise(view, shares[-1], rows, clip, 1)
    notes = (*notes, *_doubts(fitted, signal < _DOUBTED_BELOW[budget.currency], noise))
    errors = errors_of(fitted.mixture, fitted.last, clip, rng)
    return MixtureResult(fitted, number, len(shares), *errors, scores, notes)


def measure_signal(view: PointsView, budget: Share, rows: float) -> float:
    """Return the rows of a component over the scale of the noise of a count."""
    root = np.sqrt(2) if budget.currency == "pure" else 1.0
    return float(rows * root / view.count_error(budget))


def _background(view: PointsView, number: Noisy) -> Background:
    low, high = view.domain.box_in_unit_ball()
    return Background(_BACKGROUND, float(np.prod(high - low)), number)


@dataclass(frozen=True)
class _FirstAsked:
    """What decides on the start."""

    number: Noisy
    share: float
    signal: float
    least: float


def _ask_start(
    view: PointsView, purse: Allowance, start: _FirstAsked, wanted: Wanted, rng: np.random.Generator
) -> tuple[Gaussians, Floats | None, tuple[Note, ...]]:
    """Ask for a first mixture, and for how many components if that is open."""
    k, few = wanted.n_components, _CENTRES_BELOW[purse.remaining.currency]
    if start.signal < few and k is not None and k > 1:
        found = ask_auto(view, purse.take(start.share), k, rng)
        return mixture_around(found.centres, found.sizes.value), None, found.notes
    summary = ask_summary(view, purse.take(start.share), rng)
    scores = None
    if k is None:
        scores = score_numbers(summary.cells, MOST_CHOSEN, wanted.kind, start.least, rng)
        k = int(scores.argmin()) + 1
    mixture, _ = fit_cells(summary.cells, k, wanted.kind, start.least, rng)
    return mixture, scores, summary.notes


def _doubts(fitted: Fitted, few: bool, shape_noise: float) -> Iterator[Note]:
    """Yield what noise hides."""
    if not fitted.visible.all():
        yield _HIDDEN
    if few and fitted.mixture.n_components > 1:
        yield _FEW_ROWS
    if shape_noise > _VISIBLE_SHAPE:
        yield _SHAPES_HIDDEN


def mixture_around(centres: Floats, sizes: Floats) -> Gaussians:
    """Return round components around released centres."""
    k, d = centres.shape
    gaps = np.linalg.norm(centres[:, None] - centres, axis=2)
    np.fill_diagonal(gaps, np.inf)
    half = 1 / np.sqrt(d)
    widths = np.maximum(np.minimum(gaps.min(axis=1), _WIDEST * half) * _WIDTH, _NARROWEST * half)
    weights = np.maximum(sizes, _LIGHTEST * max(sizes.sum(), 1.0) / k)
    return Gaussians(weights / weights.sum(), centres, (widths**2)[:, None, None] * np.eye(d))


def choose_clip(
    view: PointsView, share: Share, rows: float, dimension: int, kind: CovarianceType
) -> Clip:
    """Return the widest clip that leaves shapes clear: rows are seldom Gaussian."""
    for width in _WIDTHS:
        clip = Clip(dimension, kind, min(width, _WIDEST_FULL) if kind == "full" else width)
        if expected_shape_noise(view, share, rows, clip, _STEPS[0]) < _CLEAR_SHAPE:
            return clip
    return Clip(dimension, kind)


def expected_shape_noise(
    view: PointsView, share: Share, rows: float, clip: Clip, n_steps: int
) -> float:
    """Return the noise of a coordinate of a shape if ``n_steps`` divide the share."""
    entries = 2 + clip.dimension + clip.n_directions
    unit = view.offset_error(share.take(round(1 / n_steps, 6)), 1.0, entries)
    return clip.shape_noise(unit, rows)


def _split_steps(view: PointsView, share: Share, rows: float, clip: Clip) -> tuple[Share, ...]:
    """Divide a share among as many steps as leave shapes visible, the later the more."""
    visible = [
        n for n in _STEPS if expected_shape_noise(view, share, rows, clip, n) < _VISIBLE_SHAPE
    ]
    n_steps = visible[0] if visible else _FEWEST_STEPS
    return share.split([round(_GROWTH**step, 6) for step in range(n_steps)])
