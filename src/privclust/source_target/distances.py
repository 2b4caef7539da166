"""Tables of distances between public points, in the units of the metric."""

from __future__ import annotations

from typing import get_args

import numpy as np

from privclust._typing import Floats, Singles
from privclust.data.sites.metrics import CoordinateMetric, Metric

__all__ = ["POINT_METRICS", "distance_table"]

# The names of metrics of points, for whoever offers a choice.
POINT_METRICS: tuple[str, ...] = get_args(CoordinateMetric)

# Double-precision distances held at a time, before they are stored in single precision.
_CHUNK = 2**22


def distance_table(rows: Floats, columns: Floats, metric: Metric) -> Singles:
    """Return the distances of embedded points, rows by columns, a few rows at a time."""
    table = np.empty((len(rows), len(columns)), np.float32)
    height = max(1, _CHUNK // max(1, len(columns)))
    for start in range(0, len(rows), height):
        piece = slice(start, start + height)
        table[piece] = metric.distances(rows[piece], columns)
    return table
