"""Benchmarks as modules: imported as scripts find their neighbours, and forgotten afterwards.

Some of their names are those of folders of tests, which must not meet them.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

__all__ = ["BENCHMARKS", "found_first", "scripts"]

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@contextmanager
def found_first(folders: list[Path]) -> Iterator[None]:
    """Let the modules of some folders be found first, and take them out again at the end."""
    path, names = list(sys.path), {file.stem for folder in folders for file in folder.glob("*.py")}
    before = {name: sys.modules.pop(name) for name in [*sys.modules] if name in names}
    sys.path[:0] = map(str, folders)
    try:
        yield
    finally:
        sys.path[:] = path
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(before)


def scripts(*names: str, inside: str = "") -> list[ModuleType]:
    """Import benchmarks anew, or the modules of a folder of theirs."""
    folders = [BENCHMARKS / inside, BENCHMARKS] if inside else [BENCHMARKS]
    with found_first(folders):
        return [importlib.import_module(name) for name in names]
