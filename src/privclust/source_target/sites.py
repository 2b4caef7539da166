"""Public sites: points among the targets that cut space into cells, and coresets of the targets.

They are made from targets alone, without chance, so the same targets give the same cells.
"""

from __future__ import annotations

import heapq

import numpy as np
from scipy.spatial import cKDTree

from privclust._typing import Floats, Indices

__all__ = ["cell_sites", "coreset", "nearest_site"]


_MEAN_STEPS = 3


def cell_sites(points: Floats, n_sites: int) -> Floats:
    """Return ``n_sites`` means of cells, fewer if there are fewer different points.

    Starting from one cell, the cell with the largest sum of squares is cut across its widest
    coordinate at the mean; a few steps of k-means follow.
    """
    sites = np.array([points[cell].mean(axis=0) for cell in _cut(points, n_sites)])
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
    one nearest to their mean, which is taken.
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


def _cut(points: Floats, n_cells: int) -> list[Indices]:
    """Return the cells; a cell whose points are all alike is not cut."""
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
