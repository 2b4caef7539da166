"""Times in a ledger: to the minute, because anything finer would tell how long a fit ran."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["this_minute"]


def this_minute() -> str:
    """Return the present minute in UTC, as a ledger writes it down."""
    return datetime.now(UTC).isoformat(timespec="minutes")
