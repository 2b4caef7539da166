"""Every witness runs by itself and refutes the implementation that it is about."""

from __future__ import annotations

import csv
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "examples" / "witnesses").glob("*.py"))


def test_there_are_at_least_eight():
    assert len(SCRIPTS) >= 8


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_witness_refutes_its_claim_as_the_file_says(script, capsys):
    names = runpy.run_path(str(script), run_name="__main__")
    assert "Claim violated on this pair" in capsys.readouterr().out
    report = names["find"]()
    assert report.epsilon > report.claimed.epsilon
    with (ROOT / "benchmarks" / "results" / "witnesses.csv").open(encoding="utf-8") as file:
        (row,) = [row for row in csv.DictReader(file) if row["witness"] == script.stem]
    assert row["fault"] == report.faults[0]
    assert row["epsilon"] == ("infinite" if report.epsilon > 1e300 else f"{report.epsilon:.3g}")
