"""The one clock of the service: everybody asks it, so that a test can let time pass."""

from __future__ import annotations

import time


def now() -> int:
    """Return the current second."""
    return int(time.time())


def sleep_until(moment: int) -> None:
    """Return when a moment has come."""
    while (left := moment - time.time()) > 0:
        time.sleep(min(left, 60))  # the clock may be set meanwhile
