"""Public cells of the targets, and random places for sources of which only the cell is known.

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

from privclust._typing import Floats, Indices, Integers
from privclust.data.sites.public import TargetSpace
from privclust.source_target.sanitised import base_from_points
from privclust.source_target.sites import cell_sites, nearest_site
from privclust.source_target.solver import Problem, lazy_greedy

__all__ = ["CoordinateCells", "DistanceCells", "Placed", "PublicCells"]


# How often a place is drawn anew until it lies in its own shell and cell.
_TRIES = 12


@dataclass(frozen=True)
class Placed:
    """Imagined sources: points, or targets with distances from them."""

    points: Floats
    anchors: Indices
    offsets: Floats


class CoordinateCells:
    """Cells of targets that have coordinates."""

    def __init__(self, space: TargetSpace) -> None:
        self.space = space
        self.radius = space.radius
        self._made: dict[int, Floats] = {}

    def sites(self, count: int) -> Floats:
        """Return about this many sites; the same ones each time."""
        if count not in self._made:
            self._made[count] = cell_sites(self.space.targets, count)
        return self._made[count]

    def positions(self, sites: Floats | Indices) -> Floats:
        """Return the coordinates of sites."""
        return np.asarray(sites, np.float64)

    def spacing(self, n_sites: int) -> float:
        """Return the median distance of targets to this many sites; it is above zero."""
        sites = self.sites(min(n_sites, max(1, len(self.space.targets) // 2)))
        median = float(np.median(self._site_tree(sites).query(self.space.targets)[0]))
        return max(median, self.radius / 2**10)

    def around(
        self,
        sites: Floats | Indices,
        counts: Integers,
        lows: Floats,
        highs: Floats,
        rng: np.random.Generator,
        *,
        checked: bool,
    ) -> Placed:
        """Place ``counts`` sources in the cells of sites, between two distances to a target each.

        Checked places lie in their cell and between their distances to the nearest target; what
        finds no such place is left out.
        """
        cells = np.repeat(np.arange(len(counts)), counts)
        tries = _TRIES if checked else 1
        cells, low, high = cells.repeat(tries), lows.repeat(tries), highs.repeat(tries)
        anchors = _random_members(
            nearest_site(self.space.targets, self.positions(sites)), cells, rng
        )
        known = anchors >= 0
        start = np.where(known[:, None], self.space.targets[anchors], self.positions(sites)[cells])
        lengths = (
            rng.uniform(low, high) if checked else np.exp(rng.uniform(np.log(low), np.log(high)))
        )
        points = start + lengths[:, None] * self._directions(start, rng)
        points = self._on_surface(points)
        if checked:
            points = self._first_valid(points, cells, low, high, self.positions(sites))
        return Placed(points, np.empty(0, np.intp), np.empty(0))

    def base(self, placed: list[Placed]) -> Floats:
        """Return the distance of each target to the nearest imagined source."""
        return base_from_points(self.space, np.concatenate([part.points for part in placed]))

    @cached_property
    def _target_tree(self) -> cKDTree:
        return cKDTree(self.space.targets)

    def _site_tree(self, sites: Floats) -> cKDTree:
        return cKDTree(sites)

    def _first_valid(
        self, points: Floats, cells: Indices, low: Floats, high: Floats, sites: Floats
    ) -> Floats:
        order = self.space.order
        distances = self._target_tree.query(points, p=order)[0]
        valid = (distances >= low) & (distances < high)
        valid &= nearest_site(points, sites, order) == cells
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


class DistanceCells:
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

    def spacing(self, n_sites: int) -> float:
        """Return the median distance of targets to this many sites; it is above zero."""
        sites = self.sites(min(n_sites, max(1, len(self._distances) // 2)))
        median = float(np.median(self._distances[sites].min(axis=0)))
        return max(median, self.radius / 2**10)

    def around(
        self,
        sites: Floats | Indices,
        counts: Integers,
        lows: Floats,
        highs: Floats,
        rng: np.random.Generator,
        *,
        checked: bool,
    ) -> Placed:
        """Place ``counts`` sources at random targets of the cells of sites."""
        columns = np.asarray(sites, np.intp)
        cells = np.repeat(np.arange(len(counts)), counts)
        anchors = _random_members(self._distances[columns].argmin(axis=0), cells, rng)
        anchors = np.where(anchors >= 0, anchors, columns[cells])
        return Placed(np.empty((0, 0)), anchors, rng.uniform(lows, highs))

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
