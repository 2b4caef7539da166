"""Cells thrown along the axes of the rows and moved twice to where these are.

This is the stage that a fit for one k and a summary share; they differ in what they pay for it and
in how many cells they want. A scout may come first: cells thrown wide, whose counts say where to
throw all of them again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.clustering import fitted
from privclust.clustering.refine import shrink_means
from privclust.clustering.spread import Axes, Spread
from privclust.clustering.weighted_kmeans import nearest_centre
from privclust.data.points.public import ClusterAnswer
from privclust.data.points.view import PointsView
from privclust.data.public import Noisy

LIVE = 2.0  # standard errors that a cell's count must exceed
# How wide cells are thrown, in deviations of the rows: without a scout, and for one. How far, in
# quantiles of the distance of rows to cells, the cells of a scout are thrown again.
_SEED_SPREAD, _SCOUT_SPREAD, _SCOUT_REACH = 0.85, 1.2, 0.8
# How closely rows are clipped: at least and at most this share of them is not, less this much of
# the noise on the mean of a cell.
_LEAST_KEPT, _MOST_KEPT, _BY_NOISE = 0.6, 0.95, 0.8
# Cells without rows are thrown again near others, this far in root mean square distances of rows to
# their cell or in radii, whichever is less, and by this much of that.
_RESEEDED, _SPLIT_SPREAD = 1.5, 0.5
_LEAST_LEFT = 0.02  # of the mean square distance, after a move, unless less is seen clearly
_SYNTHETIC_ROWS = 1000
_UNSEEN_CELLS = 500


@dataclass(frozen=True)
class Round:
    """What one round pays for counts, offsets and, if at all, for squared distances.

    ``unit_error`` is the error of a sum of offsets that are clipped to length one.
    """

    counts: Share
    offsets: Share
    square: Share | None
    unit_error: float


@dataclass(frozen=True)
class CellPlan:
    """How many cells there are, and what the scout, if there is one, and each round pays."""

    n_cells: int
    is_full: bool  # whether no more cells are wanted, though they could be paid for
    scout: Share | None
    rounds: tuple[Round, ...]


@dataclass(frozen=True)
class MovedCells:
    """Cells moved to the noisy means of their rows, along the axes.

    ``counts`` and ``offsets_error`` are those of the last round, in which offsets were clipped to
    ``radius``. ``within`` is the mean square distance of rows to their cell; infinite unless it was
    asked for.
    """

    cells: Floats
    counts: Noisy
    offsets_error: float
    radius: float
    within: float

    @property
    def weights(self) -> Floats:
        """The counts of cells that stand out from the noise, and zero for the others."""
        value = self.counts.value
        return np.where(value > LIVE * self.counts.standard_error, value, 0)


def affordable_cells(
    view: PointsView, counts: Share, offsets: Share, n_rows: float, dimension: int
) -> tuple[float, float]:
    """Return how many cells a round can pay for, and the error of a sum of unit offsets.

    A cell's mean is then known to about its radius, and its count exceeds the noise.
    """
    unit_error = view.offset_error(offsets, 1.0, dimension) * math.sqrt(dimension)
    return n_rows / max(unit_error, LIVE * view.count_error(counts)), unit_error


def ask_moved_cells(
    view: PointsView, plan: CellPlan, spread: Spread, axes: Axes, rng: np.random.Generator
) -> MovedCells:
    """Throw cells along the axes, and move them to where the rows are."""
    deviations = np.sqrt(axes.variances)
    cells = rng.standard_normal((plan.n_cells, len(deviations))) * deviations
    cells *= _SEED_SPREAD if plan.scout is None else _SCOUT_SPREAD
    far = _far_cells(view, axes)
    if plan.is_full and 2 * fitted.FEW_COLUMNS < len(far) <= fitted.FAR * len(cells):
        cells[: len(far)] = far
    if plan.scout is not None:
        counts = view.ask_clusters("scout", axes.frame, cells, 1.0, counts=plan.scout).counts
        cells = _throw_again(cells, counts, deviations, rng)
    within = math.inf
    for number, paid in enumerate(plan.rounds, start=1):
        kept, closer = _clips(paid.unit_error, len(cells), spread.n_rows)
        radius = _radius(cells, deviations, kept, rng)
        if number > 1:
            radius = _needed_radius(radius * closer, within, len(deviations))
        clip = radius
        if number == 1 or math.isinf(within):
            noise = paid.unit_error * len(cells) / spread.n_rows
            clip = _widest_clip(radius, noise, axes.frame.radius)
        seen = _ask_round(view, paid, spread.n_rows, axes, cells, radius, clip, number)
        cells, within = seen.cells, seen.within
        if number < len(plan.rounds) and seen.weights.any():
            reach = min(radius, _RESEEDED * math.sqrt(within))
            cells = _reseed(cells, seen.weights, reach, rng)
    return seen


def _far_cells(view: PointsView, axes: Axes) -> Floats:
    """Return places at both ends of each column, from the mean of the rows, along the axes.

    Few rows far out in one column are nearest to such a place, and are lost to any other.
    """
    frame = axes.frame
    gaps = np.array([end - frame.origin for end in view.domain.box_in_unit_ball()])
    far = np.concatenate([np.diag(np.clip(gap, -frame.radius, frame.radius)) for gap in gaps])
    return far if frame.axes is None else np.asarray(far @ frame.axes)


def _ask_round(
    view: PointsView,
    paid: Round,
    n_rows: float,
    axes: Axes,
    cells: Floats,
    radius: float,
    clip: float,
    number: int,
) -> MovedCells:
    """Ask for the counts and offsets of the cells and, if paid for, squares, and move them."""
    answer = view.ask_clusters(
        f"cells, round {number}",
        axes.frame,
        cells,
        clip,
        counts=paid.counts,
        offsets=paid.offsets,
        square=paid.square,
    )
    counts, offsets = answer.counts, answer.offsets
    moves = shrink_means(offsets, counts.value, LIVE * counts.standard_error, clip)
    within = math.inf
    if paid.square is not None:
        within = residual_mean_square(answer, counts.value, moves, n_rows, radius**2)
    return MovedCells(cells + moves, counts, offsets.standard_error, radius, within)


def _widest_clip(radius: float, noise: float, farthest: float) -> float:
    """Return how far from its cell a row may count in full, if distances are unknown.

    As far as the error of a cell's mean, which is ``noise`` of the clip, stays small compared with
    the radius of the cell: so a cell at the edge finds rows far beyond it.
    """
    return max(radius, min(fitted.SMALL / max(noise, 1e-300) * radius, 2 * farthest, 2.0))


def _clips(unit_error: float, n_cells: int, n_rows: float) -> tuple[float, float]:
    """Return the share of rows that the first round does not clip, and how much closer others do.

    Rows are clipped more closely if the mean of a cell will be noisy; and more so once the cells
    have moved to where the rows are.
    """
    noise = _BY_NOISE * unit_error * n_cells / n_rows
    first = np.clip(_MOST_KEPT - noise, _LEAST_KEPT, _MOST_KEPT)
    return float(first), float(np.clip(1 - noise, _LEAST_KEPT, 1))


def _radius(cells: Floats, deviations: Floats, quantile: float, rng: np.random.Generator) -> float:
    """Return the distance that a share ``quantile`` of synthetic rows has to its nearest cell."""
    synthetic = rng.standard_normal((_SYNTHETIC_ROWS, len(deviations))) * deviations
    gaps = np.linalg.norm(synthetic - cells[nearest_centre(synthetic, cells)], axis=1)
    return float(np.quantile(gaps, quantile))


def _needed_radius(radius: float, within: float, dimension: int) -> float:
    """Return a radius that is closer where rows are known to lie closer to their cells."""
    needed = (1 + 0.5 / math.sqrt(dimension)) * math.sqrt(within)
    return max(min(radius, needed), fitted.SHORTEST * radius)


def residual_mean_square(
    answer: ClusterAnswer, counts: Floats, moves: Floats, n_rows: float, most: float
) -> float:
    """Return the mean square distance of rows to their cell after noisy moves.

    A move gains its own square for each row, but that is measured with noise, and the noise stays
    in the cell: hence twice its variance less.
    """
    offsets, square = answer.offsets, answer.square
    noise = moves.shape[1] * offsets.standard_error**2 / np.maximum(counts, 1) ** 2
    moved = (moves**2).sum(axis=1)
    gain = float(np.maximum(counts, 0) @ (moved - 2 * np.minimum(noise, moved)))
    visible = max(float(square.value[0]), square.standard_error)
    doubt = math.hypot(square.standard_error, 2 * offsets.standard_error * np.linalg.norm(moves))
    least = min(doubt / n_rows, _LEAST_LEFT * most)
    return float(np.clip((visible - gain) / n_rows, least, most))


def _throw_again(
    cells: Floats, counts: Noisy, deviations: Floats, rng: np.random.Generator
) -> Floats:
    """Return as many cells, thrown in proportion to the rows that wide ones have counted."""
    weights = np.where(counts.value > LIVE * counts.standard_error, counts.value, 0)
    if not weights.any():
        return cells
    sources = rng.choice(len(cells), len(cells), p=weights / weights.sum())
    jitter = _radius(cells, deviations, _SCOUT_REACH, rng) / math.sqrt(cells.shape[1])
    moves = rng.standard_normal(cells.shape) * jitter
    moves[np.unique(sources, return_index=True)[1]] = 0  # one copy of each stays in its place
    return np.asarray(cells[sources] + moves)


def _reseed(cells: Floats, weights: Floats, radius: float, rng: np.random.Generator) -> Floats:
    """Keep the cells with weight and put the others near them, in proportion to weight."""
    dead = weights == 0
    sources = rng.choice(len(cells), int(dead.sum()), p=weights / weights.sum())
    scatter = rng.standard_normal((len(sources), cells.shape[1]))
    split = cells[sources] + scatter * (_SPLIT_SPREAD * radius / math.sqrt(cells.shape[1]))
    return np.concatenate([cells[~dead], split])


def add_synthetic_cells(
    cells: Floats, weights: Floats, n_rows: float, deviations: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Add synthetic cells for the rows that stand out nowhere, so that centres still spread."""
    synthetic = rng.standard_normal((_UNSEEN_CELLS, len(deviations))) * deviations
    unseen = max(n_rows - float(weights.sum()), 1.0)
    return (
        np.concatenate([cells, synthetic]),
        np.append(weights, np.full(_UNSEEN_CELLS, unseen / _UNSEEN_CELLS)),
    )
