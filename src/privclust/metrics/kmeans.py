"""Measures of k-means: inertia, its ratio to the best known, and the papers' CostGap."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["cost_gap", "inertia", "inertia_ratio"]

# Distances held at a time.
_DISTANCES = 2**21


def inertia(X: ArrayLike, centres: ArrayLike) -> float:
    """Return the sum of squared distances of points to their nearest centre.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
    centres : array-like of shape (n_clusters, n_features)

    Examples
    --------
    >>> inertia([[0.0], [2.0], [9.0]], [[1.0], [9.0]])
    2.0
    """
    middle = np.asarray(centres, dtype=np.float64).mean(axis=0)
    points = np.asarray(X, dtype=np.float64)
    # Around the middle of the centres, so that a large offset common to all costs no digits.
    targets = np.asarray(centres, dtype=np.float64) - middle
    height, total = max(1, _DISTANCES // len(targets)), 0.0
    for start in range(0, len(points), height):
        part = points[start : start + height] - middle
        squares = (part**2).sum(axis=1)[:, None] - 2 * part @ targets.T + (targets**2).sum(axis=1)
        total += float(np.maximum(squares, 0).min(axis=1).sum())
    return total


def inertia_ratio(X: ArrayLike, centres: ArrayLike, best: float) -> float:
    """Return the inertia of some centres divided by the best known; 1 is as good as it gets."""
    return inertia(X, centres) / best


def cost_gap(X: ArrayLike, centres: ArrayLike, baseline: ArrayLike) -> float:
    """Return CostGap: the relative distance of the k-means cost from that of a baseline.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
    centres : array-like of shape (n_clusters, n_features)
        The centres to judge.
    baseline : array-like of shape (n_clusters, n_features)
        The centres of Lloyd's algorithm without privacy.

    Examples
    --------
    >>> cost_gap([[0.0], [2.0]], [[0.0]], [[1.0]])
    1.0
    """
    best = inertia(X, baseline)
    return abs(inertia(X, centres) - best) / best
