"""The plan of a categorical fit: synthetic rows, and how far the noise of a table hides it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

from privclust.plan import Measure, Rehearsal
from privclust.schema.facts import Bins, Box
from privclust.schema.schema import Schema
from privclust.unit.rows import RowUnit

MOST_REHEARSED = 20_000

# Noise of a table, summed over its cells, in shares of the rows: below the first the metric is
# mostly good, above the second it is mostly useless (measured on seven data sets).
NOISE = Measure(
    "noise of a table of the usual size",
    good=8.0,
    hopeless=20.0,
    sentence="Noise of a usual table, over {n_rows:,} rows: {error:.3g} (below 8 is good, above 20 "
    "is useless).",
    remedy="raise epsilon, set delta, group rare values or gather more rows",
)


def synthetic(schema: Schema, n_rows: int, unit: RowUnit, *, every_pair: bool) -> Rehearsal:
    """Return rows of declared values; the error is the noise of a table over ``n_rows`` rows."""
    table = synthetic_rows(schema, min(n_rows, MOST_REHEARSED), unit)
    sizes = [fact.size for fact in schema.columns.values() if not isinstance(fact, Box)]
    cells = [a * b for i, a in enumerate(sizes) for b in sizes[:i]]
    usual = float(np.median(cells)) / n_rows
    if not every_pair:  # fewer tables say less: what they miss counts as noise
        usual *= math.sqrt(len(sizes) / 2)

    def error_ratio(model: Any) -> float:
        return float(model.cell_error_ * usual)

    return Rehearsal((table,), error_ratio)


def synthetic_rows(schema: Schema, n_rows: int, unit: RowUnit) -> pa.Table:
    """Return rows of declared values, drawn evenly; each is a person of its own."""
    rng = np.random.default_rng(0)
    columns: dict[str, pa.Array] = {}
    for name, fact in schema.columns.items():
        if isinstance(fact, Bins):
            columns[name] = pa.array(rng.uniform(fact.edges[0], fact.edges[-1], n_rows))
        elif not isinstance(fact, Box):
            listed = pa.array(fact.values)
            columns[name] = listed.take(pa.array(rng.integers(len(listed), size=n_rows)))
    if unit.id_column is not None:
        columns[unit.id_column] = pa.array(np.arange(n_rows))
    return pa.table(columns)
