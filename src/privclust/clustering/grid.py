"""k-means of a grid over the declared bounds: noisy tables of counts, for few columns.

In two or three dimensions a few hundred cells cover everything, and all of them together cost no
more than one count. So where rows are few, or ε is small, most of the budget goes into one table,
and the centres are those of its cells: uniform grids after Su, Cao, Li, Bertino and Jin (2016,
"Differentially private k-means clustering"), made finer where rows are, after Qardaji, Yang and Li
(2013, "Differentially private grids for geospatial data"). Two coarser tables come first; each cell
is split by the rows that it seems to have, so rows that fill a small part of the bounds, or lie
along a curve, get cells of their size; but where these tables would show noise alone, there is one
table. Counts are brought to what is known of them: none is below zero, together they are the number
of rows, and so are those of the cells that were not split.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from privclust._typing import Floats, Indices
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
# Of the budget, for the first two tables; and how many times fewer cells the first has.
_LOOKS, _COARSER = 0.25, 8
# Cells that were not split are assumed to be empty if their rows are below this many errors of
# their sum, and if that and the errors are at most this share of all rows.
_ERRORS, _FEW = 2.0, 0.1
# A cluster is seen if the cells nearest to it exceed this many errors of their sum.
_SEEN = 3.0


def ask_grid_given_count(
    view: PointsView, purse: Allowance, n_rows: float, n_clusters: int, rng: np.random.Generator
) -> KMeansResult:
    """Cluster rows, given an already released row count, which is asked again to be surer."""
    for_sizes, n_rows = purse.take(SIZES), ask_row_count_again(view, purse, n_rows)
    bounds = view.domain.box_in_unit_ball()
    table = _ask_table(view, purse, n_rows, n_clusters)
    centres = weighted_kmeans(table.cells, table.weights, n_clusters, rng)
    errors, is_hidden = table.errors(centres)
    errors = np.minimum(errors, uninformative_errors(n_clusters, *bounds))
    return ask_cluster_sizes(
        view, centres, errors, for_sizes, "grid", (HIDDEN,) if is_hidden else ()
    )


def _ask_table(view: PointsView, purse: Allowance, n_rows: float, n_clusters: int) -> _Table:
    """Count rows in two looks and a last table, or all at once where a look would show noise."""
    looks = purse.share(_LOOKS)
    first, second = looks.split([1, 1])
    last = purse.remaining.remainder(looks)
    n_cells = max(2 * n_clusters, _affordable_cells(view, last, n_rows, n_clusters) // _COARSER)
    if n_rows < n_cells * fitted.ROWS_OF_A_CELL * view.count_error(first):
        share = purse.remaining
        n_cells = _affordable_cells(view, share, n_rows, n_clusters)
        return _Table.ask_first(view, "grid", share, n_rows, n_cells)
    table = _Table.ask_first(view, "coarse grid", first, n_rows, n_cells)
    for name, share in (("finer grid", second), ("grid", last)):
        n_cells = _affordable_cells(view, share, n_rows, n_clusters)
        table = table.ask_split(view, name, share, n_cells)
    return table


grid: Method = partial(ask_with_row_count, ask_grid_given_count)


@dataclass(frozen=True)
class _Table:
    """The noisy counts of a grid."""

    # (n_cells, d): the middles of the cells, and their widths.
    cells: Floats
    widths: Floats
    # (n_cells,): by all tables that the cell is in, with their variances, and brought to what is
    # known of them; and the first of these tables.
    counts: Floats
    variances: Floats
    weights: Floats
    tables: Indices
    n_rows: float

    @classmethod
    def ask_first(
        cls, view: PointsView, name: str, share: Share, n_rows: float, wanted: int
    ) -> _Table:
        """Count the rows of about ``wanted`` cells of equal size."""
        axes, widths = _axes(*view.domain.box_in_unit_ball(), wanted)
        cells = grid_points(axes)
        counts, variances = _ask_counts(view, name, share, cells)
        every = np.tile(widths, (len(cells), 1))
        tables, weights = np.zeros(len(cells), np.intp), with_sum(counts, n_rows)
        return cls(cells, every, counts, variances, weights, tables, n_rows)

    def ask_split(self, view: PointsView, name: str, share: Share, wanted: int) -> _Table:
        """Split the cells by their weights into about ``wanted``, and count again."""
        cells, widths, sources = self._split(wanted)
        counts, variances = _ask_counts(view, name, share, cells)
        whole = np.bincount(sources, minlength=len(self.cells))[sources] == 1
        before = sources[whole]
        trust = variances[whole] / (variances[whole] + self.variances[before])
        counts[whole] += trust * (self.counts[before] - counts[whole])
        variances[whole] *= 1 - trust
        tables = np.where(whole, self.tables[sources], self.tables.max() + 1)
        weights = _weigh(counts, variances, tables, self.n_rows)
        return _Table(cells, widths, counts, variances, weights, tables, self.n_rows)

    def _split(self, wanted: int) -> tuple[Floats, Floats, Indices]:
        """Return middles and widths of finer cells, nearly cubes, and the cell each is from."""
        shares = np.maximum(wanted * self.weights / self.n_rows, 1.0)
        sides = _sides(np.maximum(self.widths, 1e-12), shares)
        cells, sources = [], []
        for pattern in np.unique(sides, axis=0):
            own = np.flatnonzero((sides == pattern).all(axis=1))
            parts = grid_points(tuple((np.arange(n) + 0.5) / n - 0.5 for n in pattern))
            cells.append(self.cells[own][:, None] + self.widths[own][:, None] * parts)
            sources.append(np.repeat(own, len(parts)))
        source = np.concatenate(sources)
        middles = np.concatenate([part.reshape(-1, self.cells.shape[1]) for part in cells])
        return middles, (self.widths / sides)[source], source

    def errors(self, centres: Floats) -> tuple[Floats, bool]:
        """Return the errors of centres, and whether noise alone could have made one of them."""
        cells, errors, is_hidden = self.cells, np.zeros_like(centres), False
        labels = nearest_centre(cells, centres)
        for j, centre in enumerate(centres):
            near, mine = labels == j, (labels == j) & (self.weights > 0)
            least = math.sqrt(self.variances.max())
            number, size = max(1, int(mine.sum())), max(float(self.weights[mine].sum()), least)
            seen = float(self.counts[near].sum())
            is_hidden |= seen < _SEEN * math.sqrt(max(least**2, self.variances[near].sum()))
            noise = np.sqrt(self.variances[mine] @ (cells[mine] - centre) ** 2) / size
            width = self.widths[mine].mean(axis=0) if mine.any() else self.widths.max(axis=0)
            errors[j] = np.hypot(noise, width / math.sqrt(12 * number))
        return errors, is_hidden


def _ask_counts(view: PointsView, name: str, share: Share, cells: Floats) -> tuple[Floats, Floats]:
    """Return the noisy numbers of rows nearest to each cell, and their variances."""
    frame = Projection(np.zeros(cells.shape[1]))
    counts = view.ask_clusters(name, frame, cells, 1.0, counts=share).counts
    return counts.value.copy(), np.full(len(cells), counts.standard_error**2)


def _weigh(counts: Floats, variances: Floats, tables: Indices, n_rows: float) -> Floats:
    """Return weights that are not below zero and add up to all rows.

    Cells that stay whole seemed to have few rows. One of many that has a few by noise alone, far
    from all rows, would attract a centre; so such cells add up to what they have together, those
    of each table by themselves.
    """
    weights, left = np.zeros_like(counts), n_rows
    for table in range(int(tables.max()) + 1):
        own = tables == table
        few, doubt = float(counts[own].sum()), _ERRORS * math.sqrt(variances[own].sum())
        if table == tables.max():
            few = left
        elif few < doubt and few + doubt < _FEW * n_rows:
            few = 0.0
        few = min(max(few, 0.0), left)
        if few > 0:
            weights[own], left = with_sum(counts[own], few), left - few
    return weights


def _affordable_cells(view: PointsView, share: Share, n_rows: float, n_clusters: int) -> int:
    """Return how many cells a share can count."""
    coordinates = n_clusters * int(np.clip(view.domain.dimension, 2, _MOST_AXES))
    return _n_cells(n_rows / view.count_error(share), coordinates)


def _n_cells(signal: float, coordinates: int) -> int:
    """Return how many cells to make of rows that are this many errors of a count."""
    # With more signal finer cells pay: their width, which is bias, falls as their noise grows.
    finest = min(math.sqrt(signal * coordinates), _MOST_CELLS)
    useful = max(fitted.CELLS_OF_A_CLUSTER * coordinates, finest)
    return max(2 * coordinates, int(min(useful, signal / fitted.ROWS_OF_A_CELL)))


def _axes(low: Floats, high: Floats, wanted: int) -> tuple[tuple[Floats, ...], Floats]:
    """Return the middles of about ``wanted`` nearly cubic cells by axis, and their widths."""
    ranges = np.maximum(high - low, 1e-12)
    (sides,) = _sides(ranges[None], np.array([wanted]))
    widths = ranges / sides
    middles = ((np.arange(n) + 0.5) * width for n, width in zip(sides, widths, strict=True))
    return tuple(first + middle for first, middle in zip(low, middles, strict=True)), widths


def _sides(ranges: Floats, wanted: Floats) -> Indices:
    """Return into how many parts each range is cut to make about ``wanted`` cells, nearly cubes.

    ``ranges``: (n_cells, d). ``wanted``: (n_cells,).
    """
    free = np.zeros(ranges.shape, bool)
    widest = np.argsort(-ranges, axis=1, kind="stable")[:, :_MOST_AXES]
    np.put_along_axis(free, widest, values=True, axis=1)
    # A range shorter than a cell is not cut, and the others share the number of cells.
    for _ in range(_MOST_AXES):
        volumes = np.where(free, ranges, 1).prod(axis=1)
        lengths = (volumes / wanted) ** (1 / np.maximum(free.sum(axis=1), 1))
        free &= ranges >= lengths[:, None]
    cut = np.round(ranges / np.maximum(lengths, 1e-300)[:, None])
    return np.where(free, np.maximum(cut, 1), 1).astype(np.intp)


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
