"""Tables of rows, opened under public facts, one function for each shape of data.

Opening reads column names and types, never rows, so it may precede the charge to a ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import pyarrow as pa

from privclust._typing import Floats
from privclust.data.columns.refusals import numbers_of
from privclust.data.engines.base import current_engine
from privclust.data.numbers.public import ColumnForm, without_bounds
from privclust.data.rows import RowSource
from privclust.exceptions import DataError
from privclust.reading.declared import check_declared, open_declared
from privclust.reading.locations import resolve_locations
from privclust.reading.opening import open_rows
from privclust.schema.dialect import Csv
from privclust.schema.facts import Fact
from privclust.schema.schema import Schema
from privclust.unit import Unit, row_unit
from privclust.unit.rows import AddRemoveRow, RowUnit

Bounds = tuple[Any, Any]


@dataclass(frozen=True)
class PublicFacts:
    """What is public about opened data; rows cannot be reached from it."""

    # Names of the columns, from the schema or the data, if either has any.
    names: tuple[str, ...] | None
    n_columns: int
    schema: Any  # what is declared about the columns; matrices have none
    unit: Unit


@dataclass(frozen=True, repr=False, eq=False)
class Opened:
    """Rows of a caller, opened; they are first read when a view or their holder asks."""

    rows: RowSource
    schema: Schema  # what is declared about the columns
    unit: RowUnit

    @property
    def facts(self) -> PublicFacts:
        """What is public about them."""
        return PublicFacts(self.rows.names, self.rows.n_columns, self.schema, self.unit)

    def check_engine(self) -> None:
        """Raise, before anything is charged, if the chosen engine cannot read the rows."""
        current_engine().check(self.rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.rows.close()


def open_points(
    data: Any,
    *,
    schema: Schema | None = None,
    bounds: Bounds | None = None,
    unit: Unit | None = None,
    ignore: Sequence[str] | None = (),
) -> Opened:
    """Open rows of numbers and categories.

    ``bounds``: the short form: one pair of bounds for all columns, or one bound per column.
    ``ignore``: columns of the data that need not be declared and are not read; ``None`` allows any.
    """

    def short_form(rows: RowSource) -> Schema:
        return Schema.of(None, bounds=bounds, names=rows.names, n_columns=rows.n_columns)

    return _open_under(data, schema, short_form, unit, ignore)


def open_table(
    data: Any,
    schema: Schema | Fact | Sequence[Fact],
    *,
    unit: Unit | None = None,
    ignore: Sequence[str] | None = (),
) -> Opened:
    """Open categorical rows.

    ``schema``: the declared categories: of named columns, of every column alike, or column by
    column.
    """

    def short_form(rows: RowSource) -> Schema:
        return schema_for(schema, rows.selection.names)

    declared = schema if isinstance(schema, Schema) else None
    return _open_under(data, declared, short_form, unit, ignore)


def open_numbers(
    data: Any,
    forms: Mapping[str, ColumnForm] | None = None,
    *,
    unit: Unit | None = None,
    ignore: Sequence[str] | None = (),
    csv: Csv | None = None,
    total: bool = False,
) -> Opened:
    """Open columns of numbers without bounds.

    ``forms``: the columns and how they are written; ``None`` for all columns, as numbers. ``csv``:
    how CSV files are written; with ``forms`` only. ``total``: whether a value that is not of its
    form is treated as missing instead of refused.
    """

    def short_form(rows: RowSource) -> Schema:
        usual: dict[str, ColumnForm] = dict.fromkeys(rows.selection.names, "number")
        return without_bounds(usual, ignore=(), csv=csv, total=total)

    declared = None
    if forms is not None:
        declared = without_bounds(forms, ignore=ignore or (), csv=csv, total=total)
    return _open_under(data, declared, short_form, unit, ignore)


def open_sources(data: Any, schema: Schema, unit: Unit) -> Opened:
    """Open source rows; ``None`` or an empty list stands for a source without rows.

    Such a source must look like any other, so it is not refused here.
    """
    empty = data is None or (isinstance(data, list | tuple) and not data)
    checked = row_unit(unit)
    rows = _no_rows(schema.names, checked.id_column) if empty else data
    source = open_declared(rows, schema, id_column=checked.id_column, may_be_empty=True)
    return Opened(source, schema, checked)


def _open_under(
    data: Any,
    schema: Schema | None,
    short_form: Callable[[RowSource], Schema],
    unit: Unit | None,
    ignore: Sequence[str] | None,
) -> Opened:
    """Open rows under a schema, or under the one that a short form gives for their names."""
    checked = row_unit(AddRemoveRow() if unit is None else unit)
    aside: dict[str, Any] = {"id_column": checked.id_column, "ignore": ignore}
    if schema is not None:
        return Opened(open_declared(data, schema, **aside), schema, checked)
    data = resolve_locations(data)
    rows = open_rows(data, **aside)
    try:
        schema = short_form(rows)
        return Opened(check_declared(rows, data, schema), schema, checked)
    except BaseException:
        rows.close()
        raise


def _no_rows(names: Sequence[str], id_column: str | None) -> pa.Table:
    columns = names if id_column is None else (*names, id_column)
    return pa.table({name: pa.array([], pa.float64()) for name in columns})


def public_rows(data: Any, columns: Sequence[str]) -> Iterator[Floats]:
    """Read columns of PUBLIC rows as numbers, block by block; columns not asked for are ignored.

    No door protects them. Never for rows of people: see :func:`open_points`.
    """
    with open_rows(data, columns, ignore=None) as source:
        for block in source.blocks():
            yield numbers_of(block, block.names, {})


def schema_for(declared: Schema | Fact | Sequence[Fact], names: Sequence[str]) -> Schema:
    """Return the schema of columns that are declared all alike, or one by one in their order."""
    if isinstance(declared, (list, tuple)) and len(declared) != len(names):
        raise DataError(
            f"The data have {len(names)} columns but the schema declares {len(declared)}; "
            "give the declared columns in order."
        )
    return Schema.of(declared, names=names)
