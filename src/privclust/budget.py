"""The budget of one fit: an exact (ε, δ) grant, and the shares an algorithm divides it into.

A budget with δ = 0 is spent in pure ε; one with δ > 0 is spent in ρ, the currency of
zero-concentrated differential privacy (zCDP), in which the costs of many Gaussian answers add up
without waste. An algorithm divides its budget with :meth:`Share.split` and hands the shares to
queries; it never needs to know the currency. Every amount is a :class:`fractions.Fraction`, so
shares add up to the whole exactly.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from privclust.privacy.loss import Loss, rho_within

__all__ = ["Budget", "Currency", "Number", "Share", "exact"]

Currency = Literal["pure", "zcdp"]
Number = int | float | str | Decimal | Fraction


def exact(value: Number, name: str = "value") -> Fraction:
    """Turn a number into the fraction its writer meant.

    A float stands for the shortest decimal that prints it: ``0.1`` means one tenth, not the binary
    number next to it, so that ten shares of ``0.1`` make a whole.
    """
    if isinstance(value, bool) or not isinstance(value, (numbers.Number, str, Decimal)):
        raise TypeError(f"{name} must be a number, got {value!r}.")
    try:
        if isinstance(value, numbers.Rational):
            return Fraction(value)
        if isinstance(value, (str, Decimal)):
            return Fraction(value)
        return Fraction(repr(float(value)))
    except (ValueError, OverflowError, TypeError):
        raise ValueError(f"{name} must be a finite number, got {value!r}.") from None


@dataclass(frozen=True)
class Share:
    """A part of a budget, in the budget's own currency."""

    currency: Currency
    amount: Fraction

    def split(self, weights: Sequence[Number]) -> tuple[Share, ...]:
        """Divide the share in proportion to ``weights``; the parts add up to it exactly."""
        parts = [exact(weight, "weight") for weight in weights]
        if not parts or min(parts) <= 0:
            raise ValueError("split needs at least one weight, and every weight above zero.")
        whole = sum(parts)
        return tuple(Share(self.currency, self.amount * part / whole) for part in parts)

    def take(self, fraction: Number) -> Share:
        """Return the given fraction, above 0 and at most 1, of the share."""
        part = exact(fraction, "fraction")
        if not 0 < part <= 1:
            raise ValueError(f"fraction must be above 0 and at most 1, got {fraction!r}.")
        return Share(self.currency, self.amount * part)

    def remainder(self, *spent: Share) -> Share:
        """Return what is left of the share after ``spent``; it must be more than nothing."""
        if any(part.currency != self.currency for part in spent):
            raise ValueError("Shares of different currencies cannot be subtracted.")
        left = self.amount - sum((part.amount for part in spent), Fraction(0))
        if left <= 0:
            raise ValueError("Nothing remains of the share; spend less of it before.")
        return Share(self.currency, left)


@dataclass(frozen=True)
class Budget:
    """The privacy loss (ε, δ) that a fit may cause.

    Parameters
    ----------
    epsilon : number
        Above zero and finite. Floats are read as the decimal they print as.
    delta : number, default=0
        At least zero and below one. Zero keeps the fit in pure ε.

    Examples
    --------
    >>> Budget(1).split([1, 3])[1].amount
    Fraction(3, 4)
    """

    epsilon: Fraction
    delta: Fraction
    amount: Fraction = field(repr=False)

    def __init__(self, epsilon: Number, delta: Number = 0) -> None:
        epsilon_, delta_ = exact(epsilon, "epsilon"), exact(delta, "delta")
        if epsilon_ <= 0:
            raise ValueError(f"epsilon must be above zero, got {epsilon!r}.")
        if not 0 <= delta_ < 1:
            raise ValueError(f"delta must be at least 0 and below 1, got {delta!r}.")
        object.__setattr__(self, "epsilon", epsilon_)
        object.__setattr__(self, "delta", delta_)
        amount = rho_within(epsilon_, delta_) if delta_ else epsilon_
        object.__setattr__(self, "amount", amount)

    @property
    def currency(self) -> Currency:
        """``"pure"`` when δ = 0, else ``"zcdp"``."""
        return "zcdp" if self.delta else "pure"

    @property
    def whole(self) -> Share:
        """The whole budget as one share."""
        return Share(self.currency, self.amount)

    def split(self, weights: Sequence[Number]) -> tuple[Share, ...]:
        """Divide the budget in proportion to ``weights``; see :meth:`Share.split`."""
        return self.whole.split(weights)

    def remainder(self, *spent: Share) -> Share:
        """Return what is left of the budget after ``spent``; see :meth:`Share.remainder`."""
        return self.whole.remainder(*spent)

    def covers(self, loss: Loss) -> bool:
        """Tell whether ``loss``, the composition of all answers so far, is within the budget."""
        if self.currency == "zcdp":
            return loss.rho <= self.amount
        return loss.pure is not None and loss.pure <= self.amount

    def __repr__(self) -> str:
        delta = f", delta={float(self.delta):g}" if self.delta else ""
        return f"Budget(epsilon={_shown(self.epsilon)}{delta})"


def _shown(value: Fraction) -> str:
    return repr(int(value)) if value.denominator == 1 else f"{float(value):.12g}"
