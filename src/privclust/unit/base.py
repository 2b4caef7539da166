"""What all units have in common: one step between neighbours, plain data, the end of a promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from privclust.budget import Budget


@dataclass(frozen=True)
class UnitStep:
    """One step between neighbours: up to ``terms`` more or fewer, or one in place of another.

    A term is what a row or, in a matrix, one step of an entry adds to a statistic.
    """

    terms: int  # how many more terms one neighbour has than the other, at most
    replaces: bool = False  # whether both have equally many terms, and one term differs

    def __post_init__(self) -> None:
        if self.terms < 1 or (self.replaces and self.terms > 1):
            raise ValueError("A step adds or removes at least one term, or replaces a single one.")


# What all units have in common: they are plain data, and end their promise in the same words.

CHANGES = "changes the chance of any published result by no more than the stated privacy loss."


class UnitBase:
    """What all units have in common."""

    name: ClassVar[str]
    # Omitted from plain data at their defaults, so that these read as before.
    _usual: ClassVar[Mapping[str, Any]] = {}

    def describe(self, budget: Budget | None = None) -> str:
        """Say in plain words what is protected."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as plain data, as :func:`unit_from` reads it."""
        plain: dict[str, Any] = asdict(self)  # type: ignore[call-overload]
        own = {
            key: value
            for key, value in plain.items()
            if key not in self._usual or value != self._usual[key]
        }
        return {"name": self.name, **own}
