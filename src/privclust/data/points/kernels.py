"""Exact statistics of one block of grid rows: around public centres, in cells, second moments.

Every number here is an integer held in a float of enough digits, so that products and sums are
exact in any order, whatever BLAS does. A statistic is a frozen value that is called with grid rows,
and it declares what one more row can change.

The clusters are those of public centres, and the edges of the cells are public too. Every number is
an integer held in float64, as in ``kernels.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from privclust._typing import Floats, Indices, Integers
from privclust.data.encode import GRID_RADIUS, clip_to_ball
from privclust.data.engines.base import scratch
from privclust.data.points.mixed import GridPiece, MixedRows, dense
from privclust.data.points.public import WHOLE, Projection
from privclust.data.question import Question, Term

Precision = type[np.float32] | type[np.float64]

# Rows compared with all centres at a time, so that the table of products stays in the cache.
_PRODUCTS = 1 << 18

# Up to this radius, in steps, inner products stay below 2^24 and single precision is exact.
SINGLE_PRECISION_RADIUS = 2**11

# The levels that a squared distance is rounded down to, and the steps along an axis.
SQUARE_LEVELS = 2**20
_AXIS_STEPS = 2**20


class ProjectionGrid:
    """The integer grid of a frame: ``steps`` steps of length ``step`` to its radius."""

    def __init__(self, frame: Projection) -> None:
        self.step = frame.radius / SINGLE_PRECISION_RADIUS if frame.coarse else 1 / GRID_RADIUS
        self.steps = round(frame.radius / self.step)
        self.dtype: Precision = np.float32 if frame.coarse else np.float64
        self._clipped = frame.radius < WHOLE
        self._origin = np.rint(frame.origin * GRID_RADIUS)
        self._axes = None if frame.axes is None else np.rint(frame.axes * _AXIS_STEPS)
        unit = GRID_RADIUS if self._axes is None else GRID_RADIUS * _AXIS_STEPS
        self._factor = 1 / (unit * self.step)

    def rows(self, grid: GridPiece) -> Floats:
        """Return grid rows as clipped integers of the frame, in memory that is used again."""
        if self._axes is not None and isinstance(grid, MixedRows):
            moved = grid.products(self._axes)
            moved -= self._origin @ self._axes
        else:
            moved = np.subtract(dense(grid), self._origin, out=scratch("moved rows", grid.shape))
            if self._axes is not None:  # every partial sum is below 2^42, so exact
                room = scratch("projected rows", (len(moved), self._axes.shape[1]))
                moved = np.matmul(moved, self._axes, out=room)
        if self._factor != 1:
            moved *= self._factor
            np.rint(moved, out=moved)
        return clip_to_ball(moved, self.steps) if self._clipped else moved

    def centres(self, centres: Floats) -> Floats:
        """Return public centres, given in the frame's coordinates, on its grid."""
        return clip_to_ball(np.rint(centres / self.step), self.steps)

    def length(self, distance: float) -> int:
        """Return a distance in steps, at least one."""
        return max(1, int(distance / self.step))


@dataclass(frozen=True)
class ClusterTotals:
    """What one block adds to the statistics of the clusters around public centres."""

    counts: Integers
    offsets: Integers
    square: Integers

    def __add__(self, other: ClusterTotals) -> ClusterTotals:
        return ClusterTotals(
            self.counts + other.counts, self.offsets + other.offsets, self.square + other.square
        )


def nearest(rows: Floats, centres: Floats, dtype: Precision = np.float64) -> Indices:
    """Return the index of the nearest centre of each row; the lower index wins a tie."""
    if len(centres) == 1:
        return np.zeros(len(rows), np.intp)
    # The nearest centre c has the largest x·c - |c|²/2; a last coordinate of one supplies |c|²/2.
    halves = np.einsum("ij,ij->i", centres, centres) / 2
    targets: NDArray[Any] = np.column_stack([centres, -halves]).T.astype(dtype)
    labels = np.empty(len(rows), np.intp)
    height = max(1, _PRODUCTS // len(centres))
    part = scratch("rows to compare", (min(height, len(rows)), len(targets)), dtype)
    part[:, -1] = 1
    products = scratch("products with centres", (len(part), len(centres)), dtype)
    for start in range(0, len(rows), height):
        piece = part[: len(rows) - start]
        piece[:, :-1] = rows[start : start + height]
        inner = np.matmul(piece, targets, out=products[: len(piece)])
        np.argmax(inner, axis=1, out=labels[start : start + height])
    return labels


def block_sums(
    rows: Floats,
    centres: Floats,
    clip: int,
    dtype: Precision = np.float64,
    *,
    offsets: bool = True,
    square: bool = True,
) -> ClusterTotals:
    """Return, per nearest centre, the number of rows and the sum of their clipped offsets.

    Also returned, in a single number, is the sum over all rows of the squared distance to the
    nearest centre, at most ``clip`` squared, in units of that square over ``SQUARE_LEVELS``. The
    offsets and the square are zero if they are not wanted.
    """
    labels = nearest(rows, centres, dtype)
    counts = np.bincount(labels, minlength=len(centres)).astype(np.int64)
    sums, levels = np.zeros(centres.shape), 0.0
    if offsets or square:
        gaps = np.take(centres, labels, axis=0, out=scratch("gaps", rows.shape), mode="clip")
        np.subtract(rows, gaps, out=gaps)
        distances = np.einsum("ij,ij->i", gaps, gaps)
        if square:
            shares = np.minimum(distances / (float(clip) * clip), 1)
            levels = np.floor(shares * SQUARE_LEVELS).sum()
        if offsets:
            sums = sums_by_label(clip_to_ball(gaps, clip, distances), labels, len(centres))
    return ClusterTotals(counts, sums.astype(np.int64), np.array([levels]).astype(np.int64))


def sums_by_label(rows: Floats, labels: Indices, n_labels: int) -> Floats:
    """Add up the rows of each label."""
    if n_labels == 1:
        return np.asarray(rows.sum(axis=0, keepdims=True))
    # A product with the indicator matrix of the labels.
    ones, ends = np.ones(len(rows)), np.arange(len(rows) + 1)
    membership = sparse.csc_array((ones, labels, ends), shape=(n_labels, len(rows)))
    return np.asarray(membership @ rows)


@dataclass(frozen=True)
class RowCount:
    """The number of rows."""

    question = Question("count", Term.cells())

    def __call__(self, rows: GridPiece) -> Integers:
        """Return the number of rows of a piece."""
        return np.array([len(rows)], np.int64)

    def none(self) -> Integers:
        """Return the number of no rows."""
        return np.zeros(1, np.int64)


@dataclass(frozen=True)
class ClusterSums:
    """Numbers, clipped offsets and squared distances of the rows nearest to public centres."""

    frame: Projection
    centres: Floats  # (n_centres, frame.dimension): points of the frame
    clip: float  # offsets of rows from their nearest centre are clipped to this length
    # What is wanted besides the numbers.
    offsets: bool = True
    square: bool = True

    @cached_property
    def grid(self) -> ProjectionGrid:
        """The grid that rows and centres are put on."""
        return ProjectionGrid(self.frame)

    @property
    def length(self) -> int:
        """The clip, in steps of the grid."""
        return self.grid.length(self.clip)

    @property
    def questions(self) -> dict[str, Question]:
        """A row is in one count, and in one sum with a clipped offset; its square has levels."""
        length, step, dimension = self.length, self.grid.step, self.frame.dimension
        counts = Question("counts", Term.cells(), attrgetter("counts"))
        offsets = Question("offsets", Term.vector(length), attrgetter("offsets"))
        square = Question("square", Term.within(SQUARE_LEVELS), attrgetter("square"))
        return {
            "counts": counts,
            "offsets": replace(offsets, step=step, dimension=dimension),
            "square": replace(square, step=(length * step) ** 2 / SQUARE_LEVELS),
        }

    @cached_property
    def _targets(self) -> Floats:
        return self.grid.centres(self.centres)

    def __call__(self, rows: GridPiece) -> ClusterTotals:
        """Return what a piece of grid rows adds."""
        seen = self.grid.rows(rows)
        wanted = {"offsets": self.offsets, "square": self.square}
        return block_sums(seen, self._targets, self.length, self.grid.dtype, **wanted)


@dataclass(frozen=True)
class GroupSums(ClusterSums):
    """The same, summed over groups of centres; offsets are still from the nearest centre."""

    groups: Indices = field(kw_only=True)  # (n_centres,): the public group of each centre
    # The number of groups; one without a centre has sums of zero.
    n_groups: int = field(kw_only=True)

    def __call__(self, rows: GridPiece) -> ClusterTotals:
        """Return what a piece of grid rows adds."""
        sums = super().__call__(rows)
        counts = np.zeros(self.n_groups, np.int64)
        offsets = np.zeros((self.n_groups, sums.offsets.shape[1]), np.int64)
        np.add.at(counts, self.groups, sums.counts)
        np.add.at(offsets, self.groups, sums.offsets)
        return ClusterTotals(counts, offsets, sums.square)


# Exact histograms of one block of grid rows, of each cluster and coordinate; integers.


@dataclass(frozen=True)
class ClusterHistograms:
    """The numbers of rows of each cluster, in cells of some coordinates."""

    # (n_clusters, n_features): points of the unit ball; a row belongs to the cluster of the nearest
    # one.
    centres: Floats
    coordinates: Indices  # (n_counted,): the coordinates that are counted
    # (n_counted, n_cells - 1): rising edges within the unit ball; an edge belongs to the cell above
    # it.
    edges: Floats

    @property
    def question(self) -> Question:
        """A row is in one entry of the table of each coordinate."""
        return Question("cluster_histograms", Term.cells(len(self.coordinates)))

    @cached_property
    def _grid(self) -> ProjectionGrid:
        return ProjectionGrid(Projection(np.zeros(self.centres.shape[1])))

    @cached_property
    def _targets(self) -> Floats:
        return self._grid.centres(self.centres)

    def __call__(self, rows: GridPiece) -> Integers:
        """Return what a piece of grid rows adds, of shape (n_clusters, n_counted, n_cells)."""
        seen, n_clusters = self._grid.rows(rows), len(self.centres)
        labels, n_cells = nearest(seen, self._targets), self.edges.shape[1] + 1
        steps = np.rint(self.edges / self._grid.step)
        counts = np.empty((n_clusters, len(self.coordinates), n_cells), np.int64)
        for place, coordinate in enumerate(self.coordinates):
            cells = np.searchsorted(steps[place], seen[:, coordinate], side="right")
            flat = np.bincount(labels * n_cells + cells, minlength=n_clusters * n_cells)
            counts[:, place] = flat.reshape(n_clusters, n_cells)
        return counts


# Exact second moments of one block of grid rows; integers, as in ``kernels.py``.

# Second moments use a grid of this many steps to the radius of the frame. It is coarse, which the
# noise hides, and keeps the noise of thousands of entries cheap to draw.
MOMENT_STEPS = 2**7

# The diagonal entries of second moments, and the pairs, which occur twice in the matrix, are
# weighted so that both get their share of the precision.
DIAGONAL_WEIGHT, PAIR_WEIGHT = 5, 7


@dataclass(frozen=True)
class Moments:
    """Weighted sums of the products of the coordinates of rows, each pair once."""

    frame: Projection

    @cached_property
    def grid(self) -> ProjectionGrid:
        """The grid that rows are seen on, before the coarser one of the moments."""
        return ProjectionGrid(self.frame)

    @cached_property
    def upper(self) -> tuple[Indices, Indices]:
        """The indices of the entries in the matrix."""
        return np.triu_indices(self.frame.dimension)

    @cached_property
    def weights(self) -> Integers:
        """What each entry is multiplied by."""
        return np.where(self.upper[0] == self.upper[1], DIAGONAL_WEIGHT, PAIR_WEIGHT)

    @property
    def question(self) -> Question:
        """A row x adds 5 x_i² and, for i < j, 7 x_i x_j: a vector of at most 5 times its square.

        For a row of length r the entries are bounded by x_i² ≤ r² and |x_i x_j| ≤ r²/2.
        """
        diagonal = self.weights == DIAGONAL_WEIGHT
        high = np.where(diagonal, MOMENT_STEPS**2, MOMENT_STEPS**2 // 2) * self.weights
        term = Term.vector(DIAGONAL_WEIGHT * MOMENT_STEPS**2, np.where(diagonal, 0, -high), high)
        step, dimension = (self.frame.radius / MOMENT_STEPS) ** 2, len(self.weights)
        return Question("second_moments", term, as_line, step=step, dimension=dimension)

    def __call__(self, rows: GridPiece) -> Integers:
        """Return what a piece of grid rows adds to each entry."""
        moments = self.grid.rows(rows)  # in scratch memory, so it may be written to
        moments *= MOMENT_STEPS / self.grid.steps
        np.rint(moments, out=moments)
        products = outer_products(clip_to_ball(moments, MOMENT_STEPS))
        return np.asarray(products[self.upper] * self.weights)


def as_line(vector: Integers) -> Integers:
    """Return a vector as a table of one line, so that it is noised as a whole."""
    return vector[None, :]


def outer_products(rows: Floats) -> Integers:
    """Return the sum of the outer products of the rows with themselves."""
    return (rows.T @ rows).astype(np.int64)
