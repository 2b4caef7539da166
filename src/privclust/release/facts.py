"""What a release says at a glance, the same to a command line, a service and a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["TWO_ERRORS", "Facts", "Listing", "give_or_take", "shown_error"]

# What stands after a ± wherever people read it: the truth is within it in about 19 of 20 cases.
TWO_ERRORS = "± 2 errors"


@dataclass(frozen=True)
class Listing:
    """A table for people, every cell as text; the first columns matter most."""

    headings: Sequence[str]
    lines: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Facts:
    """The released values of one kind of release, for people and for machines.

    Attributes
    ----------
    summary : sequence of (label, text)
        A few short pairs, such as ``("clusters", "8")``.
    listings : sequence of Listing
        The values as tables.
    values : mapping
        The same and more as plain data that JSON can hold.
    """

    summary: Sequence[tuple[str, str]]
    listings: Sequence[Listing] = ()
    values: Mapping[str, Any] = field(default_factory=dict)


def give_or_take(value: str, error: float) -> str:
    """Return a value for people with two of its standard errors to each side."""
    return f"{value} ± {shown_error(2 * error)}"


def shown_error(error: float) -> str:
    """Return an error with two digits that mean something, and never with an exponent."""
    rounded = float(f"{error:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"
