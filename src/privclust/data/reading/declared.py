"""``open_declared``: rows opened under a schema, whose declared forms become numbers on the way.

Opening compares names and types with the schema and looks at no value, so that what cannot be read
is refused before a ledger is charged. Data without a row are refused here too, where that is known
without reading; a view that accepts data without rows says so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privclust._typing import Floats, Mask
from privclust.data.reading.base import Block, RowReader
from privclust.data.reading.dates import FORM_IN_WORDS, formed, takes
from privclust.data.reading.opening import open_rows
from privclust.data.reading.places import placed
from privclust.data.reading.stepped import SteppedRows
from privclust.data.reading.tables import ArrowBlock
from privclust.data.reading.types import types_of
from privclust.exceptions import DataError, NoRowsError
from privclust.schema import Bins, Box, Categories, Schema

if TYPE_CHECKING:
    import pyarrow as pa

    from privclust.schema import Kind

__all__ = ["check_numbers", "declare", "open_declared"]

Formed = dict[str, Box | Bins]


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
    data : anything that :func:`privclust.data.reading.open_rows` reads
    schema : Schema
        The declared columns, those to ignore, and the dialect of CSV files.
    id_column, block_rows : see :func:`privclust.data.reading.open_rows`
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
    forms = _forms(schema)
    try:
        if source.n_rows == 0 and not may_be_empty:
            raise NoRowsError("The data have no rows; give at least one row.")
        if typed:
            _check_types(data, schema, forms)
    except DataError:
        source.close()
        raise
    return SteppedRows(source, _ReadForms(forms)) if forms else source


def _forms(schema: Schema) -> Formed:
    """Return the columns that are not stored as the numbers they stand for."""
    facts = schema.columns.items()
    return {n: f for n, f in facts if isinstance(f, (Box, Bins)) and f.form != "number"}


def _numbers(schema: Schema) -> list[str]:
    """Return the columns that a decimal mark may stand in."""
    facts = schema.columns.items()
    written = ("number", "text")
    return [n for n, f in facts if isinstance(f, (Box, Bins)) and f.form in written]


def _check_types(data: Any, schema: Schema, forms: Formed) -> None:
    """Read a made-up row of nothing through each column, which answers as in a fit."""
    facts = schema.columns
    for types in types_of(data, schema.names):
        for name, kind in types.items():
            row = ArrowBlock(_nothing(name, kind), (name,), parse=False)
            block, fact = _DeclaredBlock(row, forms), facts[name]
            if not isinstance(fact, Categories):
                block.numbers([name], lenient=[] if fact.missing == "error" else [name])
            elif fact.unknown == "error":
                block.column(name, fact.kind)


def check_numbers(data: Any, names: Sequence[str]) -> None:
    """Raise if a column is of a type that holds no numbers; no row is read."""
    for types in types_of(data, names):
        for name, kind in types.items():
            ArrowBlock(_nothing(name, kind), (name,), parse=False).numbers()


def _nothing(name: str, kind: pa.DataType) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([pa.nulls(1, kind)], names=[name])


class _DeclaredBlock(Block):
    """A block whose columns of declared forms are read as the numbers they stand for."""

    def __init__(self, block: Block, forms: Formed) -> None:
        self.names, self.n_rows, self.parse = block.names, block.n_rows, block.parse
        self._block, self._forms = block, forms

    def numbers(
        self, names: Sequence[str] | None = None, *, lenient: Collection[str] = ()
    ) -> Floats:
        wanted = list(self.names if names is None else names)
        usual = [name for name in wanted if name not in self._forms]
        if len(usual) == len(wanted):
            return self._block.numbers(names, lenient=lenient)
        rows = np.empty((self.n_rows, len(wanted)))
        if usual:
            places = [wanted.index(name) for name in usual]
            rows[:, places] = self._block.numbers(usual, lenient=lenient)
        for place, name in enumerate(wanted):
            if name in self._forms:
                rows[:, place] = self._formed(name, lenient=name in lenient)
        return rows

    def _formed(self, name: str, *, lenient: bool) -> npt.NDArray[np.float64]:
        fact, column = self._forms[name], self._block.column(name)
        numbers = formed(column, fact.form)
        if lenient:
            return numbers
        odd = np.isnan(numbers) & column.is_valid().to_numpy(zero_copy_only=False)
        if odd.any() or not takes(column.type, fact.form):
            what, example = FORM_IN_WORDS[fact.form]
            raise DataError(
                f"Column {name!r} holds values that are not {what}, which are declared; write them "
                f"as {example}, or declare what stands for missing ones."
            )
        return numbers

    def column(self, name: str, kind: Kind | None = None) -> pa.Array:
        return self._block.column(name, kind)

    def keep(self, mask: Mask) -> Block:
        return _DeclaredBlock(self._block.keep(mask), self._forms)


@dataclass(frozen=True)
class _ReadForms:
    """The step that reads columns of declared forms as numbers."""

    forms: Formed

    def __call__(self, block: Block) -> Block:
        return _DeclaredBlock(block, self.forms)
