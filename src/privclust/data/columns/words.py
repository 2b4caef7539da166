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
from privclust.schema.forms import DURATIONS
from privclust.schema.writing import Writing

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


def number_refusal(column: TypedColumn, name: str, writing: Writing) -> DataError:
    """Return the error about values that do not read as the numbers that are declared."""
    if column.kind == "cell":
        return _mixed_error(column, name)
    if writing.form not in _FORMS:
        return DataError(
            f"Column {name!r} holds {in_words(column)} where numbers are declared; "
            f"{_remedy(column)}."
        )
    what, example = _FORMS[writing.form]
    example = writing.format or example
    how = 'format = "%d.%m.%Y"' if writing.form in ("date", "time") else 'decimal = ","'
    how = "" if writing.form in DURATIONS else f"declare how they are written, such as {how}, "
    return DataError(
        f"Column {name!r} holds values that are not {what} written as {example}, which are "
        f"declared; {how or 'write them so, '}or declare what stands for missing ones: "
        "privclust check says which."
    )


def category_refusal(column: TypedColumn, name: str, kind: Kind) -> DataError:
    """Return the error about values that do not read as the categories that are declared."""
    what, wanted = in_words(column), _PLURAL[kind]
    if column.kind == "cell":
        return _mixed_error(column, name)
    if column.kind == "field":
        return DataError(
            f"Column {name!r} holds text where {wanted} are declared; list its values as text in "
            "the schema, or of booleans declare the words for true and false."
        )
    if what == wanted:
        return DataError(
            f"Column {name!r} holds values beyond 64-bit integers; convert it to text."
        )
    if what == "numbers" and wanted == "integers":
        return DataError(
            f"Column {name!r} holds fractions where integers are declared; declare numbers "
            "(low and high) or bins (edges) for it."
        )
    as_what = "integers" if what == "numbers" else what
    relist = f" or list its values as {as_what} in the schema" * (as_what in _PLURAL.values())
    if kind == "boolean" and column.kind == "text":
        relist += ", or declare the words for true and false"
    are = "is" if wanted == "text" else "are"
    return DataError(
        f"Column {name!r} holds {what} where {wanted} {are} declared; convert it{relist}."
    )


def id_refusal(read: Read, name: str, *, as_numbers: bool) -> DataError:
    """Return the error about ids of which some are unreliable or missing."""
    if not read.foreign.any():
        return DataError(
            f"Column {name!r} is the id column but has missing ids; fill them in, remove those "
            'rows, or declare missing="separate" for the unit (--missing-ids separate).'
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
            'file, such as encoding = "cp1252" or --encoding cp1252.'
        )
    return MixedTypesError(
        f"Column {name!r} holds values of mixed or unsupported types; convert it, because a column "
        "of the argument must be all strings, all numbers or all booleans."
    )


def _remedy(column: TypedColumn) -> str:
    if column.kind == "field":
        return (
            'declare how it is written (decimal = ",", thousands, unit), what stands for missing '
            "numbers, or its categories, or ignore it: privclust check says which"
        )
    if column.kind == "text":
        return (
            'declare form = "text" if the text is numbers, dates as bounds if it is dates, or its '
            "categories, or ignore it"
        )
    if column.kind in ("date", "moment"):
        return 'declare dates as its bounds, such as low = "2020-01-01"'
    if column.kind == "duration":
        return 'declare the form "seconds", "minutes", "hours" or "days"'
    return "convert it to numbers or ignore it"
