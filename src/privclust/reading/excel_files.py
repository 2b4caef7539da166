"""Excel and OpenDocument workbooks: the first sheet, a header and rows, each cell with its type.

A cell has a type of its own, and its column has none; text in a cell is a field, which may stand
for a number as in a CSV file. A row without any value is no record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from privclust.data.columns.kinds import FIELD_CELL, MISSING_CELL, Cell, array_of_cells, cell_of
from privclust.exceptions import DataError, as_one_sentence
from privclust.reading.locations import FileLocation

Batches = Iterator[pa.RecordBatch]


def excel_header(place: FileLocation) -> list[str]:
    """Return the names of the columns: the first row that has values, from its first to its last.

    A cell beyond them, in any row, makes all rows wider, and must not be seen.
    """
    for row in _rows(place):
        names = [str(value).strip() for value in row]
        named = [at for at, name in enumerate(names) if name]
        return names[named[0] : named[-1] + 1] if named else []
    raise DataError(f"File {place.name} is empty; give a sheet with a header line and rows.")


def has_excel_rows(place: FileLocation) -> bool:
    """Return whether anything follows the header."""
    rows = _rows(place)
    next(rows, None)
    return next(rows, None) is not None


def excel_batches(place: FileLocation, read: Sequence[str], size: int) -> Batches:
    """Read columns as cells, ``size`` rows at a time."""
    rows = _rows(place)
    names = [str(value).strip() for value in next(rows)]
    places = [names.index(name) for name in read]
    while part := list(islice(rows, size)):
        columns = [array_of_cells([_cell(row[place]) for row in part]) for place in places]
        yield pa.RecordBatch.from_arrays(columns, list(read))


def _cell(value: Any) -> Cell:
    if isinstance(value, str):
        return (FIELD_CELL, None, None, value) if value else MISSING_CELL
    return cell_of(value)


def _rows(place: FileLocation) -> Iterator[list[Any]]:
    """Yield the rows of the first sheet that have a value."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise DataError(
            f"File {place.name} is a workbook, for which python-calamine is needed; install it by "
            "pip install python-calamine, or save the sheet as CSV."
        ) from None
    broken = f"File {place.name} cannot be read as a workbook; check that it is complete."
    with as_one_sentence(broken, Exception):
        book = CalamineWorkbook.from_object(place.open())
        sheet = book.get_sheet_by_index(0)
        rows = sheet.iter_rows()
        while (row := _next(rows)) is not None:
            if any(value != "" for value in row):
                yield row


def _next(rows: Iterator[list[Any]]) -> list[Any] | None:
    """Return the next row, or nothing; whatever the library raises is an Exception.

    A duration may be too long for Python, whose error would quote it, or for Rust, which panics.
    """
    try:
        return next(rows, None)
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # which is none
            raise ValueError from None
        raise
