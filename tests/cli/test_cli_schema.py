"""``privclust schema draft`` and ``privclust schema check``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privclust import Bins, Box, Categories, Ledger, Release, Schema
from support.command_line import SCHEMA, Run

SAMPLE = "age,sex\n30,f\n51,m\n"


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_a_draft_is_the_librarys_own_and_says_that_the_sample_must_be_public(
    folder: Path, run: Run, suffix: str
) -> None:
    Path("sample.csv").write_text(SAMPLE)
    result = run("schema", "draft", "sample.csv", "-o", f"new.{suffix}")
    assert result.exit_code == 0, result.stderr
    assert Schema.load(f"new.{suffix}") == Schema.draft("sample.csv")
    assert "must be PUBLIC" in result.stderr
    assert "public sample" in Path(f"new.{suffix}").read_text()
    assert result.stdout == f"Schema: new.{suffix}\n"


def test_a_draft_without_a_place_is_printed(folder: Path, run: Run) -> None:
    Path("sample.csv").write_text(SAMPLE)
    result = run("schema", "draft", "sample.csv", "--ignore", "sex", "--rows", 1)
    assert Schema.from_toml(result.stdout).names == ("age",)
    document = json.loads(run("schema", "draft", "sample.csv", "--json").stdout)
    assert Schema.from_dict(document["schema"]) == Schema.draft("sample.csv")
    assert document["path"] is None


def test_a_valid_schema_is_shown(folder: Path, run: Run) -> None:
    facts = {"a": Box(0, 5), "b": Bins([0, 1, 3]), "c[d]": Categories(["u", "v"])}
    Path("all.toml").write_text(Schema(facts).to_toml())
    result = run("schema", "check", "all.toml")
    assert result.exit_code == 0, result.stderr
    for words in ("0 to 5", "2 bins from 0 to 3", "2 categories", "c[d]", "is valid"):
        assert words in result.stdout
    document = json.loads(run("schema", "check", "all.toml", "--json").stdout)
    assert Schema.from_dict(document["schema"]) == Schema(facts)


def test_data_are_compared_by_their_columns_and_no_row_is_read(folder: Path, run: Run) -> None:
    Path("odd.csv").write_text("y,x\nseven,\n")
    for data in ("data.csv", "odd.csv"):
        result = run("schema", "check", "schema.toml", data)
        assert result.exit_code == 0, result.stderr
        assert "are the declared ones" in result.stdout


def test_an_id_column_is_not_declared(folder: Path, run: Run) -> None:
    Path("people.csv").write_text("x,y,who\n1,2,a\n")
    assert run("schema", "check", "schema.toml", "people.csv").exit_code == 1
    check = ("schema", "check", "schema.toml", "people.csv", "--id-column", "who")
    assert run(*check).exit_code == 0


@pytest.mark.parametrize(
    ("kind", "fits"),
    [
        (pa.int32(), True),
        (pa.float32(), True),
        (pa.dictionary(pa.int8(), pa.float64()), True),
        (pa.string(), False),
        (pa.timestamp("s"), False),
    ],
    ids=str,
)
def test_types_of_parquet_columns_are_checked_without_rows(
    folder: Path, run: Run, kind: Any, fits: bool
) -> None:
    empty = pa.table({"x": pa.array([], pa.float64()), "y": pa.array([], kind)})
    Path("parts").mkdir()
    for path in ("typed.parquet", "parts/a.parquet"):
        pq.write_table(empty, path)
    for data in ("typed.parquet", "parts"):
        result = run("schema", "check", "schema.toml", data)
        assert result.exit_code == (0 if fits else 1)
        assert fits or result.stderr.startswith("Error: Column 'y' holds ")


def test_categorical_columns_are_compared_by_name(folder: Path, run: Run) -> None:
    facts = {**SCHEMA.columns, "sex": Categories(["f", "m"])}
    Path("mixed.toml").write_text(Schema(facts).to_toml())
    pq.write_table(pa.table({"x": [1.0], "y": [2], "sex": ["f"]}), "mixed.parquet")
    assert run("schema", "check", "mixed.toml", "mixed.parquet").exit_code == 0
    assert "'sex'" in run("schema", "check", "mixed.toml", "data.csv").stderr


def private_rows(name: str = "rows.csv") -> None:
    lines = (f"{18 + i % 70},{i % 900},f" for i in range(4000))
    Path(name).write_text("age,stay,sex\n" + "\n".join(lines))


def test_a_private_draft_is_paid_for_and_published(folder: Path, run: Run) -> None:
    private_rows()
    run("ledger", "create", "b.db", "rows")
    run("ledger", "grant", "b.db", "rows", "--epsilon", 100)
    # So much budget leaves no noise to speak of: at 0.5 one draft in 300 is twice as wide.
    asked = ("--private", "--epsilon", 50, "--ledger", "b.db", "--ignore", "sex")
    columns = ("--columns", "age", "--columns", "stay", "--form", "age=integer")
    result = run("schema", "draft", "rows.csv", *asked, *columns, "-o", "new.toml")
    assert result.exit_code == 0, result.stderr
    schema, release = Schema.load("new.toml"), Release.load("bounds")
    assert schema == release.schema
    assert schema.ignore == ("sex",)
    assert schema["age"].high - schema["age"].low < 200
    assert "differentially private with ε = 50" in result.stdout
    assert "must be PUBLIC" not in result.stderr
    (settled,) = [e for e in Ledger.open("b.db").history("rows") if e.kind == "settle"]
    assert settled.digest == release.digest
    refused = run("schema", "draft", "rows.csv", *asked, *columns, "--release", "again")
    assert refused.exit_code == 0, refused.stderr
    refused = run("schema", "draft", "rows.csv", *asked, *columns, "--release", "third")
    assert refused.exit_code == 1
    assert not Path("third").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--epsilon", 1), "--epsilon is for private rows"),
        (("--outside-share", 0.1), "--outside-share is for private rows"),
        (("--private", "--form", "age"), "--form takes NAME=FORM"),
        (("--private", "--columns", "stay", "--form", "age=date"), "not among --columns"),
    ],
)
def test_options_of_a_private_draft_that_do_not_go_together_are_refused(
    folder: Path, run: Run, options: Any, words: str
) -> None:
    private_rows()
    result = run("schema", "draft", "rows.csv", *options)
    assert result.exit_code == 2
    assert words in result.stderr
