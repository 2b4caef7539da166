"""The questions of a mixture: a count, a start by released cells or centres, and noisy steps.

Whatever is decided on the way, such as shares and the number of steps, follows from the budget and
from noisy answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.clustering.auto import ask_auto
from privclust.clustering.result import Cells
from privclust.clustering.spread import Allowance
from privclust.clustering.summarise import ask_summary_given_count
from privclust.data.points.view import PointsView
from privclust.data.public import Noisy
from privclust.mixture.clipping import Clip
from privclust.mixture.from_cells import fit_cells
from privclust.mixture.model import CovarianceType, Gaussians
from privclust.mixture.steps import Background, Fitted, ask_step
from privclust.notes import Note

COUNT = 0.02
BACKGROUND = 0.0
# The start's share of the budget: so much over the signal of a component, within these.
_SHARE = {"pure": 240.0, "zcdp": 36.0}
_SHARES = 0.25, 0.6
# Below such a signal centres of k-means are the better start.
CENTRES_BELOW = {"pure": 180.0, "zcdp": 30.0}
# As many steps as leave the shapes visible, each with more of the budget than the one before.
_STEPS, _FEWEST_STEPS, _VISIBLE_SHAPE, _GROWTH = (5, 3), 2, 0.3, 1.5
# The widest clip that leaves shapes clear.
_WIDTHS, _CLEAR_SHAPE = (3.0, 2.0, 1.5), 0.08
# A component around a centre: its width in distances to the nearest other centre, and the least
# and the most of it in half widths of the bounds; its weight is at least this part of an equal one.
_WIDTH, _NARROWEST, _WIDEST, _LIGHTEST = 1 / 3, 0.02, 0.8, 0.2


@dataclass(frozen=True)
class MixtureResult:
    """What a run releases, in the coordinates of the unit ball."""

    fitted: Fitted
    number: Noisy
    n_steps: int
    cells: Cells | None
    notes: tuple[Note, ...] = ()


def ask_mixture(
    view: PointsView,
    budget: Share,
    n_components: int,
    kind: CovarianceType,
    reg_covar: float,
    rng: np.random.Generator,
) -> MixtureResult:
    """Fit a mixture to the rows of ``view`` within ``budget``."""
    d = view.domain.dimension
    least = max(reg_covar / d, 2.0**-25)
    purse = Allowance(budget)
    number = view.ask_count("number of rows", purse.take(COUNT))
    rows = max(1.0, float(number.value[0])) / n_components
    signal = signal_of_component(view, budget, rows)
    share = float(np.clip(_SHARE[budget.currency] / signal, *_SHARES))
    start, cells, notes = _ask_start(view, purse, share, signal, number, n_components, kind, least, rng)
    rest = purse.remaining
    clip = choose_clip(view, rest, rows, d, kind)
    background = None
    if BACKGROUND:
        low, high = view.domain.box_in_unit_ball()
        background = Background(BACKGROUND, float(np.prod(high - low)), number)
    fitted, shares = Fitted.at_start(start, background), _split_steps(view, rest, rows, clip)
    for step, part in enumerate(shares, start=1):
        fitted = ask_step(view, f"components, step {step}", part, fitted, clip, least)
    return MixtureResult(fitted, number, len(shares), cells, notes)


def signal_of_component(view: PointsView, budget: Share, rows: float) -> float:
    """Return the rows of a component over the scale of the noise of a count."""
    root = np.sqrt(2) if budget.currency == "pure" else 1.0
    return float(rows * root / view.count_error(budget))


def _ask_start(
    view: PointsView,
    purse: Allowance,
    share: float,
    signal: float,
    number: Noisy,
    k: int,
    kind: CovarianceType,
    least: float,
    rng: np.random.Generator,
) -> tuple[Gaussians, Cells | None, tuple[Note, ...]]:
    """Ask for a first mixture."""
    if signal < CENTRES_BELOW[purse.remaining.currency] and k > 1:
        found = ask_auto(view, purse.take(share), k, rng)
        return mixture_around(found.centres, found.sizes.value), None, found.notes
    summary = ask_summary_given_count(view, Allowance(purse.take(share)), number, rng)
    mixture, _ = fit_cells(summary.cells, k, kind, least, rng)
    return mixture, summary.cells, summary.notes


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
        clip = Clip(dimension, kind, width)
        if expected_shape_noise(view, share, rows, clip, _STEPS[0]) < _CLEAR_SHAPE:
            return clip
    return Clip(dimension, kind)


def expected_shape_noise(
    view: PointsView, share: Share, rows: float, clip: Clip, n_steps: int
) -> float:
    """Return the noise of a coordinate of a shape if the share is divided among so many steps."""
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
