"""What a ledger says when its database fails: the same sentences for every database.

``ledger`` is how a sentence names it: "ledger /data/budget.db", or "ledger in postgresql://...".
"""

from __future__ import annotations

from privclust.exceptions import (
    LedgerCorruptedError,
    LedgerError,
    LedgerFullError,
    LedgerLockedError,
    LedgerMissingError,
)

__all__ = ["damaged", "full", "locked", "missing", "refused"]


def missing(place: str) -> LedgerMissingError:
    """Say that there is no ledger at a place."""
    return LedgerMissingError(
        f"There is no ledger {place}; make one with 'privclust ledger create'."
    )


def locked(ledger: str, timeout: float) -> LedgerLockedError:
    """Say that another program held the ledger for too long."""
    return LedgerLockedError(
        f"The {ledger} was locked by another program for more than {timeout:g} seconds; nothing "
        "was spent, try again later."
    )


def full(ledger: str) -> LedgerFullError:
    """Say that there is no room for another entry."""
    return LedgerFullError(
        f"The disk under the {ledger} is full; nothing was spent, make room and try again."
    )


def damaged(ledger: str, reason: str) -> LedgerCorruptedError:
    """Say that what is there is no longer a ledger."""
    return LedgerCorruptedError(
        f"The {ledger} is damaged ({reason}); nothing was spent, restore it from a backup and "
        "compare 'privclust ledger head'."
    )


def refused(ledger: str, reason: str) -> LedgerError:
    """Say that a rule of the database forbids the entry."""
    return LedgerError(f"The {ledger} refused the entry ({reason}); nothing was spent.")
