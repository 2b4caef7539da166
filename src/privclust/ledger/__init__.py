"""The persistent budget of data sets: what was granted, to whom, and what was spent on what.

A charge is durable before any row is read, and is settled with the digest of what was released. A
crash in between leaves the charge: it loses budget, never privacy.
"""

from privclust.ledger.accounting import Amount, Pot
from privclust.ledger.chain import Entry, Head
from privclust.ledger.ledger import EVERYONE, Ledger
from privclust.ledger.statement import LedgerStatement

__all__ = ["EVERYONE", "Amount", "Entry", "Head", "Ledger", "LedgerStatement", "Pot"]
