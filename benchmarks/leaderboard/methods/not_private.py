"""k-means, not private: one start of scikit-learn's."""

import numpy as np
from sklearn.cluster import KMeans

from privclust.papers.datasets.points import PointSet


def centres(data: PointSet, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Return centres that no noise protects."""
    return KMeans(data.n_clusters, n_init=1, random_state=seed).fit(data.points).cluster_centers_
