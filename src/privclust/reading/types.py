"""The kinds of columns as they are stored, found without looking at a row."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from privclust._optional import imported
from privclust.data.columns.kinds import TypedColumn
from privclust.reading.files import stored_types
from privclust.reading.objects import array_from, plain
from privclust.reading.places import Places

__all__ = ["typed_columns"]

Types = dict[str, pa.DataType]


def typed_columns(data: Any, names: Sequence[str]) -> Iterator[dict[str, TypedColumn]]:
    """Yield a missing value of each named column, once for every file, where types are known.

    A value that is missing passes as any other of its type would, and tells of no row.
    """
    for types, untyped in _types_of(data, names):
        nothing = {name: plain(pa.nulls(1, stored)) for name, stored in types.items()}
        yield {n: TypedColumn.of(array, untyped=n in untyped) for n, array in nothing.items()}


def _types_of(data: Any, names: Sequence[str]) -> Iterator[tuple[Types, Collection[str]]]:
    """Yield types, and the columns among them whose text may stand for numbers.

    Text files and columns of Python objects have no types before their values are looked at.
    """
    if isinstance(data, Places):
        for place in data:
            if place.format != "csv":
                yield _chosen(stored_types(place), names), dict(place.partition)
    elif isinstance(data, np.ndarray):
        if data.ndim == 2 and data.dtype.kind not in "OSV":
            yield dict.fromkeys(names, array_from(np.empty(0, data.dtype)).type), ()
    elif isinstance(data, (pa.Table, pa.RecordBatch, pa.RecordBatchReader)):
        yield _chosen(data.schema, names), ()
    elif (frame := _polars_schema(data)) is not None:
        yield _chosen(frame, names), ()
    elif hasattr(data, "dtypes") and hasattr(data, "iloc"):
        yield _pandas_types(data, names), ()


def _chosen(schema: pa.Schema, names: Sequence[str]) -> Types:
    types = {field.name: field.type for field in schema}
    return {name: types[name] for name in names if name in types}


def _polars_schema(data: Any) -> pa.Schema | None:
    polars = imported("polars")
    if polars is None or not isinstance(data, (polars.DataFrame, polars.LazyFrame)):
        return None
    try:
        return polars.DataFrame(schema=data.collect_schema()).to_arrow().schema
    except Exception:  # polars has many errors; reading will tell what is wrong
        return None


def _pandas_types(frame: Any, names: Sequence[str]) -> Types:
    types: Types = {}
    for name in names:
        # Objects are anything; what they are is known when they are read.
        if name not in frame.columns or str(frame[name].dtype) in ("object", "category"):
            continue
        try:
            types[name] = pa.array(frame[name].iloc[:0], from_pandas=True).type
        except (pa.ArrowException, TypeError, ValueError):
            continue
    return types
