"""What an algorithm may hold of columns of unknown range: their forms, public cells, noisy counts.

A column is cut by rising edges into cells: below the first edge, between each two, and from the
last one on; an edge belongs to the cell above it. Numbers that are missing or not finite have an
entry of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from privclust._typing import Floats
from privclust.exceptions import ParameterError
from privclust.schema.dialect import Csv
from privclust.schema.facts import Box
from privclust.schema.forms import Form
from privclust.schema.schema import Schema

ColumnForm = Form

# A Box has numbers up to 1e150 and is at least 1e-150 wide: two to the 498 is just within.
_LARGEST_POWER = 498
_POWERS = 2.0 ** np.arange(-_LARGEST_POWER, _LARGEST_POWER + 1)

# The edges of signed powers of two; everything nearer to zero than the smallest shares a cell.
POWERS: Floats = np.concatenate([-_POWERS[::-1], _POWERS])
ZERO_CELL = len(_POWERS)


@dataclass(frozen=True)
class ColumnCounts:
    """Noisy numbers of rows in the cells of some columns."""

    cells: dict[int, Floats]  # the counts of each column's cells, one more than it has edges
    missing: dict[int, float]  # the noisy number of rows whose number is missing or not finite
    standard_error: float  # the standard error of each of these numbers


def forms_of(columns: Sequence[str] | Mapping[str, str] | None) -> dict[str, ColumnForm] | None:
    """Return the form of each column; a list of names declares numbers."""
    if columns is None:
        return None
    names = columns if isinstance(columns, Iterable) and not isinstance(columns, str) else [None]
    if not all(isinstance(name, str) for name in names):
        raise ParameterError(
            "columns must be None, a list of names, or a dict of names and forms such as "
            '{"born": "date"}.'
        )
    if not columns:
        raise ParameterError("columns must name at least one column; name it or leave None.")
    forms = dict(columns) if isinstance(columns, Mapping) else dict.fromkeys(columns, "number")
    known = get_args(Form)
    for name, form in forms.items():
        if form not in known:
            words = ", ".join(f'"{word}"' for word in known)
            raise ParameterError(f"The form of {name!r} must be one of {words}, got {form!r}.")
    return forms  # type: ignore[return-value]  # checked above


def without_bounds(
    forms: Mapping[str, ColumnForm], *, ignore: Sequence[str], csv: Csv | None, total: bool
) -> Schema:
    """Return a schema for reading columns; its bounds are dummies and clip nothing.

    ``ignore``: columns of the data that are not read. ``total``: whether a value that does not read
    as its form is treated as missing instead of refused.
    """
    return Schema(
        [(name, _any_box(form, total=total)) for name, form in forms.items()],
        ignore=ignore,
        csv=csv,
    )


def _any_box(form: ColumnForm, *, total: bool) -> Box:
    if form in ("date", "time"):
        low, high = "1970-01-01", "1970-01-02"
        return Box(low, high, low if total else "error", form)
    return Box(0, 1, 0 if total else "error", "number" if form == "integer" else form)
