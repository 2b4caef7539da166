"""The questions of a summary: cells with noisy counts and positions, for every later question.

Nothing here knows a number of clusters. The budget is spent once, in four stages:

1. the overview: number, mean and spread of the rows, and the axes along which they spread most;
2. a scout, which counts rows in cells thrown wide; then all cells are thrown where rows are;
3. two rounds of counts and clipped mean offsets along the axes, which move the cells;
4. steps in all columns, for groups of cells at a time (``moving.py``), if the axes are fewer;

and last the mean square distance of rows to the released cells. Everything here is computed from
noisy answers, public facts and public random choices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from privclust._typing import Floats, Indices
from privclust.budget import Share
from privclust.clustering.cells import COUNT, LOST_MEAN
from privclust.clustering.refine import clip_lengths, shrink_means
from privclust.clustering.result import Cells, SummaryResult
from privclust.clustering.rounds import (
    LIVE,
    CellPlan,
    MovedCells,
    Round,
    add_synthetic_cells,
    affordable_cells,
    ask_moved_cells,
    residual_mean_square,
)
from privclust.clustering.spread import (
    LARGEST_MEAN_SHARE,
    Allowance,
    Axes,
    Spread,
    ask_axes,
    ask_spread,
    mean_error,
)
from privclust.clustering.weighted_kmeans import nearest_centre, spread_out_centres, weighted_kmeans
from privclust.data.points.public import Projection
from privclust.data.points.view import PointsView
from privclust.data.public import Noisy
from privclust.notes import Note

# Moving cells in all columns, a group of them at a time: few noisy sums, offsets of each cell.

_SQUARE = 0.03  # of a round's or a step's share
_STEPS, _GROUP_COUNTS = (0.3, 0.7), 0.10
# In squares of the clip and for each row: the noise that sets the number of groups, and the noise
# beyond which the first of two steps is left out.
_GROUP_NOISE, _STEP_NOISE = 0.02, 0.2


@dataclass(frozen=True)
class CellsInColumns:
    """Cells in all columns on their way out; see :class:`privclust.clustering.result.Cells`."""

    cells: Floats
    counts: Floats
    counts_error: float
    variances: Floats
    groups: Indices
    group_variances: Floats
    raw_counts: Noisy
    raw_cells: Indices
    within: float


@dataclass(frozen=True)
class _Sizes:
    """Noisy sizes of the groups and the variance of each."""

    value: Floats
    variance: Floats

    @property
    def live(self) -> Floats:
        """The sizes that stand out from the noise, and zero for the others."""
        return np.where(self.value > LIVE * np.sqrt(self.variance), self.value, 0)

    def together_with(self, other: _Sizes) -> _Sizes:
        """Return the best mean of two counts of the same rows."""
        # At an absurd budget the noise is zero, and so would be the divisor.
        one, two = (1 / np.maximum(sizes.variance, 1e-12) for sizes in (self, other))
        return _Sizes((self.value * one + other.value * two) / (one + two), 1 / (one + two))


def split_of_moves(share: Share, counts: float) -> tuple[Share, ...]:
    """Divide the share of a round or step into those of counts, square and offsets."""
    return share.split([counts, _SQUARE, round(1 - counts - _SQUARE, 6)])


def ask_moves_in_groups(
    view: PointsView,
    share: Share,
    placed: CellsInColumns,
    n_rows: float,
    fewest: int,
    rng: np.random.Generator,
) -> CellsInColumns:
    """Move groups of cells by noisy mean offsets in all columns.

    ``placed``: the cells, whose groups are chosen here. ``fewest``: there are at least this many
    groups, if there are that many cells.
    """
    n_groups, steps = _groups_and_steps(view, share, len(placed.cells), n_rows, fewest)
    groups = _group_cells(placed, n_groups, rng)
    before = np.bincount(groups, placed.counts).astype(np.float64)
    members = np.bincount(groups).astype(np.float64)
    sizes = _Sizes(before, members * placed.counts_error**2)
    placed = replace(placed, groups=groups)
    for number, part in enumerate(share.split(steps), start=1):
        # In the first step rows are in the cells of the rounds, so that their counts help.
        known = sizes if number == 1 else None
        name = f"groups, step {number}"
        placed, counts, sizes = _ask_group_step(view, name, part, placed, known, n_rows)
    return placed if len(steps) == 1 else _reweigh(placed, counts, sizes, before)


def _groups_and_steps(
    view: PointsView, share: Share, n_cells: int, n_rows: float, fewest: int
) -> tuple[int, tuple[float, ...]]:
    dimension = view.domain.dimension

    def noise(part: float) -> float:
        """Return the mean square noise of a move if all rows were one group."""
        offsets = share.take(round(part * (1 - _GROUP_COUNTS - _SQUARE), 6))
        error = view.offset_error(offsets, 1.0, dimension) * math.sqrt(dimension)
        return (error / n_rows) ** 2

    affordable = math.sqrt(_GROUP_NOISE / noise(_STEPS[-1]))
    n_groups = int(np.clip(affordable, min(fewest, n_cells), n_cells))
    return n_groups, (1.0,) if noise(_STEPS[0]) * n_groups**2 > _STEP_NOISE else _STEPS


def _group_cells(placed: CellsInColumns, n_groups: int, rng: np.random.Generator) -> Indices:
    """Return the group of each cell; every group has one."""
    if n_groups == len(placed.cells):
        return np.arange(n_groups)
    around = placed.cells - np.average(placed.cells, axis=0, weights=placed.counts)
    nearest = nearest_centre(around, weighted_kmeans(around, placed.counts, n_groups, rng))
    groups: Indices = np.unique(nearest, return_inverse=True)[1]
    return groups


def _ask_group_step(
    view: PointsView,
    name: str,
    share: Share,
    placed: CellsInColumns,
    known: _Sizes | None,
    n_rows: float,
) -> tuple[CellsInColumns, Noisy, _Sizes]:
    """Move every group once; return the cells, the counts asked, and the sizes known by them."""
    dimension = view.domain.dimension
    for_counts, for_square, for_offsets = split_of_moves(share, _GROUP_COUNTS)
    clip = min(2.0, (1 + 0.5 / math.sqrt(dimension)) * math.sqrt(placed.within))
    answer = view.ask_grouped_clusters(
        name,
        Projection(np.zeros(dimension)),
        placed.cells,
        placed.groups,
        clip,
        counts=for_counts,
        offsets=for_offsets,
        square=for_square,
    )
    asked = answer.counts
    sizes = _Sizes(asked.value, np.full(len(asked.value), asked.standard_error**2))
    sizes = sizes if known is None else sizes.together_with(known)
    moves = shrink_means(answer.offsets, sizes.live, 0.0, clip)
    error = answer.offsets.standard_error / np.maximum(sizes.live, 1)
    moved = replace(
        placed,
        cells=clip_lengths(placed.cells + moves[placed.groups], 1.0),
        group_variances=np.where(sizes.live > 0, np.minimum(error**2, clip**2 / dimension), 0),
        within=residual_mean_square(answer, sizes.value, moves, n_rows, placed.within),
    )
    return moved, asked, sizes


def _reweigh(
    placed: CellsInColumns, counts: Noisy, sizes: _Sizes, before: Floats
) -> CellsInColumns:
    """Weigh the cells by the last counts of their groups: rows have changed cells since."""
    factors = sizes.live / np.maximum(before, 1e-9)
    if not factors.any():
        return placed
    heaviest = [
        int(np.where(placed.groups == group, placed.counts, -1.0).argmax())
        for group in range(len(before))
    ]
    return replace(
        placed,
        counts=placed.counts * factors[placed.groups],
        raw_counts=counts,
        raw_cells=np.array(heaviest, np.intp),
    )


# What the overview leaves: for the last question, for the scout, and for rounds and steps.
_WITHIN, _SCOUT, _REST = 0.02, 0.10, 0.70
_ROUNDS = 0.35, 0.65
_COUNTS = 0.45  # of a round's share

# Axes are sought for this many clusters.
CLUSTERS = 32
_CELLS, _FEWEST_CELLS, _MOST_CELLS = 0.7, 16, 600
_FEWEST_LIVE = 3
# The last clip, in expected root mean square distances of rows to their cell; this much of those
# found is too close, and this much of the spread within cells is worth a note.
_REACH, _TOO_CLOSE, _MISSED = 3.0, 2.75, 0.1

_REMEDY = "raise epsilon, allow a delta, or ask plan() what to expect"
_HIDDEN = Note("clusters-hidden", f"Noise hides nearly all cells at this budget; {_REMEDY}.")
_UNSEEN = Note(
    "rows-unseen",
    "At this budget even the mean of the rows would be noise, so the cells are spread over the "
    f"declared bounds and never saw the rows; {_REMEDY}.",
)


@dataclass(frozen=True)
class _Shares:
    """What each stage after the overview may spend; no share, no steps in all columns."""

    within: Share
    scout: Share
    rounds: tuple[Share, ...]
    steps: Share | None


@dataclass(frozen=True)
class Overview:
    """The number of rows, and where they are; no place if that would be noise."""

    number: Noisy
    spread: Spread | None


def ask_summary(
    view: PointsView, budget: Share, rng: np.random.Generator, known: Overview | None = None
) -> SummaryResult:
    """Summarise the rows of ``view`` within ``budget``; an overview may be known already."""
    purse = Allowance(budget)
    known = _ask_overview(view, purse) if known is None else known
    number, spread = known.number, known.spread
    if spread is None:
        return _ask_uninformed(view, purse.remaining, number, rng)
    n_rows = spread.n_rows
    axes = ask_axes(view, purse, spread, CLUSTERS, rng)
    shares = _shares(purse.remaining, axes, view.domain.dimension)
    plan = _plan_cells(view, shares, spread, axes)
    seen = ask_moved_cells(view, plan, spread, axes, rng)
    placed, hidden = _live_cells(seen, spread, axes, rng)
    if shares.steps is not None and not hidden:
        placed = ask_moves_in_groups(view, shares.steps, placed, n_rows, CLUSTERS, rng)
    within, clip = _ask_within_square(view, shares.within, placed, n_rows, spread.distance)
    released = _to_result(placed, axes, number, within)
    misses = not hidden and _misses_far_rows(released, spread, clip)
    return SummaryResult(released, (_HIDDEN,) if hidden else (), misses)


def _ask_overview(view: PointsView, purse: Allowance) -> Overview:
    number = view.ask_count("number of rows", purse.take(COUNT))
    n_rows = max(1.0, float(number.value[0]))
    lost = mean_error(view, purse.share(LARGEST_MEAN_SHARE), n_rows) > LOST_MEAN
    return Overview(number, None if lost else ask_spread(view, purse, n_rows))


def _shares(rest: Share, axes: Axes, dimension: int) -> _Shares:
    within, scout, left = rest.split([_WITHIN, _SCOUT, _REST])
    if axes.frame.axes is None:
        return _Shares(within, scout, left.split(_ROUNDS), None)
    # The error of a mean grows with the root of the dimension; so do the two stages' shares.
    plane, everywhere = math.sqrt(axes.frame.dimension), math.sqrt(dimension)
    full = round(everywhere / (plane + everywhere), 6)
    *rounds, steps = left.split([*(round(part * (1 - full), 6) for part in _ROUNDS), full])
    return _Shares(within, scout, tuple(rounds), steps)


def _plan_cells(view: PointsView, shares: _Shares, spread: Spread, axes: Axes) -> CellPlan:
    """Plan as many cells as the last round, which pays most, can afford."""
    rounds = []
    for share in shares.rounds:
        counts, square, offsets = split_of_moves(share, _COUNTS)
        affordable, unit_error = affordable_cells(
            view, counts, offsets, spread.n_rows, axes.frame.dimension
        )
        rounds.append(Round(counts, offsets, square, unit_error))
    n_cells = int(np.clip(_CELLS * affordable, _FEWEST_CELLS, _MOST_CELLS))
    return CellPlan(n_cells, n_cells == _MOST_CELLS, shares.scout, tuple(rounds))


def _live_cells(
    seen: MovedCells, spread: Spread, axes: Axes, rng: np.random.Generator
) -> tuple[CellsInColumns, bool]:
    """Return the live cells in all columns, and whether nearly none of them is live."""
    cells, weights = seen.cells, seen.weights
    hidden = int((weights > 0).sum()) < _FEWEST_LIVE
    if hidden:
        cells, weights = add_synthetic_cells(
            cells, weights, spread.n_rows, np.sqrt(axes.variances), rng
        )
    live = weights > 0
    variances = (seen.offsets_error / np.maximum(weights[live], 1)) ** 2
    directions = axes.frame.axes
    across = max(spread.distance**2 - float(axes.variances.sum()), 0)
    placed = CellsInColumns(
        cells=spread.mean + (cells[live] if directions is None else cells[live] @ directions.T),
        counts=weights[live],
        counts_error=seen.counts.standard_error,
        variances=np.minimum(variances, seen.radius**2 / axes.frame.dimension),
        groups=np.zeros(int(live.sum()), np.intp),
        group_variances=np.zeros(1),
        raw_counts=seen.counts,
        raw_cells=nearest_centre(seen.cells, cells[live]),
        within=seen.within + (0 if directions is None else across),
    )
    return placed, hidden


def _ask_within_square(
    view: PointsView, share: Share, placed: CellsInColumns, n_rows: float, distance: float
) -> tuple[Noisy, float]:
    """Ask for the mean square distance of rows to their cell, clipped as widely as noise allows."""
    unit = view.square_error(share, 1.0)
    wide = min(math.sqrt(0.05 * placed.within * n_rows / unit), 1.5 * distance)
    clip = min(2.0, max(_REACH * math.sqrt(placed.within), wide))
    return ask_mean_square(view, share, placed.cells[placed.counts > 0], clip, n_rows), clip


def ask_mean_square(
    view: PointsView, share: Share, cells: Floats, clip: float, n_rows: float
) -> Noisy:
    """Ask for the mean square distance of rows to their cell; noise hides less than its size."""
    frame = Projection(np.zeros(view.domain.dimension))
    square = view.ask_clusters("spread within cells", frame, cells, clip, square=share).square
    visible = np.maximum(square.value, square.standard_error)
    return Noisy(visible / n_rows, square.standard_error / n_rows)


def _misses_far_rows(cells: Cells, spread: Spread, clip: float) -> bool:
    """Return whether rows seem to be farther from their cell than the clipped distances show.

    Either the clip turned out closer than it was meant to be; or the rows spread farther around
    their mean, where nothing was clipped, than the cells and the spread within them explain.
    """
    if clip < _TOO_CLOSE * math.sqrt(cells.within):
        return True
    gaps, total = ((cells.cells - spread.mean) ** 2).sum(axis=1), cells.counts.sum()
    between = float(cells.counts @ gaps / total)
    missing = spread.distance**2 - between - cells.within
    by_counts = cells.counts_error * float(np.linalg.norm(gaps - between)) / total
    error = math.hypot(spread.square_error, cells.within_error, by_counts)
    return bool(missing > max(LIVE * error, _MISSED * cells.within))


def _to_result(placed: CellsInColumns, axes: Axes, number: Noisy, within: Noisy) -> Cells:
    directions = axes.frame.axes
    dimension = placed.cells.shape[1]
    return Cells(
        cells=clip_lengths(placed.cells, 1.0),
        counts=placed.counts,
        counts_error=placed.counts_error,
        variances=placed.variances,
        column_shares=np.ones(dimension) if directions is None else (directions**2).sum(axis=1),
        groups=placed.groups,
        group_variances=placed.group_variances,
        raw_counts=placed.raw_counts.value,
        raw_counts_error=placed.raw_counts.standard_error,
        raw_cells=placed.raw_cells,
        n_rows=max(1.0, float(number.value[0])),
        n_rows_error=number.standard_error,
        within=float(within.value[0]),
        within_error=within.standard_error,
    )


def _ask_uninformed(
    view: PointsView, share: Share, number: Noisy, rng: np.random.Generator
) -> SummaryResult:
    """Spread cells of equal weight over the declared bounds; their noisy counts are released."""
    dimension, n_rows = view.domain.dimension, max(1.0, float(number.value[0]))
    cells = spread_out_centres(CLUSTERS, *view.domain.box_in_unit_ball(), rng)
    for_counts, for_square = share.split([0.9, 0.1])
    frame = Projection(np.zeros(dimension))
    answer = view.ask_clusters("cells", frame, cells, 2.0, counts=for_counts, square=for_square)
    everyone: Indices = np.arange(CLUSTERS)
    placed = CellsInColumns(
        cells=cells,
        counts=np.full(CLUSTERS, n_rows / CLUSTERS),
        counts_error=answer.counts.standard_error,
        variances=np.zeros(CLUSTERS),
        groups=np.zeros(CLUSTERS, np.intp),
        group_variances=np.zeros(1),
        raw_counts=answer.counts,
        raw_cells=everyone,
        within=1.0,
    )
    square = answer.square
    visible = np.clip(square.value / n_rows, 1e-6, 4.0)
    within = Noisy(visible, square.standard_error / n_rows)
    whole = Axes(frame, np.ones(dimension))
    return SummaryResult(_to_result(placed, whole, number, within), (_UNSEEN,))
