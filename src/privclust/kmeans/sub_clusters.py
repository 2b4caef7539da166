"""Sub-clusters of a zone, found in the noisy counts of its cells. Post-processing only."""

from __future__ import annotations

import numpy as np

from privclust._typing import Floats

__all__ = ["drawn_sub_clusters"]

_STEPS = 10


def drawn_sub_clusters(
    cells: Floats, counts: Floats, n_sub_clusters: int, rng: np.random.Generator
) -> Floats:
    """Return, for each zone, the middle of a sub-cluster drawn in proportion to its noisy size.

    Parameters
    ----------
    cells : ndarray of shape (n_zones, n_cells, n_features)
        The points that cut each zone into cells; the first is its middle.
    counts : ndarray of shape (n_zones, n_cells)
        Noisy numbers of rows; negative ones count as none.
    n_sub_clusters : int
    rng : Generator
        Draws starts and sub-clusters.

    Returns
    -------
    ndarray of shape (n_zones, n_features)
        Means of points of the zone, so points of the zone; its middle where nothing was counted.
    """
    weights = np.maximum(counts, 0)
    return np.array(
        [
            _drawn(points, sizes, n_sub_clusters, rng) if sizes.sum() > 0 else points[0]
            for points, sizes in zip(cells, weights, strict=True)
        ]
    )


def _drawn(points: Floats, sizes: Floats, n_sub_clusters: int, rng: np.random.Generator) -> Floats:
    """Cluster the cells of one zone by Lloyd's algorithm with weights, and draw a cluster."""
    (filled,) = np.nonzero(sizes)
    points, sizes = points[filled], sizes[filled]
    wanted = min(n_sub_clusters, len(points))
    middles = points[rng.choice(len(points), wanted, replace=False, p=sizes / sizes.sum())]
    for _ in range(_STEPS):
        gaps = ((points[:, None] - middles[None]) ** 2).sum(axis=2)
        nearest = gaps.argmin(axis=1)
        totals = np.bincount(nearest, sizes, minlength=wanted)
        sums = np.array([np.bincount(nearest, sizes * column, wanted) for column in points.T]).T
        kept = totals > 0
        middles = np.where(kept[:, None], sums / np.where(kept, totals, 1)[:, None], middles)
    return np.asarray(middles[rng.choice(wanted, p=totals / totals.sum())])
