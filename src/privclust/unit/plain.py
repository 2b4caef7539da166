"""What all units have in common: they are plain data, and end their promise in the same words."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from privclust.budget import Budget

__all__ = ["CHANGES", "PlainUnit"]

CHANGES = "changes the chance of any published result by no more than the stated privacy loss."


class PlainUnit:
    """What all units have in common."""

    name: ClassVar[str]

    def describe(self, budget: Budget | None = None) -> str:
        """Say in plain words what is protected."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as plain data, the way :func:`unit_from` reads it."""
        return {"name": self.name, **asdict(self)}  # type: ignore[call-overload]
