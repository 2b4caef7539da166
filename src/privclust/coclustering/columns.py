"""From noisy profiles of the row clusters to column clusters and row labels.

All of it is post-processing of one released table: a line per row cluster, a number per column.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats
from privclust.coclustering.association import tau_weights
from privclust.coclustering.grouping import embed, grouped
from privclust.data.matrix.public import Groups
from privclust.data.view import Noisy

__all__ = ["column_clusters", "prototype_weights"]


_MOST_STEPS = 15
_STARTS = 8
# How strongly frequent columns are preferred; see :func:`embed`.
_TRUST = 0.5
# Shares are compared after this many standard errors were added to both, which tames rare columns.
_PSEUDO = 3


def column_clusters(profiles: Noisy, n_clusters: int, rng: np.random.Generator) -> Groups:
    """Return column clusters by the τ rule, as long as it empties none.

    Parameters
    ----------
    profiles : Noisy, value of shape (n_row_clusters, n_columns)
        Noisy sums of each column over each row cluster.
    n_clusters : int
        The number of column clusters.
    rng : Generator
        Picks the start where there are not as many column clusters as row clusters.
    """
    values = profiles.value
    if n_clusters == len(values):
        positive = np.maximum(values, 0)
        labels = (positive / np.maximum(positive.sum(axis=1, keepdims=True), 1e-9)).argmax(axis=0)
    else:
        labels = _similar_columns(profiles, n_clusters, rng)
    for _ in range(_MOST_STEPS):
        weights = tau_weights(_totals(values, labels, n_clusters).T)
        moved = (values.T @ weights.T).argmax(axis=1)
        # The rule may give up a cluster for a little more τ; whoever asked for it wants it.
        if (moved == labels).all() or len(np.unique(moved)) < len(np.unique(labels)):
            break
        labels = moved
    return Groups(labels, n_clusters)


def _similar_columns(
    profiles: Noisy, n_clusters: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return groups of columns that are alike; from a random start the τ rule seldom gets away."""
    columns = Noisy(profiles.value.T, profiles.standard_error)
    n_directions = max(1, min(n_clusters, len(profiles.value)) - 1)
    alike = grouped(embed(columns, n_directions, trust=_TRUST), n_clusters, rng, n_starts=_STARTS)
    return alike.labels.astype(np.intp)


def _totals(profiles: Floats, labels: NDArray[np.intp], n_clusters: int) -> Floats:
    return np.stack([np.bincount(labels, line, n_clusters) for line in profiles])


def prototype_weights(profiles: Noisy) -> Floats:
    """Return how much one count in each column favours each row cluster.

    It is the logarithm of the column's share in the cluster over its share in all. Deviations from
    the common share are shrunk by what noise alone would do to them (James and Stein).

    Returns
    -------
    weights : ndarray of shape (n_row_clusters, n_columns)
    """
    values, error = profiles.value, profiles.standard_error
    shares = np.maximum(values.sum(axis=0), 0) + 1e-9
    expected = np.maximum(values.sum(axis=1), 1.0)[:, None] * (shares / shares.sum())
    deviation = values - expected
    kept = np.maximum(0, 1 - error**2 / np.maximum(deviation**2, 1e-9))
    pseudo = _PSEUDO * max(error, 0.5)
    likely = np.maximum(expected + deviation * kept, 0)
    weights: Floats = np.log((likely + pseudo) / (expected + pseudo))
    return weights
