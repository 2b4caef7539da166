"""The table: for a declared fact and a kind of column, the function that reads one value.

Only here does a value become a number, a category or an id. Every function here is elementwise:
what a row becomes depends on its own value and on the kind of its column, never on other values. A
value is *missing*, or *foreign* if it does not read as declared, or it has a reading; nothing is
refused here, and nothing raises.

A kind that a fact does not list is foreign to it. A cell is read as its tag's kind, and a
dictionary value once for all its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from privclust._typing import Integers, Mask
from privclust.data.columns.kinds import MOST_DAYS, TAGS, ColumnKind, TypedColumn, to_cells
from privclust.data.columns.written import MICROSECONDS_A_DAY, in_form, plain_digits, written
from privclust.schema.facts import Kind
from privclust.schema.forms import DURATIONS, Form
from privclust.schema.writing import Writing
from privclust.unit.rows import IdType

ARROW_TYPE: dict[Kind, pa.DataType] = {
    "text": pa.large_string(),
    "integer": pa.int64(),
    "boolean": pa.bool_(),
}
# How missing numbers are written in CSV files; an empty field is missing for text as well.
MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")
_TRUE_WORDS = ("true", "True", "TRUE")
_FALSE_WORDS = ("false", "False", "FALSE")
# A whole number that a program wrote as a fraction, as pandas does if another is missing.
_WITH_ZEROS = r"^([-+]?[0-9]+)\.0*$"

# Beyond this, floats skip integers: one number may mean several people.
_EXACT_FLOATS = 2.0**53
# A whole number in digits; leading zeros, and zeros after a point, are ignored.
_WHOLE = r"^[ \t]*(?P<sign>[-+]?)0*(?P<digits>[0-9]+?)(?:\.0*)?[ \t]*$"
_MICROSECONDS = {"s": 1_000_000, "ms": 1000, "us": 1}
_MILLISECONDS_A_DAY = MICROSECONDS_A_DAY // 1000


@dataclass(frozen=True)
class Read:
    """What became of the values of a column."""

    values: pa.Array  # null, or for numbers NaN, where a value is missing or foreign
    foreign: Mask  # which values are present but do not read as declared


Function = Callable[[pa.Array], Read]


@dataclass(frozen=True)
class TableLine:
    """One line of the table."""

    result: pa.DataType  # what values are read as
    functions: Mapping[ColumnKind, Function]  # how; kinds not listed are foreign

    def takes(self, kind: ColumnKind) -> bool:
        """Return whether any value of a column of this kind can be read."""
        return kind in ("cell", "nothing") or kind in self.functions

    def read(self, column: TypedColumn, then: Callable[[pa.Array], pa.Array] | None = None) -> Read:
        """Read every value by itself; ``then`` is applied to the values that were read."""
        array = column.array
        if pt.is_dictionary(array.type):
            words = self.read(TypedColumn(column.kind, array.dictionary), then)
            foreign = pa.array(words.foreign).take(array.indices).fill_null(False)
            return Read(words.values.take(array.indices), _mask(foreign))
        if column.kind == "cell":
            return self._read_cells(array, then)
        function = self.functions.get(column.kind, self._unread)
        read = function(array)
        return read if then is None else Read(then(read.values), read.foreign)

    def _unread(self, array: pa.Array) -> Read:
        nothing = pa.nulls(len(array), self.result)
        return _mark_lost(array, nothing)

    def _read_cells(self, cells: pa.Array, then: Callable[[pa.Array], pa.Array] | None) -> Read:
        """Read the cells of each tag as a column of that kind, and return them in order."""
        tags = pc.struct_field(cells, "tag").fill_null(0).to_numpy(zero_copy_only=False)
        places = [np.flatnonzero(tags == tag) for tag in range(len(TAGS))]
        parts = [
            self.read(_column_of_kind(kind, cells.take(pa.array(place))), then)
            for kind, place in zip(TAGS, places, strict=True)
            if len(place) or kind == "nothing"
        ]
        back = np.argsort(np.concatenate(places), kind="stable")
        values = pa.concat_arrays([part.values for part in parts]).take(pa.array(back))
        return Read(values, np.concatenate([part.foreign for part in parts])[back])


def _column_of_kind(kind: str, cells: pa.Array) -> TypedColumn:
    """Return cells of one tag as a column of that kind."""
    if kind == "nothing":
        return TypedColumn("nothing", pa.nulls(len(cells)))
    if kind == "float":
        return TypedColumn("float", cells.field("number"))
    if kind in ("text", "field"):
        return TypedColumn(kind, cells.field("text"))  # type: ignore[arg-type]
    if kind == "boolean":
        return TypedColumn("boolean", cells.field("ticks").cast(pa.bool_()))
    if kind == "date":
        return TypedColumn("date", cells.field("ticks").cast(pa.int32()).view(pa.date32()))
    if kind == "moment":
        return TypedColumn("moment", cells.field("ticks").view(pa.timestamp("us")))
    if kind == "duration":
        return TypedColumn("duration", cells.field("ticks").view(pa.duration("us")))
    if kind == "integer":
        return TypedColumn("integer", cells.field("ticks"))
    return TypedColumn(kind, cells)  # type: ignore[arg-type]


# Numbers.
def _cast(array: pa.Array) -> Read:
    # Integers beyond 2^53 are rounded to the nearest float.
    return Read(array.cast(pa.float64(), safe=False), np.zeros(len(array), bool))


def _decimal(array: pa.Array) -> Read:
    if pt.is_struct(array.type):
        return _cast(array.field("number"))
    # Arrow's own cast rounds differently at each scale; text is read to the nearest float.
    return _cast(array.cast(pa.string()))


def _finite(read: Function, array: pa.Array) -> Read:
    values = read(array).values
    return Read(pc.if_else(pc.is_finite(values), values, None), np.zeros(len(array), bool))


def _parse(target: pa.DataType, writing: Writing, array: pa.Array) -> Read:
    """Parse fields of a source without types; a word for a missing value is missing."""
    # Every text is trimmed and compared, needed or not, so that time does not reveal padding.
    text = pc.utf8_trim_whitespace(array.cast(pa.large_string()))
    text = _replace_marks(text, MISSING_WORDS, None)
    if pt.is_integer(target):
        text = pc.replace_substring_regex(text, _WITH_ZEROS, r"\1")
    else:
        text = _replace_marks(text, (*_TRUE_WORDS, *writing.true), "1")
        text = _replace_marks(text, (*_FALSE_WORDS, *writing.false), "0")
    text = plain_digits(text, writing)
    try:
        return Read(text.cast(target), np.zeros(len(text), bool))
    except pa.ArrowException:
        pass
    coded = text.dictionary_encode()
    readable = pa.array(_readable(coded.dictionary, target))
    words = pc.if_else(readable, coded.dictionary, None).cast(target)
    return _mark_lost(text, words.take(coded.indices))


def _readable(words: pa.Array, target: pa.DataType) -> Mask:
    """Return which words Arrow can cast to the type; bisection finds the few that it cannot."""
    try:
        words.cast(target)
    except pa.ArrowException:
        if len(words) == 1:
            return np.zeros(1, bool)
        half = len(words) // 2
        parts = [_readable(words[:half], target), _readable(words[half:], target)]
        return np.concatenate(parts)
    return np.ones(len(words), bool)


def _replace_marks(text: pa.Array, words: tuple[str, ...], by: str | None) -> pa.Array:
    found = pc.is_in(text, value_set=pa.array(words, pa.large_string()))
    return pc.if_else(found, pa.scalar(by, pa.large_string()), text)


def _written(writing: Writing, array: pa.Array) -> Read:
    numbers = written(array, writing)
    return _mark_lost(array, pa.array(numbers, mask=np.isnan(numbers)))


def _in_form(form: Form, array: pa.Array) -> Read:
    """Return dates, times and durations as Arrow stores them in the unit of a form."""
    numbers = in_form(_whole_microseconds(array), form)
    known = _mask(array.is_valid())
    return Read(pa.array(numbers, mask=~known), np.zeros(len(array), bool))


def _whole_microseconds(array: pa.Array) -> Integers:
    kind = array.type
    bits = pa.int32() if kind.bit_width == 32 else pa.int64()
    ticks = array.view(bits).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    if pt.is_date(kind):
        days = ticks if pt.is_date32(kind) else ticks // _MILLISECONDS_A_DAY
        # A date beyond Python's years would wrap when it is counted in microseconds.
        return np.asarray(np.clip(days, -MOST_DAYS, MOST_DAYS) * MICROSECONDS_A_DAY)
    if kind.unit == "ns":
        return np.asarray(ticks // 1000)
    most = 2**62 // _MICROSECONDS[kind.unit]
    return np.asarray(np.clip(ticks, -most, most) * _MICROSECONDS[kind.unit])


# Categories.
def _itself(target: pa.DataType, array: pa.Array) -> Read:
    return Read(array.cast(target), np.zeros(len(array), bool))


def _short(array: pa.Array) -> Read:
    short = pc.if_else(pc.less(array, pa.scalar(2**63, pa.uint64())), array, None)
    return _mark_lost(array, short.cast(pa.int64()))


def _whole_float(array: pa.Array) -> Read:
    """Return floats as integers: pandas stores integers that way when one of them is missing."""
    floats = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    whole = (np.abs(floats) < 2.0**63) & (floats == np.rint(floats))
    whole |= floats == -(2.0**63)
    values = pa.array(np.where(whole, floats, 0).astype(np.int64), mask=~whole)
    return Read(values, ~whole & ~np.isnan(floats))


def _whole_decimal(array: pa.Array) -> Read:
    cells = _decimal_cells(array)
    return _mark_lost(array, cells.field("ticks"))


def _decimal_cells(array: pa.Array) -> pa.Array:
    return array if pt.is_struct(array.type) else to_cells(array.to_pylist())


# Ids: as they are written, so that "7", "07", "7.0" and " 7" are four people.
def _id_text(array: pa.Array) -> Read:
    text = array.cast(pa.large_string())
    return Read(pc.if_else(pc.equal(text, ""), None, text), np.zeros(len(array), bool))


def _id_float(array: pa.Array) -> Read:
    whole = _whole_float(array)
    exact = pc.less_equal(pc.abs(array.cast(pa.float64(), safe=False)), _EXACT_FLOATS)
    digits = pc.if_else(exact, whole.values, None).cast(pa.large_string())
    missing = _mask(pc.is_null(array, nan_is_null=True))
    return Read(digits, _mask(digits.is_null()) & ~missing)


def _id_decimal(array: pa.Array) -> Read:
    return _mark_lost(array, _decimal_cells(array).field("text"))


def _as_number(read: Function, array: pa.Array) -> Read:
    """Return ids in which all spellings of a whole number are the same."""
    texts = read(array)
    parts = pc.extract_regex(texts.values, _WHOLE)
    sign, digits = pc.struct_field(parts, "sign"), pc.struct_field(parts, "digits")
    negative = pc.and_(pc.equal(sign, "-"), pc.not_equal(digits, "0"))
    minus, nothing = (pa.scalar(text, pa.large_string()) for text in ("-", ""))
    whole = pc.binary_join_element_wise(pc.if_else(negative, minus, nothing), digits, nothing)
    return Read(whole, texts.foreign | _mark_lost(texts.values, whole).foreign)


def _mark_lost(before: pa.Array, after: pa.Array) -> Read:
    """Return values; those that were present before and are now null are foreign."""
    missing = pc.is_null(before, nan_is_null=True)
    return Read(after, _mask(pc.and_not(after.is_null(), missing)))


def _mask(array: pa.Array) -> Mask:
    return np.asarray(array.to_numpy(zero_copy_only=False), np.bool_)


@lru_cache(maxsize=2**10)
def number_line(writing: Writing) -> TableLine:
    """Return the line of numbers that are written so."""
    functions: dict[ColumnKind, Function]
    form = writing.form
    if form in ("number", "integer"):
        functions = {
            **dict.fromkeys(("float", "integer", "unsigned", "boolean"), _cast),
            "decimal": _decimal,
            "field": partial(_parse, pa.float64(), writing),
        }
        return TableLine(pa.float64(), functions)
    functions = dict.fromkeys(("text", "field"), partial(_written, writing))
    if form == "text":
        as_they_are: tuple[ColumnKind, ...] = ("float", "integer", "unsigned")
        functions |= dict.fromkeys(as_they_are, partial(_finite, _cast))
        functions["decimal"] = partial(_finite, _decimal)
    elif form in DURATIONS:
        functions["duration"] = partial(_in_form, form)
    else:
        functions |= dict.fromkeys(("date", "moment"), partial(_in_form, form))
    return TableLine(pa.float64(), functions)


@lru_cache(maxsize=2**10)
def category_line(kind: Kind, writing: Writing) -> TableLine:
    """Return the line of categories of a kind; a writing has the words for booleans."""
    result = ARROW_TYPE[kind]
    functions: dict[ColumnKind, Function] = {"field": partial(_parse, result, writing)}
    if kind == "text":
        functions = dict.fromkeys(("text", "field"), partial(_itself, result))
    elif kind == "boolean":
        functions["boolean"] = partial(_itself, result)
        if writing.true or writing.false:
            functions["text"] = functions["field"]
    else:
        functions |= {
            "integer": partial(_itself, result),
            "unsigned": _short,
            "float": _whole_float,
            "decimal": _whole_decimal,
        }
    return TableLine(result, functions)


_IDS: dict[ColumnKind, Function] = {
    **dict.fromkeys(("text", "field", "integer", "unsigned"), _id_text),
    "float": _id_float,
    "decimal": _id_decimal,
}
IDS: dict[IdType, TableLine] = {
    "text": TableLine(pa.large_string(), _IDS),
    "number": TableLine(
        pa.large_string(), {kind: partial(_as_number, read) for kind, read in _IDS.items()}
    ),
}
