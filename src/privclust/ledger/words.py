"""Sentences about amounts and entries: what a charge needs, what is left, what happened."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from privclust.budget import round_up
from privclust.ledger.accounting import (
    APPROXIMATE,
    ATTO,
    NOTHING,
    Amount,
    Pot,
    currency_of,
    decimal,
)
from privclust.ledger.chain import Entry, receipt_of

NOT_PRIVATE = "NOT PRIVATE"


def loss_words(epsilon: int, delta: int) -> str:
    """Return an ε and a δ in words; δ is rounded up."""
    shown = float(round_up(Fraction(delta, ATTO), 6))
    return f"ε = {decimal(epsilon)}" + (f" and δ = {shown:g}" if delta else "")


def minute(at: str) -> str:
    """Return the time of an entry for readers."""
    return f"{at[:10]} {at[11:16]}"


def entry_words(entry: Entry) -> str:
    """Return what an entry says, in a sentence without a full stop."""
    amount = loss_words(entry.epsilon, entry.delta)
    kind = f" ({entry.currency})" if entry.delta else ""
    purpose = f": {entry.purpose}" if entry.purpose else ""
    by, where = f"by {entry.actor}", entry.dataset or "all data sets"
    match entry.kind:
        case "create":
            return f"Data set {where}, {by}{purpose}"
        case "grant":
            return f"Grant of {amount}{kind} on {where} to {entry.holder}, {by}{purpose}"
        case "charge":
            return f"Charge of {amount}{kind} on {where} to {entry.holder}, {by}{purpose}"
        case "key":
            return f"Public key {_short(entry.digest)} for {where}, {by}{purpose}"
    flaws = "".join(f"; {NOT_PRIVATE}: {reason}" for reason in entry.reasons)
    return f"Release {_short(entry.digest)} from {where} of {entry.holder}, {by}{flaws}"


def charge_kept_phrase(entry: Entry) -> str:
    """Return a sentence on the charge of a failed fit, which stays, with its receipt."""
    amount = loss_words(entry.epsilon, entry.delta)
    return (
        f"The charge of {amount} on {entry.dataset!r} to {entry.holder!r} stays in the ledger "
        f"(receipt {receipt_of(entry)})."
    )


def _short(digest: str) -> str:
    """Return enough of a digest to identify it."""
    kind, colon, digits = digest.rpartition(":")
    return kind + colon + (f"{digits[:16]}…" if len(digits) > 16 else digits)


def grant_phrase(pot: Pot) -> str:
    """Return what was granted."""
    kind = f" ({APPROXIMATE})" if pot.name == APPROXIMATE else ""
    return loss_words(pot.granted.epsilon, pot.granted.delta) + kind


def spent_phrase(pot: Pot) -> str:
    """Return what was spent, in the currency that counts for the pot."""
    spent = pot.spent
    if not spent.delta or pot.name == APPROXIMATE:
        return loss_words(spent.epsilon, spent.delta)
    return f"ρ = {decimal(spent.rho)} of {decimal(pot.granted.rho)}"


def left_phrase(pot: Pot) -> str:
    """Return what is left, as the largest possible fit."""
    left = pot.left
    if not pot.granted.delta or pot.name == APPROXIMATE:
        return loss_words(left.epsilon, left.delta)
    if pot.spent == NOTHING:
        return grant_phrase(pot)
    with_delta = loss_words(pot.largest_with_delta, left.delta)
    return f"{with_delta} (ρ = {decimal(left.rho)}), or ε = {decimal(left.epsilon)} without δ"


def budget_gone(cost: Amount, pots: Sequence[Pot]) -> str:
    """Return the message that no pot covers a charge, and what to do."""
    holder, dataset = pots[0].holder, pots[0].dataset
    needs, currency = loss_words(cost.epsilon, cost.delta), currency_of(cost)
    granted = [pot for pot in pots if pot.granted != NOTHING]
    if not granted:
        kind = f" that pays for a charge in {currency!r}" if cost.delta else ""
        return (
            f"Nothing{kind} was granted to {holder!r} on {dataset!r}; nothing was spent, ask the "
            "data steward for a grant ('privclust ledger grant')."
        )
    rho = f" (ρ = {decimal(cost.rho)})" if cost.delta and cost.rho else ""
    left = "; ".join(f"{left_phrase(pot)} of the granted {grant_phrase(pot)}" for pot in granted)
    return (
        f"The budget of {holder!r} on {dataset!r} does not cover a fit with {needs}{rho}: what "
        "is left is "
        f"{left}; nothing was spent, lower epsilon or ask the data steward for a further grant."
    )
