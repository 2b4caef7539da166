"""What an answer costs: in pure ε and in zCDP ρ, how costs add up, and what (ε, δ) they mean.

Every amount is an exact fraction. The one place where real numbers enter is the conversion between
ρ and (ε, δ); it is computed in decimal arithmetic far beyond the digits kept, and then rounded
against the user: a cost is rounded up, a grant is rounded down. Proofs: ``proofs/accounting.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction

__all__ = ["NO_LOSS", "Loss", "epsilon_spent", "rho_within", "rounded_up"]

# Sixty digits to compute with, thirty of them kept: the decimal module rounds each operation
# correctly, so the error of a dozen of them stays some twenty-five digits below the last one kept.
_WORKING = Context(prec=60)
_KEPT_DIGITS = 30
_SLACK = Decimal("1e-40")


@dataclass(frozen=True)
class Loss:
    """The privacy cost of an answer, or of several taken together.

    Attributes
    ----------
    pure : Fraction or None
        The answer is ``pure``-differentially private; ``None`` when no finite ε covers it.
    rho : Fraction
        The answer is ``rho``-zero-concentrated differentially private.
    """

    pure: Fraction | None
    rho: Fraction

    def __post_init__(self) -> None:
        if self.rho < 0 or (self.pure is not None and self.pure < 0):
            raise ValueError("A privacy loss cannot be negative.")

    def __add__(self, other: Loss) -> Loss:
        pure = None if self.pure is None or other.pure is None else self.pure + other.pure
        return Loss(pure, self.rho + other.rho)

    def times(self, count: int) -> Loss:
        """Return the cost of ``count`` answers, each of this cost, about the same rows."""
        if count < 0:
            raise ValueError(f"A count of answers cannot be negative, got {count}.")
        return Loss(None if self.pure is None else self.pure * count, self.rho * count)

    @classmethod
    def total(cls, losses: Iterable[Loss]) -> Loss:
        """Compose losses: both currencies simply add up, even for adaptive queries."""
        return sum(losses, NO_LOSS)

    @classmethod
    def of_pure(cls, epsilon: Fraction) -> Loss:
        """Return the loss of an ε-differentially private answer: also ε²/2-zCDP (Bun, Steinke)."""
        return cls(epsilon, epsilon**2 / 2)

    @classmethod
    def of_bounded_range(cls, epsilon: Fraction) -> Loss:
        """Return the loss of an ε-bounded-range answer: ε-DP and ε²/8-zCDP (Cesar, Rogers)."""
        return cls(epsilon, epsilon**2 / 8)

    def epsilon(self, delta: Fraction = Fraction(0)) -> Fraction | None:
        """Return an ε for which the loss is (ε, ``delta``)-DP, or ``None`` if there is none."""
        if delta == 0:
            return Fraction(0) if self.rho == 0 else self.pure
        bound = epsilon_spent(self.rho, delta)
        return bound if self.pure is None else min(bound, self.pure)


NO_LOSS = Loss(Fraction(0), Fraction(0))


def epsilon_spent(rho: Fraction, delta: Fraction) -> Fraction:
    """Return an upper bound on the smallest ε such that ρ-zCDP implies (ε, δ)-DP."""
    if rho == 0:
        return Fraction(0)
    surprise, r = -_log(delta), float(rho)
    order = _best_order(lambda order: order * r + _penalty(order, surprise))
    with localcontext(_WORKING):
        bound = _decimal(rho) * order + _exact_penalty(order, delta)
        return max(Fraction(0), _rounded(bound, ROUND_CEILING))


def rho_within(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a lower bound on the largest ρ such that ρ-zCDP implies (ε, δ)-DP."""
    surprise, e = -_log(delta), float(epsilon)
    order = _best_order(lambda order: (_penalty(order, surprise) - e) / order)
    with localcontext(_WORKING):
        rho = _rounded((_decimal(epsilon) - _exact_penalty(order, delta)) / order, ROUND_FLOOR)
    if rho <= 0:
        raise ValueError(
            f"epsilon={float(epsilon):g} with delta={float(delta):g} leaves no usable budget; "
            "raise epsilon or set delta=0."
        )
    return rho


def rounded_up(amount: Fraction, digits: int) -> Decimal:
    """Return an amount with so many digits, never below it, as a promise is shown to readers."""
    context = Context(prec=digits, rounding=ROUND_CEILING)
    return context.divide(Decimal(amount.numerator), Decimal(amount.denominator))


# ρ-zCDP bounds the Rényi divergence of every order α > 1 by α ρ. Proposition 12 of Canonne, Kamath
# and Steinke (2020) turns that into ε = α ρ + penalty(α) at any given δ; every α gives a valid
# bound, so the search for the best one may be done in floats.
def _penalty(order: float, surprise: float) -> float:
    """Return the penalty, where ``surprise`` is -ln δ."""
    return (surprise - math.log(order - 1) + order * math.log1p(-1 / order)) / (order - 1)


def _exact_penalty(order: Decimal, delta: Fraction) -> Decimal:
    logs = order * ((order - 1) / order).ln() - (order - 1).ln() - _decimal(delta).ln()
    return logs / (order - 1)


def _best_order(bound: Callable[[float], float]) -> Decimal:
    """Golden-section search for the order α, over ln(α - 1), wide enough for any budget."""
    ratio = (math.sqrt(5) - 1) / 2
    low, high = -25.0, 80.0
    for _ in range(120):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if bound(1 + math.exp(left)) <= bound(1 + math.exp(right)):
            high = right
        else:
            low = left
    return Decimal(1 + math.exp((low + high) / 2))


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _rounded(value: Decimal, direction: str) -> Fraction:
    """Round to the digits kept, after a step of the slack in the same direction."""
    slack = _SLACK * (1 + abs(value))
    shifted = value + slack if direction == ROUND_CEILING else value - slack
    return Fraction(Context(prec=_KEPT_DIGITS, rounding=direction).plus(shifted))
