"""CostGap: how far the k-means cost of some centres is from that of ordinary k-means."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

__all__ = ["cost_gap"]


def cost_gap(X: ArrayLike, centres: ArrayLike, baseline: ArrayLike) -> float:
    """Return CostGap: the relative distance of the k-means cost from that of a baseline.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
    centres : array-like of shape (n_clusters, n_features)
        The centres to judge.
    baseline : array-like of shape (n_clusters, n_features)
        The centres of Lloyd's algorithm without privacy.

    Examples
    --------
    >>> cost_gap([[0.0], [2.0]], [[0.0]], [[1.0]])
    1.0
    """
    rows = np.asarray(X)
    cost, best = (
        float(cdist(rows, np.asarray(points), "sqeuclidean").min(axis=1).sum())
        for points in (centres, baseline)
    )
    return abs(cost - best) / best
