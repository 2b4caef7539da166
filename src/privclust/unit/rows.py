"""The units of a table of rows, and what one step between neighbours is."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from privclust.unit.plain import CHANGES, PlainUnit
from privclust.unit.step import UnitStep

if TYPE_CHECKING:
    from privclust.budget import Budget

__all__ = ["AddRemoveRow", "IdType", "Person", "ReplaceRow", "RowUnit"]

IdType = Literal["text", "number"]


class RowUnit(PlainUnit):
    """A unit of a table of rows: which data sets are neighbours."""

    # The column that says which rows belong together, if there is one.
    id_column: str | None
    # Whether all neighbours have equally many rows, so that their number tells none apart.
    n_rows_is_public: ClassVar[bool] = False

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

    @property
    def one_step(self) -> UnitStep:
        """One row more, or one fewer."""
        return UnitStep(1)

    def describe(self, budget: Budget | None = None) -> str:
        """Say in plain words what is protected."""
        return f"Adding or removing any one row {CHANGES}"


@dataclass(frozen=True)
class ReplaceRow(RowUnit):
    """Neighbours have equally many rows and differ in one of them.

    *Why this is private.* Both neighbours are the same other rows and one more, so a statistic
    moves by the difference of what the two rows change beside these. The number of rows is the
    same in all neighbours and therefore not protected.
    """

    name: ClassVar[str] = "replace-row"
    id_column = None
    n_rows_is_public: ClassVar[bool] = True

    @property
    def one_step(self) -> UnitStep:
        """One row in place of another."""
        return UnitStep(1, replaces=True)

    def describe(self, budget: Budget | None = None) -> str:
        """Say in plain words what is protected."""
        return f"Replacing any one row by another {CHANGES} The number of rows is not protected."


@dataclass(frozen=True)
class Person(RowUnit):
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
        Refuse a row without an id (a missing or empty one), or treat each as a person of its own.

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

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as plain data, the way :func:`unit_from` reads it."""
        usual = {"id_type": "text", "missing": "error"}
        plain = super().to_dict()
        return {key: value for key, value in plain.items() if usual.get(key) != value}
