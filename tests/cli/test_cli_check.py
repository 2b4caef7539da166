"""``privclust check``, and the options about reading that all commands share."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from privclust import Schema
from privclust.release.release import Release
from support.command_line import SCHEMA, Run, clumps

GERMAN = "name;x;y\n" + "".join(
    f"n;{x:.3f};{y:.3f}\n".replace(".", ",") for x, y in clumps(200).tolist()
)


@pytest.fixture
def german(folder: Path) -> str:
    Path("german.csv").write_text(GERMAN, encoding="latin-1")
    return "german.csv"


READ = ("--ignore", "name", "--decimal", ",", "--encoding", "latin-1")


def test_a_check_is_marked_as_not_private_in_its_first_line(folder: Path, run: Run) -> None:
    result = run("check", "data.csv", "--schema", "schema.toml")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("NOT PRIVATE")
    assert "A fit would read these rows." in result.stdout
    document = json.loads(run("check", "data.csv", "--schema", "schema.toml", "--json").stdout)
    assert document["warning"].startswith("NOT PRIVATE")
    assert document["problems"] == []


def test_a_check_that_finds_what_a_fit_would_refuse_ends_with_1(folder: Path, run: Run) -> None:
    Path("odd.csv").write_text("y,x,id\nseven,1,a\n2,300,a\n")
    result = run(
        "check", "odd.csv", "--schema", "schema.toml", "--id-column", "id", "--max-rows", 1
    )
    assert result.exit_code == 1
    said = "Column 'y': 1 (50%) of its values are not of the declared form; look at the column"
    assert said in result.stdout
    assert "1 people by 'id'" in result.stdout
    assert "50.00% of the rows would be left out" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("data.csv",), "Give --schema FILE"),
        (("data.csv", "--schema", "schema.toml", "--max-rows", 3), "add --id-column"),
        (("data.csv", "--schema", "schema.toml", "--columns", "z"), "not in the schema"),
        (("data.csv", "--schema", "schema.toml", "--columns", "x", "--ignore", "x"), "ignored"),
        (("data.csv", "--schema", "schema.toml", "--delimiter", "::"), "one ASCII character"),
        (("absent-*.csv", "--schema", "schema.toml"), "No file matches"),
    ],
)
def test_options_that_do_not_go_together(
    folder: Path, run: Run, arguments: tuple[Any, ...], words: str
) -> None:
    result = run("check", *arguments)
    assert result.exit_code in (1, 2)
    assert words in result.stderr


def test_ignore_and_dialect_are_the_same_in_check_fit_and_apply(german: str, run: Run) -> None:
    fit = ("--schema", "schema.toml", "-k", 3, "--no-report", "-o", "made")
    assert "not declared in the schema" in run("kmeans", german, *fit).stderr
    checked = run("check", german, "--schema", "schema.toml", *READ)
    assert checked.exit_code == 0, checked.output
    result = run("kmeans", german, *fit, *READ)
    assert result.exit_code == 0, result.stderr
    schema = Release.load("made").schema
    assert schema.ignore == ("name",)
    assert schema.csv.decimal == ","
    # The release knows how its rows were written, and can be told of another way.
    for more in ((), ("--decimal", ",", "--delimiter", ";")):
        labelled = run("apply", "made", german, "-o", "labels.csv", "--overwrite", *more)
        assert labelled.exit_code == 0, labelled.stderr
    assert len(Path("labels.csv").read_text().splitlines()) == 201
    assert "drop --columns" in run("apply", "made", german, "-o", "l.csv", "--columns", "x").stderr


def test_columns_choose_among_the_declared_ones(folder: Path, run: Run) -> None:
    options = ("-k", 2, "--no-report", "-o", "made", "--columns", "x")
    result = run("kmeans", "data.csv", "--schema", "schema.toml", *options)
    assert result.exit_code == 0, result.stderr
    assert Release.load("made").schema.names == ("x",)


def test_columns_name_what_bounds_are_about(folder: Path, run: Run) -> None:
    options = ("kmeans", "data.csv", "--bounds", 0, 10, "-k", 2, "--no-report", "-o", "made")
    assert "names no column" in run(*options, "--ignore", "y").stderr
    result = run(*options, "--columns", "x")
    assert result.exit_code == 0, result.stderr
    assert Release.load("made").schema == Schema({"x": SCHEMA["x"]}, ignore=["*"])


def test_a_declared_column_can_be_left_out(folder: Path, run: Run) -> None:
    options = (
        "kmeans",
        "data.csv",
        "--schema",
        "schema.toml",
        "-k",
        2,
        "--no-report",
        "-o",
        "made",
    )
    result = run(*options, "--ignore", "y")
    assert result.exit_code == 0, result.stderr
    assert Release.load("made").schema.names == ("x",)


def test_a_check_says_how_a_column_is_written(folder: Path, run: Run) -> None:
    Path("odd.csv").write_text("x;y\n1.200,5;31.12.2024\n800,25;1.2.2024\n")
    Path("odd.toml").write_text(
        "[columns.x]\nlow=0\nhigh=2000\n[columns.y]\nlow=2024-01-01\nhigh=2024-12-31\n"
        "missing=2024-06-01\n"
    )
    result = run("check", "odd.csv", "--schema", "odd.toml")
    assert result.exit_code == 1
    assert 'they read with decimal = "," and thousands = ".", so declare that' in result.stdout
    assert 'they read with format = "%d.%m.%Y", so declare that' in result.stdout
    assert "would read these rows" not in result.stdout
    marks = ("--decimal", ",", "--thousands", ".", "--dates", "%d.%m.%Y")
    cured = run("check", "odd.csv", "--schema", "odd.toml", *marks)
    assert cured.exit_code == 0
    assert "A fit would read these rows." in cured.stdout


def test_a_skeleton_from_names_alone(folder: Path, run: Run) -> None:
    Path("header.csv").write_text("age;born\n")
    result = run("schema", "skeleton", "header.csv", "-o", "to-fill.toml")
    assert result.exit_code == 0, result.stderr
    assert "[columns.age]\n\n[columns.born]\n" in Path("to-fill.toml").read_text()
    told = run("schema", "check", "to-fill.toml").stderr
    assert "Column 'age': a column needs one kind of fact; give either low and high" in told
    assert "[columns.born]" in run("schema", "skeleton", "header.csv").stdout


def test_patterns_several_files_and_standard_input(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = Path("data.csv").read_bytes()
    Path("data2.csv").write_bytes(content)
    rows = len(content.splitlines()) - 1

    def count(*data: str) -> int:
        found = run("check", *data, "--schema", "schema.toml", "--json")
        assert found.exit_code == 0, found.stderr
        return int(json.loads(found.stdout)["rows"])

    assert count("data*.csv") == count("data.csv", "data2.csv") == 2 * rows
    stdin = SimpleNamespace(buffer=io.BytesIO(content), isatty=lambda: False)
    monkeypatch.setattr("privclust.reading.locations.sys", SimpleNamespace(stdin=stdin))
    assert count("-") == rows


def test_several_files_need_a_name_in_a_ledger(folder: Path, run: Run) -> None:
    assert run("ledger", "create", "l.db", "visits").exit_code == 0
    for data in (("data*.csv",), ("data.csv", "data.csv"), ("-",)):
        result = run("kmeans", *data, "--schema", "schema.toml", "--ledger", "l.db")
        assert result.exit_code == 2
        assert "add --dataset" in result.stderr
