"""Δ_t(S) and Diff(S, S') of Schnapp and Sabato (2025), exact. NOT PRIVATE."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from privclust._typing import Floats

__all__ = ["cost_difference", "source_spread"]


def source_spread(source: ArrayLike, target: ArrayLike, n_nearest: int) -> float:
    """Return Δ_t(S): the mean distance of the targets to the t nearest sources of each.

    Examples
    --------
    >>> source_spread([[0.0], [2.0], [9.0]], [[0.0], [1.0]], n_nearest=2)
    1.0
    """
    points = np.asarray(source, np.float64)
    if not 1 <= n_nearest <= len(points):
        raise ValueError("n_nearest must be at least 1 and at most the number of sources.")
    distances = cKDTree(points).query(np.asarray(target, np.float64), k=[*range(1, n_nearest + 1)])
    return float(np.mean(distances[0]))


def cost_difference(
    source: ArrayLike, other: ArrayLike, target: ArrayLike, centres: ArrayLike | None = None
) -> float:
    """Return by how much the cost changes if one source stands in for another.

    Without ``centres`` it is the mean change of the distance of a target to the source, which no
    choice of centres exceeds: a bound on Diff(S, S').

    Examples
    --------
    >>> cost_difference([[0.0]], [[1.0]], [[0.0], [3.0]])
    1.0
    >>> cost_difference([[0.0]], [[1.0]], [[0.0], [3.0]], centres=[[3.0]])
    0.5
    """
    points = np.asarray(target, np.float64)
    first, second = (_to_nearest(points, places) for places in (source, other))
    if centres is None:
        return float(np.abs(first - second).mean())
    chosen = _to_nearest(points, centres)
    return abs(float((np.minimum(first, chosen) - np.minimum(second, chosen)).mean()))


def _to_nearest(points: Floats, places: ArrayLike) -> Floats:
    return np.asarray(cKDTree(np.asarray(places, np.float64)).query(points)[0])
