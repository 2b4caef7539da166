"""The plan of a summary: rehearsed on clumps, judged by its centres for as many clusters."""

from __future__ import annotations

import numpy as np

from privclust._typing import Floats
from privclust.kmeans.plan import as_table, best_inertia, synthetic_rows
from privclust.plan import Synthetic
from privclust.schema import Schema
from privclust.summary.clustering import most_clusters, squares
from privclust.summary.release import cells_of
from privclust.unit import RowUnit

__all__ = ["synthetic"]

# Rows at a time whose distances to all centres are held.
_PART = 10_000


def synthetic(schema: Schema, n_clusters: int, n_rows: int, unit: RowUnit, seed: int) -> Synthetic:
    """Return rows in clumps; the error is the inertia of the summary's centres on them."""
    rows = synthetic_rows(schema, n_clusters, n_rows, seed)
    table = as_table(rows, schema, unit)

    def error_ratio(model: object) -> float:
        widths = schema.high - schema.low if model.rescale else 1.0  # type: ignore[attr-defined]
        cells = cells_of(model.release())  # type: ignore[attr-defined]
        k = min(n_clusters, most_clusters(cells))
        centers = model.centers(k) / widths  # type: ignore[attr-defined]
        middle = centers.mean(axis=0)
        inertia = _inertia(rows / widths - middle, centers - middle)
        return inertia / best_inertia(rows / widths, n_clusters)

    return Synthetic(lambda model: model.fit(table), error_ratio)


def _inertia(rows: Floats, centers: Floats) -> float:
    parts = np.array_split(rows, max(1, len(rows) // _PART))
    return float(sum(squares(part, centers).min(axis=1).sum() for part in parts))
