"""Rows that arrive as Arrow record batches, and the data frames that turn into them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from privclust.data.rows import Block, RowSource, Selection
from privclust.exceptions import DataError
from privclust.reading.objects import array_from, array_from_stream, block_of, plain_batch

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


Batches = Iterator[pa.RecordBatch]


class ArrowRows(RowSource):
    """Rows from a function that starts reading record batches again each time it is called.

    ``read``: takes the number of rows per batch, as a hint, and returns the batches.
    """

    def __init__(
        self,
        read: Callable[[int], Iterable[pa.RecordBatch]],
        selection: Selection,
        *,
        n_rows: int | None,
        block_rows: int | None,
        named: bool = True,
        close: Callable[[], object] | None = None,
    ) -> None:
        super().__init__(selection, named=named, n_rows=n_rows, block_rows=block_rows)
        self._read, self._free = read, close

    def _blocks(self) -> Iterator[Block]:
        for batch in rebatch(self._read(self.block_rows), self.block_rows):
            yield block_of(batch, self.selection.names, frozenset())

    def close(self) -> None:
        super().close()
        if self._free is not None:
            self._free()


def rebatch(batches: Iterable[pa.RecordBatch], size: int) -> Batches:
    """Cut and join batches to ``size`` rows; a change of types ends a batch early."""
    held: list[pa.RecordBatch] = []
    room = size
    for batch in batches:
        if held and not batch.schema.equals(held[0].schema):
            yield from _join(held)
            held, room = [], size
        while batch.num_rows:
            head, batch = batch.slice(0, room), batch.slice(room)
            held.append(head)
            room -= head.num_rows
            if not room:
                yield from _join(held)
                held, room = [], size
    if held:
        yield from _join(held)


def _join(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Return batches as one, or as few as Arrow allows; no row is lost."""
    if len(batches) == 1:
        return batches
    joined: list[pa.RecordBatch] = (
        pa.Table.from_batches(map(plain_batch, batches)).combine_chunks().to_batches()
    )
    if sum(batch.num_rows for batch in joined) != sum(batch.num_rows for batch in batches):
        raise DataError("Rows were lost while they were read; give the data in smaller pieces.")
    return joined


def native_frame(data: Any) -> Any:
    """Return what a frame of narwhals wraps, and frames like pandas' or Dask's as those of pandas.

    Others speak Arrow, with types of their own. What holds pandas' objects must not be asked for
    Arrow data: a type would be inferred from all values of a column.
    """
    library = type(data).__module__.partition(".")[0]
    if library in ("pandas", "polars", "pyarrow", "numpy") or not hasattr(data, "columns"):
        return data
    try:
        import narwhals
    except ImportError:
        return data
    frame = narwhals.from_native(data, pass_through=True)
    if library == "narwhals":
        return native_frame(frame.to_native())
    known, found = narwhals.Implementation, getattr(frame, "implementation", None)
    if found in (known.MODIN, known.CUDF):
        return frame.to_pandas()
    return frame.collect("pandas").to_native() if found is known.DASK else data


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
        arrays = [array_from(part.iloc[:, position]) for position in positions]
        yield pa.RecordBatch.from_arrays(arrays, names=list(read))


def polars_batches(frame: pl.DataFrame, read: Sequence[str], size: int) -> Batches:
    """Turn a polars frame into record batches, ``size`` rows at a time."""
    for start in range(0, len(frame), size):
        part = frame.slice(start, size)
        arrays = [array_from_stream(part.get_column(name)) for name in read]
        yield pa.RecordBatch.from_arrays(arrays, names=list(read))
