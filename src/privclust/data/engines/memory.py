"""How much memory there is, and how people write an amount of it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from privclust.exceptions import ParameterError

__all__ = ["bytes_of", "free_memory"]

_MEMINFO = Path("/proc/meminfo")
# If the system does not say what is free.
_ASSUMED = 2**29
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {f"{unit}i": 2 ** (10 * power) for power, unit in enumerate("kmgt", start=1)}


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


def bytes_of(amount: int | str) -> int:
    """Return an amount of memory in bytes; text may have a unit, as in ``"2 GB"``."""
    if isinstance(amount, str):
        found = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?i?)b?\s*", amount.lower())
        if found and found[2] in _UNITS and found[1].count(".") <= 1 and found[1] != ".":
            return int(float(found[1]) * _UNITS[found[2]])
    elif not isinstance(amount, bool) and amount >= 0:
        return int(amount)
    raise ParameterError(f"memory must be bytes or text such as '2 GB', got {amount!r}.")
