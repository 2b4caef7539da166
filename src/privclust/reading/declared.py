"""``open_declared``: rows opened under a schema, and the kinds of columns as they are stored.

Opening compares names and types with the schema and reads no value, so that unreadable data are
refused before a ledger is charged. Data without rows are refused here too, if that is known without
reading; a view that accepts data without rows says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from privclust._lazy import loaded_module
from privclust.data.columns.kinds import TypedColumn
from privclust.data.columns.refusals import numbers_of
from privclust.data.columns.table import category_line, number_line
from privclust.data.columns.words import category_refusal, in_words
from privclust.data.rows import Block, RowSource
from privclust.exceptions import DataError, NoRowsError, PublicFactWarning, first_caller_outside
from privclust.reading.files import stored_types
from privclust.reading.locations import FileLocations, resolve_locations
from privclust.reading.objects import array_from, plain
from privclust.reading.opening import open_rows
from privclust.schema.facts import Categories, Fact
from privclust.schema.schema import ALL_OTHERS, Schema
from privclust.schema.writing import Writing

# The kinds of columns as they are stored, found without looking at a row.

Types = dict[str, pa.DataType]


def typed_columns(data: Any, names: Sequence[str]) -> Iterator[dict[str, TypedColumn]]:
    """Yield a missing value of each named column, once for every file, where types are known.

    A missing value passes like any other of its type, and reveals nothing about a row.
    """
    for types, untyped in _types_of(data, names):
        nothing = {name: plain(pa.nulls(1, stored)) for name, stored in types.items()}
        yield {n: TypedColumn.of(array, untyped=n in untyped) for n, array in nothing.items()}


def _types_of(data: Any, names: Sequence[str]) -> Iterator[tuple[Types, Collection[str]]]:
    """Yield types, and the columns among them whose text may represent numbers.

    Text files and columns of Python objects have no types before their values are looked at.
    """
    if isinstance(data, FileLocations):
        for place in data:
            if place.format not in ("csv", "excel"):
                yield _named_types(stored_types(place), names), dict(place.partition)
    elif isinstance(data, np.ndarray):
        if data.ndim == 2 and data.dtype.kind not in "OSV":
            yield dict.fromkeys(names, array_from(np.empty(0, data.dtype)).type), ()
    elif isinstance(data, (pa.Table, pa.RecordBatch, pa.RecordBatchReader)):
        yield _named_types(data.schema, names), ()
    elif (frame := _polars_schema(data)) is not None:
        yield _named_types(frame, names), ()
    elif hasattr(data, "dtypes") and hasattr(data, "iloc"):
        yield _pandas_types(data, names), ()


def _named_types(schema: pa.Schema, names: Sequence[str]) -> Types:
    types = {field.name: field.type for field in schema}
    return {name: types[name] for name in names if name in types}


def _polars_schema(data: Any) -> pa.Schema | None:
    polars = loaded_module("polars")
    if polars is None or not isinstance(data, (polars.DataFrame, polars.LazyFrame)):
        return None
    try:
        return polars.DataFrame(schema=data.collect_schema()).to_arrow().schema
    except Exception:  # polars has many errors; reading will show what is wrong
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


def open_declared(
    data: Any,
    schema: Schema,
    *,
    id_column: str | None = None,
    ignore: Sequence[str] | None = (),
    block_rows: int | None = None,
    may_be_empty: bool = False,
    typed: bool = True,
) -> RowSource:
    """Open data under a schema; no row is read yet.

    Parameters
    ----------
    data : anything that :func:`privclust.reading.open_rows` reads
    schema : Schema
        The declared columns, those to ignore, and the dialect of CSV files.
    id_column, block_rows : see :func:`privclust.reading.open_rows`
    ignore : sequence of str or None
        More columns that are not read; ``None`` allows any.
    may_be_empty : bool, default=False
        Leave it to the reader to notice that there are no rows.
    typed : bool, default=True
        Refuse columns of a type that the schema cannot mean.
    """
    data = resolve_locations(data)
    every = ignore is None or ALL_OTHERS in schema.ignore
    aside = None if every else [*schema.ignore, *(ignore or ())]
    source = open_rows(
        data,
        schema.names,
        ignore=aside,
        id_column=id_column,
        block_rows=block_rows,
        csv=schema.csv,
    )
    return check_declared(source, data, schema, may_be_empty=may_be_empty, typed=typed)


def check_declared(
    source: RowSource,
    data: Any,
    schema: Schema,
    *,
    may_be_empty: bool = False,
    typed: bool = True,
) -> RowSource:
    """Return an opened source with what the schema declares; see :func:`open_declared`."""
    try:
        if source.n_rows == 0 and not may_be_empty:
            raise NoRowsError("The data have no rows; give at least one row.")
        if typed:
            _check_kinds(data, schema)
    except DataError:
        source.close()
        raise
    return source


def _check_kinds(data: Any, schema: Schema) -> None:
    """Refuse columns that a strict rule could never read; warn of those that a rule replaces."""
    for columns in typed_columns(data, schema.names):
        for name, column in columns.items():
            _check_kind(name, column, schema[name], schema.writing_rule(name))


def _check_kind(name: str, column: TypedColumn, fact: Fact, writing: Writing) -> None:
    if isinstance(fact, Categories):
        reading, strict = category_line(fact.kind, writing), fact.unknown == "error"
    else:
        reading, strict = number_line(writing), fact.missing == "error"
    if reading.takes(column.kind):
        return
    if not strict:
        warnings.warn(
            f"Column {name!r} holds {in_words(column)}, and no such value can be read as "
            f"{fact.describe()}: its rule for missing or unlisted values will stand for all of "
            "them; convert the column or declare what it holds.",
            PublicFactWarning,
            stacklevel=first_caller_outside(),
        )
    elif isinstance(fact, Categories):
        raise category_refusal(column, name, fact.kind)
    else:
        numbers_of(Block([name], {name: column}), [name], {name: writing})


def check_numbers(data: Any, names: Sequence[str]) -> None:
    """Raise if a column is of a type without numbers; no row is read."""
    for columns in typed_columns(data, names):
        for name, column in columns.items():
            numbers_of(Block([name], {name: column}), [name], {})
