"""Shared by all tests: which ring a test belongs to, and that no test is timed.

The rings: ``audit`` refutes by sampling, ``crash`` starts and kills processes and servers, and all
the rest is behaviour. A folder or a file belongs to a ring as a whole, and so does every test of a
database server.
"""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

AUDITS = ("audits", "statistical")
CRASHES = (
    "ledger/test_ledger_crashes.py",
    "ledger/test_ledger_crowds.py",
    "cli/test_cli_process.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with its ring."""
    here = Path(__file__).parent
    for item in items:
        place = item.path.relative_to(here).as_posix() if here in item.path.parents else ""
        if place.startswith(tuple(f"{folder}/" for folder in AUDITS)):
            item.add_marker("audit")
        if place in CRASHES or "postgres_url" in item.fixturenames or "[postgresql" in item.nodeid:
            item.add_marker("crash")
