"""Sentences about amounts: what a charge needs, and what is left of the grants."""

from __future__ import annotations

from collections.abc import Sequence

from privclust.ledger.accounting import Pot
from privclust.ledger.amounts import ATTO, NOTHING, Amount, decimal

__all__ = ["budget_gone", "granted_words", "left_words", "loss_words", "spent_words"]


def loss_words(epsilon: int, delta: int) -> str:
    """Return an ε and a δ in words."""
    return f"ε = {decimal(epsilon)}" + (f" and δ = {delta / ATTO:g}" if delta else "")


def granted_words(pot: Pot) -> str:
    """Return what was granted."""
    return loss_words(pot.granted.epsilon, pot.granted.delta)


def spent_words(pot: Pot) -> str:
    """Return what was spent, in the currency that counts for the pot."""
    spent = pot.spent
    if not spent.delta:
        return f"ε = {decimal(spent.epsilon)}"
    return f"ρ = {decimal(spent.rho)} of {decimal(pot.granted.rho)}"


def left_words(pot: Pot) -> str:
    """Return what is left, as the largest fit that is still possible."""
    left = pot.left
    if not pot.granted.delta:
        return f"ε = {decimal(left.epsilon)}"
    if pot.spent == NOTHING:
        return granted_words(pot)
    with_delta = loss_words(pot.largest_with_delta, left.delta)
    return f"{with_delta} (ρ = {decimal(left.rho)}), or ε = {decimal(left.epsilon)} without δ"


def budget_gone(dataset: str, holder: str, cost: Amount, pots: Sequence[Pot]) -> str:
    """Say that a charge is above what is left, by how much, and what to do."""
    needs = loss_words(cost.epsilon, cost.delta)
    granted = [pot for pot in pots if pot.granted != NOTHING]
    if not granted:
        kind = " with a δ" if cost.delta else ""
        return (
            f"Nothing{kind} was granted to {holder!r} on {dataset!r}; nothing was spent, ask the "
            "data steward for a grant ('privclust ledger grant')."
        )
    rho = f" (ρ = {decimal(cost.rho)})" if cost.delta else ""
    left = "; ".join(f"{left_words(pot)} of the granted {granted_words(pot)}" for pot in granted)
    return (
        f"The budget of {holder!r} on {dataset!r} does not cover a fit with {needs}{rho}: left is "
        f"{left}; nothing was spent, lower epsilon or ask the data steward for a further grant."
    )
