"""Every bad input is answered by one sentence on stderr, and nothing is written."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from privclust import PrivateKMeans
from support.command_line import Run

FIT = ("kmeans", "data.csv", "--schema", "schema.toml", "-k", "3")
NEW = ("kmeans", "data.csv", "-o", "out")
DATA = {
    "nan": "x,y\n1,2\n,3\n",
    "infinite": "x,y\n1,2\ninf,3\n",
    "text": "x,y\n1,2\nseven,3\n",
    "renamed": "x,z\n1,2\n",
    "extra": "x,y,z\n1,2,3\n",
    "empty": "",
    "header": "x,y\n",
}


def snapshot(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture
def cluttered(released: Path) -> Path:
    """A working folder with a release and every kind of bad file."""
    for name, text in DATA.items():
        (released / f"{name}.csv").write_text(text)
    (released / "half.toml").write_text("[columns.x]\nlow = 0\n")
    (released / "broken.toml").write_text("[columns.x\n")
    (released / "words.toml").write_text(
        '[columns.x]\nvalues = ["a"]\n[columns.y]\nlow=0\nhigh=1\n'
    )
    (released / "list.toml").write_text('[columns.x]\nvalues = ["a"]\n')
    (released / "data.txt").write_text("x,y\n1,2\n")
    (released / "torn.parquet").write_bytes(b"PAR1")
    (released / "notes").mkdir()
    (released / "notes" / "diary.txt").write_text("keep me")
    damaged = released / "damaged"
    damaged.mkdir()
    (damaged / "release.json").write_bytes((released / "release" / "release.json").read_bytes())
    (damaged / "arrays.npz").write_bytes(b"not what it was")
    (released / "torn.privclust").write_bytes(b"PK")
    return released


def fit_of(data: str, *more: str) -> tuple[str, ...]:
    return ("kmeans", data, "--schema", "schema.toml", *more, "-o", "out")


BAD = [
    # data
    (fit_of("nan.csv"), 1, "Column 'x' has missing numbers"),
    (fit_of("infinite.csv"), 1, "Column 'x' holds infinite numbers"),
    (fit_of("text.csv"), 1, "Column 'x' holds text where numbers are declared"),
    (fit_of("renamed.csv"), 1, "Column 'y' is declared in the schema but absent"),
    (fit_of("extra.csv"), 1, "Column 'z' is in the data but not declared"),
    (fit_of("empty.csv"), 1, "is empty"),
    (fit_of("header.csv"), 1, "no rows"),
    (fit_of("absent.csv"), 1, "File 'absent.csv' was not found"),
    (fit_of("data.txt"), 1, "unknown format"),
    (fit_of("torn.parquet"), 1, "cannot be read as Parquet"),
    (fit_of("notes"), 1, "has no .parquet, .csv or .arrow file"),
    # schema
    ((*NEW, "--schema", "half.toml"), 1, "Column 'x': a Box needs both bounds"),
    ((*NEW, "--schema", "broken.toml"), 1, "not valid TOML"),
    ((*NEW, "--schema", "words.toml"), 1, "'x' has values that the schema does not list"),
    ((*NEW, "--schema", "absent.toml"), 1, "'absent.toml' was not found"),
    ((*NEW, "--schema", "data.csv"), 1, "must end in .json, .toml or .jsonld"),
    ((*NEW, "--bounds", "5", "1"), 1, "low below high"),
    ((*NEW, "--bounds", "0", "inf"), 1, "finite number"),
    # budget
    ((*FIT, "--epsilon", "0"), 1, "epsilon must be above zero"),
    ((*FIT, "--epsilon", "-1"), 1, "epsilon must be above zero"),
    ((*FIT, "--epsilon", "inf"), 1, "epsilon must be a finite number"),
    ((*FIT, "--epsilon", "nan"), 1, "epsilon must be a finite number"),
    ((*FIT, "--delta", "1"), 1, "delta must be at least 0 and below 1"),
    ((*FIT, "--delta", "-1e-9"), 1, "delta must be at least 0 and below 1"),
    ((*FIT, "--ledger", "absent.db", "-o", "out"), 1, "absent.db"),
    # places
    ((*FIT, "-o", "release"), 1, "'release' exists; choose another path or pass --overwrite"),
    ((*FIT, "-o", "notes", "--overwrite"), 1, "'notes' exists and is not a release"),
    ((*FIT, "-o", "data.csv", "--overwrite"), 1, "cannot be a release"),
    ((*FIT, "-o", "absent/out"), 1, "its folder does not exist"),
    ((*FIT, "-o", "data.csv/out"), 1, "its folder does not exist"),
    # usage
    (NEW, 2, "either --schema FILE or --bounds LOW HIGH"),
    ((*FIT, "--bounds", "0", "1"), 2, "either --schema FILE or --bounds LOW HIGH"),
    (("kmeans",), 2, "DATA"),
    ((*FIT, "--colour"), 2, "No such option"),
    ((*FIT, "--clusters", "0"), 2, "--clusters"),
    ((*FIT, "--clusters", "many"), 2, "--clusters"),
    ((*FIT, "--epsilon", "much"), 2, "--epsilon"),
    ((*FIT, "--method", "magic"), 2, "--method"),
    ((*FIT, "--seed", "-1"), 2, "--seed"),
    ((*FIT, "--unit", "person"), 2, "needs --id-column NAME and --max-rows NUMBER"),
    ((*FIT, "--id-column", "x"), 2, "belong to --unit person"),
    ((*FIT, "--holder", "me"), 2, "add --ledger"),
    ((*FIT, "--ledger", "b.db", "--seed", "1"), 2, "not private"),
    (("clusters", "data.csv"), 2, "No such command"),
    (("--colour",), 2, "No such option"),
    (("plan",), 2, "Missing command"),
    (("ledger", "balance", "absent.db"), 1, "absent.db"),
    (("plan", "kmeans"), 2, "either --schema FILE or --bounds LOW HIGH"),
    (("plan", "kmeans", "--bounds", "0", "1"), 2, "--columns"),
    (("plan", "kmeans", "--schema", "list.toml"), 1, "has only one category"),
    (("source-target", "--source", "data.csv", "--target", "data.csv"), 2, "--column"),
    (("plan", "kmeans", "--schema", "schema.toml", "--epsilon", "0"), 1, "above zero"),
    # other commands
    (("apply", "absent", "data.csv", "-o", "l.csv"), 1, "'absent' cannot be read"),
    (("apply", "damaged", "data.csv", "-o", "l.csv"), 1, "'damaged' cannot be read"),
    (("apply", "torn.privclust", "data.csv", "-o", "l.csv"), 1, "not a complete release file"),
    (("apply", "release", "absent.csv", "-o", "l.csv"), 1, "'absent.csv' was not found"),
    (("apply", "release", "nan.csv", "-o", "l.csv"), 1, "Column 'x' has missing numbers"),
    (("apply", "release", "infinite.csv", "-o", "l.csv"), 1, "Column 'x' holds infinite"),
    (("apply", "release", "text.csv", "-o", "l.csv"), 1, "Column 'x' holds text"),
    (("apply", "release", "renamed.csv", "-o", "l.csv"), 1, "Column 'y'"),
    (("apply", "release", "empty.csv", "-o", "l.csv"), 1, "empty.csv"),
    (("apply", "release", "data.txt", "-o", "l.csv"), 1, "unknown format"),
    (("apply", "release", "data.csv", "-o", "l.txt"), 1, "must end in .csv or .parquet"),
    (("apply", "release", "data.csv", "-o", "header.csv"), 1, "pass --overwrite"),
    (("apply", "release", "data.csv", "-o", "data.csv", "--overwrite"), 1, "replace the data"),
    (("apply", "release", "data.csv", "-o", "absent/l.csv"), 1, "its folder does not exist"),
    (("apply", "release", "data.csv"), 2, "--output"),
    (("report", "absent"), 1, "'absent' cannot be read"),
    (("report", "damaged"), 1, "'damaged' cannot be read"),
    (("report", "release", "-o", "page.txt"), 1, "must end in .html"),
    (("report", "release", "-o", "absent/page.html"), 1, "its folder does not exist"),
    (("schema", "draft", "absent.csv", "-o", "new.toml"), 1, "'absent.csv' was not found"),
    (("schema", "draft", "data.csv", "-o", "new.yaml"), 1, "must end in .toml or .json"),
    (("schema", "draft", "data.csv", "-o", "schema.toml"), 1, "pass --overwrite"),
    (("schema", "draft", "header.csv"), 1, "no rows"),
    (("schema", "check", "half.toml"), 1, "a Box needs both bounds"),
    (("schema", "check", "schema.toml", "renamed.csv"), 1, "Column 'y'"),
    (("schema", "check", "schema.toml", "absent.csv"), 1, "was not found"),
    (("schema", "check", "schema.toml", "data.csv", "--id-column", "x"), 2, "'x'"),
    (("demo", "--out", "notes"), 1, "'notes' exists and does not belong to this demo"),
    (("demo", "--out", "absent/demo"), 1, "its folder does not exist"),
]


@pytest.mark.parametrize(("command", "status", "words"), BAD, ids=lambda part: str(part)[:60])
def test_it_is_answered_in_one_sentence_and_nothing_is_written(
    cluttered: Path, run: Run, command: tuple[str, ...], status: int, words: str
) -> None:
    before = snapshot(cluttered)
    result = run(*command)
    assert_one_sentence(result, status, words)
    assert snapshot(cluttered) == before


def assert_one_sentence(result: Any, status: int, words: str) -> None:
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == status, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert result.stderr.endswith(".\n")
    assert words in result.stderr


def test_machines_get_the_same_answer(cluttered: Path, run: Run) -> None:
    assert_one_sentence(run(*fit_of("nan.csv"), "--json"), 1, "missing numbers")


def test_a_place_that_cannot_be_written_is_found_before_the_fit(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    def never(*_: object) -> None:
        pytest.fail("the fit would have cost budget")

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    monkeypatch.setattr(PrivateKMeans, "fit", never)
    before = snapshot(folder)
    assert_one_sentence(run(*FIT, "-o", "out"), 1, "cannot be written (Permission denied)")
    assert snapshot(folder) == before


def test_an_interrupt_leaves_nothing_behind(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(PrivateKMeans, "fit", interrupted)
    before = snapshot(folder)
    assert_one_sentence(run(*FIT), 130, "Interrupted")
    assert snapshot(folder) == before


def test_errors_of_the_system_are_one_sentence(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError(5, "Input/output error", "data.csv")

    monkeypatch.setattr(PrivateKMeans, "fit", broken)
    assert_one_sentence(run(*FIT), 1, "'data.csv': Input/output error")


def test_a_defect_keeps_its_traceback(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def defect(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(PrivateKMeans, "fit", defect)
    assert isinstance(run(*FIT).exception, ZeroDivisionError)


def test_labels_that_fail_in_the_last_part_leave_no_file(released: Path, run: Run) -> None:
    rows = "x,y\n" + "1,2\n" * 400_000 + "seven,2\n"
    (released / "long.csv").write_text(rows)
    before = sorted(path.name for path in released.iterdir())
    for name in ("labels.csv", "labels.parquet"):
        assert_one_sentence(run("apply", "release", "long.csv", "-o", name), 1, "holds text")
    assert sorted(path.name for path in released.iterdir()) == before
