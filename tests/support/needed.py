"""What tests need of the machine besides Python: a PostgreSQL server, and a browser.

A test whose program is missing fails; a run that skipped it would be green and say nothing. Whoever
cannot install one says so in ``PRIVCLUST_WITHOUT``, as names between commas, and has the tests of
it skipped.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

__all__ = ["PACKAGES", "WITHOUT", "browser", "estimated_bias", "postgresql"]

WITHOUT = "PRIVCLUST_WITHOUT"
# What each is called in Debian.
PACKAGES = {"postgresql": "postgresql", "browser": "chromium"}


def postgresql() -> Path:
    """Return the folder of the programs of a PostgreSQL server, the newest that is there."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    named = shutil.which("initdb")
    found = [*folders, *([Path(named).parent] if named else [])]
    return next((f for f in found if (f / "initdb").exists()), None) or _missing("postgresql")


def browser() -> str:
    """Return the path of a browser of the kind that the tests steer."""
    names = ("chromium", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None) or _missing("browser")


def estimated_bias() -> set[str]:
    """Return what this run is told to do without; a name that is none is an error."""
    names = {name.strip() for name in os.environ.get(WITHOUT, "").split(",")} - {""}
    if unknown := names - PACKAGES.keys():
        raise pytest.UsageError(
            f"{WITHOUT} names {sorted(unknown)}; it may name {' and '.join(PACKAGES)}."
        )
    return names


def _missing(name: str) -> None:
    if name in estimated_bias():
        pytest.skip(f"{WITHOUT} leaves out {name}")
    pytest.fail(
        f"There is no {name} on this machine: install the package {PACKAGES[name]!r}, or set "
        f"{WITHOUT}={name} to leave its tests out.",
        pytrace=False,
    )
