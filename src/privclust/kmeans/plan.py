"""The plan of a k-means fit: clumps of synthetic rows to rehearse on without touching data."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from sklearn.cluster import KMeans

from privclust._typing import Floats
from privclust.plan import Measure, Synthetic
from privclust.schema import Schema
from privclust.unit import RowUnit

__all__ = ["INERTIA", "MOST_REHEARSED", "synthetic"]

INERTIA = Measure("inertia")
MOST_REHEARSED = 100_000

# A clump fills about this share of the space that it would have if all were equally spaced.
_CLUMP = 0.25


def synthetic(schema: Schema, n_clusters: int, n_rows: int, unit: RowUnit, seed: int) -> Synthetic:
    """Return rows in clumps; the error is the inertia of the released centres on them."""
    rows = synthetic_rows(schema, n_clusters, n_rows, seed)
    table = as_table(rows, schema, unit)

    def error_ratio(model: object) -> float:
        widths = schema.high - schema.low if model.rescale else 1.0  # type: ignore[attr-defined]
        inertia = -model.score(table)  # type: ignore[attr-defined]
        return float(inertia / best_inertia(rows / widths, n_clusters))

    return Synthetic(lambda model: model.fit(table), error_ratio)


def synthetic_rows(schema: Schema, n_clusters: int, n_rows: int, seed: int) -> Floats:
    """Return rows in ``n_clusters`` clumps spread evenly over the declared bounds."""
    rng = np.random.default_rng(seed)
    dimension = len(schema.numeric)
    middle, half = (schema.low + schema.high) / 2, (schema.high - schema.low) / 2
    centres = rng.uniform(-0.8, 0.8, (n_clusters, dimension))
    clump = _CLUMP * n_clusters ** (-1 / max(1, dimension))  # without numbers, the door refuses
    rows = centres[rng.integers(n_clusters, size=n_rows)]
    rows = rows + rng.standard_normal(rows.shape) * clump
    return np.asarray(middle + half * np.clip(rows, -1, 1))


def as_table(rows: Floats, schema: Schema, unit: RowUnit) -> pa.Table:
    """Return synthetic rows with their names, each row a person of its own if people count."""
    columns = dict(zip(schema.numeric, rows.T, strict=True))
    if unit.id_column is not None:
        columns[unit.id_column] = np.arange(len(rows))
    return pa.table(columns)


def best_inertia(rows: Floats, n_clusters: int) -> float:
    """Return the inertia of ordinary k-means, up to rounding at least a tiny positive number."""
    model = KMeans(min(n_clusters, len(rows)), n_init=3, random_state=0).fit(rows)
    return max(float(model.inertia_), 1e-300)
