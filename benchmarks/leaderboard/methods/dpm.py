"""DPM: separation after Liebenow, Schütt, Braun, Gehrke, Thaeter and Mohammadi (2024), our words.

A set is cut again and again, by a plane across one axis, where few rows lie and not far from its
middle; an exponential mechanism chooses axis and place. A set is not cut any more if its noisy size
or depth says so. The noisy means of the final sets are its centres, however many there are; where
there are more than k, k-means of them, weighted by their noisy sizes, makes them k, as for all
methods. Every row is in one set of a level, so levels cost once each. Noise is drawn in floats,
which is good enough to compare with and for nothing else.
"""

import math

import numpy as np
from sklearn.cluster import KMeans

from privclust.budget import Budget
from privclust.papers.datasets.points import PointSet

DEPTH = 7
PLACES = 40  # where an axis may be cut
SHARES = 0.3, 0.2, 0.5  # of ρ: the cuts, the sizes, the means
CENTRAL = 0.3  # the share of rows that a side of a cut should have at least
SMALLEST = 40  # in standard errors of a size


def centres(data: PointSet, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Return the released centres."""
    rng = np.random.default_rng(seed)
    if not delta:
        raise NotImplementedError("its Gaussian noise needs a δ")
    rho = float(Budget(epsilon, delta).amount)
    for_cuts, for_sizes, for_means = (rho * share for share in SHARES)
    steps = for_cuts / DEPTH, for_sizes / (DEPTH + 1)
    low, high = data.schema.low, data.schema.high
    scaled = (data.points - low) / (high - low)
    final = list(parts(scaled, 0, steps, rng))
    # One row moves one mean, by a vector of length √d in the unit box, and one size by one.
    d = scaled.shape[1]
    error = math.sqrt(d / (2 * 0.8 * for_means)), 1 / math.sqrt(2 * 0.2 * for_means)
    found, sizes = [], []
    for rows in final:
        sizes.append(max(1.0, len(rows) + rng.normal(0, error[1])))
        found.append((rows - 0.5).sum(axis=0) + rng.normal(0, error[0] / 2, d))
        found[-1] = np.clip(0.5 + found[-1] / sizes[-1], 0, 1)
    if len(found) > data.n_clusters:
        model = KMeans(data.n_clusters, n_init=5, random_state=seed)
        found = model.fit(np.array(found), sample_weight=sizes).cluster_centers_
    return low + np.array(found) * (high - low)


def parts(rows, depth, steps, rng):
    """Yield the final sets."""
    error = 1 / math.sqrt(2 * steps[1])
    size = len(rows) + rng.normal(0, error)
    if depth == DEPTH or size < SMALLEST * error:
        yield rows
        return
    axis, place = chosen_cut(rows, max(size, 1.0), math.sqrt(8 * steps[0]), rng)
    left = rows[:, axis] < place
    for part in (rows[left], rows[~left]):
        yield from parts(part, depth + 1, steps, rng)


def chosen_cut(rows, size, epsilon, rng):
    """Choose an axis and a place by few rows around it and enough on both sides."""
    d = rows.shape[1]
    edges = np.linspace(0, 1, PLACES + 1)
    counts = np.stack([np.histogram(column, edges)[0] for column in rows.T])
    below = np.cumsum(counts, axis=1)
    balance = np.minimum(below, counts.sum(axis=1, keepdims=True) - below) / size
    # A row changes a count by one and a balance by 1 / size: a score by at most 2.
    scores = (np.minimum(balance / CENTRAL, 1) * size * CENTRAL - counts)[:, :-1]
    noisy = scores + rng.gumbel(0, 2 * 2 / epsilon, (d, PLACES - 1))
    axis, place = divmod(int(noisy.argmax()), PLACES - 1)
    return axis, edges[place + 1] - 0.5 / PLACES
