"""Measures of source-target clustering: the true cost of a choice, and the share of the gap closed.

The cost knows every source, so it is for experiments alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from privclust._typing import Floats

__all__ = ["share_of_gap", "source_target_cost", "source_target_curve"]


def source_target_cost(source: ArrayLike, target: ArrayLike, centres: ArrayLike) -> float:
    """Return the mean distance of targets to the nearest of all sources and new centres.

    Examples
    --------
    >>> source_target_cost([[0.0]], [[0.0], [1.0], [9.0]], [[8.0]])
    0.6666666666666666
    """
    points = np.asarray(target)
    places = np.concatenate([np.asarray(source), np.asarray(centres)])
    return float(np.mean(cKDTree(places).query(points)[0]))


def source_target_curve(
    source: ArrayLike, target: ArrayLike, order: ArrayLike, numbers: Sequence[int]
) -> Floats:
    """Return the cost of the first k of an order of targets, for each k of ``numbers``."""
    points, chosen = np.asarray(target), np.asarray(order)
    base = cKDTree(np.asarray(source)).query(points)[0]
    return np.array(
        [np.minimum(base, cKDTree(points[chosen[:k]]).query(points)[0]).mean() for k in numbers]
    )


def share_of_gap(cost: ArrayLike, alone: ArrayLike, best: ArrayLike) -> float:
    """Return how much of what the source can save is saved; 1 is all of it, below 0 is a loss.

    Parameters
    ----------
    cost : array-like
        Costs of a method, such as one for each run and number of centres.
    alone : array-like
        Costs of ClusterT, which ignores the source.
    best : array-like
        Costs of the solver without privacy.

    Examples
    --------
    >>> share_of_gap([2.5], alone=[3.0], best=[2.0])
    0.5
    """
    costs, ignoring, knowing = (np.asarray(part) for part in (cost, alone, best))
    return float((ignoring - costs).sum() / (ignoring - knowing).sum())
