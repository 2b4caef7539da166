"""One Arrow column to numbers or to categories: the right result or one sentence about the column.

A column keeps the type it was stored with, so text is never silently read as numbers. Only files
without types (CSV) are parsed here; they mark their columns with ``parse=True``.

*Every value is read by itself.* What a row becomes depends on its own value and on the stored type
of the column, never on the values beside it, and no value raises unless the declared rule is
"error": a value that does not read as declared is *foreign*, and the rule says what becomes of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from privclust._typing import Mask
from privclust.data.reading.base import one_sentence
from privclust.data.reading.values import CELLS, array_of_objects, array_of_values, in_cells
from privclust.exceptions import DataError, MixedTypesError

if TYPE_CHECKING:
    from privclust.schema import Kind

__all__ = [
    "ARROW_TYPE",
    "MISSING_WORDS",
    "array_from",
    "array_from_stream",
    "as_kind",
    "as_numbers",
    "decoded",
    "decoded_batch",
    "marked_kind",
]

ARROW_TYPE: dict[Kind, pa.DataType] = {
    "text": pa.large_string(),
    "integer": pa.int64(),
    "boolean": pa.bool_(),
}
_PLURAL: dict[Kind, str] = {"text": "text", "integer": "integers", "boolean": "booleans"}
# How missing numbers are written in CSV files; an empty field is missing for text as well.
MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")
_TRUE_WORDS = ("true", "True", "TRUE")
_FALSE_WORDS = ("false", "False", "FALSE")


def array_from(values: Any, name: str) -> pa.Array:
    """Return a NumPy or pandas column as an Arrow array; NaN and None become null."""
    dtype = getattr(values, "dtype", None)
    if _holds_objects(dtype):
        return array_of_objects(np.asarray(values, dtype=object))
    categories = getattr(dtype, "categories", None)
    if _holds_objects(getattr(categories, "dtype", None)):
        codes = values.cat.codes.to_numpy()
        words = array_of_objects(np.asarray(categories, dtype=object))
        return words.take(pa.array(codes, mask=codes < 0))
    return array_of_values(values)


def _holds_objects(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def array_from_stream(values: Any, name: str) -> pa.Array:
    """Return a column that speaks Arrow, as polars' do, as an Arrow array."""
    with one_sentence(_mixed(name), pa.ArrowException, TypeError, error=MixedTypesError):
        if str(values.dtype) == "Object":  # Arrow does not know them, and older polars crash on it
            return in_cells(values.to_list())
        try:
            chunks = pa.chunked_array(values).chunks
        except (pa.ArrowException, OSError):  # of types that it cannot hand over
            return in_cells(values.to_list())
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


def as_numbers(
    array: pa.Array, name: str, parse: bool = False, *, lenient: bool = False
) -> npt.NDArray[np.float64]:
    """Return a column as float64, NaN where a value is missing.

    A value that is not a number is refused, or, if ``lenient``, missing.
    """
    array = decoded(array)
    what = _what(array.type)
    if what == "text" and parse:
        array, foreign = _parsed(array, pa.float64())
        refused = _not_parsed(name, "numbers") if foreign.any() else None
    elif what == "cells":
        array, foreign = _numbers_of_cells(array)
        refused = _mixed(name) if foreign.any() else None
    elif what in ("integers", "numbers", "booleans", "nothing"):
        refused = None
    else:
        array = pa.nulls(len(array), pa.float64())
        refused = f"Column {name!r} holds {what} where numbers are declared; {_fix(what)}."
    if refused is not None and not lenient:
        raise (MixedTypesError if what == "cells" else DataError)(refused)
    if pt.is_decimal(array.type):
        # Arrow's own cast rounds differently at each scale; text is read to the nearest float.
        array = array.cast(pa.string())
    # Integers beyond 2^53 are rounded to the nearest float.
    floats: npt.NDArray[np.float64] = array.cast(pa.float64(), safe=False).to_numpy(
        zero_copy_only=False
    )
    return floats


def as_kind(array: pa.Array, name: str, kind: Kind, parse: bool = False) -> pa.Array:
    """Return a column as the Arrow type for categories of ``kind``, null where missing."""
    values, foreign = marked_kind(array, kind, parse)
    what, wanted = _what(decoded(array).type), _PLURAL[kind]
    wrong_type = what not in (wanted, "nothing", "cells") and not (
        (what == "text" and parse) or (what == "numbers" and kind == "integer")
    )
    if foreign.any() or wrong_type:
        error = MixedTypesError if what == "cells" else DataError
        raise error(_refusal(name, what, wanted, parse))
    return values


def _refusal(name: str, what: str, wanted: str, parse: bool) -> str:
    """Return the sentence about values that do not read as the categories that are declared."""
    if what == "cells":
        return _mixed(name)
    if what == "text" and parse:
        return _not_parsed(name, wanted)
    if what == wanted:
        return f"Column {name!r} holds values beyond 64-bit integers; convert it to text."
    if what == "numbers" and wanted == "integers":
        return (
            f"Column {name!r} holds fractions where integers are declared; round it or declare "
            "Bins."
        )
    relist = f" or list its values as {what} in the schema" * (what in _PLURAL.values())
    return (
        f"Column {name!r} holds {what} where {wanted} {_is(wanted)} declared; convert it{relist}."
    )


def marked_kind(array: pa.Array, kind: Kind, parse: bool = False) -> tuple[pa.Array, Mask]:
    """Return a column as categories of ``kind``, and which of its values are foreign to it.

    Foreign values are null in the column, as missing ones are. Nothing is refused.
    """
    array = decoded(array)
    what, target = _what(array.type), ARROW_TYPE[kind]
    if what == "text" and kind != "text" and parse:
        return _parsed(array, target)
    if what == "numbers" and kind == "integer":
        if pt.is_decimal(array.type):
            return _kind_of_cells(in_cells(array.to_pylist()), kind)
        return _whole_numbers(array)
    if what == "cells":
        return _kind_of_cells(array, kind)
    if what in (_PLURAL[kind], "nothing"):
        short = array
        if array.type == pa.uint64():
            short = pc.if_else(pc.less(array, pa.scalar(2**63, pa.uint64())), array, None)
        values = short.cast(target)
        return values, _lost(array, values)
    values = pa.nulls(len(array), target)
    return values, _lost(array, values)


def _lost(before: pa.Array, after: pa.Array) -> Mask:
    """Return which values were there before and are no longer."""
    lost = pc.and_(before.is_valid(), after.is_null())
    return np.asarray(lost.to_numpy(zero_copy_only=False))


def _numbers_of_cells(cells: pa.Array) -> tuple[pa.Array, Mask]:
    found = pc.struct_field(cells, "number")
    return found, _lost(cells, found)


def _kind_of_cells(cells: pa.Array, kind: Kind) -> tuple[pa.Array, Mask]:
    what = pc.struct_field(cells, "what")
    if kind == "integer":
        found = pc.struct_field(cells, "integer")
    elif kind == "text":
        found = pc.if_else(pc.equal(what, "text"), pc.struct_field(cells, "text"), None)
    else:
        said = pc.equal(pc.struct_field(cells, "number"), 1.0)
        found = pc.if_else(pc.equal(what, "boolean"), said, None)
    return found, _lost(cells, found)


def _what(kind: pa.DataType) -> str:
    """Return what a user would call values of this Arrow type."""
    if kind.equals(CELLS):
        return "cells"
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


def _not_parsed(name: str, wanted: str) -> str:
    fix = _fix("text") if wanted == "numbers" else "list its values as text in the schema"
    return f"Column {name!r} holds text where {wanted} are declared; {fix}."


def _parsed(array: pa.Array, target: pa.DataType) -> tuple[pa.Array, Mask]:
    # Every text is trimmed and compared, needed or not, so that time does not reveal padding.
    text = pc.utf8_trim_whitespace(array.cast(pa.large_string()))
    text = _replaced(text, MISSING_WORDS, None)
    if pt.is_floating(target):
        text = _replaced(_replaced(text, _TRUE_WORDS, "1"), _FALSE_WORDS, "0")
    try:
        return text.cast(target), np.zeros(len(text), bool)
    except pa.ArrowException:
        pass
    coded = text.dictionary_encode()
    readable = pa.array(_readable(coded.dictionary, target))
    words = pc.if_else(readable, coded.dictionary, None).cast(target)
    values = words.take(coded.indices)
    return values, _lost(text, values)


def _readable(words: pa.Array, target: pa.DataType) -> Mask:
    """Return which words Arrow casts to the type; halving finds the few that it does not."""
    try:
        words.cast(target)
    except pa.ArrowException:
        if len(words) == 1:
            return np.zeros(1, bool)
        half = len(words) // 2
        parts = [_readable(words[:half], target), _readable(words[half:], target)]
        return np.concatenate(parts)
    return np.ones(len(words), bool)


def _replaced(text: pa.Array, words: tuple[str, ...], by: str | None) -> pa.Array:
    found = pc.is_in(text, value_set=pa.array(words, pa.large_string()))
    return pc.if_else(found, pa.scalar(by, pa.large_string()), text)


def _whole_numbers(array: pa.Array) -> tuple[pa.Array, Mask]:
    """Return floats as integers: pandas stores integers that way when one of them is missing."""
    floats = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    whole = (np.abs(floats) < 2.0**63) & (floats == np.rint(floats))
    whole |= floats == -(2.0**63)
    values = pa.array(np.where(whole, floats, 0).astype(np.int64), mask=~whole)
    return values, ~whole & ~np.isnan(floats)
