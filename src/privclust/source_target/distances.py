"""Distances between public points, in the units of the metric."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from privclust.data.sites.view import EARTH_RADIUS_KM, Metric

__all__ = ["distance_table", "exact_distances", "metric_lengths"]

Floats = NDArray[np.float64]
Table = NDArray[np.float32]

# Double-precision distances held at a time, before they are stored in single precision.
_CHUNK = 2**22


def metric_lengths(straight: Floats, metric: Metric) -> Floats:
    """Return distances of the metric from those in a straight line between embedded points.

    For ``"haversine"`` they are kilometres on the globe, for ``"cosine"`` one minus the cosine.
    """
    if metric == "haversine":
        return np.asarray(2 * EARTH_RADIUS_KM * np.arcsin(np.minimum(straight / 2, 1)))
    if metric == "cosine":
        return np.asarray(straight**2 / 2)
    return straight


def distance_table(rows: Floats, columns: Floats, metric: Metric) -> Table:
    """Return the distances of embedded points, rows by columns, a few rows at a time."""
    table = np.empty((len(rows), len(columns)), np.float32)
    height = max(1, _CHUNK // max(1, len(columns)))
    for start in range(0, len(rows), height):
        piece = slice(start, start + height)
        table[piece] = exact_distances(rows[piece], columns, metric)
    return table


def exact_distances(rows: Floats, columns: Floats, metric: Metric) -> Floats:
    """Return the distances of embedded points in double precision; each row by itself."""
    if metric == "manhattan":
        return np.asarray(cdist(rows, columns, "cityblock"))
    return metric_lengths(cdist(rows, columns), metric)
