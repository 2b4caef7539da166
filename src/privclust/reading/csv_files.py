"""CSV files: the header, which gives the delimiter, and the rows, all read as fields.

Nothing is guessed from rows. A guess would depend on the first of them, and would turn the category
"007" into a number. What a field means is decided by the schema, for each by itself. A record
is a line with as many fields as the header; an empty line is one only in a file of one column,
where it is a missing value.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv

from privclust.data.columns.kinds import BYTES_CELL, FIELD_CELL, MISSING_CELL, Cell, array_of_cells
from privclust.data.columns.written import text_as_numbers
from privclust.exceptions import DataError, as_one_sentence
from privclust.reading.frames import Batches
from privclust.reading.locations import FileLocation
from privclust.schema.dialect import Csv

# Bytes parsed together; more for a longer record, up to the limit.
_CSV_BYTES, _LONGEST_RECORD = 2**22, 2**30
_DELIMITERS = (",", ";", "\t", "|")
_MARKS_OF_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UNREADABLE = "\N{REPLACEMENT CHARACTER}"
_ERRORS = (pa.ArrowException, OSError, EOFError, UnicodeError, LookupError)


def header(place: FileLocation, dialect: Csv) -> list[str]:
    """Return the names of the columns."""
    fields, _, _ = _header(place, dialect)
    if any(_UNREADABLE in field for field in fields):
        raise DataError(_not_csv(place, dialect))
    if not fields:
        raise DataError(f"File {place.name} is empty; give a file with a header line and rows.")
    return fields


def check_names(place: FileLocation, names: Sequence[str]) -> None:
    """Refuse a first line that looks like a row, unless the names are declared.

    Its fields would become the names of the columns, and so be published.
    """
    numbers = text_as_numbers(pa.array([name.strip() for name in names], pa.large_string()))
    if np.isfinite(numbers).any() or "" in names or len(set(names)) < len(names):
        raise DataError(
            f"The first line of file {place.name} is not a list of names (it holds a number, an "
            "empty field or the same twice), so it may be a row; write a header, or name the "
            "columns in a schema (or by --columns)."
        )


def has_rows(place: FileLocation, dialect: Csv) -> bool:
    """Return whether anything follows the header."""
    return _header(place, dialect)[2]


def with_delimiter(place: FileLocation, dialect: Csv, declared: Sequence[str] | None) -> Csv:
    """Return the dialect with the delimiter that cuts the header into the declared names.

    Where none are declared, it is the one that cuts it into the most fields.
    """
    if dialect.delimiter is not None:
        return dialect
    usual = _split_line(dialect, place.delimiter)
    candidates = [_split_line(dialect, mark) for mark in _DELIMITERS if mark != dialect.quote]
    if declared is None:
        return max([usual, *candidates], key=lambda candidate: len(header(place, candidate)))
    for candidate in [usual, *candidates]:
        if set(declared) <= set(header(place, candidate)):
            return candidate
    return usual


def _split_line(dialect: Csv, delimiter: str) -> Csv:
    # With a decimal comma a comma does not separate, and may not be declared to.
    wanted = ";" if delimiter == dialect.decimal else delimiter
    return replace(dialect, delimiter=wanted)


def csv_batches(place: FileLocation, dialect: Csv, read: Sequence[str]) -> Batches:
    """Read columns as fields."""
    names, skipped, follows = _header(place, dialect)
    if not follows:
        return
    with as_one_sentence(_not_csv(place, dialect), *_ERRORS):
        for batch in _records(place, dialect, read, skipped, one_column=len(names) == 1):
            yield _as_fields(batch)


def _records(
    place: FileLocation, dialect: Csv, read: Sequence[str], skipped: int, *, one_column: bool
) -> Batches:
    """Read the records; if one is longer than a block, the block grows."""
    size, given = _CSV_BYTES, 0
    while True:
        options, seen = _options(dialect, read, size, skipped, one_column=one_column), 0
        try:
            with _in_utf8(place, dialect) as file, pv.open_csv(file, *options) as reader:
                for batch in reader:
                    fresh = batch.slice(max(0, given - seen))  # none is given twice
                    seen += batch.num_rows
                    given += fresh.num_rows
                    yield fresh
            return
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error) or size >= _LONGEST_RECORD:
                raise
            size *= 2


def _options(
    dialect: Csv, read: Sequence[str], size: int, skipped: int, *, one_column: bool
) -> tuple[pv.ReadOptions, pv.ParseOptions, pv.ConvertOptions]:
    return (
        pv.ReadOptions(block_size=size, skip_rows=skipped if one_column else 0),
        pv.ParseOptions(
            delimiter=dialect.delimiter,
            quote_char=dialect.quote or False,
            newlines_in_values=True,
            ignore_empty_lines=not one_column,
        ),
        pv.ConvertOptions(
            include_columns=list(read),
            column_types=dict.fromkeys(read, pa.large_binary()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def _as_fields(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return bytes as text, each by itself; invalid text is foreign to every declaration."""
    return pa.RecordBatch.from_arrays([*map(_decode, batch.columns)], batch.schema.names)


def _decode(column: pa.Array) -> pa.Array:
    try:
        return column.cast(pa.large_string())
    except pa.ArrowInvalid:
        return array_of_cells([_field(value) for value in column.to_pylist()])


def _field(value: bytes | None) -> Cell:
    if value is None:
        return MISSING_CELL
    try:
        return (FIELD_CELL, None, None, value.decode("utf-8"))
    except UnicodeDecodeError:
        return BYTES_CELL


def _decompress(place: FileLocation) -> Any:
    """Return the bytes of the file, without their compression."""
    stream = pa.input_stream(place.open(), compression=None)
    return pa.CompressedInputStream(stream, place.compression) if place.compression else stream


def _encoding(place: FileLocation, dialect: Csv) -> str:
    if dialect.encoding is not None:
        return "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
    with _decompress(place) as file:
        return "utf-16" if file.read(2) in _MARKS_OF_UTF16 else "utf-8-sig"


def _in_utf8(place: FileLocation, dialect: Csv) -> Any:
    """Return the file in UTF-8; bytes that its encoding does not know are replaced."""
    file, encoding = _decompress(place), _encoding(place, dialect)
    if encoding != "utf-8-sig":
        file = _Recoded(file, encoding)
    return pa.PythonFile(_WholeLineEnds(file), mode="r")


class _WholeLineEnds(io.RawIOBase):
    """The bytes of a file in parts that never end between the two marks of a line's end.

    Arrow drops the second mark at the beginning of a part, even within quotes: what a value is
    would depend on where it stands in the file, and so on the lengths of all rows before it.
    """

    def __init__(self, file: Any) -> None:
        self._file, self._held = file, b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most ``size`` bytes, which is at least two."""
        while True:
            more: bytes = self._file.read(size if size < 0 else size - len(self._held))
            given, self._held = self._held + more, b""
            if not more or not given.endswith(b"\r"):
                return given
            given, self._held = given[:-1], b"\r"
            if given:
                return given

    def close(self) -> None:
        self._file.close()
        super().close()


class _Recoded(io.RawIOBase):
    """Text of another encoding as the bytes of UTF-8."""

    def __init__(self, file: Any, encoding: str) -> None:
        self._text = io.TextIOWrapper(file, encoding, errors="replace", newline="")
        self._rest = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self._rest:
            text = self._text.read(size if size < 0 else max(1, size))
            self._rest = text.encode("utf-8", "replace")
        given = self._rest if size < 0 else self._rest[:size]
        self._rest = self._rest[len(given) :]
        return given

    def close(self) -> None:
        self._text.close()
        super().close()


def _header(place: FileLocation, dialect: Csv) -> tuple[list[str], int, bool]:
    """Return the first record, how many empty lines precede it, and whether more follows."""
    delimiter, quote = dialect.delimiter or place.delimiter, dialect.quote
    with as_one_sentence(_not_csv(place, dialect), *_ERRORS):
        encoding = _encoding(place, dialect)
        with (
            _decompress(place) as file,
            io.TextIOWrapper(file, encoding, errors="replace", newline="") as lines,
        ):
            text, size = "", 2**16
            while True:
                more = lines.read(size)
                text, size = text + more, 2 * size
                start = len(text) - len(text.lstrip("\r\n"))
                fields, end = _first_record(text[start:], delimiter, quote)
                if not more or start + end + 2 < len(text):  # beyond both marks of a line's end
                    break
    empty = text[:start].replace("\r\n", "\n")
    rest = text[start + end :].removeprefix("\r").removeprefix("\n")
    return (fields if text[start:] else []), len(empty), bool(rest)


def _first_record(text: str, delimiter: str, quote: str) -> tuple[list[str], int]:
    """Return the fields of the first record, and where it ends."""
    fields: list[str] = []
    field, quoted, place = "", False, 0
    while place < len(text):
        mark = text[place]
        if quoted:
            if mark != quote:
                field += mark
            elif text[place + 1 : place + 2] == quote:  # a quote within quotes is written twice
                field, place = field + quote, place + 1
            else:
                quoted = False
        elif quote and mark == quote and not field:
            quoted = True
        elif mark == delimiter:
            fields, field = [*fields, field], ""
        elif mark in "\r\n":
            break
        else:
            field += mark
        place += 1
    return [*fields, field], place


def _not_csv(place: FileLocation, dialect: Csv) -> str:
    encoding = (dialect.encoding or "utf-8").upper()
    return (
        f"File {place.name} cannot be read as a table; check that it is {encoding} text, or "
        "declare its encoding (--encoding cp1252), and that every line has as many fields as the "
        "header."
    )
