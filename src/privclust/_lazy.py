"""Lazy imports of public names, and objects of optional libraries.

A package lists its names once, in the ``.pyi`` file next to ``__init__.py``: type checkers read
it as it is, and :func:`names_of_stub` finds in it the module of each name. For ``import *`` of a
module of the package, the names are those of its ``__all__``, which is parsed, not run.

An object of a library can exist only after the library was imported. So checking the imported
modules is enough; it neither imports the library nor fails without it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from threading import RLock
from typing import Any

# NumPy reads the header of a stored array as a literal, and before Python 3.11.8 and 3.12.2 threads
# that parse at the same time may fail (gh-106905).
parsing = RLock()


def names_of_stub(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for a package with a stub.

    ``file``: its ``__file__``; the stub is next to it.
    """
    homes = _homes(Path(file).with_suffix(".pyi"))

    def get(name: str) -> Any:
        if name in homes:
            return getattr(import_module(homes[name]), name)
        try:
            return import_module(f"{package}.{name}")  # a subpackage, such as privclust.papers
        except ModuleNotFoundError as error:
            if error.name != f"{package}.{name}":
                raise
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted(homes)

    return get, names, sorted(homes)


def _homes(stub: Path) -> dict[str, str]:
    """Return the module of each name that a stub imports, by name or with a star."""
    homes: dict[str, str] = {}
    for statement in ast.parse(stub.read_text("utf-8")).body:
        if not isinstance(statement, ast.ImportFrom) or statement.module is None:
            continue
        for alias in statement.names:
            if alias.name == "*":
                module = stub.with_name(statement.module.rpartition(".")[2] + ".py")
                homes |= dict.fromkeys(_all_of(module), statement.module)
            elif alias.asname == alias.name:
                homes[alias.name] = statement.module
    return homes


def _all_of(module: Path) -> list[str]:
    """Return ``__all__`` of a module without running it."""
    for statement in ast.parse(module.read_text("utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return list(ast.literal_eval(statement.value))
    raise LookupError(f"{module.name} has no __all__; list its public names there.")


# Optional libraries: how their objects are recognised.


def loaded_module(module: str) -> Any:
    """Return a library if it has been imported, otherwise ``None``."""
    return sys.modules.get(module)


def is_instance_of(data: object, module: str, name: str) -> bool:
    """Return whether ``data`` is an instance of a class of an optional library."""
    library = loaded_module(module)
    return library is not None and isinstance(data, getattr(library, name))
