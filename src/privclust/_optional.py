"""Libraries that need not be installed: how their objects are recognised.

An object of a library can exist only once somebody has imported it. So a look at the imported
modules is enough, and neither imports the library nor fails without it.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["imported", "is_a"]


def imported(module: str) -> Any:
    """Return a library if it is imported already, and otherwise ``None``."""
    return sys.modules.get(module)


def is_a(data: object, module: str, name: str) -> bool:
    """Tell whether ``data`` is of a class of a library that need not be installed."""
    library = imported(module)
    return library is not None and isinstance(data, getattr(library, name))
