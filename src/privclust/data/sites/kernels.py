"""Private source rows and public target points: where each row is, and what a block adds.

Everything public (targets, sites, shells) is fixed before a row is read, and each row is treated by
itself: it is clipped, put on an integer grid around the targets, and compared with public points.
On the grid, squared distances are integers below 2^53 and therefore exact, so the bin of a row does
not depend on other rows. A statistic is a frozen value that is called with a piece of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from operator import attrgetter, methodcaller

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from privclust._typing import Floats, Integers
from privclust.data.encode import Domain
from privclust.data.question import Question, Size, Term
from privclust.data.sites.public import FARTHEST_APART, SOURCE_STEPS, Rings, TargetSpace

_ENTRIES = 2**20  # distances between sites and rows that are looked at together


@dataclass(frozen=True)
class RingCounts:
    """The number of rows in each bin of a public partition."""

    domain: Domain
    space: TargetSpace
    rings: Rings

    question = Question("histogram", Term.cells())

    def __call__(self, rows: Floats) -> Integers:
        """Return what the rows of a piece add."""
        clipped = np.clip(rows, self.domain.low, self.domain.high)
        inside: NDArray[np.bool_] = np.all(clipped == rows, axis=1)
        return ring_counts(self.space, self.rings, clipped, inside)

    def none(self) -> Integers:
        """Return the counts of no rows."""
        return np.zeros(self.rings.n_bins, np.int64)


@dataclass(frozen=True)
class CellTotals:
    """The number and the sum of the rows nearest to each public site."""

    domain: Domain
    space: TargetSpace
    sites: Floats

    @property
    def questions(self) -> dict[str, Question]:
        """A row is in one count and, clipped to the radius, in one sum."""
        step, dimension = self.space.radius / SOURCE_STEPS, self.space.dimension
        sums = Question("sums", Term.vector(SOURCE_STEPS), attrgetter("sums"))
        return {
            "counts": Question("counts", Term.cells(), attrgetter("counts")),
            "sums": replace(sums, step=step, dimension=dimension),
        }

    def __call__(self, rows: Floats) -> CellSums:
        """Return what the rows of a piece add."""
        return cell_sums(self.space, self.sites, _clip(self.domain, rows))

    def none(self) -> CellSums:
        """Return the sums of no rows."""
        return self(np.empty((0, self.domain.dimension)))


@dataclass(frozen=True)
class NearestOf:
    """The ``n_kept`` rows nearest to each public site, which are on the grid."""

    domain: Domain
    space: TargetSpace
    sites: Floats
    n_kept: int

    @property
    def averages(self) -> Question:
        """One more row replaces a row, or the site, in the sum of each site.

        So does any other row, given the same others: their changes differ by two of three vectors
        of the ball. The absolute values of an integer vector of length l in d dimensions add up to
        an integer that is at most l √d, so the root may be rounded down.
        """
        n_sites, dimension = self.sites.shape
        absolute = math.isqrt(dimension * FARTHEST_APART**2)
        one = Size(n_sites * absolute, n_sites * FARTHEST_APART**2, n_sites * FARTHEST_APART)
        term = Term(one, one, -SOURCE_STEPS, SOURCE_STEPS)
        step = self.space.radius / SOURCE_STEPS / self.n_kept
        sums = methodcaller("padded_sums", self.sites)
        return Question("nearest_averages", term, sums, terms=self._terms, step=step)

    @property
    def distance(self) -> Question:
        """One more row, or another, replaces a larger distance by its own, for each site."""
        largest = len(self.sites) * FARTHEST_APART
        step = self.space.radius / SOURCE_STEPS / (self.n_kept * len(self.sites))
        term = Term.within(largest)
        return Question("nearest_distance", term, _distances, terms=self._terms, step=step)

    def _terms(self, _n_rows: int) -> int:
        return self.n_kept

    def __call__(self, rows: Floats) -> NearestRows:
        """Return the nearest rows of a piece."""
        clipped = _clip(self.domain, rows)
        return nearest_rows(self.space, self.sites, clipped, self.n_kept)

    def none(self) -> NearestRows:
        """Return the nearest of no rows."""
        return self(np.empty((0, self.domain.dimension)))


def _clip(domain: Domain, rows: Floats) -> Floats:
    """Return rows within the declared bounds."""
    return np.clip(rows, domain.low, domain.high)


def ring_counts(
    space: TargetSpace, rings: Rings, rows: Floats, inside: NDArray[np.bool_]
) -> Integers:
    """Return the number of rows in each bin; every row is in exactly one."""
    if not space.metric.has_coordinates:
        bins = _column_bins(rings, rows)
    else:
        bins = _tree_bins(space, rings, space.to_grid(space.place(rows)))
    bins[~inside] = rings.n_bins - 1
    return np.bincount(bins, minlength=rings.n_bins).astype(np.int64)


def _tree_bins(space: TargetSpace, rings: Rings, grid: Floats) -> Integers:
    distances = space.target_tree.query(grid, p=space.order)[0]
    steps = rings.edges * (SOURCE_STEPS / space.radius)
    shells = np.searchsorted(steps, distances, side="right") - 1
    bins = np.full(len(grid), rings.n_bins - 1, np.int64)
    for shell, sites in enumerate(rings.sites):
        (within,) = np.nonzero(shells == shell)
        tree = cKDTree(space.to_grid(np.asarray(sites, np.float64)))
        bins[within] = rings.offsets[shell] + tree.query(grid[within], p=space.order)[1]
    return bins


def _column_bins(rings: Rings, distances: Floats) -> Integers:
    shells = np.searchsorted(rings.edges, distances.min(axis=1), side="right") - 1
    bins = np.full(len(distances), rings.n_bins - 1, np.int64)
    for shell, sites in enumerate(rings.sites):
        (within,) = np.nonzero(shells == shell)
        columns = np.asarray(sites, np.intp)
        bins[within] = rings.offsets[shell] + distances[np.ix_(within, columns)].argmin(axis=1)
    return bins


@dataclass(frozen=True)
class CellSums:
    """Numbers of rows nearest to each site, and sums of their grid coordinates."""

    counts: Integers
    sums: Integers

    def __add__(self, other: CellSums) -> CellSums:
        return CellSums(self.counts + other.counts, self.sums + other.sums)


def cell_sums(space: TargetSpace, sites: Floats, rows: Floats) -> CellSums:
    """Return what rows add to the cells of the sites; sums take rows clipped to the radius."""
    grid = space.clipped_grid(space.place(rows))
    labels = cKDTree(space.to_grid(sites)).query(grid, p=space.order)[1]
    counts = np.bincount(labels, minlength=len(sites)).astype(np.int64)
    sums = [np.bincount(labels, column, len(sites)) for column in grid.T]
    return CellSums(counts, np.array(sums).T.astype(np.int64))


@dataclass(frozen=True)
class NearestRows:
    """The nearest rows of each site, at most ``n_kept``, by distance and then by coordinates.

    Rows that are equal in both cannot be distinguished. So the result depends on the multiset of
    rows alone: blocks may be added up in any order and grouping.
    """

    squares: Floats  # (n_sites, at most n_kept): squared distances
    rows: Floats  # (n_sites, at most n_kept, dimension): grid coordinates, clipped to the radius
    n_kept: int

    def __add__(self, other: NearestRows) -> NearestRows:
        squares = np.concatenate([self.squares, other.squares], axis=1)
        rows = np.concatenate([self.rows, other.rows], axis=1)
        order = np.lexsort((*np.moveaxis(rows, 2, 0)[::-1], squares), axis=1)[:, : self.n_kept]
        lines = np.arange(len(squares))[:, None]
        return NearestRows(squares[lines, order], rows[lines, order], self.n_kept)

    def padded_sums(self, sites: Floats) -> Integers:
        """Return the sum of ``n_kept`` rows of each site, which replaces missing rows.

        ``sites``: (n_sites, dimension).
        """
        missing = self._missing
        sums: Integers = (self.rows.sum(axis=1) + missing * sites).astype(np.int64)
        return sums

    def padded_distances(self) -> int:
        """Return the sum over sites of ``n_kept`` distances; a missing row is as far away as
        possible.

        Distances are rounded down to whole steps.
        """
        distances = np.floor(np.sqrt(self.squares)).astype(np.int64)
        limited = np.minimum(distances, FARTHEST_APART)
        return int(limited.sum()) + len(self.squares) * self._missing * FARTHEST_APART

    @property
    def _missing(self) -> int:
        return self.n_kept - int(self.rows.shape[1])


def _nearest_places(squares: Floats, count: int) -> NDArray[np.intp]:
    """Return the indices of the ``count`` first rows of each site, by square, then by index."""
    if squares.shape[1] <= count:
        return np.broadcast_to(np.arange(squares.shape[1]), squares.shape)
    order = squares.argpartition((count - 1, count), axis=1)
    # The index matters only if the last row that is kept and the next are equally near.
    last, following = np.take_along_axis(squares, order[:, count - 1 : count + 1], axis=1).T
    (tied,) = np.nonzero(last == following)
    order[tied] = squares[tied].argsort(axis=1, kind="stable")
    return order[:, :count]


def _distances(nearest: NearestRows) -> Integers:
    return np.array([nearest.padded_distances()], np.int64)


def nearest_rows(space: TargetSpace, sites: Floats, rows: Floats, n_kept: int) -> NearestRows:
    """Return the nearest rows of each site in one block; ``sites`` are on the grid."""
    grid = space.clipped_grid(space.place(rows))
    grid = grid[np.lexsort(grid.T[::-1])]
    # Whole numbers far below 2^53, so products and sums are exact in whatever order BLAS takes.
    lengths, found = (grid**2).sum(axis=1), []
    for some in np.array_split(sites, 1 + sites.shape[0] * len(grid) // _ENTRIES):
        squares = (some**2).sum(axis=1)[:, None] - 2 * (some @ grid.T) + lengths
        kept = _nearest_places(squares, n_kept)
        found.append((np.take_along_axis(squares, kept, axis=1), grid[kept]))
    squares, nearest = map(np.concatenate, zip(*found, strict=True))
    return NearestRows(squares, nearest, n_kept)
