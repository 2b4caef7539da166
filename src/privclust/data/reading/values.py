"""Columns whose values have no common type: each value becomes a cell by itself.

Lists and object columns carry no type, and one that is inferred from all values would let a row
decide how the others are read: a Decimal with many digits, a text or a fraction would move its
neighbours. So unless all values are of one plain Python type, each is put into a *cell*, a record
of what it is, and is read from there alone.
"""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

__all__ = ["CELLS", "array_of_objects", "array_of_values", "in_cells"]

# What a value is; its number if it is one; its integer if that is whole and has 64 bits; its text,
# or the digits of a whole number that is longer. A missing value is a null cell.
CELLS = pa.struct(
    {"what": pa.string(), "number": pa.float64(), "integer": pa.int64(), "text": pa.large_string()}
)
Cell = tuple[str, float | None, int | None, str | None]

_FAILURES = (pa.ArrowException, TypeError, ValueError, OverflowError)
_INTEGERS = frozenset({int, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32})
# Sets of types that Arrow reads value by value, and a test of what it must have read them as.
_PLAIN = (
    (frozenset({str, np.str_}), lambda kind: pt.is_string(kind) or pt.is_large_string(kind)),
    (frozenset({bool, np.bool_}), pt.is_boolean),
    (_INTEGERS, pt.is_integer),
    (frozenset({float, np.float64, np.float32, np.float16}), pt.is_floating),
    (frozenset({Decimal}), pt.is_decimal),
    (frozenset({datetime.date}), pt.is_temporal),
    (frozenset({datetime.datetime}), pt.is_temporal),
)
# By name, because pandas need not be installed.
_MISSING_TYPES = ("NoneType", "NAType", "NaTType", "MaskedConstant")
_NAN_TYPES = frozenset({float, np.float64})


def array_of_objects(values: npt.NDArray[np.object_]) -> pa.Array:
    """Return objects as an Arrow array: of one plain type if all have it, of cells otherwise."""
    types = {kind for kind in set(map(type, values)) if kind.__name__ not in _MISSING_TYPES}
    if len(types) > 1 and types & _NAN_TYPES and _floats_are_missing(values):
        types -= _NAN_TYPES
    for plain, is_read in _PLAIN:
        if types <= plain:
            array = _inferred(values)
            if array is not None and (is_read(array.type) or pt.is_null(array.type)):
                return array
    return in_cells(values)


def _floats_are_missing(values: npt.NDArray[np.object_]) -> bool:
    """Tell whether every float is a NaN, which is how pandas marks a gap among other values."""
    return all(value != value for value in values if type(value) in _NAN_TYPES)


def _inferred(values: Any) -> pa.Array | None:
    try:
        array = pa.array(values, from_pandas=True)
    except _FAILURES:
        return None
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def array_of_values(values: Any) -> pa.Array:
    """Return a column that has a type of its own; value by value if Arrow does not know it."""
    array = _inferred(values)
    return in_cells(np.asarray(values, dtype=object)) if array is None else array


def in_cells(values: Iterable[Any]) -> pa.Array:
    """Return values as cells, each made from its value alone."""
    return pa.array([_cell(value) for value in values], CELLS)


def _cell(value: Any) -> Cell | None:
    if type(value).__name__ in _MISSING_TYPES:
        return None
    if isinstance(value, (bool, np.bool_)):
        return ("boolean", float(value), None, None)
    if isinstance(value, str):
        return ("text", None, None, str(value)) if _is_unicode(value) else _OTHER
    if isinstance(value, (numbers.Real, Decimal)):
        return _number_cell(value)
    return None if isinstance(value, np.datetime64) and np.isnat(value) else _OTHER


_OTHER: Cell = ("other", None, None, None)


def _number_cell(value: Any) -> Cell | None:
    if isinstance(value, Decimal) and value.is_nan():
        return None
    # As Arrow reads decimals, which know no negative zero.
    number = _nearest_float(value) + (0.0 if isinstance(value, Decimal) else -0.0)
    if number != number:
        return None
    if isinstance(value, numbers.Integral):
        whole: int | None = int(value)
    elif abs(number) < 2.0**64 and value == int(value):
        whole = int(value)
    else:
        whole = None
    if whole is None:
        return ("number", number, None, None)
    what = "integer" if isinstance(value, numbers.Integral) else "number"
    fits = -(2**63) <= whole < 2**63
    return (what, number, whole if fits else None, None if fits else _digits(whole))


def _digits(whole: int) -> str:
    return hex(whole) if whole.bit_length() > 10_000 else str(whole)


def _nearest_float(value: Any) -> float:
    try:
        with np.errstate(all="ignore"):
            return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
