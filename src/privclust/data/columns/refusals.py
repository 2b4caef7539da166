"""Refusals: what is said where a value does not read as declared and no rule stands for it.

They are made here, after the table has read every value, and only under the rule "error". A kind
that a fact does not list is refused whatever its values are: types are public.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pyarrow.compute as pc

from privclust._typing import Floats
from privclust.data.columns.cells import TAGS
from privclust.data.columns.kinds import TypedColumn, in_words
from privclust.data.columns.table import NUMBERS, Read
from privclust.data.rows import Block
from privclust.exceptions import DataError, MixedTypesError
from privclust.schema.facts import Kind
from privclust.schema.forms import DURATIONS, Form

__all__ = ["category_refusal", "id_refusal", "numbers_of"]

_PLURAL: dict[Kind, str] = {"text": "text", "integer": "integers", "boolean": "booleans"}
# What a column of a form is called, and how it is to be written.
_FORMS: dict[str, tuple[str, str]] = {
    "text": ("numbers", "digits such as 12.5"),
    "date": ("dates", "2024-12-31"),
    "time": ("dates and times", "2024-12-31T18:30:00"),
    **dict.fromkeys(DURATIONS, ("durations", "1:30:00 or PT1H30M")),
}


def numbers_of(
    block: Block, names: Sequence[str], forms: Mapping[str, Form], lenient: Collection[str] = ()
) -> Floats:
    """Return columns of a block as numbers, NaN where one is missing.

    Parameters
    ----------
    block : Block
    names : sequence of str
    forms : mapping of str to form
        How columns are written, where they are not plain numbers.
    lenient : collection of str
        Columns in which a value that does not read as declared is missing; in others it is
        refused.

    Returns
    -------
    rows : ndarray of shape (n_rows, len(names)), float64, C-contiguous
        Read-only where it is the caller's own memory.
    """
    if not forms and (dense := block.dense(names)) is not None:
        return dense
    rows = np.empty((block.n_rows, len(names)))
    for place, name in enumerate(names):
        column, form = block.column(name), forms.get(name, "number")
        reading = NUMBERS[form]
        read = reading.read(column)
        if name not in lenient and (read.foreign.any() or not reading.takes(column.kind)):
            raise _number_refusal(column, name, form)
        rows[:, place] = read.values.to_numpy(zero_copy_only=False)
    return rows


def _number_refusal(column: TypedColumn, name: str, form: Form) -> DataError:
    if form != "number":
        what, example = _FORMS[form]
        return DataError(
            f"Column {name!r} holds values that are not {what}, which are declared; write them "
            f"as {example}, or declare what stands for missing ones."
        )
    if column.kind == "cell":
        return _mixed(column, name)
    return DataError(
        f"Column {name!r} holds {in_words(column)} where numbers are declared; {_fix(column)}."
    )


def category_refusal(column: TypedColumn, name: str, kind: Kind) -> DataError:
    """Return the error about values that do not read as the categories that are declared."""
    what, wanted = in_words(column), _PLURAL[kind]
    if column.kind == "cell":
        return _mixed(column, name)
    if column.kind == "field":
        return DataError(
            f"Column {name!r} holds text where {wanted} are declared; list its values as text in "
            "the schema."
        )
    if what == wanted:
        return DataError(
            f"Column {name!r} holds values beyond 64-bit integers; convert it to text."
        )
    if what == "numbers" and wanted == "integers":
        return DataError(
            f"Column {name!r} holds fractions where integers are declared; round it or declare "
            "Bins."
        )
    relist = f" or list its values as {what} in the schema" * (what in _PLURAL.values())
    are = "is" if wanted == "text" else "are"
    return DataError(
        f"Column {name!r} holds {what} where {wanted} {are} declared; convert it{relist}."
    )


def id_refusal(read: Read, name: str, *, as_numbers: bool) -> DataError:
    """Return the error about ids of which some cannot be told apart for sure, or are missing."""
    if not read.foreign.any():
        return DataError(
            f"Column {name!r} is the id column but has missing ids; fill them in, remove those "
            'rows, or declare missing="separate" for the unit.'
        )
    if as_numbers:
        return DataError(
            f'Column {name!r} holds ids that are not whole numbers; declare id_type="text" for the '
            'unit, correct them, or declare missing="separate".'
        )
    return DataError(
        f"Column {name!r} cannot serve as the id column; convert all of it to text or to whole "
        'numbers, or declare missing="separate" for the unit.'
    )


def _mixed(column: TypedColumn, name: str) -> DataError:
    tags = {TAGS[tag] for tag in pc.struct_field(column.array, "tag").unique().to_pylist()}
    if "bytes" in tags:
        return DataError(
            f"Column {name!r} holds bytes that are not UTF-8 text; declare the encoding of the "
            "file or correct it."
        )
    return MixedTypesError(
        f"Column {name!r} holds values of mixed or unsupported types; convert it, because a column "
        "of the argument must be all strings, all numbers or all booleans."
    )


def _fix(column: TypedColumn) -> str:
    if column.kind in ("text", "field"):
        return "convert it to numbers or declare its categories"
    if column.kind in ("date", "moment", "duration"):
        return "convert it to numbers, such as days since a public date"
    return "convert it to numbers or drop it"
