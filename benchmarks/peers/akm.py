"""Accelerated k-medoids (AkM) after de Mathelin and others (2022), in our own words.

It is the solver of the source-target paper and the one that ours is measured against: greedy
choice within a random batch of the targets, then Voronoi iteration over all of them in which the
medoid of each cluster is looked for among a sample of its members.
"""

from __future__ import annotations

import numpy as np

__all__ = ["akm"]

BATCH = 3000
SAMPLE = 300
MOST_ROUNDS = 100


def akm(
    distances: np.ndarray, base: np.ndarray, n_centers: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the numbers of the chosen targets.

    Parameters
    ----------
    distances : ndarray of shape (n, n)
    base : ndarray of shape (n,)
        Distance of each target to the nearest source.
    """
    n = len(distances)
    chosen = _greedy_in_batch(distances, base, n_centers, rng)
    for _ in range(MOST_ROUNDS):
        to_centres = distances[chosen]
        labels, nearest = to_centres.argmin(axis=0), to_centres.min(axis=0)
        labels[base <= nearest] = n_centers  # served by the source, belongs to no new centre
        moved = chosen.copy()
        for cluster in range(n_centers):
            (members,) = np.nonzero(labels == cluster)
            if not len(members):
                continue
            tried = rng.choice(members, min(SAMPLE, len(members)), replace=False)
            tried = np.append(tried, chosen[cluster])
            costs = np.minimum(distances[np.ix_(tried, members)], base[members]).sum(axis=1)
            moved[cluster] = tried[costs.argmin()]
        before = np.minimum(base, nearest).sum()
        after = np.minimum(base, distances[moved].min(axis=0)).sum()
        if after >= before - 1e-9 * n:
            break
        chosen = moved
    return chosen


def _greedy_in_batch(
    distances: np.ndarray, base: np.ndarray, n_centers: int, rng: np.random.Generator
) -> np.ndarray:
    n = len(distances)
    batch = rng.choice(n, min(BATCH, n), replace=False)
    table = distances[np.ix_(batch, batch)]
    served = np.minimum(base[batch], 2 * table.max() + 1).astype(table.dtype)
    chosen = []
    for _ in range(n_centers):
        gains = np.maximum(served - table, 0).sum(axis=1)
        gains[chosen] = -1
        best = int(gains.argmax())
        chosen.append(best)
        served = np.minimum(served, table[best])
    return batch[chosen]
