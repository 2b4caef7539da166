"""What a release says at a glance, the same to a command line, a service and a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Facts", "Listing"]


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
