"""Mixed tables on the command line: fit, label, summarise, cluster, sample, plan."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from privclust.release.release import Release
from privclust.schema.coordinates import Coordinates
from support.command_line import Run
from support.datasets import MIXED, mixed

DECLARED = ("--schema", "mixed.toml", "--epsilon", 5, "--no-report", "--seed", 0)


@pytest.fixture(autouse=True)
def table(folder: Path) -> Path:
    """The working folder with a mixed table and its schema in it."""
    mixed().drop(columns="who").to_csv("mixed.csv", index=False)
    MIXED.save("mixed.toml")
    return folder


@pytest.mark.parametrize("metric", ["mismatch", "dilca"])
def test_a_mixed_table_is_clustered_and_labelled(run: Run, metric: str) -> None:
    fitted = run(
        "kmeans", "mixed.csv", *DECLARED, "--clusters", 3, "--metric", metric, "-o", "made"
    )
    assert fitted.exit_code == 0, fitted.stderr
    applied = run("apply", "made", "mixed.csv", "-o", "labels.csv")
    assert applied.exit_code == 0, applied.stderr
    assert set(pd.read_csv("labels.csv")["cluster"]) == {0, 1, 2}
    center = Release.load("made").facts().values["clusters"][0]["center"]
    assert list(center) == list(MIXED.names)
    assert center["town"].keys() == {"north", "south", "west", "(other)"}


def test_a_mixed_summary_is_clustered_and_sampled(run: Run) -> None:
    fitted = run("summarise", "mixed.csv", *DECLARED, "-o", "summary")
    assert fitted.exit_code == 0, fitted.stderr
    assert run("cluster", "summary", "--clusters", 3, "-o", "three").exit_code == 0
    width = Release.load("three").arrays["cluster_centers"].shape[1]
    assert width == Coordinates(MIXED).dimension
    drawn = run("sample", "summary", "-o", "rows.csv", "--rows", 50)
    assert drawn.exit_code == 0, drawn.stderr
    rows = pd.read_csv("rows.csv")
    assert list(rows.columns) == list(MIXED.names)
    assert rows["since"].between("2020-01-01", "2024-12-31").all()


def test_a_mixed_fit_is_planned_without_data(run: Run) -> None:
    planned = run("plan", "kmeans", "--schema", "mixed.toml", "--rows", 1000, "--json")
    assert planned.exit_code == 0, planned.stderr
    assert json.loads(planned.stdout)["error_ratio"] > 0


def test_a_weight_of_zero_is_one_sentence(run: Run) -> None:
    text = Path("mixed.toml").read_text(encoding="utf-8").replace("weight = 0.5", "weight = 0")
    Path("mixed.toml").write_text(text, encoding="utf-8")
    refused = run("kmeans", "mixed.csv", *DECLARED, "-o", "made")
    assert refused.exit_code == 1
    assert "to leave out the column, ignore it" in refused.stderr
    assert not Path("made").exists()
