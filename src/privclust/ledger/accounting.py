"""How charges on one data set add up, exactly, and when a grant covers one more.

ε and ρ are counted in units of 10^-12, δ in units of 10^-18. A cost is rounded up, a grant is
rounded down. Amounts and their sums saturate at ``MOST``, so that they fit the integers of a
database with room to add two; no grant reaches it, hence a saturated sum is never covered.

A charge names its currency, which says what is known about the mechanism it pays for:

- *pure*: it is ε-differentially private, hence also ε²/2-zCDP;
- *zcdp*: it is ρ-zCDP, hence also (ε, δ)-differentially private;
- *approximate*: it is (ε, δ)-differentially private, and nothing else is known.

The grants of a holder form a pot for each currency. A pot is (ε, δ), the sums of its grants. The
*approximate* pot pays for everything, and covers a charge if all ε and all δ on it stay within its
own. The other two pay for no approximate charge, and cover a charge if afterwards one of three
statements holds for all charges on the pot:

- none has a δ, and their ε add up to at most ε;
- their ρ add up to at most the ρ that is worth (ε, δ), where a pure charge has ρ = ε²/2;
- there is only one, and its own ε and δ are at most the pot's.

All of this compares sums of integers, so the database can enforce it.

*Why this is private.* All answers paid from a pot are together (ε, δ)-differentially private, even
if every question depends on earlier answers; pots and holders add up. The proof is in
``proofs/ledger.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Literal

from privclust.budget import Budget, epsilon_spent, rho_within
from privclust.exceptions import LedgerError

# Exact integers for what is granted and spent, and how they are rounded: against the spender.

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


def round_up(value: Fraction, per: int = PICO) -> int:
    """Return a cost in units of 1/``per``."""
    return min(math.ceil(value * per), MOST)


def round_down(value: Fraction, per: int = PICO) -> int:
    """Return a grant in units of 1/``per``."""
    return min(math.floor(value * per), MOST)


def decimal(units: int, per: int = PICO) -> str:
    """Return units of 1/``per``, a power of ten, as an exact decimal."""
    whole, rest = divmod(units, per)
    digits = str(per + rest)[1:].rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)


ChargeCurrency = Literal["pure", "zcdp", "approximate"]
PURE: Final = "pure"
ZCDP: Final = "zcdp"
APPROXIMATE: Final = "approximate"


def currency_named(what: str, budget: Budget, currency: str | None) -> str:
    """Return the currency of a charge or a grant, if it suits the budget.

    ``what``: "charge" or "grant". A charge with a δ must name one, because a mechanism that is (ε,
    δ)-differentially private need not be zCDP; a grant with a δ is of zCDP unless it says
    otherwise.
    """
    usual = PURE if not budget.delta else ZCDP if what == "grant" else None
    chosen = usual if currency is None else currency
    if chosen is None:
        raise LedgerError(
            "A charge with a δ must say what is known about the mechanism; give currency='zcdp' "
            "if it "
            "is zero-concentrated, as an estimator of privclust is that has a ledger, else "
            "'approximate'."
        )
    if chosen not in (PURE, ZCDP, APPROXIMATE):
        raise LedgerError(f"A currency is 'pure', 'zcdp' or 'approximate', not {chosen!r}.")
    if (chosen == PURE) != (not budget.delta):
        raise LedgerError(
            f"A {what} is 'pure' if and only if it has no δ; change currency or delta."
        )
    return chosen


def cost_of(budget: Budget, currency: str) -> Amount:
    """Return what a fit with ``budget`` is charged: the whole budget, rounded up.

    An approximate charge has no ρ: none is known to cover it.
    """
    epsilon, delta = round_up(budget.epsilon), round_up(budget.delta, ATTO)
    if currency == PURE:
        return Amount(epsilon, 0, _rho_of_pure(epsilon))
    if currency == APPROXIMATE:
        return Amount(epsilon, delta)
    # The charge must cover the fit, and be at least what its own ε and δ are worth.
    rho = max(budget.amount, rho_within(Fraction(epsilon, PICO), Fraction(delta, ATTO)))
    return Amount(epsilon, delta, round_up(rho))


def grant_of(budget: Budget) -> Amount:
    """Return what a grant of ``budget`` adds to a pot, rounded down; its ρ depends on the pot."""
    amount = Amount(round_down(budget.epsilon), round_down(budget.delta, ATTO))
    if amount.epsilon == 0 or (budget.delta and amount.delta == 0):
        raise LedgerError(
            f"{budget} is below what a ledger can count, which is 10^-12 of ε and 10^-18 of δ; "
            "grant more, or leave out δ."
        )
    return amount


def currency_of(cost: Amount) -> str:
    """Infer the currency of a charge from its amounts."""
    if not cost.delta:
        return PURE
    return ZCDP if cost.rho else APPROXIMATE


def pots_for(currency: str) -> tuple[str, ...]:
    """Return the pots that may pay a charge, in the order in which they are tried."""
    order: tuple[str, ...] = (PURE, ZCDP, APPROXIMATE)
    return order[order.index(currency) :]


def first_covering_pot(pots: Iterable[Pot], cost: Amount) -> Pot | None:
    """Return the first pot that covers the charge, or ``None``."""
    return next((pot for pot in pots if pot.covers(cost)), None)


@dataclass(frozen=True)
class Pot:
    """What a holder was granted on a data set in one currency, and what was charged to it.

    Attributes
    ----------
    dataset, holder : str
        Whose data, and who may spend.
    name : {"pure", "zcdp", "approximate"}
        The currency of the grants.
    granted, spent : Amount
        Sums of grants and charges; ``granted.rho`` is the ρ that the granted ε and δ are worth in
        the pot of zCDP, and zero in the others.
    """

    dataset: str
    holder: str
    name: str
    granted: Amount = NOTHING
    spent: Amount = NOTHING

    def with_grant(self, grant: Amount) -> Pot:
        """Return the pot after a grant."""
        granted = self.granted + grant
        if granted.epsilon >= MOST or granted.delta >= MOST:
            raise LedgerError(
                "The grants of a holder must stay below ε = 1000000 and δ = 1; grant less."
            )
        if self.name != ZCDP:
            return replace(self, granted=granted)
        # A larger grant is worth at least what a smaller one was, whatever the last digit says.
        rho = max(self.granted.rho, _rho_of_grant(granted))
        return replace(self, granted=replace(granted, rho=rho))

    def covers(self, cost: Amount) -> bool:
        """Return whether one more charge is within the grants."""
        granted, after = self.granted, self.spent + cost
        if self.name == APPROXIMATE:
            return after.epsilon <= granted.epsilon and after.delta <= granted.delta
        return currency_of(cost) != APPROXIMATE and (
            (after.delta == 0 and after.epsilon <= granted.epsilon)
            or after.rho <= granted.rho
            or (
                self.spent == NOTHING
                and cost.epsilon <= granted.epsilon
                and cost.delta <= granted.delta
            )
        )

    def with_charge(self, cost: Amount) -> Pot:
        """Return the pot after a charge that it covers."""
        return replace(self, spent=self.spent + cost)

    @property
    def left(self) -> Amount:
        """The largest possible next charge of each kind: ε of a pure fit, or ρ of a fit with δ."""
        if self.name == APPROXIMATE:
            return Amount(
                max(0, self.granted.epsilon - self.spent.epsilon),
                max(0, self.granted.delta - self.spent.delta),
            )
        rho = max(0, self.granted.rho - self.spent.rho)
        pure = 0 if self.spent.delta else max(0, self.granted.epsilon - self.spent.epsilon)
        return Amount(max(pure, math.isqrt(2 * PICO * rho)), self.granted.delta, rho)

    @property
    def largest(self) -> int:
        """The largest possible ε of the next fit of any kind."""
        return max(self.left.epsilon, self.largest_with_delta)

    @property
    def largest_with_delta(self) -> int:
        """The largest ε of the next fit with all the remaining δ, rounded down to six decimals."""
        left, step = self.left, PICO // 10**6
        if self.name == APPROXIMATE:
            return left.epsilon if left.delta else 0
        if self.spent == NOTHING:
            return self.granted.epsilon if left.delta else 0
        if not left.rho:
            return 0
        epsilon = epsilon_spent(Fraction(left.rho, PICO), Fraction(left.delta, ATTO))
        # The conversion is exact to far more than the step, so one step back is enough.
        return max(0, round_down(epsilon) // step * step - step)

    def to_dict(self) -> dict[str, Any]:
        """Return the pot as plain data."""
        return {
            "dataset": self.dataset,
            "holder": self.holder,
            "pot": self.name,
            "granted": self.granted.to_dict(),
            "spent": self.spent.to_dict(),
            "left": self.left.to_dict(),
        }


def _rho_of_pure(epsilon: int) -> int:
    """Return the ρ = ε²/2 of a pure charge, rounded up, from its ε in units."""
    return round_up(Fraction(epsilon**2, 2 * PICO**2))


def _rho_of_grant(granted: Amount) -> int:
    """Return the ρ that is worth the granted ε and δ, rounded down."""
    rho = rho_within(Fraction(granted.epsilon, PICO), Fraction(granted.delta, ATTO))
    return min(round_down(rho), MOST - 1)
