"""``open_declared``: rows opened under a schema.

Opening compares names and types with the schema and looks at no value, so that what cannot be read
is refused before a ledger is charged. Data without a row are refused here too, where that is known
without reading; a view that accepts data without rows says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from privclust.data.columns.kinds import TypedColumn
from privclust.data.columns.refusals import numbers_of
from privclust.data.columns.table import CATEGORIES, NUMBERS
from privclust.data.columns.words import category_refusal, in_words
from privclust.data.rows import Block, RowReader
from privclust.exceptions import (
    DataError,
    NoRowsError,
    PublicFactWarning,
    first_caller_outside,
)
from privclust.reading.opening import open_rows
from privclust.reading.places import placed
from privclust.reading.types import typed_columns
from privclust.schema import Bins, Box, Categories, Fact, Schema

__all__ = ["check_numbers", "declare", "open_declared"]


def open_declared(
    data: Any,
    schema: Schema,
    *,
    id_column: str | None = None,
    ignore: Sequence[str] | None = (),
    block_rows: int | None = None,
    may_be_empty: bool = False,
    typed: bool = True,
) -> RowReader:
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
    data = placed(data)
    aside = None if ignore is None else [*schema.ignore, *ignore]
    source = open_rows(
        data,
        schema.names,
        ignore=aside,
        id_column=id_column,
        block_rows=block_rows,
        csv=schema.csv,
        numbers=_numbers(schema),
    )
    return declare(source, data, schema, may_be_empty=may_be_empty, typed=typed)


def declare(
    source: RowReader,
    data: Any,
    schema: Schema,
    *,
    may_be_empty: bool = False,
    typed: bool = True,
) -> RowReader:
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


def _numbers(schema: Schema) -> list[str]:
    """Return the columns that a decimal mark may stand in."""
    facts = schema.columns.items()
    written = ("number", "text")
    return [n for n, f in facts if isinstance(f, (Box, Bins)) and f.form in written]


def _check_kinds(data: Any, schema: Schema) -> None:
    """Refuse columns that a strict rule could never read; warn of those that a rule replaces."""
    for columns in typed_columns(data, schema.names):
        for name, column in columns.items():
            _check_kind(name, column, schema.columns[name])


def _check_kind(name: str, column: TypedColumn, fact: Fact) -> None:
    if isinstance(fact, Categories):
        reading, strict = CATEGORIES[fact.kind], fact.unknown == "error"
    else:
        reading, strict = NUMBERS[fact.form], fact.missing == "error"
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
        numbers_of(Block([name], {name: column}), [name], {name: fact.form})


def check_numbers(data: Any, names: Sequence[str]) -> None:
    """Raise if a column is of a type that holds no numbers; no row is read."""
    for columns in typed_columns(data, names):
        for name, column in columns.items():
            numbers_of(Block([name], {name: column}), [name], {})
