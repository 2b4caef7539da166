"""LSH clustering: a private coreset from a tree of hashes, after Google's library, in our words.

Rows are halved again and again by the side of a random plane through the middle on which they lie,
as long as their noisy number allows. The noisy means of the final sets, weighted by their noisy
sizes, are clustered by k-means. Constants are those of the library: twenty levels, and noise of
sizes and means in its proportion. Noise is drawn in floats, and the losses of sizes count as those
of normal noise, a little to its favour: good enough to compare with and for nothing else.
"""

import math

import numpy as np
from accounting import largest_shift
from sklearn.cluster import KMeans

from privclust.papers.datasets.points import PointSet

LEVELS = 20
SIZES = 20.0  # how much larger the scale of the noise of a size is than that of a sum, relatively


def centres(data: PointSet, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Return the released centres."""
    rng = np.random.default_rng(seed)
    middle = (data.schema.low + data.schema.high) / 2
    radius = float(np.linalg.norm(data.schema.high - middle))
    rows, k, d = data.points - middle, data.n_clusters, data.points.shape[1]
    error = math.sqrt(1 + (LEVELS + 1) / SIZES**2) / largest_shift(epsilon, delta)

    def noisy_size(members):
        return len(members) + rng.laplace(scale=SIZES * error)

    planes = rng.standard_normal((LEVELS, d))
    root = max(1.0, noisy_size(rows))
    least = max(1.0, min(10 * math.sqrt(d) * error, root // (2 * k)))
    points, weights, level = [], [], [(rows, root)]
    for depth in range(LEVELS + 1):
        deeper = []
        for members, size in level:
            children = []
            if depth < LEVELS and size >= 3 * least:
                side = members @ planes[depth] >= 0
                halves = [(half, noisy_size(half)) for half in (members[side], members[~side])]
                children = [half for half in halves if half[1] >= least]
            deeper += children
            if not children:
                total = members.sum(axis=0) + rng.normal(scale=error * radius, size=d)
                points.append(total / size)
                weights.append(size)
        level = deeper
    model = KMeans(min(k, len(points)), n_init=3, random_state=seed)
    found = model.fit(np.array(points), sample_weight=weights).cluster_centers_
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    return middle + found * np.minimum(1, radius / np.maximum(lengths, 1e-300))
