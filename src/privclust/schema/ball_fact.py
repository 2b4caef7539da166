"""The fact about all numbers of a row together: a Ball."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privclust.exceptions import SchemaError
from privclust.schema.facts import NARROWEST, FactBase
from privclust.schema.forms import items, number


@dataclass(frozen=True, repr=False)
class Ball(FactBase):
    """A joint bound over all numeric columns: the L2 distance of a row from ``center``.

    Parameters
    ----------
    radius : float
        Above zero.
    center : sequence of float
        One number per numeric column, in their order, each within the column's Box. Then pulling
        a clipped row towards the center until it lies in the ball cannot leave the boxes again.
    """

    radius: float
    center: Sequence[float]

    def __post_init__(self) -> None:
        self._set("radius", number(self.radius, "radius"))
        if self.radius < NARROWEST:
            raise SchemaError(
                f"A Ball needs a radius above zero, got radius={self.radius!r}; enlarge it."
            )
        center = tuple(number(value, "center") for value in items(self.center, "center"))
        self._set("center", center)
