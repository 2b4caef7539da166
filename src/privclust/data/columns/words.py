"""Messages about values that do not read as declared: a column's name, its kind, and the remedy.

No message quotes a value. Which one is used may depend on the tags of a column without a type; it
is used only when a fit is refused.
"""

from __future__ import annotations

import pyarrow.compute as pc

from privclust.data.columns.kinds import TAGS, TypedColumn
from privclust.data.columns.table import Read
from privclust.exceptions import DataError, MixedTypesError
from privclust.schema.facts import Kind
from privclust.schema.forms import DURATIONS, Form

_WORDS: dict[str, str] = {
    "float": "numbers",
    "decimal": "numbers",
    "integer": "integers",
    "unsigned": "integers",
    "boolean": "booleans",
    "text": "text",
    "field": "text",
    "date": "dates or times",
    "moment": "dates or times",
    "duration": "dates or times",
    "cell": "mixed objects",
    "nothing": "nothing",
}
_PLURAL: dict[Kind, str] = {"text": "text", "integer": "integers", "boolean": "booleans"}
# What a column of a form is called, and how to write it.
_FORMS: dict[str, tuple[str, str]] = {
    "text": ("numbers", "digits such as 12.5"),
    "date": ("dates", "2024-12-31"),
    "time": ("dates and times", "2024-12-31T18:30:00"),
    **dict.fromkeys(DURATIONS, ("durations", "1:30:00 or PT1H30M")),
}


def in_words(column: TypedColumn) -> str:
    """Return what a user would call the values of a column."""
    return _WORDS.get(column.kind) or f"values of type {column.array.type}"


def number_refusal(column: TypedColumn, name: str, form: Form) -> DataError:
    """Return the error about values that do not read as the numbers that are declared."""
    if form != "number":
        what, example = _FORMS[form]
        return DataError(
            f"Column {name!r} holds values that are not {what}, which are declared; write them "
            f"as {example}, or declare what stands for missing ones."
        )
    if column.kind == "cell":
        return _mixed_error(column, name)
    return DataError(
        f"Column {name!r} holds {in_words(column)} where numbers are declared; {_remedy(column)}."
    )


def category_refusal(column: TypedColumn, name: str, kind: Kind) -> DataError:
    """Return the error about values that do not read as the categories that are declared."""
    what, wanted = in_words(column), _PLURAL[kind]
    if column.kind == "cell":
        return _mixed_error(column, name)
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
    """Return the error about ids of which some are unreliable or missing."""
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


def _mixed_error(column: TypedColumn, name: str) -> DataError:
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


def _remedy(column: TypedColumn) -> str:
    if column.kind in ("text", "field"):
        return "convert it to numbers or declare its categories"
    if column.kind in ("date", "moment", "duration"):
        return "convert it to numbers, such as days since a public date"
    return "convert it to numbers or drop it"
