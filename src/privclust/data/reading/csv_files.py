"""CSV files: the header, which tells the delimiter, and the rows, all read as text.

Nothing is guessed from rows. A guess would depend on the first of them, and would turn the category
"007" into a number. What text stands for is decided by the schema, for each value by itself.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv

from privclust.data.reading.base import one_sentence
from privclust.data.reading.dates import text_as_numbers
from privclust.data.reading.places import Place
from privclust.data.reading.tables import Batches
from privclust.exceptions import DataError
from privclust.schema import Csv

__all__ = ["check_names", "csv_batches", "has_rows", "header", "with_delimiter"]

_CSV_BYTES = 2**22
_DELIMITERS = (",", ";", "\t", "|")
_MARKS_OF_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_ERRORS = (pa.ArrowException, OSError, EOFError, UnicodeError, csv.Error)


def header(place: Place, dialect: Csv) -> list[str]:
    """Return the names of the columns."""
    records = _first_records(place, dialect, 1)
    if not records:
        raise DataError(f"File {place.name} is empty; give a file with a header line and rows.")
    return records[0]


def check_names(place: Place, names: Sequence[str]) -> None:
    """Refuse a first line that looks like a row, where nobody has declared the names.

    Its fields would become the names of the columns, and so be published.
    """
    numbers = text_as_numbers(pa.array([name.strip() for name in names], pa.large_string()))
    if np.isfinite(numbers).any() or "" in names or len(set(names)) < len(names):
        raise DataError(
            f"The first line of file {place.name} is not a list of names (it holds a number, an "
            "empty field or the same twice), so it may be a row; write a header, or declare "
            "the names in a schema."
        )


def has_rows(place: Place, dialect: Csv) -> bool:
    """Tell whether anything follows the header."""
    return len(_first_records(place, dialect, 2)) == 2


def with_delimiter(place: Place, dialect: Csv, declared: Sequence[str] | None) -> Csv:
    """Return the dialect with the delimiter that cuts the header into the declared names."""
    if dialect.delimiter is not None:
        return dialect
    usual = _delimited(dialect, place.delimiter)
    candidates = [_delimited(dialect, mark) for mark in _DELIMITERS if mark != dialect.quote]
    for candidate in [usual, *candidates] if declared is not None else []:
        if set(declared or ()) <= set(header(place, candidate)):
            return candidate
    return usual


def _delimited(dialect: Csv, delimiter: str) -> Csv:
    # With a decimal comma a comma does not separate; then none may be declared for it either.
    wanted = ";" if delimiter == dialect.decimal else delimiter
    return Csv(wanted, dialect.decimal, dialect.encoding, dialect.quote)


def csv_batches(place: Place, dialect: Csv, read: Sequence[str], numbers: Sequence[str]) -> Batches:
    """Read columns as text; in ``numbers`` a decimal comma becomes a point."""
    if not has_rows(place, dialect):
        return
    convert = pv.ConvertOptions(
        include_columns=list(read),
        column_types=dict.fromkeys(read, pa.large_string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    layout = pv.ParseOptions(
        delimiter=dialect.delimiter, quote_char=dialect.quote or False, newlines_in_values=True
    )
    swapped = [name for name in read if name in numbers] if dialect.decimal == "," else []
    with (
        one_sentence(_not_csv(place, dialect), *_ERRORS),
        _opened(place) as file,
        pv.open_csv(file, _read_options(place, dialect), layout, convert) as reader,
    ):
        for batch in reader:
            yield _with_points(batch, swapped)


def _with_points(batch: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """Swap commas and points, so that a point where a comma is declared is not a number."""
    for name in names:
        text = batch.column(name)
        for old, new in ((".", "\0"), (",", "."), ("\0", ",")):
            text = pc.replace_substring(text, old, new)
        batch = batch.set_column(batch.schema.get_field_index(name), name, text)
    return batch


def _read_options(place: Place, dialect: Csv) -> pv.ReadOptions:
    encoding = _encoding(place, dialect)
    return pv.ReadOptions(
        block_size=_CSV_BYTES, encoding="utf8" if encoding == "utf-8-sig" else encoding
    )


def _opened(place: Place) -> Any:
    """Return the bytes of the file, without their compression."""
    stream = pa.input_stream(place.open(), compression=None)
    return pa.CompressedInputStream(stream, place.compression) if place.compression else stream


def _encoding(place: Place, dialect: Csv) -> str:
    if dialect.encoding is not None:
        return "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
    with _opened(place) as file:
        return "utf-16" if file.read(2) in _MARKS_OF_UTF16 else "utf-8-sig"


def _first_records(place: Place, dialect: Csv, count: int) -> list[list[str]]:
    """Return the first records that are not blank lines."""
    with one_sentence(_not_csv(place, dialect), *_ERRORS):
        encoding = _encoding(place, dialect)
        with _opened(place) as file, io.TextIOWrapper(file, encoding, newline="") as lines:
            records = csv.reader(
                lines,
                delimiter=dialect.delimiter or place.delimiter,
                quotechar=dialect.quote or None,
                quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
            )
            return list(islice(filter(None, records), count))


def _not_csv(place: Place, dialect: Csv) -> str:
    encoding = (dialect.encoding or "utf-8").upper()
    return (
        f"File {place.name} cannot be read as a table; check that it is {encoding} text and that "
        "every line has as many fields as the header."
    )
