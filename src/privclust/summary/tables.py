"""Synthetic rows of mixed tables, as a table whose columns are written as they were declared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from privclust._typing import Floats, Indices
from privclust.release.tables import written
from privclust.schema import Box, Categories, Fact, Schema
from privclust.schema.coordinates import Column, Coordinates
from privclust.summary.result import Cells

__all__ = ["as_table", "sampled_table"]

# Of the spread within cells, what numbers keep at least: noise may give all of it to categories.
_LEAST = 0.01


def sampled_table(
    cells: Cells, schema: Schema, scales: Floats, n_rows: int, rng: np.random.Generator
) -> pa.Table:
    """Return rows of numbers and categories: a cell by its count, and what its centre says.

    Numbers scatter around those of the cell, categories are drawn by its shares. What the spread
    within cells has beyond that of the categories is the scatter of the numbers.
    """
    coordinates = Coordinates(schema)
    centers = coordinates.projected(cells.cells * scales)
    weights = cells.counts / cells.counts.sum()
    drawn = rng.choice(len(centers), n_rows, p=weights)
    left = cells.within
    columns: dict[str, Indices] = {}
    for column in coordinates.categorical:
        shares = centers[:, column.places]
        left -= float(weights @ (1 - (shares**2).sum(axis=1))) / scales[column.start] ** 2
        columns[column.name] = _drawn(shares, drawn, column, rng)
    n_numbers = max(len(coordinates.numbers), 1)
    scatter = np.sqrt(max(left, _LEAST * cells.within) / n_numbers)
    rows = centers[drawn][:, coordinates.numbers]
    rows = rows + rng.standard_normal(rows.shape) * scatter * scales[coordinates.numbers]
    rows = np.clip(rows, schema.low, schema.high)
    numbers = dict(zip(schema.numeric, rows.T, strict=True))
    return as_table(schema, numbers | columns, rng)


def _drawn(shares: Floats, drawn: Indices, column: Column, rng: np.random.Generator) -> Indices:
    """Return a code for each row; what the shares fall short of one is left out."""
    ends = np.cumsum(shares, axis=1)[drawn]
    codes = (rng.random(len(drawn))[:, None] >= ends).sum(axis=1)
    return np.asarray(np.minimum(codes, column.size - (not column.omits)))


def as_table(schema: Schema, columns: dict[str, Any], rng: np.random.Generator) -> pa.Table:
    """Return numbers and codes as the columns that the schema declares."""
    facts = schema.columns.items()
    return pa.table({name: _written(columns[name], fact, rng) for name, fact in facts})


def _written(values: Any, fact: Fact, rng: np.random.Generator) -> pa.Array:
    if isinstance(fact, Box):
        return written(values, fact)
    if isinstance(fact, Categories):
        last: list[str | None] = [None] * (fact.missing == "category")
        last += ["(other)" if fact.kind == "text" else None] * (fact.unknown == "other")
        return pa.array([*fact.values, *last, None]).take(pa.array(values))
    edges = np.array([*fact.edges, fact.edges[-1]])
    bins = np.minimum(values, len(fact.edges) - 1)
    inside = edges[bins] + rng.random(len(bins)) * (edges[bins + 1] - edges[bins])
    return written(inside, fact, missing=values >= len(fact.edges) - 1)
