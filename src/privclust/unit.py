"""Privacy units: whose presence a release hides, and how far apart neighbouring data sets are.

A unit says which data sets count as neighbours. Every sensitivity in ``privclust.data`` is derived
from the schema (how far one row can move a statistic) and from the unit (how many rows one step
between neighbours adds or removes).
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

__all__ = ["AddRemoveRow", "Person", "ReplaceRow", "Unit", "unit_from"]


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
        At most this many rows of each person count: the first ones in reading order.

    Notes
    -----
    *Why this is private.* Which rows of a person are kept depends on the order of that person's
    own rows and on nothing else. So adding or removing a person leaves the kept rows of everybody
    else as they are, and one step adds or removes at most ``max_rows`` kept rows.
    See :class:`privclust.data.contribution.ContributionBound`.
    """

    id_column: str
    max_rows: int
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
        object.__setattr__(self, "id_column", str(self.id_column))
        object.__setattr__(self, "max_rows", int(self.max_rows))

    @property
    def rows_changed(self) -> int:
        """Number of rows that one step between neighbours adds or removes in total, at most."""
        return self.max_rows

    def describe(self) -> str:
        """Say in plain words what is protected."""
        rows = "1 row counts" if self.max_rows == 1 else f"{self.max_rows} rows count"
        return (
            f"Adding or removing all rows of any one person (known by the column "
            f"{self.id_column!r}, of whom at most {rows}) {_CHANGES}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as plain data, the way :func:`unit_from` reads it."""
        return {"name": self.name, **asdict(self)}


Unit = AddRemoveRow | ReplaceRow | Person

_CHANGES = "changes the chance of any published result by no more than the stated privacy loss."
_KINDS: dict[str, type[AddRemoveRow] | type[ReplaceRow] | type[Person]] = {
    kind.name: kind for kind in (AddRemoveRow, ReplaceRow, Person)
}
_REMEDY = 'use "add-remove-row", "replace-row" or Person(id_column, max_rows)'


def unit_from(unit: str | Unit | Mapping[str, Any]) -> Unit:
    """Return the privacy unit that ``unit`` stands for.

    Parameters
    ----------
    unit : Unit, str or mapping
        A unit, the short name of one that needs no parameters (``"add-remove-row"``,
        ``"replace-row"``), or what :meth:`to_dict` of a unit returned.
    """
    if isinstance(unit, (AddRemoveRow, ReplaceRow, Person)):
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
