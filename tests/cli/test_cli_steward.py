"""A steward's day: failures say what stays charged, and nothing that was paid for is lost."""

from __future__ import annotations

import errno
import json
import os
import runpy
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privclust import PrivateKMeans
from privclust.ledger.ledger import Ledger
from privclust.release import storage
from privclust.release.document import About
from privclust.release.release import Release
from support.command_line import Run
from support.scripts import found_first

ROOT = Path(__file__).parents[2]
FIT = ("kmeans", "data.csv", "--schema", "schema.toml", "-k", "3", "--no-report")
SCRIPTS = sorted(
    path.name
    for path in (ROOT / "benchmarks").glob("*.py")
    if "__main__" in path.read_text(encoding="utf-8")
)


@pytest.fixture
def granted(folder: Path) -> Path:
    """A working folder with a ledger."""
    ledger = Ledger.open("budget.db")
    ledger.create_dataset("data")
    ledger.grant("data", epsilon=3)
    return folder


def failing(error: BaseException) -> Any:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (KeyboardInterrupt(), 130, "Interrupted"),
        (MemoryError(), 1, "not enough memory"),
        (OSError(errno.EIO, "Input/output error"), 1, "Input/output error"),
        (ValueError("No."), 1, "No"),
    ],
    ids=["interrupt", "memory", "disk", "value"],
)
def test_whatever_ends_a_charged_fit_says_what_stays_charged(
    granted: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    status: int,
    words: str,
) -> None:
    monkeypatch.setattr(PrivateKMeans, "_ask", failing(error))
    result = run(*FIT, "--ledger", "budget.db")
    assert result.exit_code == status
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("Error: ")
    assert words in result.stderr
    assert "stays charged to 'data' (receipt " in result.stderr


def test_without_a_ledger_nothing_is_said_to_be_charged(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PrivateKMeans, "_ask", failing(KeyboardInterrupt()))
    assert run(*FIT).stderr == "Error: Interrupted.\n"


def kept_in(message: str) -> Path:
    return Path(message.partition("kept in '")[2].partition("'")[0])


def test_a_full_disk_keeps_the_release_elsewhere(
    granted: Path, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write = storage._write_folder

    def full(target: Path, *rest: Any, **settings: Any) -> None:
        if target.name == "out" and target.parent == granted:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(target, *rest, **settings)

    monkeypatch.setattr(storage, "_write_folder", full)
    result = run(*FIT, "--ledger", "budget.db", "-o", "out")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert Release.load(kept_in(result.stderr)).privacy.receipt


def test_a_release_that_fits_nowhere_is_printed(
    granted: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "_write_folder", failing(OSError(errno.ENOSPC, "No space")))
    result = run(*FIT, "--ledger", "budget.db", "-o", "out")
    assert result.exit_code == 1
    printed = json.loads(result.stdout)
    assert printed["digest"] == Ledger.open("budget.db").history("data")[-1].digest
    assert len(printed["clusters"]) == 3


@pytest.mark.parametrize("place", ["out", "out.privclust"])
def test_a_place_that_is_taken_during_the_fit_loses_nothing(
    granted: Path, run: Run, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    ask = PrivateKMeans._ask

    def taken(self: PrivateKMeans, *rest: Any) -> Any:
        target = Path(place)
        if target.suffix:
            target.write_text("somebody else's")
        else:
            target.mkdir()
            (target / "diary.txt").write_text("somebody else's")
        return ask(self, *rest)

    monkeypatch.setattr(PrivateKMeans, "_ask", taken)
    result = run(*FIT, "--ledger", "budget.db", "-o", place)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert Release.load(kept_in(result.stderr)).privacy.receipt


def test_an_interrupt_while_the_release_is_written_keeps_it(
    granted: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Release, "save", failing(KeyboardInterrupt()))
    result = run(*FIT, "--ledger", "budget.db", "-o", "out")
    assert result.exit_code == 130
    assert Release.load(kept_in(result.stderr)).privacy.receipt


def test_memory_that_cannot_suffice_is_refused_before_the_charge(granted: Path, run: Run) -> None:
    many = ("kmeans", "data.csv", "--schema", "schema.toml", "-k", "100000000")
    result = run(*many, "--ledger", "budget.db")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "memory" in result.stderr
    assert len(Ledger.open("budget.db").history("data")) == 2


@pytest.mark.filterwarnings("default")
def test_an_epsilon_that_hardly_protects_is_warned_of(folder: Path, run: Run) -> None:
    result = run(*FIT, "--epsilon", "20")
    assert result.exit_code == 0
    assert result.stderr.startswith("Warning: ε = 20 ")


def test_rescale_is_the_estimators_default_unless_given(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    fit = PrivateKMeans.fit

    def spy(self: PrivateKMeans, X: Any, y: object = None) -> PrivateKMeans:
        seen.append(self.rescale)
        return fit(self, X)

    monkeypatch.setattr(PrivateKMeans, "fit", spy)
    for number, option in enumerate(((), ("--rescale",), ("--no-rescale",))):
        assert run(*FIT, *option, "-o", f"out{number}").exit_code == 0
    assert seen == [None, True, False]


def test_a_fit_carries_its_publishers_words(folder: Path, run: Run) -> None:
    words = ("--title", "Visits", "--dataset", "visits 2025", "--data-holder", "The clinic")
    more = ("--contact", "office", "--purpose", "planning")
    assert run(*FIT, *words, *more).exit_code == 0
    assert Release.load("release").about == About(
        title="Visits",
        dataset="visits 2025",
        holder="The clinic",
        contact="office",
        purpose="planning",
    )


def test_a_budget_may_be_given_in_rho(folder: Path, run: Run) -> None:
    assert run(*FIT, "--rho", "0.1", "--delta", "1e-6").exit_code == 0
    assert Release.load("release").privacy.delta == Fraction(1, 10**6)
    assert run(*FIT, "--rho", "0.1", "--epsilon", "1").exit_code == 2
    assert run(*FIT, "--rho", "0.1").exit_code == 1


def test_ids_may_be_numbers_and_missing(folder: Path, run: Run) -> None:
    Path("people.csv").write_text("x,y,who\n1,2,7\n3,4,07\n5,6,\n")
    fit = ("kmeans", "people.csv", "--schema", "schema.toml", "--unit", "person", "--no-report")
    person = ("--id-column", "who", "--max-rows", "2")
    assert run(*fit, *person).exit_code == 1
    assert run(*fit, *person, "--id-type", "number", "--missing-ids", "separate").exit_code == 0
    unit = Release.load("release").privacy.unit
    assert (unit["id_type"], unit["missing"]) == ("number", "separate")


def process(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, **environment}
    return subprocess.run(  # noqa: S603
        [sys.executable, *command], capture_output=True, text=True, check=False, env=settings
    )


def test_a_shell_completes_commands() -> None:
    asked = {
        "_PRIVCLUST_COMPLETE": "complete_bash",
        "COMP_WORDS": "privclust km",
        "COMP_CWORD": "1",
    }
    assert process("-m", "privclust", **asked).stdout.strip() == "kmeans"


@pytest.mark.system
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_benchmark_says_what_it_does(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [script, "--help"])
    with found_first([ROOT / "benchmarks"]), pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "benchmarks" / script), run_name="__main__")
    assert not ended.value.code
    assert capsys.readouterr().out.startswith("usage: ")


@pytest.mark.parametrize("command", ["kmeans", "cocluster", "categorical", "source-target"])
def test_help_fits_on_a_screen(run: Run, command: str) -> None:
    """What a paper adds comes last, under a heading of its own, and is not in the way."""
    for words, most in (((command,), 52), (("plan", command), 30)):
        usual, _, paper = run(*words, "--help").stdout.partition("As in the paper")
        assert len(usual.splitlines()) <= most
        assert len(paper.splitlines()) <= 14


def test_the_readmes_example_finds_the_clusters(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    means = np.array([[20, 2, 500], [50, 10, 3000], [80, 30, 9000], [35, 40, 15000]])
    rows = means[rng.integers(4, size=8000)] + rng.normal(0, 1, (8000, 3)) * (5, 2, 600)
    header = "age,visits,cost"
    np.savetxt("visits.csv", rows.clip(0), "%.2f", ",", header=header, comments="")
    Path("visits.toml").write_text(
        "[columns.age]\nlow=0\nhigh=110\n[columns.visits]\nlow=0\nhigh=50\n"
        "[columns.cost]\nlow=0\nhigh=20000\n"
    )
    fit = ("kmeans", "visits.csv", "--schema", "visits.toml", "-k", "4", "--seed", "1")
    assert run(*fit, "--no-report").exit_code == 0
    found = Release.load("release").arrays["cluster_centers"]
    gaps = np.abs(found[:, None] - means) / (110, 50, 20000)
    assert gaps.sum(axis=2).min(axis=0).max() < 0.03
