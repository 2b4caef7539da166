"""The list of mutants is in order: each can still be made. ``make mutants`` tries them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from mutants.run import ROOT, Mutant, listed

MUTANTS = listed()


def test_there_are_a_hundred_mutants_of_different_names() -> None:
    names = Counter(mutant.name for mutant in MUTANTS)
    assert len(names) >= 100
    assert max(names.values()) == 1


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_can_be_made_and_its_tests_are_there(mutant: Mutant) -> None:
    assert mutant.problem(ROOT / "src") is None
    assert mutant.pattern != mutant.replacement
    assert mutant.tests
    for test in mutant.tests:
        file, *names = test.split("::")
        written = (ROOT / file).read_text("utf-8")
        for name in names:
            kind = "class" if name.startswith("Test") else "def"
            assert re.search(rf"\b{kind} {name.partition('[')[0]}\b", written)


def test_a_pattern_that_is_gone_or_stands_there_twice_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "privclust").mkdir()
    (tmp_path / "privclust" / "a.py").write_text("one two two")
    problems = {
        pattern: Mutant("", "a.py", pattern, "", ()).problem(tmp_path) is not None
        for pattern in ("one", "two", "three")
    }
    assert problems == {"one": False, "two": True, "three": True}
    assert Mutant("", "b.py", "one", "", ()).problem(tmp_path) is not None


def test_a_change_is_made_in_the_copy(tmp_path: Path) -> None:
    (tmp_path / "privclust").mkdir()
    place = tmp_path / "privclust" / "a.py"
    place.write_text("one two")
    Mutant("", "a.py", "two", "three", ()).make(tmp_path)
    assert place.read_text() == "one three"
