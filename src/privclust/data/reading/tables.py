"""Rows that arrive as Arrow record batches, and the data frames that turn into them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from privclust._typing import Floats, Mask
from privclust.data.reading.base import Block, RowReader, Selection
from privclust.data.reading.convert import (
    array_from,
    array_from_stream,
    as_kind,
    as_numbers,
    decoded,
    decoded_batch,
)
from privclust.exceptions import DataError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from privclust.schema import Kind

__all__ = [
    "ArrowBlock",
    "ArrowRows",
    "Batches",
    "pandas_batches",
    "pandas_names",
    "polars_batches",
    "resized",
]

Batches = Iterator[pa.RecordBatch]


class ArrowBlock(Block):
    """Rows as an Arrow record batch."""

    def __init__(self, batch: pa.RecordBatch, names: tuple[str, ...], parse: bool) -> None:
        self.names = names
        self.n_rows = batch.num_rows
        self.parse = parse
        self._batch = batch

    def numbers(
        self, names: Sequence[str] | None = None, *, lenient: Collection[str] = ()
    ) -> Floats:
        wanted = self.names if names is None else names
        rows = np.empty((self.n_rows, len(wanted)))
        for j, name in enumerate(wanted):
            stored = self._batch.column(name)
            rows[:, j] = as_numbers(stored, name, self.parse, lenient=name in lenient)
        return rows

    def column(self, name: str, kind: Kind | None = None) -> pa.Array:
        array = self._batch.column(name)
        return array if kind is None else as_kind(array, name, kind, self.parse)

    def keep(self, mask: Mask) -> ArrowBlock:
        # Arrow cannot choose among views of strings, which is how polars hands over text.
        columns = [c if pt.is_dictionary(c.type) else decoded(c) for c in self._batch.columns]
        batch = pa.RecordBatch.from_arrays(columns, self._batch.schema.names)
        return ArrowBlock(batch.filter(pa.array(mask)), self.names, self.parse)


class ArrowRows(RowReader):
    """Rows from a function that starts reading record batches again each time it is called.

    Parameters
    ----------
    read : callable
        Takes the number of rows per batch, which is only a wish, and returns the batches.
    parse : bool
        The batches hold text that stands for numbers, as in a CSV file.
    close : callable or None
        Frees what ``read`` needs.
    """

    def __init__(
        self,
        read: Callable[[int], Iterable[pa.RecordBatch]],
        selection: Selection,
        *,
        n_rows: int | None,
        block_rows: int | None,
        named: bool = True,
        parse: bool = False,
        close: Callable[[], object] | None = None,
    ) -> None:
        super().__init__(selection, named=named, n_rows=n_rows, block_rows=block_rows)
        self._read, self._parse, self._free = read, parse, close

    def _blocks(self) -> Iterator[Block]:
        for batch in resized(self._read(self.block_rows), self.block_rows):
            yield ArrowBlock(batch, self.selection.names, self._parse)

    def close(self) -> None:
        super().close()
        if self._free is not None:
            self._free()


def resized(batches: Iterable[pa.RecordBatch], size: int) -> Batches:
    """Cut and join batches to ``size`` rows; where the types change, a shorter one ends."""
    held: list[pa.RecordBatch] = []
    room = size
    for batch in batches:
        if held and not batch.schema.equals(held[0].schema):
            yield _joined(held)
            held, room = [], size
        while batch.num_rows:
            head, batch = batch.slice(0, room), batch.slice(room)
            held.append(head)
            room -= head.num_rows
            if not room:
                yield _joined(held)
                held, room = [], size
    if held:
        yield _joined(held)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(map(decoded_batch, batches)).combine_chunks().to_batches()[0]


def pandas_names(frame: pd.DataFrame) -> list[str] | None:
    """Return the column names, or ``None`` when the columns are only numbered."""
    texts = [isinstance(label, str) for label in frame.columns]
    if not any(texts):
        return None
    if not all(texts):
        raise DataError("Some column names of the data frame are not text; rename its columns.")
    return [str(label) for label in frame.columns]


def pandas_batches(
    frame: pd.DataFrame, positions: Sequence[int], read: Sequence[str], size: int
) -> Batches:
    """Turn columns of a pandas frame into record batches, ``size`` rows at a time."""
    for start in range(0, len(frame), size):
        part = frame.iloc[start : start + size]
        columns = zip(positions, read, strict=True)
        arrays = [array_from(part.iloc[:, position], name) for position, name in columns]
        yield pa.RecordBatch.from_arrays(arrays, names=list(read))


def polars_batches(frame: pl.DataFrame, read: Sequence[str], size: int) -> Batches:
    """Turn a polars frame into record batches, ``size`` rows at a time."""
    for start in range(0, len(frame), size):
        part = frame.slice(start, size)
        arrays = [array_from_stream(part.get_column(name), name) for name in read]
        yield pa.RecordBatch.from_arrays(arrays, names=list(read))
