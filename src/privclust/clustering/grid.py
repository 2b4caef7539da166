"""k-means of a grid over the declared bounds: one noisy table of counts, for few columns.

In two or three dimensions a few hundred cells cover everything, and all of them together cost no
more than one count. So where rows are few, or ε is small, most of the budget goes into one table,
of the part of the bounds that has rows, and the centres are those of the cells: uniform grids after
Su, Cao, Li, Bertino and Jin (2016, "Differentially private k-means clustering"), with cells that
are nearly cubes, and with counts that are brought to what is known of them: none is below zero, and
together they are the number of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.clustering import fitted
from privclust.clustering.cautious import ask_row_count_again
from privclust.clustering.cells import HIDDEN, SIZES, Method, ask_cluster_sizes, ask_with_row_count
from privclust.clustering.refine import uninformative_errors
from privclust.clustering.result import KMeansResult
from privclust.clustering.spread import Allowance
from privclust.clustering.weighted_kmeans import nearest_centre, weighted_kmeans
from privclust.data.points.public import Projection
from privclust.data.points.view import PointsView

# Of more axes a grid would have too many cells; the widest are cut.
_MOST_AXES = 3
# A bound of memory and time: without noise there would be no other.
_MOST_CELLS = 2**17
# Of the budget, for a first grid that shows which part of the bounds the rows are in: from each
# end, layers of cells are cut off that may be empty and cannot have this share of the rows of a
# cluster, allowing for this many errors.
_WHERE, _FEW, _ERRORS = 0.25, 0.75, 2.0
PROBE_SHARE = 0.05  # of the share above, for a probe whether a grid should be made at all
# A cluster is seen if the cells nearest to it exceed this many errors of their sum.
_SEEN = 3.0


def ask_grid_given_count(
    view: PointsView,
    purse: Allowance,
    n_rows: float,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    looked: bool = False,
) -> KMeansResult:
    """Cluster rows, given an already released row count, which is asked again to be surer.

    If a probe is paid for, the grid that locates the rows gets less.
    """
    for_sizes, n_rows = purse.take(SIZES), ask_row_count_again(view, purse, n_rows)
    for_where = purse.take(_WHERE - PROBE_SHARE if looked else _WHERE)
    bounds = view.domain.box_in_unit_ball()
    where = _Table.ask_counts(view, for_where, "coarse grid", bounds, n_rows, n_clusters)
    table = _Table.ask_counts(
        view,
        purse.remaining,
        "grid",
        where.populated_box(_FEW * n_rows / n_clusters),
        n_rows,
        n_clusters,
    )
    centres = weighted_kmeans(table.cells, table.weights, n_clusters, rng)
    errors, is_hidden = table.errors(centres)
    errors = np.minimum(errors, uninformative_errors(n_clusters, *bounds))
    return ask_cluster_sizes(
        view, centres, errors, for_sizes, "grid", (HIDDEN,) if is_hidden else ()
    )


grid: Method = partial(ask_with_row_count, ask_grid_given_count)


@dataclass(frozen=True)
class _Table:
    """The noisy counts of a grid."""

    axes: tuple[Floats, ...]  # the middles of the cells along each axis
    widths: Floats  # (d,): of a cell
    # (n_cells,): as answered, and brought to what is known of them.
    counts: Floats
    weights: Floats
    error: float  # the error of a count

    @classmethod
    def ask_counts(
        cls,
        view: PointsView,
        share: Share,
        name: str,
        box: tuple[Floats, Floats],
        n_rows: float,
        n_clusters: int,
    ) -> _Table:
        """Count the rows of cells; those outside of the box count in the nearest cell."""
        error = view.count_error(share)
        coordinates = n_clusters * int(np.clip(len(box[0]), 2, _MOST_AXES))
        axes, widths = _axes(*box, _n_cells(n_rows / error, coordinates))
        frame = Projection(np.zeros(len(axes)))
        counts = view.ask_clusters(name, frame, grid_points(axes), 1.0, counts=share).counts.value
        return cls(axes, widths, counts, with_sum(counts, n_rows), error)

    @property
    def cells(self) -> Floats:
        """The middles of the cells."""
        return grid_points(self.axes)

    def populated_box(self, few: float) -> tuple[Floats, Floats]:
        """Return the part of the bounds beyond which there are few rows, if any."""
        cells, low, high = self.cells, [], []
        for middles, place in zip(self.axes, cells.T, strict=True):
            layers = np.zeros(len(middles))
            np.add.at(layers, np.searchsorted(middles, place), self.counts)
            first, last = (
                self._empty_layers(layers, few),
                len(middles) - 1 - self._empty_layers(layers[::-1], few),
            )
            low.append(middles[min(first, last)])
            high.append(middles[max(first, last)])
        return np.array(low) - self.widths / 2, np.array(high) + self.widths / 2

    def _empty_layers(self, layers: Floats, few: float) -> int:
        """Return how many of the first layers have few rows."""
        cells = np.arange(1, len(layers) + 1) * (len(self.counts) / len(layers))
        found, allowed = np.cumsum(layers), _ERRORS * self.error * np.sqrt(cells)
        empty = np.flatnonzero((allowed < few) & (found <= np.minimum(allowed, few - allowed)))
        return int(empty[-1]) + 1 if len(empty) else 0

    def errors(self, centres: Floats) -> tuple[Floats, bool]:
        """Return the errors of centres, and whether noise alone could have made one of them."""
        cells, errors, is_hidden = self.cells, np.zeros_like(centres), False
        labels = nearest_centre(cells, centres)
        for j, centre in enumerate(centres):
            near, mine = labels == j, (labels == j) & (self.weights > 0)
            number, size = max(1, int(mine.sum())), max(float(self.weights[mine].sum()), self.error)
            seen = float(self.counts[near].sum())
            is_hidden |= seen < _SEEN * self.error * math.sqrt(max(1, int(near.sum())))
            noise = self.error * np.sqrt(((cells[mine] - centre) ** 2).sum(axis=0)) / size
            errors[j] = np.hypot(noise, self.widths / math.sqrt(12 * number))
        return errors, is_hidden


def _n_cells(signal: float, coordinates: int) -> int:
    """Return how many cells to make of rows that are this many errors of a count."""
    # With more signal finer cells pay: their width, which is bias, falls as their noise grows.
    finest = min(math.sqrt(signal * coordinates), _MOST_CELLS)
    useful = max(fitted.CELLS_OF_A_CLUSTER * coordinates, finest)
    return max(2 * coordinates, int(min(useful, signal / fitted.ROWS_OF_A_CELL)))


def _axes(low: Floats, high: Floats, wanted: int) -> tuple[tuple[Floats, ...], Floats]:
    """Return the middles of about ``wanted`` nearly cubic cells by axis, and their widths."""
    ranges = np.maximum(high - low, 1e-12)
    sides, free = np.ones(len(low), int), np.zeros(len(low), bool)
    free[np.argsort(-ranges, kind="stable")[:_MOST_AXES]] = True
    # A range shorter than a cell is not cut, and the others share the number of cells.
    while free.any():
        length = (np.prod(ranges[free]) / wanted) ** (1 / free.sum())
        short = free & (ranges < length)
        if not short.any():
            sides[free] = np.maximum(1, np.round(ranges[free] / length))
            break
        free &= ~short
    widths = ranges / sides
    middles = ((np.arange(n) + 0.5) * width for n, width in zip(sides, widths, strict=True))
    return tuple(first + middle for first, middle in zip(low, middles, strict=True)), widths


def grid_points(axes: tuple[Floats, ...]) -> Floats:
    """Return all points of a grid."""
    points = np.array([[axis[0] for axis in axes]])
    for j, axis in enumerate(axes):
        if len(axis) > 1:
            points = np.repeat(points, len(axis), axis=0)
            points[:, j] = np.tile(axis, len(points) // len(axis))
    return points


def with_sum(counts: Floats, total: float) -> Floats:
    """Return the nearest numbers that are not below zero and add up to ``total``."""
    falling = np.sort(counts)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    last = int(np.flatnonzero(falling > excess)[-1])
    return np.asarray(np.maximum(counts - excess[last], 0.0))
