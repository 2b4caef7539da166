"""synthetic rows, then k-means: rows drawn from ``PrivateSummary``, and k-means of these."""

import numpy as np
from sklearn.cluster import KMeans

from privclust import PrivateSummary
from privclust.papers.datasets.points import PointSet

ROWS = 20_000
MOST_COLUMNS = 20  # tables of pairs of more columns take minutes


def centres(data: PointSet, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Return centres of rows that were made up from a release."""
    if data.points.shape[1] > MOST_COLUMNS:
        raise NotImplementedError("its tables of pairs are for few columns")
    budget = {"epsilon": epsilon, "delta": delta, "schema": data.schema, "rescale": False}
    made = PrivateSummary(**budget, synthetic=True).fit(data.points).sample(ROWS, seed)
    return KMeans(data.n_clusters, n_init=3, random_state=seed).fit(made).cluster_centers_
