"""Synthetic rows on the command line: asked for, drawn, and written as they were declared."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privclust import Box, Categories, PrivateSummary, Release, Schema
from privclust.schema import Csv

RNG = np.random.default_rng(5)
SCHEMA = Schema({"age": Box(0, 110, form="integer"), "born": Box("1950-01-01", "2009-12-31")})
MIXED = Schema({**SCHEMA.columns, "sex": Categories(["f", "m"])})
DAYS = pd.to_timedelta(RNG.integers(0, 20_000, 2000), "D")
ROWS = pd.DataFrame({"age": RNG.integers(0, 99, 2000), "born": pd.Timestamp("1950-01-01") + DAYS})
ROWS["sex"] = np.where(ROWS["age"] < 50, "f", "m")


def saved(schema, folder):
    model = PrivateSummary(epsilon=5, schema=schema, synthetic=True, random_state=0)
    model.fit(ROWS[[*schema.names]]).release().save(folder)
    return folder


def test_rows_are_written_with_declared_types(run, tmp_path):
    summary = saved(MIXED, tmp_path / "summary")
    made = tmp_path / "made.parquet"
    told = run("sample", summary, "-o", made, "--rows", "50", "--json")
    document = json.loads(told.stdout)
    assert document["n_rows"] == 50
    assert "points" in document["notes"][0]
    assert pq.read_schema(made).field("age").type == pa.int64()
    assert pq.read_schema(made).field("born").type == pa.date32()


def test_numbers_alone_are_written_in_their_form(run, tmp_path):
    summary = saved(SCHEMA, tmp_path / "summary")
    told = run("sample", summary, "-o", tmp_path / "made.csv", "--rows", "20")
    assert "points" in told.stdout
    read = pd.read_csv(tmp_path / "made.csv")
    assert read["age"].dtype == np.int64
    assert read["born"].str.fullmatch(r"\d{4}-\d\d-\d\d").all()


def test_tables_are_asked_for_on_the_command_line(run, tmp_path):
    ROWS[["age", "sex"]].to_csv(tmp_path / "rows.csv", index=False)
    MIXED.only(["age", "sex"]).save(tmp_path / "schema.toml")
    common = [tmp_path / "rows.csv", "--schema", tmp_path / "schema.toml", "--epsilon", "1"]
    for name, words in {"one": ["--synthetic", "yes"], "two": ["--synthetic", "0.3"]}.items():
        told = run("summarise", *common, *words, "-o", tmp_path / name)
        assert told.exit_code == 0, told.output
        assert "pair_counts" in Release.load(tmp_path / name).arrays


WRITTEN = Schema(
    {
        "born": Box("1950-01-01", "2009-12-31", format="%d.%m.%Y"),
        "seen": Box("2020-01-01T00:00:00", "2024-12-31T00:00:00", format="%m/%d/%y %I:%M:%S %p %z"),
        "height": Box(0, 3, decimal=",", unit="m"),
        "stay": Box(0, 48, form="hours"),
        "count": Box(0, 10_000, form="integer", thousands="'"),
        "kind": Categories(["grün", "blau;rot"]),
        "paid": Categories([True, False], true=["ja"], false=["nein"]),
    }
)


@pytest.mark.parametrize(
    "csv", [Csv(), Csv(";", ",", encoding="latin-1"), Csv("\t", encoding="utf-16")], ids=repr
)
def test_a_file_of_synthetic_rows_is_written_as_declared_and_can_be_read_again(run, tmp_path, csv):
    schema = Schema(WRITTEN.columns, csv=csv)
    rows = {
        "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(RNG.integers(0, 20_000, 900), "D"),
        "seen": pd.Timestamp("2021-01-01") + pd.to_timedelta(RNG.integers(0, 10**7, 900), "s"),
        "height": RNG.uniform(1, 2, 900),
        "stay": pd.to_timedelta(RNG.uniform(0, 48, 900), "h"),
        "count": RNG.integers(0, 10_000, 900),
        "kind": RNG.choice(["grün", "blau;rot"], 900),
        "paid": RNG.choice([True, False], 900),
    }
    model = PrivateSummary(epsilon=20, delta=1e-6, schema=schema, synthetic=True)
    model.fit(pd.DataFrame(rows)).release().save(tmp_path / "summary")
    schema.save(tmp_path / "schema.toml")
    made = tmp_path / "made.csv"
    assert run("sample", tmp_path / "summary", "-o", made, "--rows", "500").exit_code == 0
    again = run("check", made, "--schema", tmp_path / "schema.toml", "--json")
    assert again.exit_code == 0, again.output
    text = made.read_text(csv.encoding or "utf-8")
    assert re.search(r"\b[0-3]\d\.[01]\d\.(19[5-9]|200)\d\b", text)
    assert re.search(r"\b1,\d", text)
