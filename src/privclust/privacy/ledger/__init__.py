"""The persistent budget of a data set: what an estimator asks of a ledger.

A charge is durable before any row is read, and is settled with the digest of what was released. A
crash in between leaves the charge: it loses budget, never privacy.
"""

from __future__ import annotations

from typing import Protocol

from privclust.budget import Budget
from privclust.unit import Unit

__all__ = ["Ledger"]


class Ledger(Protocol):
    """Where fits are charged."""

    def reserve(self, dataset: str, budget: Budget, unit: Unit, purpose: str) -> str:
        """Charge ``budget`` to ``dataset`` durably and return a receipt, or raise if it is gone."""

    def settle(self, receipt: str, digest: str) -> None:
        """Record what was released for the receipt."""
