"""What an analyst has left on a data set, what a question would leave, and the curves of both."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from privclust.budget import Budget
from privclust.ledger.accounting import NOTHING, Amount, Pot, cost_of, first_covering_pot, pots_for
from privclust.ledger.chain import Entry
from privclust.ledger.ledger import Ledger
from privclust.ledger.statement import BalanceAt
from privclust.ledger.words import grant_phrase, left_phrase, loss_words
from privclust.reports.ledger_page import BurnDown, burn_down_of


@dataclass(frozen=True)
class Balance:
    """One pot of an analyst, in words and as a picture."""

    granted: str
    left: str
    picture: BurnDown | None


def balance_of(ledger: Ledger, dataset: str, holder: str) -> list[Balance]:
    """Return what a holder has on a data set, pot by pot."""
    return [_in_words(pot) for pot in ledger.balance(dataset, holder)]


def balances_of(ledger: Ledger, holder: str) -> dict[str, list[Balance]]:
    """Return what a holder has on every data set, by its name; a single look at the ledger."""
    found: dict[str, list[Balance]] = {}
    for pot in ledger.balance(None, holder):
        found.setdefault(pot.dataset, []).append(_in_words(pot))
    return found


def balance_with_curve(ledger: Ledger, dataset: str, holder: str) -> list[Balance]:
    """Return what a holder has on a data set with its burn-down, for which all entries are read."""
    until, moments = datetime.now(UTC), dict[str, list[Entry]]()
    for entry in ledger.history(dataset, holder):
        if entry.pot:
            moments.setdefault(entry.pot, []).append(entry)
    # A budget that nobody has touched needs no picture.
    return [
        _in_words(them[-1].after, _picture(them, until) if _is_used(them) else None)
        for them in moments.values()
    ]


def total_granted(ledger: Ledger, dataset: str) -> str:
    """Return what was granted on a data set to all holders together, in words."""
    pots = ledger.balance(dataset)
    total = sum((Amount(pot.granted.epsilon, pot.granted.delta) for pot in pots), NOTHING)
    return loss_words(total.epsilon, total.delta) if pots else ""


def cost_for(ledger: Ledger, dataset: str, holder: str, budget: Budget) -> dict[str, Any]:
    """Return what a fit costs a holder in words, whether grants cover it, and what is left."""
    currency = budget.currency
    amount = cost_of(budget, currency)
    pots = {pot.name: pot for pot in ledger.balance(dataset, holder)}
    payers = [pots[name] for name in pots_for(currency) if name in pots]
    pot = first_covering_pot(payers, amount)
    if pot is not None:
        left = f"Left afterwards: {left_phrase(pot.with_charge(amount))}."
    elif payers:
        now = "; ".join(left_phrase(pot) for pot in payers)
        left = f"What is left is {now}; lower ε or ask the steward for a grant."
    else:
        kind = " with δ" if amount.delta else ""
        left = f"You have not been granted a budget{kind} here; ask the steward."
    words = loss_words(amount.epsilon, amount.delta)
    return {"cost": words, "covered": pot is not None, "left": left}


def _is_used(entries: list[Entry]) -> bool:
    return any(entry.kind == "charge" for entry in entries)


def _in_words(pot: Pot, picture: BurnDown | None = None) -> Balance:
    # Digits beyond these buy nothing; less than what is left is said, never more.
    left = re.sub(r"(\d\.\d{4})\d+", r"\1", left_phrase(pot))
    return Balance(grant_phrase(pot), left, picture)


def _picture(entries: list[Entry], until: datetime) -> BurnDown:
    moments = [
        BalanceAt(datetime.fromisoformat(entry.at), entry.granted_epsilon, entry.after.largest)
        for entry in entries
    ]
    last = moments[-1]
    return burn_down_of([*moments, BalanceAt(max(until, last.at), last.granted, last.left)])


_WIDTH, _HEIGHT = 600.0, 160.0
_FLAT = 0.05


@dataclass(frozen=True)
class Point:
    """A point of a curve, with its words."""

    x: float
    y: float
    epsilon: str
    error: str


@dataclass(frozen=True)
class Curve:
    """The expected error by ε, in a box of 600 by 160; ε grows by factors."""

    path: str
    points: tuple[Point, ...]
    words: str
    verdict: str


def curve(points: Sequence[tuple[float, float]]) -> Curve:
    """Return the curve through pairs of ε and expected error."""
    low, high = math.log(points[0][0]), math.log(points[-1][0])
    errors = [error for _, error in points]
    least, most = min(errors), max(errors)
    if most - least < _FLAT * most:  # they differ by chance alone
        least, most = least - _FLAT * most, most + _FLAT * most
    placed = tuple(
        Point(
            round(_WIDTH * (math.log(epsilon) - low) / ((high - low) or 1.0), 1),
            round(_HEIGHT * (1 - (error - least) / ((most - least) or 1.0)), 1),
            f"{epsilon:.3g}",
            f"{error:.3g}",
        )
        for epsilon, error in points
    )
    best = points[errors.index(min(errors))][0]
    if max(errors) - min(errors) < _FLAT * max(errors):
        words = "The error is about the same for all of these budgets, so the smallest will do."
    elif best == points[-1][0]:
        words = "A larger ε has a smaller error."
    else:
        words = f"The error falls until ε = {best:.3g}; beyond that it differs by chance alone."
    path = "M" + "L".join(f"{point.x} {point.y}" for point in placed)
    listed = ", ".join(f"{point.error} at ε = {point.epsilon}" for point in placed)
    return Curve(path, placed, f"Error without privacy is 1. Expected error: {listed}.", words)
