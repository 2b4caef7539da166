"""The benchmark of whole rows runs at a tiny size, and its table is drawn from its file."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from privclust.papers.datasets.matrices import MatrixSet

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def bench():
    before = list(sys.path)
    sys.path.insert(0, str(FOLDER))
    yield argparse.Namespace(**runpy.run_path(str(FOLDER / "coclustering_rows.py")))
    sys.path[:] = before


@pytest.fixture(scope="module")
def tiny():
    counts = np.kron(np.eye(2, dtype=int), np.full((60, 8), 3))
    return MatrixSet("tiny", counts, np.repeat([0, 1], 60))


def test_clear_clusters_score_one_and_their_tau_is_the_exact_one(bench, tiny):
    found = bench.scores(tiny, 50.0, 2, 0)
    assert found["nmi"] == pytest.approx(1)
    assert found["exact_tau"] == pytest.approx(0.5)
    assert found["tau"] == pytest.approx(0.5, abs=0.05)


def test_the_table_shows_both_versions_for_each_epsilon(bench, tiny):
    measures = {f"{v}_{m}": "0.25" for v in ("before", "now") for m in ("nmi", "error")}
    about = {"part": "reported on", "set": "tiny", "rows": "120", "clusters": "2"}
    rows = [about | measures | {"epsilon": e, "not_private_nmi": "1"} for e in ("1.0", "3.0")]
    table = bench.drawn(rows).splitlines()
    assert "ε = 1: before, now | ε = 3: before, now" in table[0]
    assert table[2].count("0.250 ± 0.250") == 4


def test_no_matrix_is_both_chosen_on_and_reported_on(bench):
    assert not {*bench.CHOSEN_ON} & {*bench.REPORTED_ON}


def test_a_matrix_that_is_not_there_is_named_and_left_out(bench, tmp_path, capsys):
    options = argparse.Namespace(matrices=["cstr"], data=tmp_path, epsilon=[1.0], runs=1, seed=0)
    assert not [*bench.measured(options)]
    assert "cstr is left out" in capsys.readouterr().err
