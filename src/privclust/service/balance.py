"""What an analyst has left on a data set, what a question would leave, and the picture of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from privclust.budget import Budget
from privclust.ledger import Ledger, Pot
from privclust.ledger.accounting import cost_of, first_to_cover, pots_for
from privclust.ledger.sentences import granted_words, left_words, loss_words
from privclust.ledger.statement import Moment
from privclust.reports.ledger_page import BurnDown, burn_down_of

__all__ = ["Balance", "Cost", "balance_of", "cost_for"]


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


def balance_of(ledger: Ledger, dataset: str, holder: str, *, drawn: bool = False) -> list[Balance]:
    """Return what a holder has on a data set, pot by pot.

    Parameters
    ----------
    ledger : Ledger
    dataset, holder : str
    drawn : bool
        Whether the burn-down is wanted too, for which all entries are read.
    """
    pots = ledger.balance(dataset, holder)
    pictures = _pictures(ledger, dataset, holder, pots) if drawn else [None] * len(pots)
    return [
        Balance(granted_words(pot), left_words(pot), picture)
        for pot, picture in zip(pots, pictures, strict=True)
    ]


def cost_for(ledger: Ledger, dataset: str, holder: str, budget: Budget) -> Cost:
    """Return what a fit with a budget costs a holder; nothing is charged."""
    currency = budget.currency
    amount = cost_of(budget, currency)
    words = loss_words(amount.epsilon, amount.delta)
    pots = {pot.name: pot for pot in ledger.balance(dataset, holder)}
    payers = [pots[name] for name in pots_for(currency) if name in pots]
    pot = first_to_cover(payers, amount)
    if pot is not None:
        return Cost(words, True, f"Left after it: {left_words(pot.charged(amount))}.")
    if not payers:
        kind = " with δ" if amount.delta else ""
        return Cost(words, False, f"You were granted no budget{kind} here; ask the steward.")
    left = "; ".join(left_words(pot) for pot in payers)
    return Cost(words, False, f"Left is {left}; lower ε or ask the steward for a grant.")


def _pictures(ledger: Ledger, dataset: str, holder: str, pots: list[Pot]) -> list[BurnDown | None]:
    entries, until = ledger.history(dataset, holder), datetime.now(UTC)
    pictures: list[BurnDown | None] = []
    for pot in pots:
        moments = [
            Moment(datetime.fromisoformat(entry.at), entry.granted_epsilon, entry.after.largest)
            for entry in entries
            if (entry.holder, entry.pot) == (pot.holder, pot.name)
        ]
        last = moments[-1]
        moments.append(Moment(max(until, last.at), last.granted, last.left))
        pictures.append(burn_down_of(moments))
    return pictures
