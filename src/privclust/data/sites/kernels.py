"""Private source rows beside public target points: where each row lies, and what a block adds.

Everything public (targets, sites, shells) is fixed before a row is read, and a row is looked at by
itself: it is clipped, put on an integer grid around the targets, and compared with public points.
On the grid, squared distances are integers below 2^53 and therefore exact, so the bin of a row does
not depend on the rows beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from privclust.data.encode import Floats, clip_to_ball

__all__ = [
    "EARTH_RADIUS_KM",
    "SOURCE_STEPS",
    "CellSums",
    "Metric",
    "NearestRows",
    "Rings",
    "TargetSpace",
    "cell_sums",
    "embedded",
    "nearest_rows",
    "ring_counts",
]

Metric = Literal["euclidean", "manhattan", "cosine", "haversine", "precomputed"]
Integers = NDArray[np.int64]

EARTH_RADIUS_KM = 6371.0088

# The radius of the targets around their centre, in grid steps: sources are clipped to it in sums.
SOURCE_STEPS = 2**20

# Farther than this many radii from the centre, a row is moved in; it is beyond the last shell even
# then, and its squared distances stay below 2^53.
_FARTHEST = 2**4 * SOURCE_STEPS


def embedded(points: Floats, metric: Metric) -> Floats:
    """Return coordinates in which the nearest point of a metric is the nearest in a straight line.

    Latitudes and longitudes in degrees become unit vectors in space, rows compared by their angle
    become unit vectors of their own dimension; a row of zeros has no angle and stays at the origin.
    """
    if metric == "haversine":
        latitude, longitude = np.deg2rad(points).T
        flat = np.cos(latitude)
        return np.column_stack(
            [flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)]
        )
    if metric == "cosine":
        lengths = np.linalg.norm(points, axis=1, keepdims=True)
        return np.asarray(points / np.where(lengths > 0, lengths, 1))
    return points


@dataclass(frozen=True)
class TargetSpace:
    """The public geometry that rows are seen in: the targets, their metric, centre and radius.

    Attributes
    ----------
    targets : ndarray of shape (n_targets, dimension)
        Embedded, and projected if there are axes; for precomputed distances, an empty table with
        one row per target.
    metric : Metric
    axes : ndarray of shape (n_embedded, dimension) or None
        What embedded points are projected on.
    """

    targets: Floats
    metric: Metric = "euclidean"
    axes: Floats | None = None

    @property
    def order(self) -> int:
        """The exponent of the norm that distances are measured in."""
        return 1 if self.metric == "manhattan" else 2

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return int(self.targets.shape[1])

    @cached_property
    def centre(self) -> Floats:
        """The mean of the targets."""
        return np.asarray(self.targets.mean(axis=0))

    @cached_property
    def radius(self) -> float:
        """The largest distance of a target from the centre, in a straight line."""
        farthest = float(np.linalg.norm(self.targets - self.centre, axis=1).max(initial=0))
        return farthest if farthest > 0 else 1.0

    def place(self, points: Floats) -> Floats:
        """Return points of the user's columns in the coordinates of this space."""
        coordinates = embedded(points, self.metric)
        if self.axes is None:
            return coordinates
        # Not a matrix product: BLAS may round a row differently beside other rows.
        return np.asarray(np.einsum("ij,jk->ik", coordinates, self.axes))

    def to_grid(self, coordinates: Floats) -> Floats:
        """Return coordinates of this space as integers, in steps of the radius / 2^20."""
        grid = np.rint((coordinates - self.centre) * (SOURCE_STEPS / self.radius))
        # First by coordinate: the square of a very large number would be infinite.
        return clip_to_ball(np.clip(grid, -_FARTHEST, _FARTHEST), _FARTHEST)

    def clipped_grid(self, coordinates: Floats) -> Floats:
        """Return coordinates as integers, at most the radius from the centre."""
        return clip_to_ball(self.to_grid(coordinates), SOURCE_STEPS)

    @cached_property
    def target_tree(self) -> cKDTree:
        """The targets on the grid, for nearest-neighbour search."""
        return cKDTree(self.to_grid(self.targets))


@dataclass(frozen=True)
class Rings:
    """A public partition of the space: shells of distance to the targets, each cut into cells.

    Attributes
    ----------
    edges : ndarray of shape (n_shells + 1,)
        Rising distances to the nearest target, the first of them 0.
    sites : tuple of n_shells arrays
        What cuts each shell: points of the space, or numbers of targets if distances are
        precomputed. A row belongs to the nearest.

    Notes
    -----
    Bins are numbered shell after shell, site after site; the last bin holds what lies outside the
    declared bounds or beyond the last edge.
    """

    edges: Floats
    sites: tuple[NDArray[np.float64] | NDArray[np.intp], ...]

    @cached_property
    def offsets(self) -> Integers:
        """The number of the first bin of each shell, and of the bin for what lies outside."""
        return np.cumsum([0, *map(len, self.sites)])

    @property
    def n_bins(self) -> int:
        """Number of bins, with the last one for what lies outside."""
        return int(self.offsets[-1]) + 1


def ring_counts(
    space: TargetSpace, rings: Rings, rows: Floats, inside: NDArray[np.bool_]
) -> Integers:
    """Return the number of rows in each bin; a row is in exactly one."""
    if space.metric == "precomputed":
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
    """The nearest rows of each site, at most ``n_kept``, by distance and then in reading order.

    Adding two of them keeps the nearest of both, those of the first before equally near ones of
    the second, so that blocks may be added up in any grouping.

    Attributes
    ----------
    squares : ndarray of shape (n_sites, at most n_kept)
        Squared distances.
    rows : ndarray of shape (n_sites, at most n_kept, dimension)
        Grid coordinates, clipped to the radius.
    n_kept : int
    """

    squares: Floats
    rows: Floats
    n_kept: int

    def __add__(self, other: NearestRows) -> NearestRows:
        squares = np.concatenate([self.squares, other.squares], axis=1)
        rows = np.concatenate([self.rows, other.rows], axis=1)
        kept = squares.argsort(axis=1, kind="stable")[:, : self.n_kept]
        lines = np.arange(len(squares))[:, None]
        return NearestRows(squares[lines, kept], rows[lines, kept], self.n_kept)

    def padded_sums(self, sites: Floats) -> Integers:
        """Return the sum of exactly ``n_kept`` rows of each site; where rows lack, the site counts.

        Parameters
        ----------
        sites : ndarray of shape (n_sites, dimension)
            On the grid.
        """
        missing = self.n_kept - self.rows.shape[1]
        sums: Integers = (self.rows.sum(axis=1) + missing * sites).astype(np.int64)
        return sums


def nearest_rows(space: TargetSpace, sites: Floats, rows: Floats, n_kept: int) -> NearestRows:
    """Return the nearest rows of each site in one block; ``sites`` are on the grid."""
    grid = space.clipped_grid(space.place(rows))
    empty = NearestRows(np.empty((len(sites), 0)), np.empty((len(sites), 0, grid.shape[1])), n_kept)
    nearest = empty
    for start in range(0, len(grid), n_kept):
        piece = grid[start : start + n_kept]
        squares = ((sites[:, None, :] - piece[None]) ** 2).sum(axis=2)
        shown = np.broadcast_to(piece, (len(sites), *piece.shape))
        nearest = nearest + NearestRows(squares, shown, n_kept)
    return nearest
