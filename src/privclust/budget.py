"""The budget of one fit: an exact (ε, δ) grant, and the shares an algorithm divides it into.

A budget with δ = 0 is spent in pure ε; one with δ > 0 is spent in ρ, the currency of
zero-concentrated differential privacy (zCDP), in which the costs of many Gaussian answers add up
without waste. An algorithm divides its budget with :meth:`Share.split` and hands the shares to
queries; it never needs to know the currency. Every amount is a :class:`fractions.Fraction`, so
shares add up to the whole exactly.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from privclust.privacy.loss import Loss, epsilon_spent, rho_within, rounded_up

__all__ = ["Budget", "Currency", "Number", "Share", "exact"]

Currency = Literal["pure", "zcdp"]
Number = int | float | str | Decimal | Fraction

# Beyond these no float can hold what is computed from a budget, and no promise means anything.
_EPSILONS = Fraction(1, 10**15), Fraction(10**12)
_RHOS = Fraction(1, 10**15), Fraction(10**11)
_LEAST_DELTA = Fraction(1, 10**300)

# What a fit can draw noise for, whatever the currency: less needs noise larger than the grid of
# integers that it is drawn on, with up to a thousand columns; more is no protection at all.
_LEAST_TO_FIT = {"pure": Fraction(1, 10**4), "zcdp": Fraction(1, 10**9)}
_MOST_TO_FIT = Fraction(10**6)

# The ε of a budget given as ρ is a whole number of these, so that it prints as it is.
_STEP = Fraction(1, 10**12)


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
            raise ValueError("Nothing remains of the share; spend less of it earlier.")
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

    Attributes
    ----------
    epsilon, delta : Fraction
        The promise.
    amount : Fraction
        What can be spent, in the budget's currency: ε if δ = 0, else ρ.

    Examples
    --------
    >>> Budget(1).split([1, 3])[1].amount
    Fraction(3, 4)
    >>> Budget.of_rho("0.02", delta=1e-6)
    Budget.of_rho(0.02, delta=1e-06)
    """

    epsilon: Fraction
    delta: Fraction
    amount: Fraction = field(repr=False)
    stated_as_rho: bool = field(repr=False, compare=False)

    def __init__(self, epsilon: Number, delta: Number = 0) -> None:
        epsilon_, delta_ = exact(epsilon, "epsilon"), _checked_delta(delta)
        if epsilon_ <= 0:
            raise ValueError(f"epsilon must be above zero, got {epsilon!r}.")
        if not _EPSILONS[0] <= epsilon_ <= _EPSILONS[1]:
            raise ValueError(f"epsilon must be between 1e-15 and 1e12, got {epsilon!r}.")
        self._set(epsilon_, delta_, rho_within(epsilon_, delta_) if delta_ else epsilon_)

    def _set(
        self, epsilon: Fraction, delta: Fraction, amount: Fraction, stated_as_rho: bool = False
    ) -> None:
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", delta)
        object.__setattr__(self, "amount", amount)
        object.__setattr__(self, "stated_as_rho", stated_as_rho)

    @classmethod
    def of_rho(cls, rho: Number, delta: Number) -> Budget:
        """Return a budget of ρ in zero-concentrated differential privacy.

        Parameters
        ----------
        rho : number
            What can be spent, exactly.
        delta : number
            Above zero and below one: the δ at which the promise is stated as (ε, δ). The ε is the
            least number of twelve decimal places that ρ is known to imply at this δ.
        """
        rho_, delta_ = exact(rho, "rho"), _checked_delta(delta)
        if not _RHOS[0] <= rho_ <= _RHOS[1]:
            raise ValueError(f"rho must be between 1e-15 and 1e11, got {rho!r}.")
        if not delta_:
            raise ValueError("A budget of rho is stated at a delta above zero, such as 1e-6.")
        steps = max(1, math.ceil(epsilon_spent(rho_, delta_) / _STEP))
        # The two conversions search for their best order apart, so one may be a little sharper.
        while not _implied(rho_, steps * _STEP, delta_):
            steps += 1 + steps // 10**15
        budget = cls.__new__(cls)
        budget._set(steps * _STEP, delta_, rho_, stated_as_rho=True)
        return budget

    @classmethod
    def of(cls, epsilon: Number | Budget, delta: Number = 0) -> Budget:
        """Return the budget of a fit, given as a budget or as ε and δ.

        Raises before anything is charged if no noise can be drawn for so little or so much.
        """
        if not isinstance(epsilon, Budget):
            budget = cls(epsilon, delta)
        elif exact(delta, "delta") in (0, epsilon.delta):
            budget = epsilon
        else:
            raise ValueError("The budget has a delta of its own; leave delta at 0.")
        budget.check_noise()
        return budget

    def check_noise(self) -> None:
        """Raise if a fit cannot draw noise for this budget."""
        if self.amount < _LEAST_TO_FIT[self.currency]:
            raise ValueError(
                f"{self} is too small: its noise would be larger than the grid it is drawn on; "
                "use an epsilon of at least 1e-4."
            )
        if self.amount > _MOST_TO_FIT:
            raise ValueError(f"{self} is too large to protect anybody; use an epsilon below 1e6.")

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

    @property
    def words(self) -> str:
        """The promise, such as "ε = 1, δ = 1e-06", with the ρ that is spent if there is a δ."""
        epsilon = f"ε = {float(rounded_up(self.epsilon, 6)):g}"
        if not self.delta:
            return epsilon
        return f"{epsilon}, δ = {float(self.delta):g} (ρ = {float(self.amount):.4g})"

    def paying(self, loss: Loss) -> Budget:
        """Return the budget that ``loss`` is paid from: this one, or its ε alone if that covers it.

        Pure ε keeps the promise of the same ε with any δ, even where it costs more ρ.
        """
        alone = Budget(self.epsilon)
        return alone if alone.covers(loss) and not self.covers(loss) else self

    def __repr__(self) -> str:
        delta = f", delta={float(self.delta)!r}" if self.delta else ""
        if self.stated_as_rho:
            return f"Budget.of_rho({_shown(self.amount)}{delta})"
        return f"Budget(epsilon={_shown(self.epsilon)}{delta})"


def _checked_delta(delta: Number) -> Fraction:
    checked = exact(delta, "delta")
    if not 0 <= checked < 1:
        raise ValueError(f"delta must be at least 0 and below 1, got {delta!r}.")
    if 0 < checked < _LEAST_DELTA:
        raise ValueError(f"delta must be 0 or at least 1e-300, got {delta!r}.")
    return checked


def _implied(rho: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Tell whether the budget (ε, δ) would allow ρ, as a reader of the statement will check."""
    try:
        return rho_within(epsilon, delta) >= rho
    except ValueError:  # it allows nothing
        return False


def _shown(value: Fraction) -> str:
    return repr(int(value)) if value.denominator == 1 else f"{float(value):.12g}"
