"""Exact integers for what is granted and spent, and how they are rounded: against the spender.

ε and ρ are counted in units of 10^-12, δ in units of 10^-18. A cost is rounded up, a grant is
rounded down. Amounts and their sums stop at ``MOST``, so that they fit the integers of a database
with room to add two; nothing can be granted up to there, hence a sum that stopped is never covered.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["ATTO", "MOST", "NOTHING", "PICO", "Amount", "decimal", "rounded_down", "rounded_up"]

PICO = 10**12
ATTO = 10**18
MOST = 10**18


@dataclass(frozen=True)
class Amount:
    """A charge, a grant, or a sum of them: ε and ρ in 10^-12, δ in 10^-18."""

    epsilon: int = 0
    delta: int = 0
    rho: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(
            min(self.epsilon + other.epsilon, MOST),
            min(self.delta + other.delta, MOST),
            min(self.rho + other.rho, MOST),
        )

    def to_dict(self) -> dict[str, str]:
        """Return the amount as exact decimals."""
        return {
            "epsilon": decimal(self.epsilon),
            "delta": decimal(self.delta, ATTO),
            "rho": decimal(self.rho),
        }


NOTHING = Amount()


def rounded_up(value: Fraction, per: int = PICO) -> int:
    """Return a cost in units of 1/``per``."""
    return min(math.ceil(value * per), MOST)


def rounded_down(value: Fraction, per: int = PICO) -> int:
    """Return a grant in units of 1/``per``."""
    return min(math.floor(value * per), MOST)


def decimal(units: int, per: int = PICO) -> str:
    """Return units of 1/``per``, a power of ten, as an exact decimal."""
    whole, rest = divmod(units, per)
    digits = str(per + rest)[1:].rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)
