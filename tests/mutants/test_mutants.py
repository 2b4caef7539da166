"""The list of mutants is in order: each can still be made. ``make mutants`` tries them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from mutants.run import ROOT, Mutant, listed

MUTANTS = listed()


def test_there_are_a_hundred_mutants_of_different_names() -> None:
    names = Counter(mutant.name for mutant in MUTANTS)
    assert len(names) >= 100
    assert max(names.values()) == 1


@cache
def written(file: str) -> str:
    """Return the text of a file of tests, or nothing if there is none."""
    return (ROOT / file).read_text("utf-8") if (ROOT / file).is_file() else ""


def is_there(test: str) -> bool:
    """Tell whether a file of tests, or a class or function in it, exists."""
    file, *names = test.split("::")
    defined = [
        re.search(rf"\b{'class' if name.startswith('Test') else 'def'} {name}\b", written(file))
        for name in (name.partition("[")[0] for name in names)
    ]
    return bool(written(file)) and all(defined)


def problems(mutant: Mutant) -> list[str]:
    """Return all that keeps a mutant from being tried."""
    found = [mutant.problem(ROOT / "src") or ""]
    found += ["it changes nothing"] * (mutant.pattern == mutant.replacement)
    found += ["it has no tests"] * (not mutant.tests)
    found += [f"there is no {test}" for test in mutant.tests if not is_there(test)]
    return [problem for problem in found if problem]


def test_every_mutant_can_be_made_and_its_tests_are_there() -> None:
    assert {mutant.name: found for mutant in MUTANTS if (found := problems(mutant))} == {}


def test_tests_that_are_named_with_their_example_are_there() -> None:
    """pytest itself collects them: a name with brackets is not to be seen in a file."""
    named = sorted({test for mutant in MUTANTS for test in mutant.tests if "[" in test})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:xdist", *named]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    assert found.returncode == 0, found.stdout[-2000:] + found.stderr[-2000:]


def test_what_keeps_a_mutant_from_being_tried_is_listed() -> None:
    gone = ("tests/nothing.py", "tests/mutants/test_mutants.py::test_nothing", "tests/mutants")
    assert problems(Mutant("", "plan.py", "no such text", "no such text", gone)) == [
        "its pattern stands 0 times in plan.py",
        "it changes nothing",
        *(f"there is no {test}" for test in gone),
    ]
    assert problems(Mutant("", "nothing.py", "a", "b", ())) == [
        "there is no file nothing.py",
        "it has no tests",
    ]


def test_a_pattern_that_is_gone_or_stands_there_twice_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "privclust").mkdir()
    (tmp_path / "privclust" / "a.py").write_text("one two two")
    problems = {
        pattern: Mutant("", "a.py", pattern, "", ()).problem(tmp_path) is not None
        for pattern in ("one", "two", "three")
    }
    assert problems == {"one": False, "two": True, "three": True}
    assert Mutant("", "b.py", "one", "", ()).problem(tmp_path) is not None


def test_a_change_is_made_in_the_copy_and_not_in_what_it_was_linked_to(tmp_path: Path) -> None:
    (tmp_path / "privclust").mkdir()
    original, place = tmp_path / "a.py", tmp_path / "privclust" / "a.py"
    original.write_text("one two")
    os.link(original, place)
    Mutant("", "a.py", "two", "three", ()).make(tmp_path)
    assert place.read_text() == "one three"
    assert original.read_text() == "one two"


TRIED = """
import sys
from pathlib import Path
from run import Mutant, import_libraries, verdict

import_libraries()
original = Path(sys.argv[1], "src")
right, wrong = "float(np.mean(errors))", "float(np.min(errors))"
test = "tests/estimator/test_plan.py::test_the_expected_error_is_the_mean_of_the_rehearsals"
for new, name in [
    (wrong, test),
    (right + " ", test),
    (wrong, test + "_and_more"),
    (right + "(", test),
]:
    mutant = Mutant("", "plan.py", right, new, (name,))
    print(verdict(mutant, original, Path(sys.argv[1])))
"""


@pytest.mark.system
def test_only_a_test_that_fails_notices_a_mutant(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src")
    changed = "src/privclust/plan.py"
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", TRIED, tmp_path],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    unrun = "ERROR: its tests cannot be run"
    assert done.stdout.splitlines() == ["noticed", "SURVIVED", unrun, unrun]
    assert (tmp_path / changed).read_bytes() == (ROOT / changed).read_bytes()
