"""Run the mutants: small wrong changes of the library, each of which some test must notice.

``python tests/mutants/run.py`` tries all that the lists beside it name, or those whose names it is
given. Each is made in a copy of ``src``, never in the work tree, and the tests that should
notice it are run on the copy. What no test notices is printed, and the exit status is 1.

A mutant counts as noticed only if a test fails. One that cannot be made because its pattern is gone
or stands there twice, whose tests do not run to an end, or whose tests fail without it as well, is
an error of the list.

Most of what a run of pytest costs are imports. So this process imports the libraries of others, and
each run is a fork of it, which imports nothing but the copy and the tests.
"""

from __future__ import annotations

import compileall
import importlib
import os
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import NoReturn

ROOT = Path(__file__).parents[2]
LISTS = sorted(Path(__file__).parent.glob("*.toml"))
SECONDS = 240  # for the tests of one mutant
PASSED, FAILED, UNRUN = 0, 1, 3  # exit statuses of pytest; any other means that it could not run
# A fork has no thread of its parent, and would wait for locks that one of them held. So no library
# may start any: not those of linear algebra, on which bits may depend as well, nor the allocator
# of Arrow.
NO_THREADS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}
# What tests import of others, except polars, which starts threads; one that is not installed is
# left out.
LIBRARIES = (
    "pytest",
    *("hypothesis.extra.numpy", "numpy", "pandas", "threadpoolctl"),
    *(f"scipy.{part}" for part in ("sparse", "spatial", "special", "stats")),
    *(f"sklearn.{part}" for part in ("base", "cluster", "metrics")),
    *(f"pyarrow.{part}" for part in ("compute", "csv", "dataset", "parquet")),
    *("typer", "jinja2", "matplotlib.figure", "cryptography.hazmat.primitives.asymmetric.ed25519"),
    *("argon2", "fastapi", "limits", "multipart", "httpx"),
)
# The rewriting of asserts only serves to explain a failure, which nobody reads here. Tests that
# need a database server, or kill processes, take longer than all the others.
OPTIONS = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain"]
OPTIONS += ["-m", "not crash", "--hypothesis-profile=mutants"]


@dataclass(frozen=True)
class Mutant:
    """One wrong change.

    Attributes
    ----------
    name : str
        What is wrong with it.
    file : str
        The file that is changed, within the package.
    pattern, replacement : str
        Plain text; the pattern stands in the file once.
    tests : tuple of str
        What pytest is told to run: files or single tests.
    """

    name: str
    file: str
    pattern: str
    replacement: str
    tests: tuple[str, ...]

    def problem(self, source: Path) -> str | None:
        """Say why the change cannot be made, or return ``None``."""
        place = source / "privclust" / self.file
        if not place.is_file():
            return f"there is no file {self.file}"
        found = place.read_text("utf-8").count(self.pattern)
        return None if found == 1 else f"its pattern stands {found} times in {self.file}"

    def make(self, source: Path) -> None:
        """Change a copy of the source; files that it shares with others stay as they are."""
        place = source / "privclust" / self.file
        text = place.read_text("utf-8")
        place.unlink()
        place.write_text(text.replace(self.pattern, self.replacement), "utf-8")


def listed() -> list[Mutant]:
    """Return the mutants of all lists."""
    tables = [table for file in LISTS for table in tomllib.loads(file.read_text("utf-8"))["mutant"]]
    return [Mutant(**table | {"tests": tuple(table["tests"])}) for table in tables]


def import_libraries() -> None:
    """Import what forks need of others, and nothing of what is changed in them."""
    os.environ.update(NO_THREADS)
    sys.dont_write_bytecode = True
    for name in LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(name)
    assert "privclust" not in sys.modules
    threads = Path("/proc/self/task")
    assert not threads.is_dir() or len(list(threads.iterdir())) == 1


def run_tests(
    source: Path, tests: tuple[str, ...], seconds: int = SECONDS
) -> tuple[int | None, str]:
    """Run pytest on a copy of the source; return its exit status and what it printed.

    The status is ``None`` if it takes too long. The profile of Hypothesis lets every run try the
    same examples.
    """
    with tempfile.TemporaryFile() as printed:
        child = os.fork()
        if not child:
            _become_pytest(source, tests, printed.fileno())
        status = _status_of(child, seconds)
        printed.seek(0)
        return status, printed.read().decode("utf-8", errors="replace")


def _become_pytest(source: Path, tests: tuple[str, ...], printed: int) -> NoReturn:
    """Run pytest in this fork and end it; whatever else happens is no failure of a test."""
    status = UNRUN
    try:
        os.setsid()  # so that what the tests start can be ended with them
        os.dup2(printed, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.chdir(ROOT)
        os.environ |= {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
        elsewhere = [place for place in sys.path[1:] if not Path(place, "privclust").is_dir()]
        sys.path[:] = [str(ROOT), str(source), *elsewhere]
        import pytest

        ended = int(pytest.main([*OPTIONS, *tests]))
        sys.stdout.flush()
        if Path(sys.modules["privclust"].__file__ or "").is_relative_to(source):
            status = ended
    finally:
        os._exit(status)


def _status_of(child: int, seconds: int) -> int | None:
    """Wait for a fork and return its exit status; one that takes too long is ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def verdict(mutant: Mutant, original: Path, folder: Path) -> str:
    """Try one mutant; return "noticed", "SURVIVED", or what is wrong with it."""
    stale = mutant.problem(original)
    if stale:
        return f"ERROR: {stale}"
    with tempfile.TemporaryDirectory(dir=folder) as place:
        source = Path(shutil.copytree(original, Path(place, "src"), copy_function=os.link))
        mutant.make(source)
        status, _ = run_tests(source, mutant.tests)
    if status is None:
        return f"ERROR: its tests take more than {SECONDS} seconds"
    return {PASSED: "SURVIVED", FAILED: "noticed"}.get(status, "ERROR: its tests cannot be run")


def failures(pool: ProcessPoolExecutor, original: Path, tests: set[str]) -> list[str]:
    """Return what fails without any mutant; a test that fails anyway notices nothing."""
    files: dict[str, list[str]] = {}
    for test in sorted(tests):
        files.setdefault(test.partition("::")[0], []).append(test)
    done = pool.map(partial(run_tests, original), map(tuple, files.values()))
    return [_what_failed(status, printed) for status, printed in done if status != PASSED]


def _what_failed(status: int | None, printed: str) -> str:
    """Return the lines of pytest that name a test, or how it ended."""
    if status is None:
        return "they take too long"
    named = [line for line in printed.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return "\n".join(named) or f"pytest ends with {status}"


def main(names: list[str]) -> int:
    """Try the mutants and print what came of them."""
    chosen = [mutant for mutant in listed() if not names or mutant.name in names]
    start = time.monotonic()
    import_libraries()
    with (
        tempfile.TemporaryDirectory(prefix="privclust-mutants-") as folder,
        ProcessPoolExecutor(mp_context=get_context("fork")) as pool,
    ):
        original = Path(shutil.copytree(ROOT / "src", Path(folder, "src")))
        # By their content, so that a changed file is compiled anew however quickly it changed.
        mode = PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(original, quiet=2, force=True, invalidation_mode=mode)
        every_test = {test for mutant in chosen for test in mutant.tests}
        if failed := failures(pool, original, every_test):
            print("ERROR: not all of the tests pass on the unchanged source; mend that first:")
            print(*failed, sep="\n")
            return 1
        unnoticed = 0
        tried = pool.map(partial(verdict, original=original, folder=Path(folder)), chosen)
        for number, (mutant, found) in enumerate(zip(chosen, tried, strict=True), 1):
            unnoticed += found != "noticed"
            print(f"{number:3d} of {len(chosen)}  {found:8s}  {mutant.name}", flush=True)
    minutes = (time.monotonic() - start) / 60
    print(f"{unnoticed} of {len(chosen)} mutants were not noticed; {minutes:.1f} minutes.")
    return 1 if unnoticed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
