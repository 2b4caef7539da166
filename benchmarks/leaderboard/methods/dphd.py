"""DPHD: local search in few dimensions after Balcan and others (2017), made private."""

import numpy as np

from privclust.papers.datasets.points import PointSet
from privclust.papers.rivals.high_dim import PrivateHighDimKMeans


def centres(data: PointSet, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Return the released centres."""
    budget = {"epsilon": epsilon, "delta": delta, "schema": data.schema, "rescale": False}
    return PrivateHighDimKMeans(data.n_clusters, **budget).fit(data.points).cluster_centers_
