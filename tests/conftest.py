"""Shared by all tests: which ring a test belongs to, how many examples it tries, blank pictures.

The rings: ``audit`` shows by samples, brute force and exact losses that noise and its price are
right; ``system`` is what goes on around the library, such as processes that are started and killed,
servers, clusters, browsers, the command line, pictures, pages that are run, and the checks of other
projects; all the rest is behaviour. A folder or a file belongs to a ring as a whole, and so does
every test of a database server and every test that has work done by two processes. No test is
timed.

Every run is the same run (support/repeatable.py) unless ``--luck`` is given.

``--check`` leaves out both rings, does not even read the files that belong to them, and tries fewer
examples of a property: for every save.
"""

import os
import shutil
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from support.needed import estimated_bias
from support.repeatable import Repeatable

# So many examples find what a change of the code breaks, the same ones in every run; `make nightly`
# looks for what nobody thought of. A test that says how many it wants is expensive, and gets as
# many in every profile.
EXAMPLES = 30
settings.register_profile("untimed", deadline=None, max_examples=EXAMPLES, derandomize=True)
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
settings.register_profile("check", deadline=None, max_examples=EXAMPLES // 3, derandomize=True)
settings.load_profile("untimed")

AUDITS = (
    "audit/*",
    "audits/*",
    "privacy/test_ball.py",
    "privacy/test_samplers.py",
    "*_sensitivity.py",
    "*_transcripts.py",
    "categories/test_running_example.py",
    "coclustering/test_leakage_example.py",
    "coclustering/test_signal.py",
    "coclustering/test_zero_rows.py",
    "contract/test_replayed_answers.py",
    "contract/test_warnings_replay.py",
    "reading/test_row_locality.py",
    "source_target/test_nearest_targets.py",
    "papers/zones/test_published.py",
    "papers/zones/test_zone_query.py",
)
SYSTEM = (
    "benchmarks/*",
    "cli/*",
    "engines/*",
    "fuzz/*",
    "service/*",
    "site/*",
    "contract/test_commands_on_pages.py",
    "contract/test_documentation.py",
    "ledger/test_ledger_crashes.py",
    "ledger/test_ledger_crowds.py",
    "ledger/test_ledger_faults.py",
    "ledger/test_ledger_machine.py",
    "sklearn/test_common_checks.py",
    "reports/test_report*.py",
)
# Of the system: what starts or kills processes. Mutants are not shown to these, they take too long.
CRASHES = (
    "engines/test_lost_worker.py",
    "engines/test_tls_example.py",
    "ledger/test_ledger_crashes.py",
    "ledger/test_ledger_crowds.py",
    "cli/test_cli_process.py",
    "service/test_service_browser.py",
    "service/test_service_kills.py",
)
HERE = Path(__file__).parent
# A disk in memory is quick to wait for; no test can pull the plug of a real one. In a container it
# may be tiny.
MEMORY, ENOUGH = Path("/dev/shm"), 4 * 2**30  # noqa: S108


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--check`` and ``--luck``."""
    parser.addoption("--check", action="store_true", help="behaviour alone, fewer examples")
    parser.addoption("--luck", action="store_true", help="unseeded fits draw from the system")


def pytest_configure(config: pytest.Config) -> None:
    """Let every run be the same and wait for no disk; try fewer examples of behaviour alone."""
    estimated_bias()  # a wrong name would let tests fail one by one
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ENOUGH:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    if not config.getoption("--luck"):
        config.pluginmanager.register(Repeatable())
    if config.getoption("--check"):
        settings.load_profile("check")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave files of the outer rings unread where only behaviour is looked at."""
    outer = _belongs(collection_path, AUDITS) or _belongs(collection_path, SYSTEM)
    return True if config.getoption("--check") and outer and collection_path.is_file() else None


@pytest.fixture
def blank_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let reports have empty pictures: drawing takes most of their time."""
    blank = '<svg viewBox="0 0 1 1"></svg>'
    monkeypatch.setattr("privclust.reports.svg._draw", lambda size, draw: blank)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each test with its ring, and leave out the marked ones if it was said so."""
    for item in items:
        if _belongs(item.path, AUDITS):
            item.add_marker("audit")
        if _belongs(item.path, SYSTEM):
            item.add_marker("system")
        server = "postgres_url" in item.fixturenames or "[postgresql" in item.nodeid
        if _belongs(item.path, CRASHES) or server or _starts_processes(item):
            item.add_marker("system")
            item.add_marker("crash")
    if config.getoption("--check"):
        items[:] = [
            i for i in items if not {"audit", "system"} & {m.name for m in i.iter_markers()}
        ]


@cache
def _belongs(path: Path, patterns: tuple[str, ...]) -> bool:
    place = path.relative_to(HERE).as_posix() if HERE in path.parents else ""
    return any(fnmatch(place, pattern) for pattern in patterns)


def _starts_processes(item: pytest.Item) -> bool:
    call = getattr(item, "callspec", None)
    return call is not None and call.params.get("n_jobs", 1) != 1
