"""What an algorithm may hold of source rows: public targets and partitions, and noisy answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from privclust._typing import Floats, Integers
from privclust.data.encode import clip_to_ball
from privclust.data.public import Noisy
from privclust.data.sites.distances import METRICS, Metric

# The radius of the targets around their centre, in grid steps: sources are clipped to it in sums.
SOURCE_STEPS = 2**20

# How far apart two points within that radius can be, in grid steps.
FARTHEST_APART = 2 * SOURCE_STEPS

# Rows farther than this many radii from the centre are moved in; they are still beyond the last
# shell, and its squared distances stay below 2^53.
_FARTHEST = 2**4 * SOURCE_STEPS


@dataclass(frozen=True)
class TargetSpace:
    """The public geometry for rows: the targets, their metric, centre and radius."""

    # (n_targets, dimension): embedded, and projected if there are axes; for precomputed distances,
    # an empty table with one row per target.
    targets: Floats
    metric: Metric = METRICS["euclidean"]
    axes: Floats | None = None  # (n_embedded, dimension): what embedded points are projected on

    @property
    def order(self) -> int:
        """The exponent of the norm that distances are measured in."""
        return self.metric.order

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
        """Return points of the user's columns in the coordinates of this space, each by itself."""
        coordinates = self.metric.embed(points)
        if self.axes is None:
            return coordinates
        # Not a matrix product: BLAS may round a row differently depending on other rows. So may
        # sums over rows stored by columns.
        return np.asarray(np.einsum("ij,jk->ik", np.ascontiguousarray(coordinates), self.axes))

    def to_grid(self, coordinates: Floats) -> Floats:
        """Return coordinates of this space as integers, in steps of the radius / 2^20."""
        grid = np.rint((coordinates - self.centre) * (SOURCE_STEPS / self.radius))
        # Clip each coordinate first: the square of a very large number would be infinite.
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

    Notes
    -----
    Bins are numbered shell after shell, site after site; the last bin is for rows outside the
    declared bounds or beyond the last edge.
    """

    edges: Floats  # (n_shells + 1,): rising distances to the nearest target, the first of them 0
    # What cuts each shell: points of the space, or numbers of targets if distances are precomputed.
    # A row belongs to the nearest.
    sites: tuple[NDArray[np.float64] | NDArray[np.intp], ...]

    @cached_property
    def offsets(self) -> Integers:
        """The index of the first bin of each shell, and of the bin for rows outside."""
        return np.cumsum([0, *map(len, self.sites)])

    @property
    def n_bins(self) -> int:
        """Number of bins, including the last one for rows outside."""
        return int(self.offsets[-1]) + 1


@dataclass(frozen=True)
class CellAnswer:
    """What :meth:`SitesView.ask_cells` releases about the rows nearest to each site."""

    counts: Noisy  # (n_sites,): numbers of rows
    sums: Noisy  # (n_sites, dimension): sums of their coordinates around the centre of the targets
