"""Distances between public points, in the units of the metric."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from privclust.data.nearest_targets import EARTH_RADIUS_KM, Metric

__all__ = ["distance_table", "metric_lengths"]

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
    order = 1 if metric == "manhattan" else 2
    for start in range(0, len(rows), height):
        piece = cdist(rows[start : start + height], columns, "minkowski", p=order)
        table[start : start + height] = metric_lengths(piece, metric)
    return table
