"""One Arrow column to numbers or to categories: the right result or one sentence about the column.

A column keeps the type it was stored with, so text is never silently read as numbers. Only files
without types (CSV) are parsed here; they mark their columns with ``parse=True``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from privclust.data.reading.base import one_sentence
from privclust.exceptions import DataError, MixedTypesError

if TYPE_CHECKING:
    from privclust.schema import Kind

__all__ = [
    "ARROW_TYPE",
    "array_from",
    "array_from_stream",
    "as_kind",
    "as_numbers",
    "decoded",
    "decoded_batch",
]

ARROW_TYPE: dict[Kind, pa.DataType] = {
    "text": pa.large_string(),
    "integer": pa.int64(),
    "boolean": pa.bool_(),
}
_PLURAL: dict[Kind, str] = {"text": "text", "integer": "integers", "boolean": "booleans"}
# How missing numbers are written in CSV files; an empty field is missing for text as well.
_MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")
_TRUE_WORDS = ("true", "True", "TRUE")
_FALSE_WORDS = ("false", "False", "FALSE")


def array_from(values: object, name: str) -> pa.Array:
    """Return a NumPy or pandas column as an Arrow array; NaN and None become null."""
    failures = (pa.ArrowException, TypeError, ValueError, OverflowError)
    with one_sentence(_mixed(name), *failures, error=MixedTypesError):
        array = pa.array(values, from_pandas=True)
        return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def array_from_stream(values: object, name: str) -> pa.Array:
    """Return a column that speaks Arrow, as polars' do, as an Arrow array."""
    with one_sentence(_mixed(name), pa.ArrowException, error=MixedTypesError):
        chunks = pa.chunked_array(values).chunks
        return chunks[0] if len(chunks) == 1 else pa.concat_arrays(map(decoded, chunks))


def _mixed(name: str) -> str:
    return (
        f"Column {name!r} holds values of mixed or unsupported types; convert it, because a column "
        "of the argument must be all strings, all numbers or all booleans."
    )


def decoded(array: pa.Array) -> pa.Array:
    """Return a column without the encodings that many functions of Arrow do not take."""
    if pt.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    if pt.is_dictionary(array.type):
        return decoded(array.dictionary).take(array.indices)
    return array.cast(pa.large_string()) if pt.is_string_view(array.type) else array


def decoded_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch with all columns decoded."""
    return pa.RecordBatch.from_arrays([decoded(c) for c in batch.columns], batch.schema.names)


def as_numbers(array: pa.Array, name: str, parse: bool = False) -> npt.NDArray[np.float64]:
    """Return a column as float64, NaN where a value is missing."""
    array = decoded(array)
    what = _what(array.type)
    if what == "text" and parse:
        array = _parsed(array, pa.float64(), name, "numbers")
    elif what not in ("integers", "numbers", "booleans", "nothing"):
        raise DataError(f"Column {name!r} holds {what} where numbers are declared; {_fix(what)}.")
    # Integers beyond 2^53 are rounded to the nearest float: each value by itself, so nothing of
    # one row depends on another.
    floats: npt.NDArray[np.float64] = array.cast(pa.float64(), safe=False).to_numpy(
        zero_copy_only=False
    )
    return floats


def as_kind(array: pa.Array, name: str, kind: Kind, parse: bool = False) -> pa.Array:
    """Return a column as the Arrow type for categories of ``kind``, null where missing."""
    array = decoded(array)
    what, wanted = _what(array.type), _PLURAL[kind]
    if what == "text" and kind != "text" and parse:
        return _parsed(array, ARROW_TYPE[kind], name, wanted)
    if what == "numbers" and kind == "integer":
        return _whole_numbers(array, name)
    if what not in (wanted, "nothing"):
        relist = f" or list its values as {what} in the schema" * (what in _PLURAL.values())
        raise DataError(
            f"Column {name!r} holds {what} where {wanted} {_is(wanted)} declared; "
            f"convert it{relist}."
        )
    with one_sentence(_out_of_range(name), pa.ArrowException):
        return array.cast(ARROW_TYPE[kind])


def _what(kind: pa.DataType) -> str:
    """Return what a user would call values of this Arrow type."""
    if pt.is_boolean(kind):
        return "booleans"
    if pt.is_integer(kind):
        return "integers"
    if pt.is_floating(kind) or pt.is_decimal(kind):
        return "numbers"
    if pt.is_string(kind) or pt.is_large_string(kind):
        return "text"
    if pt.is_null(kind):
        return "nothing"
    return "dates or times" if pt.is_temporal(kind) else f"values of type {kind}"


def _is(what: str) -> str:
    return "is" if what == "text" else "are"


def _fix(what: str) -> str:
    if what == "text":
        return "convert it to numbers or declare its categories"
    if what == "dates or times":
        return "convert it to numbers, such as days since a public date"
    return "convert it to numbers or drop it"


def _parsed(array: pa.Array, target: pa.DataType, name: str, wanted: str) -> pa.Array:
    try:
        return array.cast(target)
    except pa.ArrowException:
        text = pc.utf8_trim_whitespace(array.cast(pa.large_string()))
    text = _replaced(text, _MISSING_WORDS, None)
    if pt.is_floating(target):
        text = _replaced(_replaced(text, _TRUE_WORDS, "1"), _FALSE_WORDS, "0")
    fix = _fix("text") if wanted == "numbers" else "list its values as text in the schema"
    with one_sentence(
        f"Column {name!r} holds text where {wanted} are declared; {fix}.", pa.ArrowException
    ):
        return text.cast(target)


def _replaced(text: pa.Array, words: tuple[str, ...], by: str | None) -> pa.Array:
    found = pc.is_in(text, value_set=pa.array(words, pa.large_string()))
    return pc.if_else(found, pa.scalar(by, pa.large_string()), text)


def _whole_numbers(array: pa.Array, name: str) -> pa.Array:
    """Return floats as integers: pandas stores integers that way when one of them is missing."""
    floats = array.cast(pa.float64(), safe=False)
    floats = pc.if_else(pc.is_nan(floats), None, floats)
    with one_sentence(
        f"Column {name!r} holds fractions where integers are declared; round it or declare Bins.",
        pa.ArrowException,
    ):
        return floats.cast(pa.int64())


def _out_of_range(name: str) -> str:
    return f"Column {name!r} holds values beyond 64-bit integers; convert it to text."
