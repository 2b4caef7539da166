"""The plan of a density: three round clumps to rehearse on without data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from privclust._typing import Floats
from privclust.plan import Measure, Rehearsal
from privclust.schema.schema import Schema
from privclust.unit.rows import RowUnit

MOST_REHEARSED = 100_000
AGREEMENT = Measure(
    "loss of agreement",
    good=0.15,
    hopeless=0.6,
    sentence="Expected {name} with three planted clumps: {error:.2g} (1 − adjusted Rand index).",
    short="{error:.2g}",
    relative=" (1 − adjusted Rand index, for three planted clumps)",
    remedy="raise epsilon, ask about fewer columns, or gather more rows",
)
# Where the clumps lie and how wide they are, in half widths of the bounds.
_APART, _WIDE = 0.55, 0.13


def plant_clumps(schema: Schema, n_rows: int, unit: RowUnit, seed: int) -> Rehearsal:
    """Return rows in three clumps; the error is what agreement with them lacks."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n_rows)
    rows = _middles(len(schema))[labels] + _WIDE * rng.standard_normal((n_rows, len(schema)))
    middle, half = schema.low / 2 + schema.high / 2, schema.high / 2 - schema.low / 2
    numbers = middle + half * np.clip(rows, -1, 1)
    columns: dict[str, Any] = dict(zip(schema.names, numbers.T, strict=True))
    if unit.id_column is not None:
        columns[unit.id_column] = np.arange(n_rows)
    table = pa.table(columns)

    def error_ratio(model: Any) -> float:
        from sklearn.metrics import adjusted_rand_score  # of which a fit has no need

        found = model.clusters().predict(table, noise=False)
        return float(1 - adjusted_rand_score(labels, found))

    return Rehearsal((table,), error_ratio)


def _middles(columns: int) -> Floats:
    if columns == 1:
        return np.array([[-_APART], [0.0], [_APART]])
    turns = 2 * np.pi * np.arange(3) / 3
    around = np.column_stack([np.cos(turns), np.sin(turns), np.zeros(3)])
    return np.asarray(_APART * around[:, :columns])
