"""EUGkM: k-means of a noisy uniform grid after Su and others (2016), in our words.

About (n ε / 10)^(2d / (2 + d)) cells; Laplace noise on all of them, empty ones too. Noise is drawn
in floats, which is good enough to compare with and for nothing else. A grid of more than a few
dimensions has too many cells: then the method says so and is left out.
"""

import numpy as np
from sklearn.cluster import KMeans

from privclust.papers.datasets.points import PointSet

FOR_NUMBER = 0.05  # of ε, for the number of rows
MOST_CELLS = 10**6


def centres(data: PointSet, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Return the released centres."""
    rng = np.random.default_rng(seed)
    d = data.points.shape[1]
    n = max(1.0, len(data.points) + rng.laplace(0, 1 / (FOR_NUMBER * epsilon)))
    epsilon *= 1 - FOR_NUMBER
    side = max(2, round((n * epsilon / 10) ** (2 / (2 + d))))
    if side**d > MOST_CELLS:
        raise NotImplementedError(f"a grid of {d} dimensions has too many cells")
    low, high = data.schema.low, data.schema.high
    places = np.clip(((data.points - low) / (high - low) * side).astype(int), 0, side - 1)
    cells = np.ravel_multi_index(places.T, (side,) * d)
    counts = np.bincount(cells, minlength=side**d) + rng.laplace(0, 1 / epsilon, side**d)
    used = np.flatnonzero(counts > 0)
    middles = low + (np.stack(np.unravel_index(used, (side,) * d), axis=1) + 0.5) / side * (
        high - low
    )
    model = KMeans(min(data.n_clusters, len(used)), n_init=5, random_state=seed)
    return model.fit(middles, sample_weight=counts[used]).cluster_centers_
