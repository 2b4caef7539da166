"""What an analyst has left on a data set, what a question would leave, and the picture of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from privclust.budget import Budget
from privclust.ledger.accounting import Pot, cost_of, first_covering_pot, pots_for
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


@dataclass(frozen=True)
class Cost:
    """What a question costs and leaves.

    Attributes
    ----------
    words : str
        The cost.
    covered : bool
        Whether the grants cover it.
    left : str
        What would be left, or what is missing.
    """

    words: str
    covered: bool
    left: str


def balance_of(ledger: Ledger, dataset: str, holder: str) -> list[Balance]:
    """Return what a holder has on a data set, pot by pot."""
    return [_in_words(pot) for pot in ledger.balance(dataset, holder)]


def balances_of(ledger: Ledger, holder: str) -> dict[str, list[Balance]]:
    """Return what a holder has on every data set, by its name; a single look at the ledger."""
    found: dict[str, list[Balance]] = {}
    for pot in ledger.balance(None, holder):
        found.setdefault(pot.dataset, []).append(_in_words(pot))
    return found


def drawn_balance_of(ledger: Ledger, dataset: str, holder: str) -> list[Balance]:
    """Return what a holder has on a data set with its burn-down, for which all entries are read."""
    until, moments = datetime.now(UTC), dict[str, list[Entry]]()
    for entry in ledger.history(dataset, holder):
        if entry.pot:
            moments.setdefault(entry.pot, []).append(entry)
    return [_in_words(them[-1].after, _picture(them, until)) for them in moments.values()]


def cost_for(ledger: Ledger, dataset: str, holder: str, budget: Budget) -> Cost:
    """Return what a fit with a budget costs a holder; nothing is charged."""
    currency = budget.currency
    amount = cost_of(budget, currency)
    words = loss_words(amount.epsilon, amount.delta)
    pots = {pot.name: pot for pot in ledger.balance(dataset, holder)}
    payers = [pots[name] for name in pots_for(currency) if name in pots]
    pot = first_covering_pot(payers, amount)
    if pot is not None:
        return Cost(words, True, f"Left after it: {left_phrase(pot.with_charge(amount))}.")
    if not payers:
        kind = " with δ" if amount.delta else ""
        return Cost(words, False, f"You were granted no budget{kind} here; ask the steward.")
    left = "; ".join(left_phrase(pot) for pot in payers)
    return Cost(words, False, f"What is left is {left}; lower ε or ask the steward for a grant.")


def _in_words(pot: Pot, picture: BurnDown | None = None) -> Balance:
    return Balance(grant_phrase(pot), left_phrase(pot), picture)


def _picture(entries: list[Entry], until: datetime) -> BurnDown:
    moments = [
        BalanceAt(datetime.fromisoformat(entry.at), entry.granted_epsilon, entry.after.largest)
        for entry in entries
    ]
    last = moments[-1]
    return burn_down_of([*moments, BalanceAt(max(until, last.at), last.granted, last.left)])
