"""Columns with a kind, as readers pass them to the door; a cell carries a kind of its own.

Lists and columns of objects have no type, and one that is inferred from all values would let a row
decide how the others are read. So each value becomes a *cell* by itself: a tag, which is a kind of
column, and what a column of that kind would contain. The table reads a cell as its tag's kind.

A kind follows from the Arrow type of a column and from whether its source has types at all. It
decides which function of the table reads each of its values. Types come from declarations, files or
frames, never from values.
"""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from privclust._typing import Mask

# Cells: values without a common type, each of which carries its own.

# A cell is missing, or one of these kinds. ``number`` is that of a float or decimal; ``ticks`` an
# integer, a boolean, days or microseconds, or what a whole decimal is if it has 64 bits; ``text`` a
# text, or the digits of a whole decimal.
TAGS = (
    "nothing", "float", "integer", "boolean", "text", "field", "date", "moment", "duration",
    "decimal", "bytes", "other",
)  # fmt: skip
CELLS = pa.struct(
    {"tag": pa.uint8(), "number": pa.float64(), "ticks": pa.int64(), "text": pa.large_string()}
)
Cell = tuple[int, float | None, int | None, str | None]

_TAG = {kind: place for place, kind in enumerate(TAGS)}
MISSING_CELL: Cell = (_TAG["nothing"], None, None, None)
OTHER_CELL: Cell = (_TAG["other"], None, None, None)
FIELD_CELL = _TAG["field"]
BYTES_CELL: Cell = (_TAG["bytes"], None, None, None)  # from a file, and not text

# By name, because pandas is optional.
_MISSING_TYPES = frozenset({"NoneType", "NAType", "NaTType", "MaskedConstant"})
_FIRST_DAY = datetime.date(1970, 1, 1).toordinal()
# Limits of days and microseconds since 1970; anything beyond is clipped to them.
MOST_DAYS, _LONGEST = 10**8, 2**62
# Units of NumPy's times in picoseconds, and those of its dates.
_PICOSECONDS = {
    "W": 604_800 * 10**12, "D": 86_400 * 10**12, "h": 3600 * 10**12, "m": 60 * 10**12,
    "s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1,
}  # fmt: skip
_DATES = frozenset({"Y", "M", "W", "D"})
# Beyond any column of decimals; the digits of 1e999999 would take too long.
_LARGEST_WHOLE = 1e80


def to_cells(values: Iterable[Any]) -> pa.Array:
    """Return values as cells, each made from its value alone."""
    return array_of_cells([cell_of(value) for value in values])


def array_of_cells(cells: list[Cell]) -> pa.Array:
    """Return cells as an Arrow array."""
    fields = zip(*cells, strict=True) if cells else ((), (), (), ())
    arrays = [pa.array(part, field.type) for part, field in zip(fields, CELLS, strict=True)]
    return pa.StructArray.from_arrays(arrays, fields=list(CELLS))


def cell_of(value: Any) -> Cell:
    """Return the cell of a value; it never raises."""
    try:
        if type(value).__name__ in _MISSING_TYPES:
            return MISSING_CELL
        for kinds, make in _MAKERS:
            if isinstance(value, kinds):
                return make(value)
    except Exception:  # a value may be of any class, and do anything
        return OTHER_CELL
    return OTHER_CELL


def _boolean(value: Any) -> Cell:
    return (_TAG["boolean"], None, int(bool(value)), None)


def _text(value: str) -> Cell:
    text = str.__str__(value)
    text.encode("utf-8")  # or it is not text
    return (_TAG["text"], None, None, text)


def _whole(value: Any) -> Cell:
    whole = int(value)
    if -(2**63) <= whole < 2**63:
        return (_TAG["integer"], None, whole, None)
    return (_TAG["decimal"], _nearest_float(whole), None, _digits(whole))


def _decimal(value: Decimal) -> Cell:
    if value.is_nan():
        return MISSING_CELL
    number = _nearest_float(value)
    if abs(number) >= _LARGEST_WHOLE or value != int(value):
        return (_TAG["decimal"], number, None, None)
    whole = int(value)
    ticks = whole if -(2**63) <= whole < 2**63 else None
    return (_TAG["decimal"], number, ticks, _digits(whole))


def _real(value: Any) -> Cell:
    number = _nearest_float(value)
    return MISSING_CELL if number != number else (_TAG["float"], number, None, None)


def _moment(value: datetime.datetime) -> Cell:
    # In integers, which no year and no offset can overflow.
    seconds = ((value.toordinal() - _FIRST_DAY) * 24 + value.hour) * 3600
    seconds += value.minute * 60 + value.second
    ticks = seconds * 1_000_000 + value.microsecond
    return (_TAG["moment"], None, ticks - _microseconds(value.utcoffset()), None)


def _date(value: datetime.date) -> Cell:
    return (_TAG["date"], None, value.toordinal() - _FIRST_DAY, None)


def _time(value: datetime.time) -> Cell:
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return (_TAG["duration"], None, seconds * 1_000_000 + value.microsecond, None)


def _span(value: datetime.timedelta) -> Cell:
    return (_TAG["duration"], None, _bound(_microseconds(value)), None)


def _numpy_moment(value: np.datetime64) -> Cell:
    if np.isnat(value):
        return MISSING_CELL
    if np.datetime_data(value.dtype)[0] in _DATES:
        days = int(value.astype("datetime64[D]").astype(np.int64))
        return (_TAG["date"], None, max(-MOST_DAYS, min(days, MOST_DAYS)), None)
    return (_TAG["moment"], None, _numpy_ticks(value), None)


def _numpy_span(value: np.timedelta64) -> Cell:
    return MISSING_CELL if np.isnat(value) else (_TAG["duration"], None, _numpy_ticks(value), None)


def _numpy_ticks(value: np.datetime64 | np.timedelta64) -> int:
    unit, count = np.datetime_data(value.dtype)
    ticks = int(value.astype(np.int64)) * count * _PICOSECONDS[unit] // 10**6
    return _bound(ticks)


def _bound(ticks: int) -> int:
    return max(-_LONGEST, min(ticks, _LONGEST))


def _microseconds(span: datetime.timedelta | None) -> int:
    if span is None:
        return 0
    return (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds


def _digits(whole: int) -> str:
    return hex(whole) if whole.bit_length() > 10_000 else str(whole)


def _nearest_float(value: Any) -> float:
    try:
        with np.errstate(all="ignore"):
            return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


# In this order: a bool is an int, a datetime a date, and NumPy's spans are numbers to Python.
# Numbers of other classes come last, because recognising them takes longest.
_MAKERS: tuple[tuple[Any, Callable[[Any], Cell]], ...] = (
    ((bool, np.bool_), _boolean),
    (str, _text),
    (float, _real),
    (int, _whole),
    (datetime.datetime, _moment),
    (datetime.date, _date),
    (datetime.timedelta, _span),
    (datetime.time, _time),
    (np.datetime64, _numpy_moment),
    (np.timedelta64, _numpy_span),
    (Decimal, _decimal),
    (numbers.Integral, _whole),
    (numbers.Real, _real),
)


ColumnKind = Literal[
    "float", "integer", "unsigned", "boolean", "text", "field", "date", "moment", "duration",
    "decimal", "cell", "nothing", "other",
]  # fmt: skip


@dataclass(frozen=True)
class TypedColumn:
    """The values of one column in a block of rows."""

    # A *field* is text of a source without types, such as CSV: it may represent a number.
    kind: ColumnKind
    array: pa.Array  # of a type of this kind, or a dictionary of such values. Missing ones are null

    @classmethod
    def of(cls, array: pa.Array, *, untyped: bool = False) -> TypedColumn:
        """Return a column of the kind of its type; text of an untyped source is a field."""
        kind = kind_of(array.type)
        return cls("field" if kind == "text" and untyped else kind, array)

    def __len__(self) -> int:
        return len(self.array)

    def words(self) -> pa.Array:
        """Return the distinct values, which are as PRIVATE as all of them."""
        return self.decode().unique()

    def decode(self) -> pa.Array:
        """Return the values themselves if they are dictionary-encoded."""
        array = self.array
        return array.dictionary.take(array.indices) if pt.is_dictionary(array.type) else array

    def keep(self, mask: Mask) -> TypedColumn:
        """Return the values where ``mask`` is true."""
        return TypedColumn(self.kind, self.array.filter(pa.array(mask)))


def kind_of(stored: pa.DataType) -> ColumnKind:
    """Return the kind of columns of an Arrow type."""
    if pt.is_dictionary(stored):
        return kind_of(stored.value_type)
    if pt.is_boolean(stored):
        return "boolean"
    if pt.is_integer(stored):
        return "unsigned" if pt.is_uint64(stored) else "integer"
    if pt.is_floating(stored):
        return "float"
    if pt.is_decimal(stored):
        return "decimal"
    if pt.is_string(stored) or pt.is_large_string(stored):
        return "text"
    if pt.is_date(stored):
        return "date"
    if pt.is_timestamp(stored):
        return "moment"
    if pt.is_duration(stored) or pt.is_time(stored):
        return "duration"
    if stored.equals(CELLS):
        return "cell"
    return "nothing" if pt.is_null(stored) else "other"
