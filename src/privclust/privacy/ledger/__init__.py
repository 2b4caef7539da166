"""The persistent budget of data sets: what was granted, to whom, and what was spent on what.

A charge is durable before any row is read, and is settled with the digest of what was released. A
crash in between leaves the charge: it loses budget, never privacy.
"""

from privclust.privacy.ledger.accounting import Pot
from privclust.privacy.ledger.amounts import Amount
from privclust.privacy.ledger.chain import Entry, Head
from privclust.privacy.ledger.errors import (
    BudgetGoneError,
    LedgerConflictError,
    LedgerCorruptedError,
    LedgerError,
    LedgerFullError,
    LedgerLockedError,
    LedgerMissingError,
    LedgerReadOnlyError,
    LedgerVersionError,
    UnitMismatchError,
    UnknownDatasetError,
)
from privclust.privacy.ledger.ledger import EVERYONE, Ledger
from privclust.privacy.ledger.statement import LedgerStatement

__all__ = [
    "EVERYONE",
    "Amount",
    "BudgetGoneError",
    "Entry",
    "Head",
    "Ledger",
    "LedgerConflictError",
    "LedgerCorruptedError",
    "LedgerError",
    "LedgerFullError",
    "LedgerLockedError",
    "LedgerMissingError",
    "LedgerReadOnlyError",
    "LedgerStatement",
    "LedgerVersionError",
    "Pot",
    "UnitMismatchError",
    "UnknownDatasetError",
]
