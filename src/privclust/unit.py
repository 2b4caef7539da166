"""Privacy units: whose presence a release hides, and how far apart neighbouring data sets are.

A unit says which data sets count as neighbours. Every sensitivity in ``privclust.data`` is derived
from the schema (how far one row can move a statistic) and from the unit (how many rows one step
between neighbours adds or removes). A matrix of counts has units of its own, further
below: one count, one entry, one whole row.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

__all__ = [
    "AddRemoveRow",
    "IdType",
    "MatrixCount",
    "MatrixEntry",
    "MatrixRow",
    "MatrixUnit",
    "Person",
    "ReplaceRow",
    "Unit",
    "matrix_unit_from",
    "unit_from",
]

IdType = Literal["text", "number"]

# The finest grid that entries of a matrix may be put on, in steps to their cap.
MOST_ENTRY_STEPS = 2**20


@dataclass(frozen=True)
class AddRemoveRow:
    """Neighbours differ by one row, present in one of them only.

    *Why this is private.* One step adds or removes one row, so a statistic that is a sum over rows
    moves by at most what one row can contribute. The number of rows is protected as well.
    """

    name: ClassVar[str] = "add-remove-row"

    @property
    def rows_changed(self) -> int:
        """Number of rows that one step between neighbours adds or removes in total."""
        return 1

    def describe(self) -> str:
        """Say in plain words what is protected."""
        return f"Adding or removing any one row {_CHANGES}"

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as plain data, the way :func:`unit_from` reads it."""
        return {"name": self.name}


@dataclass(frozen=True)
class ReplaceRow:
    """Neighbours have equally many rows and differ in one of them.

    *Why this is private.* Replacing a row is removing one and adding another, two steps of
    :class:`AddRemoveRow`, so every bound for two changed rows holds. The number of rows is the
    same in all neighbours and therefore not protected.
    """

    name: ClassVar[str] = "replace-row"

    @property
    def rows_changed(self) -> int:
        """Number of rows that one step between neighbours adds or removes in total."""
        return 2

    def describe(self) -> str:
        """Say in plain words what is protected."""
        return f"Replacing any one row by another {_CHANGES} The number of rows is not protected."

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as plain data, the way :func:`unit_from` reads it."""
        return {"name": self.name}


@dataclass(frozen=True)
class Person:
    """Neighbours differ by all rows of one person, who is known by an id.

    Parameters
    ----------
    id_column : str
        The column that names the person; it is read for the bound and then left behind.
    max_rows : int
        At most this many rows of each person count, drawn at random from all of that person.
    id_type : "text" or "number", default="text"
        As text, ids are compared as they are written: "7", "07" and "7.0" are three people. As
        numbers, all spellings of a whole number are one person.
    missing : "error" or "separate", default="error"
        Refuse a row without an id (a missing or empty one), or take each for a person of its own.

    Notes
    -----
    *Why this is private.* Which rows of a person are kept depends on that person's own rows and on
    nothing else, not even on their order. So adding or removing a person leaves the kept rows of
    everybody else as they are, and one step adds or removes at most ``max_rows`` kept rows.
    See :class:`privclust.data.contribution.ContributionBound`.
    """

    id_column: str
    max_rows: int
    id_type: IdType = "text"
    missing: Literal["error", "separate"] = "error"
    name: ClassVar[str] = "person"

    def __post_init__(self) -> None:
        if not isinstance(self.id_column, str) or not self.id_column:
            raise ValueError(
                f"The id column must be named by text, got {self.id_column!r}; give its name."
            )
        whole = isinstance(self.max_rows, numbers.Integral) and not isinstance(self.max_rows, bool)
        if not whole or self.max_rows < 1:
            raise ValueError(
                f"max_rows must be a whole number of at least 1, got {self.max_rows!r}; "
                "say how many rows of one person may count."
            )
        if self.id_type not in ("text", "number"):
            raise ValueError(f'id_type must be "text" or "number", got {self.id_type!r}.')
        if self.missing not in ("error", "separate"):
            raise ValueError(f'missing must be "error" or "separate", got {self.missing!r}.')
        object.__setattr__(self, "id_column", str(self.id_column))
        object.__setattr__(self, "max_rows", int(self.max_rows))

    @property
    def rows_changed(self) -> int:
        """Number of rows that one step between neighbours adds or removes in total, at most."""
        return self.max_rows

    def describe(self) -> str:
        """Say in plain words what is protected."""
        rows = "1 row counts" if self.max_rows == 1 else f"{self.max_rows} rows count"
        if self.missing == "separate":
            rows += "; a row without an id is taken for a person of its own"
        return (
            f"Adding or removing all rows of any one person (known by the column "
            f"{self.id_column!r}, of whom at most {rows}) {_CHANGES}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as plain data, the way :func:`unit_from` reads it."""
        declared = {"id_column": self.id_column, "max_rows": self.max_rows}
        rules = {"id_type": (self.id_type, "text"), "missing": (self.missing, "error")}
        changed = {key: value for key, (value, usual) in rules.items() if value != usual}
        return {"name": self.name, **declared, **changed}


@dataclass(frozen=True)
class MatrixCount:
    """Neighbours are matrices of counts of one shape, one entry of which differs by one.

    *Why this is private.* The entry lies in one row and one column, so a table of sums over groups
    of rows and columns moves in one cell, by one. The shape is the same in all neighbours and
    therefore not protected.
    """

    name: ClassVar[str] = "matrix-count"

    @property
    def rows_changed(self) -> int:
        """Number of rows that one step removes or adds in total: the old one and the new one."""
        return 2

    def describe(self) -> str:
        """Say in plain words what is protected."""
        return (
            f"Adding one to any one entry of the matrix, or taking one away, {_CHANGES} "
            "Larger changes are protected less: a whole row whose entries add up to s is protected "
            "only at s times the stated loss. The shape of the matrix is not protected."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as plain data, the way :func:`unit_from` reads it."""
        return {"name": self.name}


@dataclass(frozen=True)
class MatrixEntry:
    """Neighbours are matrices of one shape, one entry of which differs by any amount.

    Parameters
    ----------
    cap : number, default=1
        Larger entries count as this much; with 1 only their presence counts.
    step : number, default=1
        Entries are rounded to multiples of it. With 1 they must be whole numbers; declare a smaller
        step for real numbers.

    Notes
    -----
    *Why this is private.* After the cap an entry lies between 0 and ``cap``, so one step moves one
    cell of a table of sums by at most ``cap``. The shape of the matrix is not protected.
    """

    cap: float = 1
    step: float = 1
    name: ClassVar[str] = "matrix-entry"

    def __post_init__(self) -> None:
        for name, value in (("cap", self.cap), ("step", self.step)):
            number = isinstance(value, numbers.Real) and not isinstance(value, bool)
            if not number or not 0 < value < float("inf"):
                raise ValueError(f"{name} must be a number above zero, got {value!r}.")
        steps = self.cap / self.step
        if round(steps) != steps or steps > MOST_ENTRY_STEPS:
            raise ValueError(
                f"cap={self.cap!r} must be a whole multiple of step={self.step!r}, at most "
                f"{MOST_ENTRY_STEPS} times it; change one of the two."
            )

    @property
    def levels(self) -> int:
        """The cap, in steps."""
        return round(self.cap / self.step)

    @property
    def rows_changed(self) -> int:
        """Number of rows that one step removes or adds in total: the old one and the new one."""
        return 2

    def describe(self) -> str:
        """Say in plain words what is protected."""
        counted = "only its presence counts" if self.cap == self.step else f"at most {self.cap:g}"
        counted = counted if self.cap == self.step else f"{counted} of it counts"
        return (
            f"Changing any one entry of the matrix to any other value ({counted}) {_CHANGES} "
            "A whole row with s entries is protected only at s times the stated loss. The shape of "
            "the matrix is not protected."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as plain data, the way :func:`unit_from` reads it."""
        return {"name": self.name, **asdict(self)}


@dataclass(frozen=True)
class MatrixRow:
    """Neighbours are matrices with the same columns that differ by one whole row.

    *Why this is private.* Every row is brought to length one before it enters a sum, so one step
    moves a table of sums by a vector of length at most one. The number of rows is protected, the
    number of columns is not.
    """

    name: ClassVar[str] = "matrix-row"

    @property
    def rows_changed(self) -> int:
        """Number of rows that one step between neighbours adds or removes in total."""
        return 1

    def describe(self) -> str:
        """Say in plain words what is protected."""
        return f"Adding or removing any one whole row of the matrix {_CHANGES}"

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as plain data, the way :func:`unit_from` reads it."""
        return {"name": self.name}


MatrixUnit = MatrixCount | MatrixEntry | MatrixRow
Unit = AddRemoveRow | ReplaceRow | Person | MatrixUnit

_CHANGES = "changes the chance of any published result by no more than the stated privacy loss."
_KINDS: dict[str, type[Unit]] = {
    kind.name: kind
    for kind in (AddRemoveRow, ReplaceRow, Person, MatrixCount, MatrixEntry, MatrixRow)
}
_REMEDY = (
    'use "add-remove-row", "replace-row" or Person(id_column, max_rows); for a matrix of counts '
    '"matrix-count", "matrix-entry" or "matrix-row"'
)


def unit_from(unit: str | Unit | Mapping[str, Any]) -> Unit:
    """Return the privacy unit that ``unit`` stands for.

    Parameters
    ----------
    unit : Unit, str or mapping
        A unit, the short name of one that needs no parameters (``"add-remove-row"``,
        ``"replace-row"``, ``"matrix-count"``, ``"matrix-entry"``, ``"matrix-row"``), or what
        :meth:`to_dict` of a unit returned.
    """
    if isinstance(unit, Unit):
        return unit
    if unit == Person.name:
        raise ValueError(
            "The unit 'person' needs an id column and a bound; use Person(id_column, max_rows)."
        )
    entry = unit if isinstance(unit, Mapping) else {"name": unit}
    kind = next((kind for name, kind in _KINDS.items() if name == entry.get("name")), None)
    if kind is None:
        raise ValueError(f"Unknown privacy unit {unit!r}; {_REMEDY}.")
    parameters: dict[str, Any] = {key: value for key, value in entry.items() if key != "name"}
    try:
        return kind(**parameters)
    except TypeError:
        raise ValueError(f"Privacy unit {dict(entry)!r} has wrong parameters; {_REMEDY}.") from None


def matrix_unit_from(unit: str | Unit | Mapping[str, Any]) -> MatrixUnit:
    """Return the unit of a matrix that ``unit`` stands for; the short names lack ``"matrix-"``."""
    named = f"matrix-{unit}" if unit in ("count", "entry", "row") else unit
    chosen = unit_from(named)
    if not isinstance(chosen, MatrixUnit):
        raise ValueError(
            f"The unit {chosen.name!r} is none of a matrix of counts; use "
            '"count", "entry", MatrixEntry(cap) or "row".'
        )
    return chosen
