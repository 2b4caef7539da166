"""Privacy units: whose presence a release hides, and what one step between neighbours changes.

A unit says which data sets count as neighbours. Every sensitivity in ``privclust.data`` is derived
from what one row can change in a statistic and from the unit's ``one_step``, which says how many
rows that is. A unit is written in ``rows.py`` or ``matrix.py`` and listed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from privclust.unit.matrix import (
    MatrixCount,
    MatrixEntry,
    MatrixRow,
    MatrixUnit,
    group_epsilon,
    group_loss,
    group_words,
)
from privclust.unit.rows import AddRemoveRow, IdType, Person, ReplaceRow, RowUnit

__all__ = [
    "MATRIX_UNITS",
    "ROW_UNITS",
    "UNITS_WITH_IDS",
    "AddRemoveRow",
    "IdType",
    "MatrixCount",
    "MatrixEntry",
    "MatrixRow",
    "MatrixUnit",
    "Person",
    "ReplaceRow",
    "RowUnit",
    "Unit",
    "group_epsilon",
    "group_loss",
    "group_words",
    "matrix_unit_from",
    "row_unit",
    "unit_from",
]

Unit = RowUnit | MatrixUnit

_KINDS: dict[str, type[Unit]] = {
    kind.name: kind
    for kind in (AddRemoveRow, ReplaceRow, Person, MatrixCount, MatrixEntry, MatrixRow)
}
ROW_UNITS = tuple(name for name, kind in _KINDS.items() if issubclass(kind, RowUnit))
# The short names of the units of a matrix.
MATRIX_UNITS = tuple(
    name.removeprefix("matrix-") for name, kind in _KINDS.items() if issubclass(kind, MatrixUnit)
)
# Units of those, such as people, who may have many rows and are known by an id.
UNITS_WITH_IDS = tuple(name for name, kind in _KINDS.items() if issubclass(kind, Person))
_SHORT_FOR_MATRICES = {name: f"matrix-{name}" for name in MATRIX_UNITS}
# "row" alone could be a row of a table: it is short for a unit only where a matrix is meant.
_SHORT = {name: full for name, full in _SHORT_FOR_MATRICES.items() if name != "row"}
_FOR_ROWS = '"add-remove-row", "replace-row" or Person(id_column, max_rows)'
_FOR_MATRICES = '"matrix-count", "matrix-entry", MatrixEntry(cap) or "matrix-row"'
_REMEDY = f"use {_FOR_ROWS}; for a matrix of counts {_FOR_MATRICES}"


def unit_from(unit: str | Unit | Mapping[str, Any]) -> Unit:
    """Return the privacy unit that ``unit`` stands for.

    Parameters
    ----------
    unit : Unit, str or mapping
        A unit, the short name of one that needs no parameters (``"add-remove-row"``,
        ``"replace-row"``, ``"matrix-count"`` or ``"count"``, ``"matrix-entry"`` or ``"entry"``,
        ``"matrix-row"``), or what :meth:`to_dict` of a unit returned.
    """
    if isinstance(unit, Unit):
        return unit
    entry = unit if isinstance(unit, Mapping) else {"name": _full_name(unit, _SHORT)}
    kind = next((kind for name, kind in _KINDS.items() if name == entry.get("name")), None)
    if kind is None:
        raise ValueError(f"Unknown privacy unit {unit!r}; {_REMEDY}.")
    parameters: dict[str, Any] = {key: value for key, value in entry.items() if key != "name"}
    if not parameters and (needed := _required_parameters(kind)):
        raise ValueError(
            f"The unit {kind.name!r} needs parameters; use {kind.__name__}({', '.join(needed)})."
        )
    try:
        return kind(**parameters)
    except TypeError:
        raise ValueError(f"Privacy unit {dict(entry)!r} has wrong parameters; {_REMEDY}.") from None


def row_unit(unit: str | Unit | Mapping[str, Any]) -> RowUnit:
    """Return the unit of rows that ``unit`` stands for; those of matrices are refused."""
    chosen = unit_from(unit)
    if not isinstance(chosen, RowUnit):
        raise ValueError(
            f"The unit {chosen.name!r} does not apply to a table of rows; use {_FOR_ROWS}."
        )
    return chosen


def matrix_unit_from(unit: str | Unit | Mapping[str, Any]) -> MatrixUnit:
    """Return the unit of a matrix that ``unit`` stands for; the short names lack ``"matrix-"``."""
    chosen = unit_from(_full_name(unit, _SHORT_FOR_MATRICES))
    if not isinstance(chosen, MatrixUnit):
        raise ValueError(
            f"The unit {chosen.name!r} does not apply to a matrix; use {_FOR_MATRICES}."
        )
    return chosen


def _required_parameters(kind: type[Unit]) -> list[str]:
    """Return the names of the parameters that have no default."""
    return [part.name for part in fields(kind) if part.default is MISSING]  # type: ignore[arg-type]


def _full_name(unit: Any, short: Mapping[str, str]) -> Any:
    return short.get(unit, unit) if isinstance(unit, str) else unit
