"""Bad input to summaries, mixed tables and private bounds on the command line: one sentence.

What is known before a row is read leaves the ledger as it is; and no file is written in any case.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from privclust import Box, Categories, Ledger, Schema
from support.command_line import Run

MIXED = Schema({"age": Box(0, 100), "town": Categories(["north", "south"])})
ROWS = "age,town\n" + "20,north\n70,south\n" * 40
FILES = {
    "data.csv": ROWS,
    "unknown.csv": ROWS.replace("70,south", "70,west"),
    "hollow.csv": ROWS.replace("20", "").replace("70", ""),
    "header.csv": "age,town\n",
    "wide.csv": "age,town,pet\n20,north,cat\n",
    "mixed.toml": MIXED.to_toml(),
    "weightless.toml": MIXED.to_toml().replace("high = 100", "high = 100\nweight = 0"),
    "reversed.toml": MIXED.to_toml().replace("low = 0", "low = 200"),
    "words.toml": Schema({"age": Categories(["20"]), "town": MIXED["town"]}).to_toml(),
}
BUDGET = ("--ledger", "budget.db", "--dataset", "people", "--epsilon", "1")
MIXED_FIT = ("--schema", "mixed.toml", *BUDGET)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with good and bad files, and a ledger that would grant a fit."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    ledger = Ledger.open(tmp_path / "budget.db")
    ledger.create_dataset("people", "add-remove-row")
    ledger.grant("people", 100)
    return tmp_path


def refused(run: Run, status: int, *command: str) -> str:
    """Run what must be refused, and return the sentence."""
    result = run(*command)
    assert result.exit_code == status, result.output
    assert result.stdout == ""
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("Error: ")
    assert last.endswith(".")
    return last


FIT = ("summarise", "kmeans")
BEFORE = [
    (1, ("header.csv", *MIXED_FIT), "give at least one row"),
    (1, ("wide.csv", *MIXED_FIT), "declare it, or list it in ignore"),
    (1, ("data.csv", "--schema", "weightless.toml", *BUDGET), "ignore it"),
    (1, ("data.csv", "--schema", "reversed.toml", *BUDGET), "swap or widen the bounds"),
    (1, ("data.csv", "--bounds", "1", "0", *BUDGET), "swap or widen the bounds"),
    (1, ("data.csv", *MIXED_FIT, "--profile-share", "0"), "above 0 and below 1"),
    (1, ("data.csv", "--schema", "words.toml", *BUDGET, "--profile-share", ".1"), "at None"),
    (2, ("data.csv", *MIXED_FIT, "--profile-share", "age"), "--profile-share"),
    (2, ("data.csv", *MIXED_FIT, "--metric", "gower"), "--metric"),
]


@pytest.mark.parametrize("command", FIT)
@pytest.mark.parametrize(("status", "given", "words"), BEFORE, ids=lambda part: str(part)[:40])
def test_it_is_one_sentence_and_nothing_is_charged_or_written(
    place: Path, run: Run, command: str, status: int, given: tuple[str, ...], words: str
) -> None:
    head = Ledger.open("budget.db").head()
    assert words in refused(run, status, command, *given, "-o", "out")
    assert Ledger.open("budget.db").head() == head
    assert not Path("out").exists()


@pytest.mark.parametrize("number", ["many", "0", "2-5", "-1"])
def test_a_number_of_clusters_that_is_none_is_refused(place: Path, run: Run, number: str) -> None:
    head = Ledger.open("budget.db").head()
    told = refused(run, 2, "kmeans", "data.csv", *MIXED_FIT, f"--clusters={number}", "-o", "out")
    assert "--clusters must be a whole number of at least 1 or auto" in told
    assert Ledger.open("budget.db").head() == head


@pytest.mark.parametrize("command", FIT)
@pytest.mark.parametrize(
    ("data", "words"),
    [("unknown.csv", 'declare unknown="other"'), ("hollow.csv", "declare missing = NUMBER")],
)
def test_what_the_rows_alone_can_tell_is_one_sentence_about_the_charge_too(
    place: Path, run: Run, command: str, data: str, words: str
) -> None:
    told = refused(run, 1, command, data, *MIXED_FIT, "-o", "out")
    assert words in told
    assert "stays" in told
    assert "west" not in told
    assert not Path("out").exists()


BOUNDS = [
    (1, ("header.csv",), "give at least one row"),
    (1, ("data.csv", "--outside-share", "1"), "above 0 and below 1"),
]


@pytest.mark.parametrize(("status", "given", "words"), BOUNDS)
def test_bounds_that_cannot_be_found_are_not_charged(
    place: Path, run: Run, status: int, given: tuple[str, ...], words: str
) -> None:
    head = Ledger.open("budget.db").head()
    asked = ("schema", "draft", *given, "--private", *BUDGET, "-o", "new.toml")
    assert words in refused(run, status, *asked)
    assert Ledger.open("budget.db").head() == head
    assert not Path("new.toml").exists()


QUESTIONS = [
    (1, ("cluster", "summary", "--clusters", "100000", "-o", "out"), "ask for fewer clusters"),
    (2, ("cluster", "summary", "--clusters", "0", "-o", "out"), "--clusters"),
    (1, ("choose-k", "absent"), "cannot be read"),
    (2, ("choose-k", "summary", "--most", "1"), "--most"),
    (1, ("sample", "summary", "--rows", "10000000000000", "-o", "out.csv"), "fewer rows"),
    (2, ("sample", "summary", "--rows", "0", "-o", "out.csv"), "--rows"),
    (2, ("sample", "summary", "--rows", "2.5", "-o", "out.csv"), "--rows"),
    (1, ("sample", "summary", "-o", "out.xlsx"), "must end in"),
]


def test_bad_questions_to_a_published_summary_are_one_sentence(place: Path, run: Run) -> None:
    made = run("summarise", "data.csv", *MIXED_FIT, "--no-report", "-o", "summary")
    assert made.exit_code == 0, made.stderr
    for status, command, words in QUESTIONS:
        assert words in refused(run, status, *command)
        assert not list(place.glob("out*"))
