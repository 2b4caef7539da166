"""Public sites and their cells: where sources may be, coresets, and random positions in a cell.

They are a deterministic function of the targets.

A source in a cell of a shell is simulated near a target of that cell, at a distance within the
shell. If only distances are known, there are no positions in between: then a source is at a target,
and its distance to any other target is combined with that of the shell.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from privclust._typing import AnyArray, Floats, Indices, Integers
from privclust.data.sites.public import TargetSpace
from privclust.source_target.noisy_source import base_from_points
from privclust.source_target.solver import Problem, lazy_greedy

# Public sites: points among the targets that cut space into cells, and coresets of the targets.

_MEAN_STEPS = 3


def cell_sites(points: Floats, n_sites: int) -> Floats:
    """Return ``n_sites`` means of cells, fewer if there are fewer distinct points.

    Starting from one cell, the cell with the largest sum of squares is cut across its widest
    coordinate at the mean; a few steps of k-means follow.
    """
    sites = np.array([points[cell].mean(axis=0) for cell in _split_cell(points, n_sites)])
    for _ in range(_MEAN_STEPS if len(sites) < len(points) else 0):
        labels = nearest_site(points, sites)
        sizes = np.bincount(labels, minlength=len(sites))
        sums = np.array([np.bincount(labels, column, len(sites)) for column in points.T]).T
        sites = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], sites)
    return sites


def nearest_site(points: Floats, sites: Floats, order: int = 2) -> Indices:
    """Return the number of the nearest site of each public point."""
    return np.asarray(cKDTree(sites).query(points, p=order)[1], np.intp)


def coreset(points: Floats, radius: float) -> Indices:
    """Return numbers of points such that every point lies within ``radius`` of one of them.

    Cells are halved across their widest coordinate until all their points are within radius of the
    one nearest to their mean, which is chosen.
    """
    kept, cells = [], [np.arange(len(points))]
    while cells:
        cell = cells.pop()
        inside = points[cell]
        middle = inside[((inside - inside.mean(axis=0)) ** 2).sum(axis=1).argmin()]
        gaps = np.linalg.norm(inside - middle, axis=1)
        if gaps.max() <= radius:
            kept.append(cell[gaps.argmin()])
            continue
        along = inside[:, np.ptp(inside, axis=0).argmax()].argsort(kind="stable")
        half = len(cell) // 2
        cells += [cell[along[:half]], cell[along[half:]]]
    return np.sort(np.array(kept, np.intp))


def greedy_net(points: Floats, radius: float) -> Indices:
    """Return numbers of points such that every point lies within ``radius`` of one of them.

    Starting from the point nearest to the mean, the point farthest from all chosen ones is chosen
    next. No two of them are within the radius, so there are few more than needed.
    """
    kept = [int(((points - points.mean(axis=0)) ** 2).sum(axis=1).argmin())]
    gaps = np.linalg.norm(points - points[kept[0]], axis=1)
    while gaps.max() > radius:
        kept.append(int(gaps.argmax()))
        gaps = np.minimum(gaps, np.linalg.norm(points - points[kept[-1]], axis=1))
    return np.sort(np.array(kept, np.intp))


def method_sites(points: Floats, radius: float, construction: str | None, *, few: bool) -> Floats:
    """Return the sites of a method: a coreset, or all distinct points.

    ``points``: (n_points, dimension). ``radius``: how far a point may lie from the coreset.
    ``construction``: none uses all points; ``"auto"`` uses what suits the method, by the number of
    sites. ``few``: whether the method wants few sites, because its noise grows with them, or fine
    cells.
    """
    if construction is None:
        different: Floats = np.unique(points, axis=0)
        return different
    if construction == "halving":
        return points[coreset(points, radius)]
    if construction == "net":
        return points[greedy_net(points, radius)]
    net, halved = greedy_net(points, radius), coreset(points, radius)
    chosen = net if (len(net) <= len(halved)) == few else halved
    return np.asarray(points[chosen])


def _split_cell(points: Floats, n_cells: int) -> list[Indices]:
    """Return the cells; a cell whose points are all equal is not cut."""
    everything = np.arange(len(points))
    heap = [(-_spread(points), 0, everything)]
    number = 1
    while len(heap) < n_cells and heap[0][0] < 0:
        _, _, cell = heapq.heappop(heap)
        inside = points[cell]
        along = inside[:, inside.var(axis=0).argmax()]
        low = along <= along.mean()
        # Rounding can put the mean of equal numbers below all of them.
        low = low if 0 < low.sum() < len(low) else along < along.max()
        if not 0 < low.sum() < len(low):
            heapq.heappush(heap, (0.0, number, cell))
            number += 1
            continue
        for part in (cell[low], cell[~low]):
            heapq.heappush(heap, (-_spread(points[part]), number, part))
            number += 1
    return [cell for _, _, cell in heap]


def _spread(points: Floats) -> float:
    return float(points.var(axis=0).sum() * len(points)) if len(points) > 1 else 0.0


# Public cells of the targets, and random positions for sources known only by their cell.

# How often a position is redrawn until it is in its own shell and cell.
_TRIES = 12


@dataclass(frozen=True)
class PlacementRequest:
    """Sources to simulate in the cells of sites, each between two distances to a target."""

    sites: Floats | Indices  # the sites, as :meth:`CoordinateCells.sites` returns them
    counts: Integers  # (n_sites,): how many sources to place in the cell of each site
    # (sum of counts,): the distances to a target between which each of them lies.
    lows: Floats
    highs: Floats
    # Whether positions must be in their cell and between their distances to the nearest target.
    checked: bool

    @property
    def cells(self) -> Indices:
        """The cell of each source."""
        return np.repeat(np.arange(len(self.counts)), self.counts)


@dataclass(frozen=True)
class PlacedSources:
    """Simulated sources: points, or targets with distances from them."""

    points: Floats
    anchors: Indices
    offsets: Floats


class _Cells:
    """Cells of public targets, cut by sites among them."""

    space: TargetSpace
    radius: float

    def spacing(self, n_sites: int) -> float:
        """Return the median distance of targets to ``n_sites`` sites; it is above zero."""
        few = min(n_sites, max(1, len(self.space.targets) // 2))
        return max(float(np.median(self._distances_to_sites(few))), self.radius / 2**10)

    def _distances_to_sites(self, count: int) -> AnyArray:
        """Return the distance of each target to the nearest of about ``count`` sites."""
        raise NotImplementedError


class CoordinateCells(_Cells):
    """Cells of targets that have coordinates."""

    def __init__(self, space: TargetSpace) -> None:
        self.space = space
        self.radius = space.radius
        self._made: dict[int, Floats] = {}
        self._owned: dict[bytes, tuple[cKDTree, Indices]] = {}

    def sites(self, count: int) -> Floats:
        """Return about ``count`` sites; the same ones each time."""
        if count not in self._made:
            self._made[count] = cell_sites(self.space.targets, count)
        return self._made[count]

    def positions(self, sites: Floats | Indices) -> Floats:
        """Return the coordinates of sites."""
        return np.asarray(sites, np.float64)

    def _distances_to_sites(self, count: int) -> AnyArray:
        return np.asarray(cKDTree(self.sites(count)).query(self.space.targets)[0])

    def site_distances(self, sites: Floats | Indices, number: int) -> Floats:
        """Return the distance of every target to one of the sites."""
        away = self.space.targets - self.positions(sites)[number]
        return np.asarray(np.linalg.norm(away, ord=self.space.order, axis=1))

    def own_site_distances(self, sites: Floats | Indices) -> Floats:
        """Return the distance of every target to the nearest of the sites."""
        return base_from_points(self.space, self.positions(sites))

    def _owners(self, sites: Floats) -> tuple[cKDTree, Indices]:
        """Return a search for the nearest site, and that of each target; all draws share them."""
        key = sites.tobytes()
        if key not in self._owned:
            tree = cKDTree(sites)
            self._owned[key] = tree, np.asarray(tree.query(self.space.targets)[1], np.intp)
        return self._owned[key]

    def place(self, wanted: PlacementRequest, rng: np.random.Generator) -> PlacedSources:
        """Place sources; of those to be checked, any without a valid position is left out."""
        sites, checked = self.positions(wanted.sites), wanted.checked
        tries = _TRIES if checked else 1
        low, high = wanted.lows.repeat(tries), wanted.highs.repeat(tries)
        cells = wanted.cells.repeat(tries)
        nearest, owners = self._owners(sites)
        anchors = _random_members(owners, cells, rng)
        known = anchors >= 0
        start = np.where(known[:, None], self.space.targets[anchors], sites[cells])
        lengths = (
            rng.uniform(low, high) if checked else np.exp(rng.uniform(np.log(low), np.log(high)))
        )
        points = start + lengths[:, None] * self._directions(start, rng)
        points = self._on_surface(points)
        if checked:
            points = self._first_valid(points, cells, low, high, nearest)
        return PlacedSources(points, np.empty(0, np.intp), np.empty(0))

    def base(self, placed: list[PlacedSources]) -> Floats:
        """Return the distance of each target to the nearest simulated source."""
        return base_from_points(self.space, np.concatenate([part.points for part in placed]))

    @cached_property
    def _target_tree(self) -> cKDTree:
        return cKDTree(self.space.targets)

    def _first_valid(
        self, points: Floats, cells: Indices, low: Floats, high: Floats, nearest: cKDTree
    ) -> Floats:
        """Return the first valid try of each source; a later try is looked at only if it is wanted.

        Few sites are searched faster than many targets, so they come first.
        """
        order, chosen = self.space.order, np.full(len(points) // _TRIES, -1)
        for number in range(_TRIES):
            looked = np.flatnonzero(chosen < 0) * _TRIES + number
            looked = looked[nearest.query(points[looked], p=order)[1] == cells[looked]]
            distances = self._target_tree.query(points[looked], p=order)[0]
            valid = looked[(distances >= low[looked]) & (distances < high[looked])]
            chosen[valid // _TRIES] = valid
        return np.asarray(points[chosen[chosen >= 0]])

    def _directions(self, start: Floats, rng: np.random.Generator) -> Floats:
        directions = rng.standard_normal(start.shape)
        if self._on_sphere:
            directions -= (directions * start).sum(axis=1, keepdims=True) * start
        lengths = np.linalg.norm(directions, ord=self.space.order, axis=1, keepdims=True)
        return np.asarray(directions / np.maximum(lengths, 1e-300))

    def _on_surface(self, points: Floats) -> Floats:
        if not self._on_sphere:
            return points
        lengths = np.linalg.norm(points, axis=1, keepdims=True)
        return np.asarray(points / np.maximum(lengths, 1e-300))

    @property
    def _on_sphere(self) -> bool:
        return self.space.metric.on_sphere


class DistanceCells(_Cells):
    """Cells of targets known only by their distances to each other.

    ``distances``: (n_targets, n_targets).
    """

    def __init__(self, space: TargetSpace, distances: NDArray[np.float32]) -> None:
        self.space = space
        self.radius = float(distances.max()) / 2 or 1.0
        self._distances = distances

    @cached_property
    def _order(self) -> Indices:
        n_targets = len(self._distances)
        problem = Problem(self._distances, np.full(n_targets, np.inf), np.ones(n_targets))
        return lazy_greedy(problem, n_targets).chosen

    def sites(self, count: int) -> Indices:
        """Return the ``count`` targets that serve the others best."""
        return self._order[:count]

    def positions(self, sites: Floats | Indices) -> Floats:
        """Return the numbers of the targets that are sites, in one column."""
        return np.asarray(sites, np.float64)[:, None]

    def site_distances(self, sites: Floats | Indices, number: int) -> Floats:
        """Return the distance of every target to one of the sites."""
        return np.asarray(self._distances[np.asarray(sites, np.intp)[number]], np.float64)

    def own_site_distances(self, sites: Floats | Indices) -> Floats:
        """Return the distance of every target to the nearest of the sites."""
        return np.asarray(self._distances[np.asarray(sites, np.intp)].min(axis=0), np.float64)

    def _distances_to_sites(self, count: int) -> AnyArray:
        return np.asarray(self._distances[self.sites(count)].min(axis=0))

    def place(self, wanted: PlacementRequest, rng: np.random.Generator) -> PlacedSources:
        """Place sources at random targets of their cells; there is nothing to check."""
        columns = np.asarray(wanted.sites, np.intp)
        anchors = _random_members(self._distances[columns].argmin(axis=0), wanted.cells, rng)
        anchors = np.where(anchors >= 0, anchors, columns[wanted.cells])
        return PlacedSources(np.empty((0, 0)), anchors, rng.uniform(wanted.lows, wanted.highs))

    def base(self, placed: list[PlacedSources]) -> Floats:
        """Return the distance of each target to the nearest simulated source."""
        anchors = np.concatenate([part.anchors for part in placed])
        offsets = np.concatenate([part.offsets for part in placed])
        base = np.full(len(self._distances), np.inf)
        for anchor, offset in zip(anchors, offsets, strict=True):
            np.minimum(base, np.hypot(self._distances[anchor], offset), out=base)
        return base


PublicCells = CoordinateCells | DistanceCells


def _random_members(labels: Indices, cells: Indices, rng: np.random.Generator) -> Indices:
    """Return a random target of each cell asked for; -1 if the cell has no target."""
    order = labels.argsort(kind="stable")
    n_cells = int(max(labels.max(initial=-1), cells.max(initial=-1))) + 1
    starts = np.searchsorted(labels[order], np.arange(n_cells + 1))
    sizes = np.diff(starts)[cells]
    positions = starts[cells] + (rng.random(len(cells)) * sizes).astype(np.intp)
    return np.where(sizes > 0, order[np.minimum(positions, len(order) - 1)], -1)
