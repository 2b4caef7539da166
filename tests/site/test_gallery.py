"""The examples of the gallery run as they stand, and show a picture each."""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "gallery").glob("plot_*.py"))


def test_there_are_at_least_twelve():
    assert len(EXAMPLES) >= 12


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_draws(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    plt.switch_backend("agg")
    monkeypatch.setattr(plt, "show", lambda: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(example.read_text("utf-8"), example.name, "exec"), {"__name__": "__main__"})  # noqa: S102
    drawn = [axes for number in plt.get_fignums() for axes in plt.figure(number).axes]
    assert any(axes.has_data() for axes in drawn)
    plt.close("all")
