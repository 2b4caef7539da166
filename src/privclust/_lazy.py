"""Public names that are imported when they are first used, so that the command line starts at once.

A package lists its names once, in the ``.pyi`` file beside its ``__init__.py``: type checkers read
it as it is, and :func:`names_of_stub` reads from it where each name lives.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["names_of_stub"]


def names_of_stub(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for a package with a stub.

    Parameters
    ----------
    package : str
        The name of the package, ``__name__``.
    file : str
        Its ``__file__``; the stub lies beside it.
    """
    homes = _homes(Path(file).with_suffix(".pyi").read_text("utf-8"))

    def get(name: str) -> Any:
        if name in homes:
            return getattr(import_module(homes[name]), name)
        try:
            return import_module(f"{package}.{name}")  # a subpackage, such as privclust.reference
        except ModuleNotFoundError as error:
            if error.name != f"{package}.{name}":
                raise
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted(homes)

    return get, names, sorted(homes)


def _homes(stub: str) -> dict[str, str]:
    """Return the module of each name that a stub imports under its own name."""
    return {
        alias.name: statement.module
        for statement in ast.parse(stub).body
        if isinstance(statement, ast.ImportFrom) and statement.module is not None
        for alias in statement.names
        if alias.asname == alias.name
    }
