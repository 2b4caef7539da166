"""``Noisy``: what leaves the door. It stands apart from what makes it, because workers never do."""

from __future__ import annotations

from dataclasses import dataclass

from privclust._typing import Floats

__all__ = ["Noisy"]


@dataclass(frozen=True)
class Noisy:
    """A released value and the standard deviation of the noise on each of its entries."""

    value: Floats
    standard_error: float
