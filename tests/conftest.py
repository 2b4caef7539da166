"""Shared by all tests: which ring a test belongs to, how many examples it tries, blank pictures.

The rings: ``audit`` refutes by sampling, ``crash`` starts and kills processes and servers, and all
the rest is behaviour. A folder or a file belongs to a ring as a whole, and so does every test of a
database server and every test that has work done by two processes. No test is timed.
"""

from pathlib import Path

import pytest
from hypothesis import Phase, settings

# So many examples find what a change of the code breaks; `make nightly` looks for what nobody
# thought of. A test that says how many it wants is dear, and gets as many in every profile.
EXAMPLES = 30
settings.register_profile("untimed", deadline=None, max_examples=EXAMPLES)
settings.register_profile("deep", deadline=None, max_examples=1000)
# For mutants: the same examples in every run, and none made smaller, since nobody looks at them.
settings.register_profile(
    "mutants",
    deadline=None,
    max_examples=EXAMPLES,
    database=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
)
settings.load_profile("untimed")

AUDITS = ("audits", "statistical")
CRASHES = (
    "engines/test_lost_worker.py",
    "engines/test_tls_example.py",
    "ledger/test_ledger_crashes.py",
    "ledger/test_ledger_crowds.py",
    "cli/test_cli_process.py",
    "service/test_service_browser.py",
    "service/test_service_kills.py",
)


@pytest.fixture
def blank_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let reports have empty pictures: drawing takes most of their time."""
    blank = '<svg viewBox="0 0 1 1"></svg>'
    monkeypatch.setattr("privclust.reports.svg._drawn", lambda size, draw: blank)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with its ring."""
    here = Path(__file__).parent
    for item in items:
        place = item.path.relative_to(here).as_posix() if here in item.path.parents else ""
        if place.startswith(tuple(f"{folder}/" for folder in AUDITS)):
            item.add_marker("audit")
        server = "postgres_url" in item.fixturenames or "[postgresql" in item.nodeid
        if place in CRASHES or server or _starts_processes(item):
            item.add_marker("crash")


def _starts_processes(item: pytest.Item) -> bool:
    call = getattr(item, "callspec", None)
    return call is not None and call.params.get("n_jobs", 1) != 1
