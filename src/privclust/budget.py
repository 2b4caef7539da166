"""Loss and budget: what an answer costs, how costs add up, and the (ε, δ) that a fit may spend.

Every amount is an exact fraction. Real numbers enter only in the conversion between ρ and (ε, δ);
it is computed in decimal arithmetic far beyond the digits kept, and then rounded against the user:
a cost is rounded up, a grant is rounded down. Proofs: ``proofs/accounting.md``.

A budget with δ = 0 is spent in pure ε; one with δ > 0 is spent in ρ, the currency of
zero-concentrated differential privacy (zCDP), in which the costs of many Gaussian answers add up
without waste. An algorithm divides its budget with :meth:`Share.split` and hands the shares to
queries; it never needs to know the currency. Every amount is a :class:`fractions.Fraction`, so
shares add up to the whole exactly.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from typing import Literal

# What an answer costs: in pure ε and in zCDP ρ, how costs add up, and what (ε, δ) they mean.

# Sixty digits to compute with, thirty of them kept: the decimal module rounds each operation
# correctly, so the error of a dozen of them stays some twenty-five digits below the last one kept.
_WORKING = Context(prec=60)
_KEPT_DIGITS = 30
_SLACK = Decimal("1e-40")


@dataclass(frozen=True)
class Loss:
    """The privacy cost of an answer, or of several together."""

    # The answer is ``pure``-differentially private; ``None`` when no finite ε covers it.
    pure: Fraction | None
    rho: Fraction  # the answer is ``rho``-zero-concentrated differentially private

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
        return max(Fraction(0), _round_up(bound, ROUND_CEILING))


def rho_within(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a lower bound on the largest ρ such that ρ-zCDP implies (ε, δ)-DP."""
    surprise, e = -_log(delta), float(epsilon)
    order = _best_order(lambda order: (_penalty(order, surprise) - e) / order)
    with localcontext(_WORKING):
        rho = _round_up((_decimal(epsilon) - _exact_penalty(order, delta)) / order, ROUND_FLOOR)
    if rho <= 0:
        raise ValueError(
            f"epsilon={float(epsilon):g} with delta={float(delta):g} leaves no usable budget; "
            "raise epsilon or set delta=0."
        )
    return rho


def round_up(amount: Fraction, digits: int) -> Decimal:
    """Round an amount up to ``digits`` digits, as a promise is shown to readers."""
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


def _round_up(value: Decimal, direction: str) -> Fraction:
    """Round to the digits kept, after a step of the slack in the same direction."""
    slack = _SLACK * (1 + abs(value))
    shifted = value + slack if direction == ROUND_CEILING else value - slack
    return Fraction(Context(prec=_KEPT_DIGITS, rounding=direction).plus(shifted))


# The budget of one fit: an exact (ε, δ) grant, and the shares an algorithm divides it into.

Currency = Literal["pure", "zcdp"]
Number = int | float | str | Decimal | Fraction

# Beyond these, floats cannot hold what is computed from a budget, and no promise is meaningful.
_EPSILONS = Fraction(1, 10**15), Fraction(10**12)
_RHOS = Fraction(1, 10**15), Fraction(10**11)
_LEAST_DELTA = Fraction(1, 10**300)

# The range that a fit can draw noise for, in either currency: below it, with up to a thousand
# columns, the noise exceeds the grid of integers it is drawn on; above it nothing is protected.
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
        """Return what is left of the share after ``spent``; it must be above zero."""
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
        epsilon_, delta_ = exact(epsilon, "epsilon"), _parse_delta(delta)
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
        rho_, delta_ = exact(rho, "rho"), _parse_delta(delta)
        if not _RHOS[0] <= rho_ <= _RHOS[1]:
            raise ValueError(f"rho must be between 1e-15 and 1e11, got {rho!r}.")
        if not delta_:
            raise ValueError("A budget of rho is stated at a delta above zero, such as 1e-6.")
        steps = max(1, math.ceil(epsilon_spent(rho_, delta_) / _STEP))
        # Each conversion searches for its own best order, so one may be slightly tighter.
        while not _implies_rho(rho_, steps * _STEP, delta_):
            steps += 1 + steps // 10**15
        budget = cls.__new__(cls)
        budget._set(steps * _STEP, delta_, rho_, stated_as_rho=True)
        return budget

    @classmethod
    def of(cls, epsilon: Number | Budget, delta: Number = 0) -> Budget:
        """Return the budget of a fit, given as a budget or as ε and δ.

        Raises, before anything is charged, if no noise can be drawn for this budget.
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
        """Return whether ``loss``, the composition of all answers so far, is within the budget."""
        if self.currency == "zcdp":
            return loss.rho <= self.amount
        return loss.pure is not None and loss.pure <= self.amount

    @property
    def words(self) -> str:
        """The promise, such as "ε = 1, δ = 1e-06", with the ρ that is spent if there is a δ."""
        epsilon = f"ε = {float(round_up(self.epsilon, 6)):g}"
        if not self.delta:
            return epsilon
        return f"{epsilon}, δ = {float(self.delta):g} (ρ = {float(self.amount):.4g})"

    def paid_from(self, loss: Loss) -> Budget:
        """Return the budget that ``loss`` is paid from: this one, or its ε alone if that covers it.

        Pure ε keeps the promise of the same ε with any δ, even if it costs more ρ.
        """
        alone = Budget(self.epsilon)
        return alone if alone.covers(loss) and not self.covers(loss) else self

    def __repr__(self) -> str:
        delta = f", delta={float(self.delta)!r}" if self.delta else ""
        if self.stated_as_rho:
            return f"Budget.of_rho({_format(self.amount)}{delta})"
        return f"Budget(epsilon={_format(self.epsilon)}{delta})"


def _parse_delta(delta: Number) -> Fraction:
    checked = exact(delta, "delta")
    if not 0 <= checked < 1:
        raise ValueError(f"delta must be at least 0 and below 1, got {delta!r}.")
    if 0 < checked < _LEAST_DELTA:
        raise ValueError(f"delta must be 0 or at least 1e-300, got {delta!r}.")
    return checked


def _implies_rho(rho: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Return whether the budget (ε, δ) allows ρ, as a reader of the statement will check."""
    try:
        return rho_within(epsilon, delta) >= rho
    except ValueError:  # it allows nothing
        return False


def _format(value: Fraction) -> str:
    return repr(int(value)) if value.denominator == 1 else f"{float(value):.12g}"
