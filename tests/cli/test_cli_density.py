"""``privclust density``: the release, the plan, labels by it, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from privclust import Release


@pytest.fixture
def moons(tmp_path):
    """A file of two columns, and which half each row is of."""
    rows, halves = make_moons(4000, noise=0.05, random_state=0)
    path = tmp_path / "moons.csv"
    pd.DataFrame(rows, columns=["x", "y"]).to_csv(path, index=False)
    return path, halves


def test_a_density_is_fitted_and_labels_rows(run, moons, tmp_path):
    (moons, halves), out, labels = moons, tmp_path / "density", tmp_path / "labels.csv"
    told = run("density", moons, "--bounds", "-2", "3", "--epsilon", "2", "-o", out)
    assert told.exit_code == 0, told.output
    release = Release.load(out)
    assert release.kind == "density"
    assert "clusters stand out from the noise" in told.output
    assert run("apply", out, moons, "-o", labels).exit_code == 0
    found = pd.read_csv(labels).iloc[:, -1].to_numpy()
    assert adjusted_rand_score(halves, found) > 0.9


def test_a_density_is_planned_without_data(run):
    told = run("plan", "density", "--bounds", "0", "1", "--columns", "2", "--json")
    assert told.exit_code == 0, told.output
    plan = json.loads(told.stdout)
    asked = [query["query"] for query in plan["queries"]]
    assert asked == ["number of rows", "first look at cells", "counts of cells"]
    assert plan["measure"] == "loss of agreement"


def test_four_columns_are_refused_in_one_sentence(run, tmp_path):
    path = tmp_path / "wide.csv"
    pd.DataFrame(np.zeros((5, 4)), columns=list("abcd")).to_csv(path, index=False)
    told = run("density", path, "--bounds", "0", "1", "-o", tmp_path / "out")
    assert told.exit_code != 0
    assert "one to three columns of numbers, got 4" in told.output
    assert not (tmp_path / "out").exists()
