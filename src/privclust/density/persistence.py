"""Clusters of a smoothed grid by persistence: peaks that stand out from the saddles between them.

Cells are taken from the densest down. A cell without a denser neighbour begins a peak, and where
two peaks meet is a saddle (ToMATo, Chazal, Guibas, Oudot and Skraba 2013). The lower peak stays a
cluster if it stands above the saddle by more than noise and chance explain among this many cells,
and if the saddle is a valley, and no dent of a long ridge. All of it is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from itertools import product

import numpy as np

from privclust._typing import Floats, Indices
from privclust.density.grid_counts import CountedGrid
from privclust.density.smooth import Smoothed, smooth
from privclust.exceptions import ParameterError

# How deep a valley is at least: the saddle has at most this share of the lower peak, by the number
# of cells along an axis. Wide cells fill valleys; where cells are fine, a shallow one is a dent.
_SADDLE, _OF_SIDES = (0.65, 0.5), (32, 64)
# By how many errors a peak stands above its saddle at least, and what is taken off for cells that
# are not independent.
_LEAST_SURE, _DEPENDENT = 2.5, 0.5


@dataclass(frozen=True)
class Merge:
    """Where a peak meets a higher one.

    Attributes
    ----------
    place, saddle_place : ndarray of shape (n_columns,)
        The middles of the cells of the peak and of the saddle, in the units of the data.
    peak, saddle : float
        Rows of a cell there.
    significance : float
        How far the peak stands above the saddle, in errors of noise and chance.
    strength : float
        From 1 on the peak is a cluster of its own: the smaller of what is needed of the
        significance, and of the depth of the valley.
    apart : bool
        Whether the two are different clusters.
    """

    place: Floats
    saddle_place: Floats
    peak: float
    saddle: float
    significance: float
    strength: float
    apart: bool


@dataclass(frozen=True)
class Found:
    """Clusters of a grid."""

    labels: Indices  # of each cell, the largest cluster first; -1 where no rows stand out
    n_clusters: int
    merges: tuple[Merge, ...]  # the strongest first


def find_clusters(counted: CountedGrid, n_clusters: int | None, least: float) -> Found:
    """Return the clusters that stand out, or as many as are asked for.

    A cluster holds at least the share ``least`` of the rows; the number is not held to it.
    """
    seen, few = smooth(counted), least * counted.n_rows
    foreground = seen.foreground(few)
    if counted.notes or not foreground.any():
        _check_number(n_clusters, 1)
        return Found(np.zeros(seen.density.shape, np.intp), 1, ())
    tree = MergeTree.of(seen, foreground)
    strengths = tree.strengths()
    if n_clusters is None:
        apart = _without_small(tree, {int(i) for i in np.flatnonzero(strengths >= 1)}, few)
    else:
        _check_number(n_clusters, tree.n_pieces + len(strengths))
        strongest = np.argsort(-strengths, kind="stable")
        apart = {int(i) for i in strongest[: max(0, n_clusters - tree.n_pieces)]}
    labels = _number_by_size(tree.labels(apart), seen.density, n_clusters)
    merges = tree.merges(counted, strengths, apart)
    return Found(labels, int(labels.max()) + 1, merges)


def _check_number(n_clusters: int | None, most: int) -> None:
    if n_clusters is not None and n_clusters > most:
        raise ParameterError(
            f"n_clusters must be at most {most}, the number of peaks of this density, got "
            f"{n_clusters}; ask for fewer clusters, or fit with a larger budget."
        )


def _without_small(tree: MergeTree, apart: set[int], few: float) -> set[int]:
    """Return the merges that stay apart when small clusters join what they meet first."""
    while apart:
        labels = tree.cell_labels(apart)
        rows = np.bincount(labels, tree.density, len(tree.order))
        sizes = {merge: rows[tree.lower[merge]] for merge in apart}
        smallest = min(sizes, key=lambda merge: (sizes[merge], merge))
        if sizes[smallest] >= few:
            break
        apart = apart - {smallest}
    return apart


def _number_by_size(labels: Indices, density: Floats, most: int | None) -> Indices:
    """Return labels from the largest cluster on; of more than are wanted, the rest is noise."""
    names = np.unique(labels[labels >= 0])
    sizes = np.array([density[labels == name].sum() for name in names])
    numbered = np.full(labels.shape, -1, np.intp)
    for number, place in enumerate(np.argsort(-sizes, kind="stable")[:most]):
        numbered[labels == names[place]] = number
    return numbered


@dataclass(frozen=True)
class MergeTree:
    """The peaks of a smoothed grid and where they meet, from the densest cell down."""

    shape: tuple[int, ...]
    order: Indices  # the cells, the densest first; below, a cell is named by its place here
    density: Floats
    error: Floats
    peak: Indices  # the peak that each cell is led to by its densest neighbours
    # Of each merge, in the order of its saddle: the lower peak, the one on the other side, and
    # where they meet.
    lower: Indices
    higher: Indices
    saddle: Indices

    @classmethod
    def of(cls, seen: Smoothed, foreground: np.ndarray) -> MergeTree:
        """Return the tree of the cells of the foreground."""
        shape, cells = seen.density.shape, np.flatnonzero(foreground)
        order = cells[np.argsort(-seen.density.ravel()[cells], kind="stable")]
        denser = _denser_neighbours(order, shape)
        peak, joined = np.arange(len(order)), np.arange(len(order))
        merges: list[tuple[int, int, int]] = []

        def highest(cell: int) -> int:
            """Return the highest peak of all that have met so far."""
            while joined[cell] != cell:
                joined[cell] = joined[joined[cell]]
                cell = int(joined[cell])
            return cell

        for cell in np.flatnonzero(denser.min(axis=1) < np.arange(len(order))).tolist():
            near = sorted(place for place in denser[cell].tolist() if place < cell)
            peak[cell] = peak[near[0]]
            sides: dict[int, int] = {}
            for place in near:
                sides.setdefault(highest(place), int(peak[place]))
            top, *others = sorted(sides)
            joined[cell] = top
            for low in others:
                merges.append((low, sides[top], cell))
                joined[low] = top
        lower, higher, saddle = np.array(merges, np.intp).reshape(-1, 3).T
        density, error = (part.ravel()[order] for part in (seen.density, seen.error))
        return cls(shape, order, density, error, peak, lower, higher, saddle)

    @property
    def n_pieces(self) -> int:
        """The number of connected pieces."""
        return len(np.unique(self.peak)) - len(self.lower)

    @property
    def significances(self) -> Floats:
        """How far each lower peak stands above its saddle, in errors.

        The error is that of two cells as dense as the peak, because that is what is doubted.
        """
        above = self.density[self.lower] - self.density[self.saddle]
        return above / (math.sqrt(2) * self.error[self.lower])

    def strengths(self) -> Floats:
        """Return by how much each merge has what it takes to stay apart; enough from 1 on."""
        largest = math.sqrt(2 * math.log(max(len(self.order), 2)))
        sure = max(_LEAST_SURE, largest - _DEPENDENT)
        saddle = float(np.interp(max(self.shape), _OF_SIDES, _SADDLE))
        depths = np.log(self.density[self.lower] / self.density[self.saddle])
        return np.minimum(self.significances / sure, depths / math.log(1 / saddle))

    def cell_labels(self, apart: Collection[int]) -> Indices:
        """Return the peak that each cell belongs to if only these merges stay apart."""
        cluster = np.arange(len(self.order))
        joins = [merge for merge in range(len(self.lower)) if merge not in apart]
        cluster[self.lower[joins]] = self.higher[joins]
        # What a peak joins may join another in turn; none comes back to it.
        while (cluster[cluster] != cluster).any():
            cluster = cluster[cluster]
        return np.asarray(cluster[self.peak])

    def labels(self, apart: Collection[int]) -> Indices:
        """Return the same for the whole grid; -1 outside of the foreground."""
        whole = np.full(int(np.prod(self.shape)), -1, np.intp)
        whole[self.order] = self.cell_labels(apart)
        return whole.reshape(self.shape)

    def merges(
        self, counted: CountedGrid, strengths: Floats, apart: Collection[int]
    ) -> tuple[Merge, ...]:
        """Return all merges for people, the strongest first."""
        middles, significances = counted.grid.middles, self.significances
        return tuple(
            Merge(
                middles[self.order[self.lower[i]]],
                middles[self.order[self.saddle[i]]],
                float(self.density[self.lower[i]]),
                float(self.density[self.saddle[i]]),
                float(significances[i]),
                float(strengths[i]),
                int(i) in apart,
            )
            for i in np.argsort(-strengths, kind="stable")
        )


def _denser_neighbours(order: Indices, shape: tuple[int, ...]) -> Indices:
    """Return the places in the order of the neighbours of each cell; too large if there is none."""
    padded = tuple(side + 2 for side in shape)
    inside = tuple(place + 1 for place in np.unravel_index(order, shape))
    codes = np.ravel_multi_index(inside, padded)
    places = np.full(int(np.prod(padded)), len(order), np.intp)
    places[codes] = np.arange(len(order))
    moves = [move for move in product((-1, 0, 1), repeat=len(shape)) if any(move)]
    middle = np.ravel_multi_index((1,) * len(shape), padded)
    steps = [np.ravel_multi_index(tuple(1 + one for one in move), padded) for move in moves]
    return places[codes[:, None] + (np.array(steps) - middle)]
