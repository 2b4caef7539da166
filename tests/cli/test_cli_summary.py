"""``privclust summarise``, and what its release answers afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from privclust import Box, Release, Schema
from support.command_line import SCHEMA, Run

FIT = ("summarise", "data.csv", "--schema", "schema.toml", "--epsilon", 10, "-o", "summary")


@pytest.fixture
def summary(folder: Path, run: Run) -> Path:
    result = run(*FIT)
    assert result.exit_code == 0, result.stderr
    return folder / "summary"


def test_a_summary_answers_for_any_number_of_clusters(summary: Path, run: Run) -> None:
    for k in (2, 3):
        result = run("cluster", "summary", "--clusters", k, "-o", f"k{k}", "--json")
        assert result.exit_code == 0, result.stderr
        made = Release.load(f"k{k}")
        assert made.kind == "kmeans"
        assert made.arrays["cluster_centers"].shape == (k, len(SCHEMA.names))
        assert made.privacy == Release.load("summary").privacy


def test_a_summary_says_how_many_clusters_there_are(summary: Path, run: Run) -> None:
    document = json.loads(run("choose-k", "summary", "--most", 6, "--json").stdout)
    assert document["n_clusters"] in (3, None)  # or too few rows to be sure
    assert document["suggestion"] == 3
    assert document["k"] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_synthetic_rows_are_drawn_within_the_bounds(summary: Path, run: Run, name: str) -> None:
    result = run("sample", "summary", "-o", name, "--rows", 50)
    assert result.exit_code == 0, result.stderr
    rows = pd.read_csv(name) if name.endswith("csv") else pd.read_parquet(name)
    assert list(rows.columns) == list(SCHEMA.names)
    assert len(rows) == 50
    assert ((rows >= SCHEMA.low) & (rows <= SCHEMA.high)).all().all()


def test_other_releases_are_refused_in_one_sentence(released: Path, run: Run) -> None:
    for command in (("choose-k", "release"), ("cluster", "release", "-o", "k")):
        result = run(*command)
        assert result.exit_code == 1
        assert "is not a summary" in result.stderr


def test_clusters_are_told_in_sentences_and_histograms_are_paid_for(folder: Path, run: Run) -> None:
    lines = ["age,stay", *(f"{20 + i % 7 + 50 * (i % 2)},{5 + i % 3}" for i in range(3000))]
    Path("rows.csv").write_text("\n".join(lines))
    Path("wide.toml").write_text(Schema({"age": Box(0, 100), "stay": Box(0, 20)}).to_toml())
    asked = ("--schema", "wide.toml", "--epsilon", 5, "--seed", 0, "--no-report")
    made = run("summarise", "rows.csv", *asked, "--profile-share", 0.2, "-o", "s")
    assert made.exit_code == 0, made.stderr
    assert "profile_counts" in Release.load("s").arrays
    shown = run("cluster", "s", "--clusters", 2, "-o", "two").stdout
    assert "what sets it apart" in shown
    assert "age higher;" in shown
    assert "age lower;" in shown
    document = json.loads(run("cluster", "s", "-k", 2, "-o", "again", "--json").stdout)
    assert sorted(words.split(";")[0] for words in document["sentences"]) == [
        "age higher",
        "age lower",
    ]
    fitted = run("kmeans", "rows.csv", *asked, "-k", 2, "--profile-share", 0.2, "-o", "k")
    assert fitted.exit_code == 0, fitted.stderr
    assert "profile_counts" in Release.load("k").arrays


def test_title_and_names_go_with_the_clusters_of_a_summary(folder: Path, run: Run) -> None:
    lines = ["age,stay", *(f"{20 + i % 7 + 50 * (i % 2)},{5 + i % 3}" for i in range(3000))]
    Path("rows.csv").write_text("\n".join(lines))
    Path("wide.toml").write_text(Schema({"age": Box(0, 100), "stay": Box(0, 20)}).to_toml())
    asked = ("--schema", "wide.toml", "--epsilon", 5, "--seed", 0, "--no-report")
    assert run("summarise", "rows.csv", *asked, "--title", "Visits", "-o", "s").exit_code == 0
    assert run("cluster", "s", "-k", 2, "-o", "two").exit_code == 0
    assert Release.load("two").about.title == "Visits"
    Path("names.txt").write_text("the young\nthe old\n")
    named = run("cluster", "s", "-k", 2, "--names", "names.txt", "--title", "Ages", "-o", "named")
    assert "the young" in named.stdout
    about = Release.load("named").about
    assert (about.title, about.names) == ("Ages", ("the young", "the old"))
    described = run("release", "describe", "two", "--names", "names.txt")
    assert described.exit_code == 0, described.stderr
    assert "The young" in Path("two/report.html").read_text("utf-8")
