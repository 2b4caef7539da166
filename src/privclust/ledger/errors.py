"""The errors of the ledger: each message is one sentence that says what to do.

Unless a message says otherwise, nothing was spent and nothing was lost. Every error carries its
message alone, so that it survives the way back from a worker process.
"""

from __future__ import annotations

__all__ = [
    "BudgetGoneError",
    "LedgerConflictError",
    "LedgerCorruptedError",
    "LedgerError",
    "LedgerFullError",
    "LedgerLockedError",
    "LedgerMissingError",
    "LedgerReadOnlyError",
    "LedgerVersionError",
    "UnitMismatchError",
    "UnknownDatasetError",
]


class LedgerError(ValueError):
    """The ledger cannot do what was asked of it."""


class BudgetGoneError(LedgerError):
    """What is left of the grants does not cover the charge."""


class UnknownDatasetError(LedgerError):
    """The ledger has no data set of that name."""


class UnitMismatchError(LedgerError):
    """The charge is for another privacy unit than the data set's."""


class LedgerConflictError(LedgerError):
    """A data set, request or receipt is already used for something else."""


class LedgerMissingError(LedgerError):
    """There is no ledger, or no server, at the address."""


class LedgerVersionError(LedgerError):
    """The ledger was written by another version of the schema."""


class LedgerCorruptedError(LedgerError):
    """The ledger is damaged, or was changed behind its back."""


class LedgerLockedError(LedgerError):
    """Somebody else holds the ledger for too long."""


class LedgerFullError(LedgerError):
    """The disk under the ledger is full."""


class LedgerReadOnlyError(LedgerError):
    """The ledger may be read only."""
