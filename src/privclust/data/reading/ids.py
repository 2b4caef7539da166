"""The ids of people: one text for each row, the same whatever holds the rows.

An id is text as it is written: "7", "07", "7.0" and " 7" are four people, and so is "NA" one. Whole
numbers that are stored as such are written in digits. Two people who share a text would share a
bound, so whatever cannot be told apart for sure is refused.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from privclust.data.reading.convert import decoded, marked_kind
from privclust.data.reading.values import CELLS, in_cells
from privclust.exceptions import DataError
from privclust.unit import IdType

__all__ = ["id_texts"]

# Beyond, floats skip integers: one number may stand for several people.
_EXACT_FLOATS = 2.0**53
# A whole number in digits; zeros before it, and after a point, tell nothing.
_WHOLE = r"^[ \t]*(?P<sign>[-+]?)0*(?P<digits>[0-9]+?)(?:\.0*)?[ \t]*$"


def id_texts(stored: pa.Array, name: str, id_type: IdType) -> pa.Array:
    """Return ids as text, null where one is missing or empty.

    Parameters
    ----------
    stored : Arrow array
        The id column of a block.
    name : str
        Its name, for messages.
    id_type : "text" or "number"
        Whether ids are as written, or all spellings of a whole number are one person.
    """
    texts = _texts(decoded(stored))
    if texts is None:
        raise DataError(
            f"Column {name!r} cannot serve as the id column; convert all of it to text or to "
            "whole numbers."
        )
    texts = pc.if_else(pc.equal(texts, ""), None, texts)
    if id_type == "text":
        return texts
    numbers = _canonical_numbers(texts)
    if numbers.null_count > texts.null_count:
        raise DataError(
            f'Column {name!r} holds ids that are not whole numbers; declare id_type="text" for the '
            "unit or correct them."
        )
    return numbers


def _texts(stored: pa.Array) -> pa.Array | None:
    """Return the texts of ids, or nothing if one of them cannot be an id."""
    kind = stored.type
    if pt.is_string(kind) or pt.is_large_string(kind) or pt.is_null(kind) or pt.is_integer(kind):
        return stored.cast(pa.large_string())
    if pt.is_floating(kind):
        floats = stored.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        whole, foreign = marked_kind(stored, "integer")
        unsafe = foreign | (np.abs(floats) > _EXACT_FLOATS)
        return None if unsafe.any() else whole.cast(pa.large_string())
    if pt.is_decimal(kind):
        return _texts(in_cells(stored.to_pylist()))
    return _texts_of_cells(stored) if kind.equals(CELLS) else None


def _texts_of_cells(cells: pa.Array) -> pa.Array | None:
    what, written = pc.struct_field(cells, "what"), pc.struct_field(cells, "text")
    number = pc.struct_field(cells, "number")
    texts = pc.coalesce(written, pc.struct_field(cells, "integer").cast(pa.large_string()))
    inexact = pc.and_kleene(pc.equal(what, "number"), pc.greater(pc.abs(number), _EXACT_FLOATS))
    unsafe = pc.or_kleene(pc.and_(cells.is_valid(), texts.is_null()), inexact)
    return None if pc.any(unsafe).as_py() else texts


def _canonical_numbers(texts: pa.Array) -> pa.Array:
    parts = pc.extract_regex(texts, _WHOLE)
    sign, digits = pc.struct_field(parts, "sign"), pc.struct_field(parts, "digits")
    negative = pc.and_(pc.equal(sign, "-"), pc.not_equal(digits, "0"))
    minus, nothing = (pa.scalar(text, pa.large_string()) for text in ("-", ""))
    return pc.binary_join_element_wise(pc.if_else(negative, minus, nothing), digits, nothing)
