"""The plan of a summary: rehearsed on clumps, judged by its centres for as many clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from privclust._typing import Floats
from privclust.kmeans.plan import Clumps, best_inertia
from privclust.plan import Synthetic
from privclust.schema import Schema
from privclust.summary.clustering import most_clusters, squares
from privclust.summary.release import cells_of, column_scales
from privclust.unit import RowUnit

__all__ = ["synthetic"]

# Rows at a time whose distances to all centres are held.
_PART = 10_000


def synthetic(schema: Schema, n_clusters: int, n_rows: int, unit: RowUnit, seed: int) -> Synthetic:
    """Return rows in clumps; the error is the inertia of the summary's centres on them."""
    made = Clumps.made(schema, n_clusters, n_rows, seed)
    table = made.table(unit)

    def error_ratio(model: Any) -> float:
        release, points = model.release(), made.points(bool(model.rescale))
        k = min(n_clusters, most_clusters(cells_of(release)))
        centers = model.centers(k) / column_scales(release)
        middle = centers.mean(axis=0)
        return _inertia(points - middle, centers - middle) / best_inertia(points, n_clusters)

    return Synthetic((table,), error_ratio)


def _inertia(rows: Floats, centers: Floats) -> float:
    parts = np.array_split(rows, max(1, len(rows) // _PART))
    return float(sum(squares(part, centers).min(axis=1).sum() for part in parts))
