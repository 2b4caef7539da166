"""Streams that can be read only once, kept for the further passes that algorithms need."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from privclust.exceptions import as_one_sentence
from privclust.reading.files import parquet_batches
from privclust.reading.frames import Batches, rebatch
from privclust.reading.objects import plain_batch

if TYPE_CHECKING:
    import polars as pl


# For all errors of polars: it has many types, and their texts may quote values.
NOT_EVALUATED = "The LazyFrame cannot be evaluated; check that its collect() works."
_ROW_GROUP = 65_536
# Times are clipped to this; see the table.
_MOST_SECONDS = 2**62 // 1_000_000


class Spool:
    """A stream that can be read only once, kept in a temporary Parquet file for further passes.

    The file is readable only by its owner. Where the system allows it, it never has a name, so that
    nothing is left behind however the process ends; elsewhere it is removed by :meth:`close`, and
    at the latest when the spool is garbage or the interpreter exits.

    ``write``: takes a path and writes the Parquet file there.
    """

    def __init__(self, write: Callable[[Path], object], read: Sequence[str]) -> None:
        self._write = write
        self._columns = read
        self._path: Path | None = None
        self._remove: Callable[[], object] = lambda: None

    def batches(self, size: int) -> Batches:
        """Read the rows; the first call reads the stream."""
        if self._path is None:
            path, remove = _temporary_file()
            self._remove = weakref.finalize(self, remove)
            self._write(path)
            self._path = path
        yield from parquet_batches(self._path, self._columns, size)

    def close(self) -> None:
        """Remove the file."""
        self._remove()


def _temporary_file() -> tuple[Path, Callable[[], object]]:
    """Return the path of a new file, and what removes it."""
    handle, name = tempfile.mkstemp(prefix="privclust-", suffix=".parquet")
    unnamed = Path(f"/proc/self/fd/{handle}")
    if unnamed.exists():
        # The file lives as long as the handle is open, and can be opened again through it.
        os.unlink(name)
        return unnamed, partial(os.close, handle)
    os.close(handle)
    return Path(name), partial(Path(name).unlink, missing_ok=True)


def write_stream(reader: pa.RecordBatchReader, read: Sequence[str], path: Path) -> None:
    """Write columns of an Arrow stream to a Parquet file."""
    broken = "The Arrow stream cannot be read to its end; check where it comes from."
    with as_one_sentence(broken, pa.ArrowException, OSError):
        nothing = [pa.nulls(0, reader.schema.field(name).type) for name in read]
        empty = _storable(plain_batch(pa.RecordBatch.from_arrays(nothing, names=list(read))))
        with pq.ParquetWriter(path, empty.schema) as writer:
            batches = (_storable(plain_batch(batch.select(list(read)))) for batch in reader)
            for batch in rebatch(batches, _ROW_GROUP):
                writer.write_batch(batch)


def _storable(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch whose times fit Parquet, which has no seconds and fewer years."""
    return pa.RecordBatch.from_arrays(
        [_in_milliseconds(c) for c in batch.columns], batch.schema.names
    )


def _in_milliseconds(array: pa.Array) -> pa.Array:
    if not pt.is_timestamp(array.type) or array.type.unit != "s":
        return array
    ticks = array.view(pa.int64())
    near = pc.max_element_wise(
        pc.min_element_wise(ticks, _MOST_SECONDS, skip_nulls=False),
        -_MOST_SECONDS,
        skip_nulls=False,
    )
    return near.cast(pa.int64()).view(array.type).cast(pa.timestamp("ms"))


def write_lazy(frame: pl.LazyFrame, read: Sequence[str], path: Path) -> None:
    """Evaluate a polars LazyFrame as a stream and write columns to a Parquet file."""
    with as_one_sentence(NOT_EVALUATED, Exception):
        frame.select(read).sink_parquet(path)
