"""What all units have in common: they are plain data, and end their promise in the same words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from privclust.budget import Budget

__all__ = ["CHANGES", "PlainUnit"]

CHANGES = "changes the chance of any published result by no more than the stated privacy loss."


class PlainUnit:
    """What all units have in common."""

    name: ClassVar[str]
    # Left out of plain data where they are as usual, so that these read as they did before a
    # parameter was added.
    _usual: ClassVar[Mapping[str, Any]] = {}

    def describe(self, budget: Budget | None = None) -> str:
        """Say in plain words what is protected."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as plain data, the way :func:`unit_from` reads it."""
        plain: dict[str, Any] = asdict(self)  # type: ignore[call-overload]
        own = {
            key: value
            for key, value in plain.items()
            if key not in self._usual or value != self._usual[key]
        }
        return {"name": self.name, **own}
