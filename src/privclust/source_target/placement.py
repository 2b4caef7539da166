"""Public cells of the targets, and random places for sources whose cell is all that is known.

A source in a cell of a shell is imagined near a target of that cell, at a distance within the
shell. Where only distances are known there are no places in between: then a source stands at a
target, and its distance to any other target is combined with that of the shell.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from privclust._typing import AnyArray, Floats, Indices, Integers
from privclust.data.sites.public import TargetSpace
from privclust.source_target.sanitised import base_from_points
from privclust.source_target.sites import cell_sites
from privclust.source_target.solver import Problem, lazy_greedy

__all__ = ["CoordinateCells", "DistanceCells", "Placed", "PublicCells", "Wanted"]


# How often a place is drawn again until it lies in its own shell and cell.
_TRIES = 12


@dataclass(frozen=True)
class Wanted:
    """Sources to imagine in the cells of sites, each between two distances to a target.

    Attributes
    ----------
    sites : ndarray
        The sites, as :meth:`CoordinateCells.sites` returns them.
    counts : ndarray of shape (n_sites,)
        How many sources to place in the cell of each site.
    lows, highs : ndarray of shape (sum of counts,)
        The distances to a target between which each of them lies.
    checked : bool
        Whether places must lie in their cell and between their distances to the nearest target.
    """

    sites: Floats | Indices
    counts: Integers
    lows: Floats
    highs: Floats
    checked: bool

    @property
    def cells(self) -> Indices:
        """The cell of each source."""
        return np.repeat(np.arange(len(self.counts)), self.counts)


@dataclass(frozen=True)
class Placed:
    """Imagined sources: points, or targets with distances from them."""

    points: Floats
    anchors: Indices
    offsets: Floats


class _Cells:
    """Cells of public targets, cut by sites among them."""

    space: TargetSpace
    radius: float

    def spacing(self, n_sites: int) -> float:
        """Return the median distance of targets to this many sites; it is above zero."""
        few = min(n_sites, max(1, len(self.space.targets) // 2))
        return max(float(np.median(self._distances_to_sites(few))), self.radius / 2**10)

    def _distances_to_sites(self, count: int) -> AnyArray:
        """Return the distance of each target to the nearest of about this many sites."""
        raise NotImplementedError


class CoordinateCells(_Cells):
    """Cells of targets that have coordinates."""

    def __init__(self, space: TargetSpace) -> None:
        self.space = space
        self.radius = space.radius
        self._made: dict[int, Floats] = {}
        self._owned: dict[bytes, tuple[cKDTree, Indices]] = {}

    def sites(self, count: int) -> Floats:
        """Return about this many sites; the same ones each time."""
        if count not in self._made:
            self._made[count] = cell_sites(self.space.targets, count)
        return self._made[count]

    def positions(self, sites: Floats | Indices) -> Floats:
        """Return the coordinates of sites."""
        return np.asarray(sites, np.float64)

    def _distances_to_sites(self, count: int) -> AnyArray:
        return np.asarray(cKDTree(self.sites(count)).query(self.space.targets)[0])

    def _owners(self, sites: Floats) -> tuple[cKDTree, Indices]:
        """Return a search for the nearest site, and that of each target; all draws share them."""
        key = sites.tobytes()
        if key not in self._owned:
            tree = cKDTree(sites)
            self._owned[key] = tree, np.asarray(tree.query(self.space.targets)[1], np.intp)
        return self._owned[key]

    def place(self, wanted: Wanted, rng: np.random.Generator) -> Placed:
        """Place sources; of those to be checked, what finds no place is left out."""
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
        return Placed(points, np.empty(0, np.intp), np.empty(0))

    def base(self, placed: list[Placed]) -> Floats:
        """Return the distance of each target to the nearest imagined source."""
        return base_from_points(self.space, np.concatenate([part.points for part in placed]))

    @cached_property
    def _target_tree(self) -> cKDTree:
        return cKDTree(self.space.targets)

    def _first_valid(
        self, points: Floats, cells: Indices, low: Floats, high: Floats, nearest: cKDTree
    ) -> Floats:
        order = self.space.order
        distances = self._target_tree.query(points, p=order)[0]
        valid = (distances >= low) & (distances < high)
        valid &= nearest.query(points, p=order)[1] == cells
        table = valid.reshape(-1, _TRIES)
        chosen = points.reshape(-1, _TRIES, points.shape[1])[
            np.arange(len(table)), table.argmax(axis=1)
        ]
        return np.asarray(chosen[table.any(axis=1)])

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
    """Cells of targets of which only the distances to each other are known.

    Parameters
    ----------
    space : TargetSpace
    distances : ndarray of shape (n_targets, n_targets)
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
        """Return the given number of targets that serve the others best."""
        return self._order[:count]

    def positions(self, sites: Floats | Indices) -> Floats:
        """Return the numbers of the targets that are sites, in one column."""
        return np.asarray(sites, np.float64)[:, None]

    def _distances_to_sites(self, count: int) -> AnyArray:
        return np.asarray(self._distances[self.sites(count)].min(axis=0))

    def place(self, wanted: Wanted, rng: np.random.Generator) -> Placed:
        """Place sources beside random targets of their cells; there is nothing to check."""
        columns = np.asarray(wanted.sites, np.intp)
        anchors = _random_members(self._distances[columns].argmin(axis=0), wanted.cells, rng)
        anchors = np.where(anchors >= 0, anchors, columns[wanted.cells])
        return Placed(np.empty((0, 0)), anchors, rng.uniform(wanted.lows, wanted.highs))

    def base(self, placed: list[Placed]) -> Floats:
        """Return the distance of each target to the nearest imagined source."""
        anchors = np.concatenate([part.anchors for part in placed])
        offsets = np.concatenate([part.offsets for part in placed])
        base = np.full(len(self._distances), np.inf)
        for anchor, offset in zip(anchors, offsets, strict=True):
            np.minimum(base, np.hypot(self._distances[anchor], offset), out=base)
        return base


PublicCells = CoordinateCells | DistanceCells


def _random_members(labels: Indices, cells: Indices, rng: np.random.Generator) -> Indices:
    """Return a random target of each cell asked for; -1 where the cell holds no target."""
    order = labels.argsort(kind="stable")
    n_cells = int(max(labels.max(initial=-1), cells.max(initial=-1))) + 1
    starts = np.searchsorted(labels[order], np.arange(n_cells + 1))
    sizes = np.diff(starts)[cells]
    positions = starts[cells] + (rng.random(len(cells)) * sizes).astype(np.intp)
    return np.where(sizes > 0, order[np.minimum(positions, len(order) - 1)], -1)
