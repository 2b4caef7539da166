"""k-means of released cells with noisy weights: ordinary post-processing."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

__all__ = ["nearest_of", "weighted_kmeans"]

Floats = NDArray[np.float64]
_RESTARTS = 40


def nearest_of(points: Floats, centres: Floats) -> NDArray[np.intp]:
    """Return the index of the nearest centre of each public point."""
    gaps = (centres**2).sum(axis=1) / 2 - points @ centres.T
    labels: NDArray[np.intp] = gaps.argmin(axis=1)
    return labels


def weighted_kmeans(
    cells: Floats, weights: Floats, n_clusters: int, rng: np.random.Generator
) -> Floats:
    """Return ``n_clusters`` centres of the cells of positive weight."""
    cells, weights = cells[weights > 0], weights[weights > 0]
    if len(cells) <= n_clusters:
        cells = cells if len(cells) else np.zeros((1, cells.shape[1]))
        return cells[np.arange(n_clusters) % len(cells)]
    model = KMeans(n_clusters, n_init=_RESTARTS, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # cells may coincide
        return np.asarray(model.fit(cells, sample_weight=weights).cluster_centers_)
