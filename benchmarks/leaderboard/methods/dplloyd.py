"""DPLloyd: noisy Lloyd steps after Su and others (2016), as the library has it."""

import numpy as np

from privclust import PrivateKMeans
from privclust.papers.datasets.points import PointSet


def centres(data: PointSet, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Return the released centres."""
    budget = {"epsilon": epsilon, "delta": delta, "schema": data.schema, "rescale": False}
    return (
        PrivateKMeans(data.n_clusters, method="lloyd", **budget).fit(data.points).cluster_centers_
    )
