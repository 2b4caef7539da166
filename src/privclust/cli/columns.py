"""Whether data have the declared columns, told without reading a row.

The door compares names. Parquet files know the types of their columns: a made-up row of these types
with no values in it is read through the door, which answers as it would in a fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from privclust.cli.errors import UsageError
from privclust.schema import Bins, Box, Schema
from privclust.unit import Person

__all__ = ["check_columns"]

_PARQUET = (".parquet", ".pq")


def check_columns(schema: Schema, data: Path, id_column: str | None) -> None:
    """Raise if a column is absent, not declared, or of a type that cannot be read."""
    from privclust.data.points.door import PointRows

    if id_column in schema:
        raise UsageError(f"The id column {id_column!r} is declared in the schema; drop it there.")
    unit = None if id_column is None else Person(id_column, 1)
    with PointRows(data, schema=_numbers_only(schema.names), unit=unit):
        pass
    numeric = [name for name, fact in schema.columns.items() if isinstance(fact, (Box, Bins))]
    types = _parquet_types(data)
    if types is not None and numeric:
        _check_numbers(numeric, types)


def _numbers_only(names: Sequence[str]) -> Schema:
    """Return a schema for the door, which here is asked about names and types only."""
    return Schema({name: Box(0, 1, missing=0) for name in names})


def _check_numbers(names: Sequence[str], types: Any) -> None:
    import numpy as np
    import pyarrow as pa

    from privclust.data.points.door import PointRows

    row = pa.table({name: pa.nulls(1, types.field(name).type) for name in names})
    with PointRows(row, schema=_numbers_only(names)) as rows:
        rows.labels(np.zeros((1, len(names))))


def _parquet_types(data: Path) -> Any:
    """Return the types of the columns of a Parquet file, or of the first of a folder."""
    import pyarrow.parquet as pq

    if data.is_dir():
        data = min(file for file in data.glob("*.parquet") if file.name[0] not in "._")
    return pq.read_schema(data) if data.suffix.lower() in _PARQUET else None
