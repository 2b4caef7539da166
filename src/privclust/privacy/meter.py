"""The meter of one fit: every query is debited before its noise is drawn.

The meter compares the exact composition of all losses with the budget and raises before the query
that would exceed it, so that no answer leaves that was not paid for. What it recorded becomes the
privacy statement of the release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from privclust.budget import NO_LOSS, Budget, Loss, Share
from privclust.exceptions import BudgetExceededError


@dataclass(frozen=True)
class Charge:
    """One query, what it cost, and in words the noise of its answer and what it asks."""

    query: str
    loss: Loss
    noise: str = ""
    asks: str = ""


class Meter:
    """Debits the queries of one fit from its budget.

    ``or_pure``: whether all of it may be spent in pure ε instead, which keeps the same promise. It
    must not if the fit is counted by its ρ, as by a ledger, or if the budget is stated as ρ.

    Notes
    -----
    *Why this is private.* Whichever way the answers go, they end within the ρ, which is (ε, δ)-DP
    for all outcomes that end so, or within the pure ε; see ``proofs/accounting.md``.
    """

    def __init__(self, budget: Budget, *, or_pure: bool = False) -> None:
        self.budget = budget
        either = or_pure and budget.delta > 0 and not budget.stated_as_rho
        self._pure = Budget(budget.epsilon) if either else None
        self._charges: list[Charge] = []
        self._spent = NO_LOSS
        self._lock = Lock()

    @property
    def spent(self) -> Loss:
        """The composition of all losses so far."""
        return self._spent

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Every query so far, in order."""
        return tuple(self._charges)

    def pure_share(self, share: Share) -> Share | None:
        """Return what may be spent in place of ``share``: as much of ε, if all so far was pure."""
        part, all_pure = share.amount / self.budget.amount, self._spent.pure is not None
        return self._pure.whole.take(part) if self._pure is not None and all_pure else None

    def charge(self, query: str, loss: Loss, noise: str = "", asks: str = "") -> None:
        """Debit a query; raise, and debit nothing, if it does not fit the budget."""
        self.charge_all([Charge(query, loss, noise, asks)])

    def charge_all(self, charges: Sequence[Charge]) -> None:
        """Debit queries together; raise, and debit none of them, if one does not fit the budget."""
        with self._lock:
            spent = self._spent
            for charge in charges:
                spent = spent + charge.loss
                if not self._covers(spent):
                    raise BudgetExceededError(
                        f"The query {charge.query!r} does not fit into what is left of "
                        f"{self.budget} and was not asked; raise epsilon or ask for less."
                    )
            self._spent = spent
            self._charges.extend(charges)

    def _covers(self, spent: Loss) -> bool:
        return any(way.covers(spent) for way in (self.budget, self._pure) if way is not None)
