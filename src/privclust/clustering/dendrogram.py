"""Ward's tree of released cells: which clusters are parts of which, and what noise explains.

Merging two groups of cells costs the inertia that it adds, W V / (W + V) times the squared distance
of their means, W and V being their counts. The next merge is always the cheapest. Noise alone sets
two equal places apart; a merge that costs no more than that is *within noise*.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from privclust._typing import Floats, Indices
from privclust.clustering.any_clusterer import number_by_weight
from privclust.clustering.labelled_cells import with_cell_labels
from privclust.clustering.release import cells_from_release
from privclust.clustering.result import Cells
from privclust.exceptions import LowSignalWarning, ParameterError
from privclust.parameters import WHOLE

if TYPE_CHECKING:
    from privclust.release.release import Release

# Errors of the cost of a merge of two equal places that noise is allowed.
_ERRORS = 2.0
_MOST_LEAVES = 30


@dataclass(frozen=True, repr=False)
class Dendrogram:
    """The tree of a summary's cells.

    Attributes
    ----------
    linkage : ndarray of shape (n_cells - 1, 4)
        As :func:`scipy.cluster.hierarchy.linkage` returns it, for the cells that have rows: which
        two are merged, at which height, and how many cells that makes.
    within_noise : ndarray of bool of shape (n_cells - 1,)
        Whether noise explains the distance of the two that are merged.
    counts : ndarray of shape (n_cells,)
        About how many rows each cell stands for.
    """

    linkage: Floats
    within_noise: np.ndarray
    counts: Floats
    _release: Release

    def __repr__(self) -> str:
        cells, merges = len(self.counts), len(self.within_noise)
        explained = int(self.within_noise.sum())
        return f"<Dendrogram of {cells} cells: noise explains {explained} of {merges} merges>"

    @classmethod
    def of(cls, release: Release) -> Dendrogram:
        """Return the tree of a summary."""
        cells = cells_from_release(release)
        live = cells.counts > 0
        linkage, explained = link_cells(cells, np.flatnonzero(live))
        return cls(linkage, explained, cells.counts[live], release)

    @property
    def most_clusters(self) -> int:
        """The number of branches that noise does not explain; it bounds the number of clusters.

        It is no suggestion: cells of one round cluster lie apart too, without any noise.
        """
        return 1 + int((~self.within_noise).sum())

    def labels(self, n_clusters: int) -> Indices:
        """Return the cluster of each cell that has rows, the largest first."""
        WHOLE.check("n_clusters", n_clusters)
        n_cells = len(self.counts)
        if n_clusters > n_cells:
            raise ParameterError(
                f"n_clusters must be at most {n_cells}, the number of cells that stand out from "
                f"the noise, got {n_clusters}; ask for fewer clusters, or summarise with a larger "
                "budget."
            )
        group = np.arange(2 * n_cells - 1)
        for node in reversed(range(n_cells, 2 * n_cells - int(n_clusters))):
            group[self.linkage[node - n_cells, :2].astype(int)] = group[node]
        return number_by_weight(group[:n_cells], self.counts)

    def cut(self, n_clusters: int) -> Release:
        """Return k clusters as a summary that labels new rows; nothing more is spent.

        Parameters
        ----------
        n_clusters : int
            A warning says so if noise explains some of them.
        """
        found = self.labels(n_clusters)
        parted = self.within_noise[len(self.within_noise) - (int(n_clusters) - 1) :]
        if parted.any():
            warnings.warn(
                f"Noise explains the distance of {int(parted.sum()) + 1} of these clusters from "
                f"each other; ask for fewer, such as the {self.most_clusters} at most that it "
                "does not explain.",
                LowSignalWarning,
                stacklevel=2,
            )
        whole = np.full(len(self._release.arrays["counts"]), -1, np.intp)
        whole[self._release.arrays["counts"] > 0] = found
        return with_cell_labels(self._release, whole, f"Ward(n_clusters={int(n_clusters)})")

    def plot(self, ax: Any = None, most_leaves: int = _MOST_LEAVES) -> Any:
        """Draw the tree and return the axes; a merge within noise has no height of its own.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; a new figure if not given.
        most_leaves : int, default=30
            The number of groups below which nothing is drawn.
        """
        WHOLE.check("most_leaves", most_leaves)
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.subplots(layout="constrained")[1]
        draw_tree(ax, self, int(most_leaves))
        return ax


def link_cells(cells: Cells, live: Indices) -> tuple[Floats, np.ndarray]:
    """Return scipy's linkage of these cells, and which merges noise explains."""
    merges = ward_merges(cells.cells[live], cells.counts[live])
    order = np.argsort(merges[:, 2], kind="stable")
    count = len(live)
    name, size = np.arange(2 * count - 1), np.ones(2 * count - 1)
    # Of a node: its weight, by group of cells, and the sum of squared weights times noise.
    weights = np.zeros((2 * count - 1, len(cells.group_variances)))
    weights[np.arange(count), cells.groups[live]] = cells.counts[live]
    noise = np.zeros((2 * count - 1, cells.cells.shape[1]))
    noise[:count] = (cells.counts[live] ** 2 * cells.variances[live])[:, None] * cells.column_shares
    linkage, explained = np.zeros((count - 1, 4)), np.zeros(count - 1, bool)
    for place, merge in enumerate(order):
        node, (one, two) = count + place, sorted(name[merges[merge, :2].astype(int)])
        name[count + merge] = node
        size[node], weights[node] = size[one] + size[two], weights[one] + weights[two]
        noise[node] = noise[one] + noise[two]
        cost = max(float(merges[merge, 2]), 0.0)
        linkage[place] = one, two, math.sqrt(2 * cost), size[node]
        explained[place] = cost < _cost_of_noise(cells, weights[[one, two]], noise[[one, two]])
    return linkage, explained


def _cost_of_noise(cells: Cells, weights: Floats, noise: Floats) -> float:
    """Return what merging two groups of one place costs at most, by noise alone.

    Each has noise of its own; cells that were moved together have the noise of that move in common.
    """
    totals = weights.sum(axis=1)
    shares = weights / totals[:, None]
    moved = float((shares[0] - shares[1]) ** 2 @ cells.group_variances)
    variances = (noise / totals[:, None] ** 2).sum(axis=0) + moved
    spread = variances.sum() + _ERRORS * math.sqrt(2 * float((variances**2).sum()))
    return float(spread * totals.prod() / totals.sum())


def ward_merges(places: Floats, counts: Floats) -> Floats:
    """Return the merges by a chain of nearest neighbours: two nodes and the cost of each.

    Nodes are numbered from the number of places on, in the order of the merges.
    """
    count, weights = len(places), counts.astype(np.float64).copy()
    costs = ((places[:, None] - places[None]) ** 2).sum(axis=2)
    costs *= weights[:, None] * weights / (weights[:, None] + weights)
    np.fill_diagonal(costs, np.inf)
    alive, node = np.ones(count, bool), np.arange(count)
    merges = np.zeros((count - 1, 3))
    chain: list[int] = []
    for number in range(count - 1):
        if not chain:
            chain = [int(np.flatnonzero(alive)[0])]
        while True:
            last = chain[-1]
            near = int(costs[last].argmin())
            if len(chain) > 1 and costs[last, chain[-2]] <= costs[last, near]:
                break
            chain.append(near)
        one, two = chain.pop(), chain.pop()
        merges[number] = node[one], node[two], costs[one, two]
        joined = _joined_costs(costs, weights, one, two)
        alive[one], node[two] = False, count + number
        weights[two] += weights[one]
        joined[~alive] = joined[two] = np.inf
        costs[two], costs[:, two] = joined, joined
        costs[one] = costs[:, one] = np.inf
    return merges


def _joined_costs(costs: Floats, weights: Floats, one: int, two: int) -> Floats:
    """Return what merging each with the union of two costs (Lance and Williams)."""
    both, own = weights[one] + weights[two], costs[one, two]
    with np.errstate(invalid="ignore"):
        added = (weights + weights[one]) * costs[one] + (weights + weights[two]) * costs[two]
        return np.asarray((added - weights * own) / (weights + both))


def draw_tree(ax: Any, tree: Dendrogram, most_leaves: int, colour: str = "#377eb8") -> None:
    """Draw the top of the tree, the heaviest branches on the left."""
    count = len(tree.counts)
    rows = np.concatenate([tree.counts, np.zeros(count - 1)])
    for node, (one, two) in enumerate(tree.linkage[:, :2].astype(int), start=count):
        rows[node] = rows[one] + rows[two]
    first = max(count, 2 * count - most_leaves)  # nodes below are leaves of the picture
    places: dict[int, float] = {}
    heights = {node: tree.linkage[node - count, 2] for node in range(first, 2 * count - 1)}

    def children(node: int) -> list[int]:
        """Return what hangs below a node; merges within noise hand on what they have."""
        found: list[int] = []
        for child in tree.linkage[node - count, :2].astype(int).tolist():
            handed = child >= first and tree.within_noise[child - count]
            found += children(child) if handed else [child]
        return sorted(found, key=lambda child: -rows[child])

    def draw_below(node: int) -> float:
        if node < first:
            places[node] = float(sum(child < first for child in places))
            return places[node]
        below = [draw_below(child) for child in children(node)]
        places[node] = sum(below) / len(below)
        ax.plot([min(below), max(below)], [heights[node]] * 2, color=colour, linewidth=1.2)
        for child, at in zip(children(node), below, strict=True):
            ax.plot([at, at], [heights.get(child, 0.0), heights[node]], color=colour, lw=1.2)
        return places[node]

    draw_below(2 * count - 2)
    leaves = [node for node in places if node < first]
    ax.set_xticks(range(len(leaves)), [f"{rows[leaf]:,.0f}" for leaf in leaves], rotation=90)
    ax.set_xlabel("rows of each branch")
    ax.set_ylabel("height")
    ax.set_ylim(bottom=0)
