"""Run the mutants: small wrong changes of the library, each of which some test must notice.

``python tests/mutants/run.py`` tries all that the lists beside it name, or those whose names it is
given. Each is made in a copy of ``src``, never in the work tree, and the tests that should
notice it are run on the copy. What no test notices is printed, and the exit status is 1.

A mutant counts as noticed only if a test fails. One that cannot be made because its pattern is gone
or stands there twice, whose tests do not run to an end, or whose tests fail without it as well, is
an error of the list.
"""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode

ROOT = Path(__file__).parents[2]
LISTS = sorted(Path(__file__).parent.glob("*.toml"))
SECONDS = 240  # for the tests of one mutant
PASSED, FAILED = 0, 1  # exit statuses of pytest; any other means that tests could not be run


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
        """Change a copy of the source."""
        place = source / "privclust" / self.file
        text = place.read_text("utf-8")
        place.write_text(text.replace(self.pattern, self.replacement), "utf-8")


def listed() -> list[Mutant]:
    """Return the mutants of all lists."""
    tables = [table for file in LISTS for table in tomllib.loads(file.read_text("utf-8"))["mutant"]]
    return [Mutant(**table | {"tests": tuple(table["tests"])}) for table in tables]


def run_tests(
    source: Path, tests: tuple[str, ...], seconds: int = SECONDS
) -> tuple[int | None, str]:
    """Run pytest on a copy of the source; return its exit status and what it printed.

    The status is ``None`` if it takes too long. The profile of Hypothesis lets every run try the
    same examples.
    """
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    # Tests that need a database server, or kill processes, take longer than all the others.
    command += ["-m", "not crash", "--hypothesis-profile=mutants"]
    environment = os.environ | {
        "PYTHONPATH": str(source),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    try:
        done = subprocess.run(  # noqa: S603
            [*command, *tests],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
            text=True,
        )
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout


def verdict(mutant: Mutant, original: Path, folder: Path) -> str:
    """Try one mutant; return "noticed", "SURVIVED", or what is wrong with it."""
    stale = mutant.problem(original)
    if stale:
        return f"ERROR: {stale}"
    with tempfile.TemporaryDirectory(dir=folder) as place:
        source = Path(shutil.copytree(original, Path(place, "src")))
        mutant.make(source)
        status, _ = run_tests(source, mutant.tests)
    if status is None:
        return f"ERROR: its tests take more than {SECONDS} seconds"
    return {PASSED: "SURVIVED", FAILED: "noticed"}.get(status, "ERROR: its tests cannot be run")


def failures(original: Path, tests: set[str]) -> list[str]:
    """Return what fails without any mutant; a test that fails anyway notices nothing."""
    ordered, parts = sorted(tests), os.cpu_count() or 1
    shares = [share for part in range(parts) if (share := tuple(ordered[part::parts]))]
    with ThreadPoolExecutor(parts) as pool:
        done = [*pool.map(lambda share: run_tests(original, share, 10 * SECONDS), shares)]
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
    with tempfile.TemporaryDirectory(prefix="privclust-mutants-") as folder:
        original = Path(shutil.copytree(ROOT / "src", Path(folder, "src")))
        # By their content, so that a changed file is compiled anew however quickly it changed.
        mode = PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(original, quiet=2, force=True, invalidation_mode=mode)
        every_test = {test for mutant in chosen for test in mutant.tests}
        if failed := failures(original, every_test):
            print("ERROR: not all of the tests pass on the unchanged source; mend that first:")
            print(*failed, sep="\n")
            return 1
        unnoticed = 0
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            tried = pool.map(lambda mutant: verdict(mutant, original, Path(folder)), chosen)
            for number, (mutant, found) in enumerate(zip(chosen, tried, strict=True), 1):
                unnoticed += found != "noticed"
                print(f"{number:3d} of {len(chosen)}  {found:8s}  {mutant.name}", flush=True)
    minutes = (time.monotonic() - start) / 60
    print(f"{unnoticed} of {len(chosen)} mutants were not noticed; {minutes:.1f} minutes.")
    return 1 if unnoticed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
