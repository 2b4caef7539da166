"""``UnitStep``: what one step between neighbours is, whatever the question."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["UnitStep"]


@dataclass(frozen=True)
class UnitStep:
    """One step between neighbours: so many terms more or fewer, or one in place of another.

    A term is what a statistic gains by a row or, of a matrix, by one step of an entry.

    Attributes
    ----------
    terms : int
        How many terms one of the neighbours has more than the other, at most.
    replaces : bool
        Whether both have equally many, and one of them differs.
    """

    terms: int
    replaces: bool = False

    def __post_init__(self) -> None:
        if self.terms < 1 or (self.replaces and self.terms > 1):
            raise ValueError("A step adds or removes at least one term, or replaces a single one.")
