"""Which columns of a source are read: those that are declared, and the id column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from privclust.data.rows import Selection
from privclust.exceptions import DataError, did_you_mean

_NAMES_SHOWN = 5
_LONGEST_SHOWN = 80


def select_by_name(
    available: Sequence[str],
    columns: Sequence[str] | None,
    ignore: Sequence[str] | None = (),
    id_column: str | None = None,
) -> Selection:
    """Choose columns of named data; an undeclared one is an error unless it may be ignored.

    ``ignore`` lists the columns that may be; ``None`` stands for all.
    """
    if id_column is not None and id_column not in available:
        raise DataError(
            f"Column {id_column!r} is the declared id column but absent from the data"
            f"{did_you_mean(id_column, available)}; correct the name or choose another privacy "
            "unit."
        )
    # What is absent comes first: if a file has no header, its "names" are the values of a row.
    times, declared = Counter(available), set(columns or ())
    absent = [name for name in columns or () if name not in times]
    if absent:
        is_, it, names = ("is", "it", "name") if len(absent) == 1 else ("are", "them", "names")
        raise DataError(
            f"{column_phrase(absent)} {is_} declared in the schema but absent from the data"
            f"{did_you_mean(absent[0], available)}; correct the {names}, or drop {it} from the "
            f"schema{', or write a header if there is none' * (len(absent) == len(columns or ()))}."
        )
    if twice := [name for name in times if times[name] > 1]:
        raise DataError(f"{column_phrase(twice[:1])} occurs twice in the data; rename one of them.")
    aside = {*(available if ignore is None else ignore), id_column} - declared
    if columns is None:
        return _not_empty([name for name in available if name not in aside], id_column)
    # What has no name, such as the index of a frame in a file, cannot be declared.
    extra = [name for name in available if name and name not in declared and name not in aside]
    if extra:
        is_, it = ("is", "it") if len(extra) == 1 else ("are", "them")
        raise DataError(
            f"{column_phrase(extra)} {is_} in the data but not declared in the schema; "
            f'declare {it}, or list {it} in ignore (or "*" for all that are not declared).'
        )
    return _not_empty(columns, id_column)


def select_by_position(
    width: int, columns: Sequence[str] | None, id_column: str | None = None
) -> Selection:
    """Choose the columns of an unnamed array: all of them, named by position."""
    if id_column is not None:
        raise DataError(
            f"The id column {id_column!r} cannot be found in an array without column names; "
            "give a data frame or a file."
        )
    if columns is not None and len(columns) != width:
        raise DataError(
            f"The data have {width} columns but the schema declares {len(columns)}; "
            "give the declared columns in order."
        )
    return _not_empty([f"x{i}" for i in range(width)] if columns is None else columns, None)


def _not_empty(names: Sequence[str], id_column: str | None) -> Selection:
    if not names:
        # scikit-learn's words, without the number of rows, which is private.
        raise DataError(
            "The data have no columns to read, 0 feature(s) (shape=(, 0)) while a minimum of 1 is "
            "required; give at least one column."
        )
    return Selection(tuple(names), id_column)


def column_phrase(names: Sequence[str]) -> str:
    """Return "Column 'a'" or "Columns 'a', 'b'", shortened when there are many.

    Only the first line of each name is shown: an unclosed quote is followed by rows.
    """
    shown = ", ".join(repr(_first_line(name)) for name in names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return f"Column{'s' * (len(names) > 1)} {shown}{f' and {more} more' if more > 0 else ''}"


def _first_line(name: str) -> str:
    lines = name.splitlines()
    return (
        name if len(lines) < 2 and len(name) <= _LONGEST_SHOWN else f"{lines[0][:_LONGEST_SHOWN]}…"
    )
