"""Moving cells in all columns, a group of them at a time: few noisy sums, offsets of each cell."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from privclust._typing import Floats, Indices
from privclust.budget import Share
from privclust.data.points.public import Projection
from privclust.data.points.view import PointsView
from privclust.data.view import Noisy
from privclust.kmeans.seeds import LIVE, mean_square_left
from privclust.kmeans.shrinking import clipped, shrunk_means
from privclust.kmeans.weighted import nearest_of, weighted_kmeans

__all__ = ["PlacedCells", "ask_moves_in_groups", "parts_of"]

_SQUARE = 0.03  # of a round's or a step's share
_STEPS, _COUNTS = (0.3, 0.7), 0.10
# In squares of the clip and for each row: the noise that sets the number of groups, and the noise
# beyond which the first of two steps is left out.
_GROUP_NOISE, _STEP_NOISE = 0.02, 0.2


@dataclass(frozen=True)
class PlacedCells:
    """Cells in all columns on their way out; see :class:`privclust.summary.result.Cells`."""

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
        # At an absurd budget the noise is nothing, and so would be what is divided by.
        one, two = (1 / np.maximum(sizes.variance, 1e-12) for sizes in (self, other))
        return _Sizes((self.value * one + other.value * two) / (one + two), 1 / (one + two))


def parts_of(share: Share, counts: float) -> tuple[Share, ...]:
    """Divide the share of a round or step into those of counts, square and offsets."""
    return share.split([counts, _SQUARE, round(1 - counts - _SQUARE, 6)])


def ask_moves_in_groups(
    view: PointsView,
    share: Share,
    placed: PlacedCells,
    n_rows: float,
    fewest: int,
    rng: np.random.Generator,
) -> PlacedCells:
    """Move groups of cells by noisy mean offsets in all columns.

    Parameters
    ----------
    view : PointsView
    share : Share
        What all steps may spend.
    placed : PlacedCells
        The cells, whose groups are chosen here.
    n_rows : float
        The noisy number of rows.
    fewest : int
        There are at least this many groups, if there are that many cells.
    rng : Generator
        Public choices.
    """
    n_groups, steps = _groups_and_steps(view, share, len(placed.cells), n_rows, fewest)
    groups = _grouped(placed, n_groups, rng)
    before = np.bincount(groups, placed.counts).astype(np.float64)
    members = np.bincount(groups).astype(np.float64)
    sizes = _Sizes(before, members * placed.counts_error**2)
    placed = replace(placed, groups=groups)
    for number, part in enumerate(share.split(steps), start=1):
        # In the first step rows are in the cells of the rounds, so that their counts help.
        known = sizes if number == 1 else None
        name = f"groups, step {number}"
        placed, counts, sizes = _ask_group_step(view, name, part, placed, known, n_rows)
    return placed if len(steps) == 1 else _recounted(placed, counts, sizes, before)


def _groups_and_steps(
    view: PointsView, share: Share, n_cells: int, n_rows: float, fewest: int
) -> tuple[int, tuple[float, ...]]:
    dimension = view.domain.dimension

    def noise(part: float) -> float:
        """Return the mean square noise of a move if all rows were one group."""
        offsets = share.take(round(part * (1 - _COUNTS - _SQUARE), 6))
        error = view.offset_error(offsets, 1.0, dimension) * math.sqrt(dimension)
        return (error / n_rows) ** 2

    affordable = math.sqrt(_GROUP_NOISE / noise(_STEPS[-1]))
    n_groups = int(np.clip(affordable, min(fewest, n_cells), n_cells))
    return n_groups, (1.0,) if noise(_STEPS[0]) * n_groups**2 > _STEP_NOISE else _STEPS


def _grouped(placed: PlacedCells, n_groups: int, rng: np.random.Generator) -> Indices:
    """Return the group of each cell; every group has one."""
    if n_groups == len(placed.cells):
        return np.arange(n_groups)
    around = placed.cells - np.average(placed.cells, axis=0, weights=placed.counts)
    nearest = nearest_of(around, weighted_kmeans(around, placed.counts, n_groups, rng))
    groups: Indices = np.unique(nearest, return_inverse=True)[1]
    return groups


def _ask_group_step(
    view: PointsView,
    name: str,
    share: Share,
    placed: PlacedCells,
    known: _Sizes | None,
    n_rows: float,
) -> tuple[PlacedCells, Noisy, _Sizes]:
    """Move every group once; return the cells, the counts asked, and the sizes known by them."""
    dimension = view.domain.dimension
    for_counts, for_square, for_offsets = parts_of(share, _COUNTS)
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
    moves = shrunk_means(answer.offsets, sizes.live, 0.0, clip)
    error = answer.offsets.standard_error / np.maximum(sizes.live, 1)
    moved = replace(
        placed,
        cells=clipped(placed.cells + moves[placed.groups], 1.0),
        group_variances=np.where(sizes.live > 0, np.minimum(error**2, clip**2 / dimension), 0),
        within=mean_square_left(answer, sizes.value, moves, n_rows, placed.within),
    )
    return moved, asked, sizes


def _recounted(placed: PlacedCells, counts: Noisy, sizes: _Sizes, before: Floats) -> PlacedCells:
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
