"""Shared by all tests: which ring a test belongs to, and that no test is timed.

The rings: ``audit`` refutes by sampling, ``crash`` starts and kills processes and servers, and all
the rest is behaviour. A folder or a file belongs to a ring as a whole, and so does every test of a
database server.
"""

from pathlib import Path

import pytest
from hypothesis import Phase, settings

settings.register_profile("untimed", deadline=None)
# For mutants: the same examples in every run, and none made smaller, since nobody looks at them.
settings.register_profile(
    "mutants",
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
)
settings.load_profile("untimed")

AUDITS = ("audits", "statistical")
CRASHES = (
    "ledger/test_ledger_crashes.py",
    "ledger/test_ledger_crowds.py",
    "cli/test_cli_process.py",
    "service/test_service_browser.py",
    "service/test_service_kills.py",
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
