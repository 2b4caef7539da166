"""How well a promise about neighbours protects what lies several steps apart."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from privclust.privacy.loss import Loss, epsilon_spent, rounded_up

if TYPE_CHECKING:
    from privclust.budget import Budget

__all__ = ["group_epsilon", "group_loss", "group_words"]


def group_loss(loss: Loss, size: int) -> Loss:
    """Return the loss about data sets that are ``size`` steps between neighbours apart.

    Notes
    -----
    *Why this holds.* Pure ε adds up along the way from one to the other; ρ-zCDP for neighbours is
    ρ size² for them (group privacy of zCDP, Bun and Steinke 2016). See ``proofs/matrix.md``.
    """
    return Loss(None if loss.pure is None else loss.pure * size, loss.rho * size**2)


def group_epsilon(budget: Budget, size: int) -> Fraction:
    """Return the ε at which a fit within ``budget`` protects so many steps, at the same δ.

    Notes
    -----
    *Why this holds.* For δ = 0 the ε add up. For δ > 0 a fit ends within ρ, or within pure ε if it
    left its δ unspent, and which of the two may depend on its answers. The larger of the losses of
    both ends holds of it, by the proof for one step in ``proofs/accounting.md``.
    """
    together = budget.epsilon * size
    if budget.currency == "pure":
        return together
    within_rho = group_loss(Loss(None, budget.amount), size).rho
    return max(together, epsilon_spent(within_rho, budget.delta))


def group_words(budget: Budget, size: int) -> str:
    """Return the ε of a group with three digits, rounded up."""
    return format(rounded_up(group_epsilon(budget, size), 3), "f")
