"""The units of a table of rows, and what one step between neighbours is."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from privclust.unit.base import CHANGES, UnitBase, UnitStep

if TYPE_CHECKING:
    from privclust.budget import Budget


IdType = Literal["text", "number"]

_HOW_MANY = "say how many rows the data have, or leave it out"
_HOW_MANY_OF_ONE = "say how many rows of one person may count"


class RowUnit(UnitBase):
    """A unit of a table of rows: which data sets are neighbours."""

    # The column that says which rows belong together, if there is one.
    id_column: str | None
    # The public number of rows, if it is declared.
    n_rows: int | None

    @property
    def one_step(self) -> UnitStep:
        """What one step between neighbours is."""
        raise NotImplementedError


@dataclass(frozen=True)
class AddRemoveRow(RowUnit):
    """Neighbours differ by one row, present in one of them only.

    *Why this is private.* One step adds or removes one row, so a statistic that is a sum over rows
    moves by at most what one row can contribute. The number of rows is protected as well.
    """

    name: ClassVar[str] = "add-remove-row"
    id_column = None
    n_rows = None

    @property
    def one_step(self) -> UnitStep:
        """One more row, or one fewer."""
        return UnitStep(1)

    def describe(self, budget: Budget | None = None) -> str:
        """Say in plain words what is protected."""
        return f"Adding or removing any one row {CHANGES}"


@dataclass(frozen=True)
class ReplaceRow(RowUnit):
    """Neighbours have equally many rows and differ in one of them.

    Parameters
    ----------
    n_rows : int or None
        The public number of rows; data with another number are refused. If it is not declared, it
        counts as public where the data state it before they are read (frames, arrays, lists,
        Parquet); for CSV files and streams it is asked with noise.

    Notes
    -----
    *Why this is private.* Both neighbours are the same other rows and one more, so a statistic
    moves by the difference between the changes that the two rows make. The number of rows is the
    same in all neighbours and therefore not protected.
    """

    n_rows: int | None = None
    name: ClassVar[str] = "replace-row"
    id_column = None
    _usual: ClassVar[Mapping[str, Any]] = {"n_rows": None}

    def __post_init__(self) -> None:
        if self.n_rows is not None:
            object.__setattr__(self, "n_rows", _whole("n_rows", self.n_rows, _HOW_MANY))

    @property
    def one_step(self) -> UnitStep:
        """One row in place of another."""
        return UnitStep(1, replaces=True)

    def describe(self, budget: Budget | None = None) -> str:
        """Say in plain words what is protected."""
        declared = "" if self.n_rows is None else f", {self.n_rows:,},"
        return (
            f"Replacing any one row by another {CHANGES} "
            f"The number of rows{declared} is not protected."
        )


@dataclass(frozen=True)
class Person(RowUnit):
    """Neighbours differ by all rows of one person, who is known by an id.

    Parameters
    ----------
    id_column : str
        The column that names the person; it is read for the bound and then left behind.
    max_rows : int
        At most this many rows of each person count, drawn at random from all of that person's rows.
    id_type : "text" or "number", default="text"
        As text, ids are compared as they are written: "7", "07" and "7.0" are three people. As
        numbers, all spellings of a whole number are one person.
    missing : "error" or "separate", default="error"
        Refuse a row whose id is not reliable, or treat each such row as a person of its own. Such
        ids are missing or empty, or not of the declared kind: a fraction, a date, a float above
        2^53, or "abc" among numbers. Under "separate" no id makes a fit fail.

    Notes
    -----
    *Why this is private.* Which rows of a person are kept depends only on that person's own rows,
    and not on their order. So adding or removing a person leaves the kept rows of everybody else as
    they are, and one step adds or removes at most ``max_rows`` kept rows. See
    :class:`privclust.data.people.ContributionBound`.
    """

    id_column: str
    max_rows: int
    id_type: IdType = "text"
    missing: Literal["error", "separate"] = "error"
    name: ClassVar[str] = "person"
    n_rows = None
    _usual: ClassVar[Mapping[str, Any]] = {"id_type": "text", "missing": "error"}

    def __post_init__(self) -> None:
        if not isinstance(self.id_column, str) or not self.id_column:
            raise ValueError(
                f"The id column must be named by text, got {self.id_column!r}; give its name."
            )
        max_rows = _whole("max_rows", self.max_rows, _HOW_MANY_OF_ONE)
        if self.id_type not in ("text", "number"):
            raise ValueError(f'id_type must be "text" or "number", got {self.id_type!r}.')
        if self.missing not in ("error", "separate"):
            raise ValueError(f'missing must be "error" or "separate", got {self.missing!r}.')
        object.__setattr__(self, "id_column", str(self.id_column))
        object.__setattr__(self, "max_rows", max_rows)

    @property
    def one_step(self) -> UnitStep:
        """At most ``max_rows`` rows more, or fewer."""
        return UnitStep(self.max_rows)

    def describe(self, budget: Budget | None = None) -> str:
        """Say in plain words what is protected."""
        rows = "1 row counts" if self.max_rows == 1 else f"{self.max_rows} rows count"
        if self.missing == "separate":
            rows += "; a row without an id is treated as a person of its own"
        return (
            f"Adding or removing all rows of any one person (known by the column "
            f"{self.id_column!r}, of whom at most {rows}) {CHANGES}"
        )


def _whole(name: str, value: Any, cure: str) -> int:
    """Return a number of rows, which must be whole and at least one."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}; {cure}.")
    return int(value)
