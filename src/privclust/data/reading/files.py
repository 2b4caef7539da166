"""Rows in files: CSV and Parquet, one file or several, never all in memory."""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Callable, Sequence
from itertools import chain, islice
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq

from privclust.data.reading.base import Selection, one_sentence
from privclust.data.reading.tables import ArrowRows, Batches
from privclust.exceptions import DataError

__all__ = ["open_files", "parquet_batches"]

# A column chunk of a Parquet file is read through a buffer of this size, not as a whole, and not
# ahead of time, so that memory does not grow with the file: 0.2 GB instead of 1.5 GB for 10^7 x 16.
_BUFFER_BYTES = 2**20
_CSV_BYTES = 2**22
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")

Choose = Callable[[Sequence[str]], Selection]


def open_files(paths: Sequence[Path], choose: Choose, block_rows: int | None) -> ArrowRows:
    """Open files of one format, read one after the other.

    Parameters
    ----------
    paths : sequence of Path
        Files or directories; a directory stands for the Parquet files in it, sorted by name.
    choose : callable
        Takes the names of the columns and returns those to read.
    block_rows : int or None
        Rows per block.
    """
    files = list(chain.from_iterable(map(_expanded, paths)))
    formats = {_format(file) for file in files}
    if len(formats) > 1:
        raise DataError("The files are of different formats; give files of one format.")
    if formats == {"parquet"}:
        return _open_parquet(files, choose, block_rows)
    return _open_csv(files, choose, block_rows)


def _expanded(path: Path) -> list[Path]:
    if path.is_dir():
        files = sorted(file for file in path.glob("*.parquet") if file.name[0] not in "._")
        if not files:
            raise DataError(f"Directory '{path}' holds no .parquet file; check the path.")
        return files
    if not path.is_file():
        raise DataError(f"File '{path}' was not found; check the path.")
    return [path]


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else path.suffix.lower()


def _format(path: Path) -> str:
    suffix = _suffix(path)
    if suffix in _PARQUET and path.suffix.lower() in _PARQUET:
        return "parquet"
    if suffix in _SEPARATORS:
        return suffix
    raise DataError(f"File '{path}' is of an unknown format; give a .csv, .tsv or .parquet file.")


def _one_choice(files: list[Path], names: list[list[str]], choose: Choose) -> Selection:
    for file, columns in zip(files, names, strict=True):
        if set(columns) != set(names[0]):
            raise DataError(
                f"File '{file}' has other columns than '{files[0]}'; give files of one layout."
            )
    return choose(names[0])


def _open_parquet(files: list[Path], choose: Choose, block_rows: int | None) -> ArrowRows:
    names, n_rows = [], 0
    for file in files:
        with one_sentence(_not_parquet(file), pa.ArrowException, OSError):
            metadata = pq.read_metadata(file)
            names.append(metadata.schema.to_arrow_schema().names)
            n_rows += metadata.num_rows
    selection = _one_choice(files, names, choose)

    def read(size: int) -> Batches:
        for file in files:
            yield from parquet_batches(file, selection.read, size)

    return ArrowRows(read, selection, n_rows=n_rows, block_rows=block_rows)


def parquet_batches(path: str | os.PathLike[str], read: Sequence[str], size: int) -> Batches:
    """Read columns of a Parquet file, a bounded number of rows at a time."""
    with (
        one_sentence(_not_parquet(path), pa.ArrowException, OSError),
        pq.ParquetFile(path, buffer_size=_BUFFER_BYTES, pre_buffer=False) as file,
    ):
        for batch in file.iter_batches(batch_size=size, columns=list(read)):
            yield batch.select(list(read))


def _not_parquet(path: str | os.PathLike[str]) -> str:
    return f"File '{path}' cannot be read as Parquet; check that it is complete."


def _open_csv(files: list[Path], choose: Choose, block_rows: int | None) -> ArrowRows:
    selection = _one_choice(files, [_header(file) for file in files], choose)

    def read(size: int) -> Batches:
        for file in files:
            yield from _csv_batches(file, selection.read)

    return ArrowRows(read, selection, n_rows=None, block_rows=block_rows, parse=True)


def _csv_batches(path: Path, read: Sequence[str]) -> Batches:
    """Read columns of a CSV file as text; what it stands for is decided by the schema.

    Types are not guessed: a guess would depend on the first rows, and would turn the category
    "007" into a number.
    """
    if len(_first_records(path, 2)) < 2:
        return
    convert = pv.ConvertOptions(
        include_columns=list(read),
        column_types=dict.fromkeys(read, pa.large_string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    layout = pv.ParseOptions(delimiter=_SEPARATORS[_suffix(path)], newlines_in_values=True)
    options = pv.ReadOptions(block_size=_CSV_BYTES)
    with (
        one_sentence(_not_csv(path), pa.ArrowException, OSError),
        pv.open_csv(path, options, layout, convert) as reader,
    ):
        yield from reader


def _header(path: Path) -> list[str]:
    records = _first_records(path, 1)
    if not records:
        raise DataError(f"File '{path}' is empty; give a file with a header line and rows.")
    return records[0]


def _first_records(path: Path, count: int) -> list[list[str]]:
    """Return the first records that are not blank lines."""
    open_bytes = gzip.open if path.suffix.lower() == ".gz" else open
    with (
        one_sentence(_not_csv(path), OSError, EOFError, UnicodeDecodeError, csv.Error),
        open_bytes(path, "rb") as file,
        io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as lines,
    ):
        records = csv.reader(lines, delimiter=_SEPARATORS[_suffix(path)])
        return list(islice(filter(None, records), count))


def _not_csv(path: Path) -> str:
    return (
        f"File '{path}' cannot be read as a table; check that it is UTF-8 text and that every "
        "line has as many fields as the header."
    )
