"""Rows in files: CSV, Parquet and Arrow, one file or several, never all in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from privclust.data.reading.base import Selection, one_sentence
from privclust.data.reading.csv_files import (
    check_names,
    csv_batches,
    has_rows,
    header,
    with_delimiter,
)
from privclust.data.reading.places import Place, Places
from privclust.data.reading.tables import ArrowRows, Batches
from privclust.exceptions import DataError
from privclust.schema import Csv

__all__ = ["open_files", "parquet_batches", "stored_types"]

# A column chunk of a Parquet file is read through a buffer of this size, not as a whole, and not
# ahead of time, so that memory does not grow with the file: 0.2 GB instead of 1.5 GB for 10^7 x 16.
_BUFFER_BYTES = 2**20
_ARROW_FILE = b"ARROW1"
# What a damaged file may raise: a wrong length asks for memory without end, a name may be no text.
_BROKEN = (pa.ArrowException, OSError, UnicodeError, MemoryError)

Choose = Callable[[Sequence[str]], Selection]


def open_files(
    places: Places,
    choose: Choose,
    block_rows: int | None,
    *,
    declared: Sequence[str] | None = None,
    csv: Csv | None = None,
    numbers: Sequence[str] = (),
) -> ArrowRows:
    """Open files of one format, read one after the other.

    Parameters
    ----------
    places : Places
        The files.
    choose : callable
        Takes the names of the columns and returns those to read.
    block_rows : int or None
        Rows per block.
    declared : sequence of str or None
        Names that the header of a CSV file must hold, the id column included.
    csv : Csv or None
        The dialect of CSV files.
    numbers : sequence of str
        Columns of CSV files that hold numbers, for the decimal mark.
    """
    if places[0].format == "csv":
        return _open_csv(places, choose, block_rows, declared, csv or Csv(), numbers)
    return _open_typed(places, choose, block_rows)


def _one_choice(places: Places, names: list[list[str]], choose: Choose) -> Selection:
    for place, columns in zip(places, names, strict=True):
        if set(columns) != set(names[0]):
            raise DataError(
                f"File {place.name} has other columns than {places[0].name}; "
                "give files of one layout."
            )
    return choose(names[0])


def _open_csv(
    places: Places,
    choose: Choose,
    block_rows: int | None,
    declared: Sequence[str] | None,
    csv: Csv,
    numbers: Sequence[str],
) -> ArrowRows:
    dialects = [with_delimiter(place, csv, declared) for place in places]
    each = list(zip(places, dialects, strict=True))
    names = [header(*pair) for pair in each]
    if declared is None:
        check_names(places[0], names[0])
    selection = _one_choice(places, names, choose)
    n_rows = None if any(has_rows(*pair) for pair in each) else 0

    def read(size: int) -> Batches:
        for place, dialect in each:
            yield from csv_batches(place, dialect, selection.read, numbers)

    return ArrowRows(
        read, selection, n_rows=n_rows, block_rows=block_rows, parse=True, close=places.close
    )


def _open_typed(places: Places, choose: Choose, block_rows: int | None) -> ArrowRows:
    """Open files that know the types of their columns."""
    names = [list(stored_types(place).names) for place in places]
    selection = _one_choice(places, names, choose)

    def read(size: int) -> Batches:
        for place in places:
            if place.format == "parquet":
                yield from parquet_batches(place.open(), selection.read, size, place.name)
            else:
                yield from _arrow_batches(place, selection.read)

    counts = [_count(place) for place in places]
    known = [count for count in counts if count is not None]
    n_rows = sum(known) if len(known) == len(counts) else None
    return ArrowRows(read, selection, n_rows=n_rows, block_rows=block_rows, close=places.close)


def stored_types(place: Place) -> pa.Schema:
    """Return names and types of the columns of a Parquet or Arrow file."""
    with one_sentence(_unreadable(place.name, place.format), *_BROKEN):
        if place.format == "parquet":
            stored = pq.read_schema(place.open())
        else:
            with _arrow_reader(place) as reader:
                stored = reader.schema
        return pa.schema(zip(stored.names, stored.types, strict=True))


def _count(place: Place) -> int | None:
    if place.format != "parquet":
        return None
    with one_sentence(_unreadable(place.name, place.format), *_BROKEN):
        return int(pq.read_metadata(place.open()).num_rows)


def parquet_batches(file: Any, read: Sequence[str], size: int, name: str | None = None) -> Batches:
    """Read columns of a Parquet file, a bounded number of rows at a time."""
    with (
        one_sentence(_unreadable(name or f"'{file}'", "parquet"), *_BROKEN),
        pq.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False) as parquet,
    ):
        for batch in parquet.iter_batches(batch_size=size, columns=list(read)):
            yield _validated(batch, read)


def _arrow_reader(place: Place) -> Any:
    """Return a reader of Arrow's own format, with an index at its end or without."""
    file = pa.input_stream(place.open(), compression=None)
    is_indexed = file.read(len(_ARROW_FILE)) == _ARROW_FILE
    file.seek(0)
    return pa.ipc.open_file(file) if is_indexed else pa.ipc.open_stream(file)


def _arrow_batches(place: Place, read: Sequence[str]) -> Batches:
    with (
        one_sentence(_unreadable(place.name, "arrow"), *_BROKEN),
        _arrow_reader(place) as reader,
    ):
        count = getattr(reader, "num_record_batches", None)
        batches = reader if count is None else map(reader.get_batch, range(count))
        for batch in batches:
            yield _validated(batch, read)


def _validated(batch: pa.RecordBatch, read: Sequence[str]) -> pa.RecordBatch:
    """Return columns of a batch; Arrow trusts files, and a damaged one must not end the process."""
    chosen = batch.select(list(read))
    chosen.validate(full=True)
    return chosen


def _unreadable(name: str, form: str) -> str:
    return f"File {name} cannot be read as {form.capitalize()}; check that it is complete."
