"""How much memory there is."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["free_memory"]

_MEMINFO = Path("/proc/meminfo")
# If the system does not say what is free.
_ASSUMED = 2**29


def free_memory() -> int:
    """Return the bytes that new data may take without pushing others out."""
    try:
        for line in _MEMINFO.read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _ASSUMED
