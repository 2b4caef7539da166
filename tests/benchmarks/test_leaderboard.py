"""The leaderboard runs at a tiny size, with every method that needs no environment of its own."""

from __future__ import annotations

import argparse
import runpy
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from privclust import Budget
from privclust.audit import replay
from privclust.exceptions import DataError
from privclust.papers.datasets.points import clump_set

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks" / "leaderboard"
OPTIONS = argparse.Namespace(epsilon=[1.0], runs=1, seed=0)


@pytest.fixture(scope="module")
def board():
    before = list(sys.path)
    yield argparse.Namespace(**runpy.run_path(str(FOLDER / "__main__.py")))
    sys.path[:] = before


@pytest.fixture(scope="module")
def rows(board):
    chosen = [path.stem for path in (FOLDER / "methods").glob("[!_]*.py")]
    methods = board.methods_in(FOLDER / "methods", sorted({*chosen} - {"diffprivlib", "mst"}))
    tiny = clump_set("tiny", 400, 2, 3)
    return methods, list(board.measured(tiny, methods, OPTIONS))


def test_every_method_of_the_leaderboard_finds_centres(rows):
    methods, found = rows
    assert [row["method"] for row in found] == [*methods]
    ratios = {row["method"]: float(row["inertia"]) / float(row["best"]) for row in found}
    assert all(ratio >= 0.999 for ratio in ratios.values())
    assert ratios["k-means, not private"] < 1.5


def test_ratios_are_those_to_the_best_run_with_at_most_k_centres(board):
    runs = ((2, "1.2", "a"), (2, "0.8", "b"), (5, "0.4", "c"))
    rows = [
        {"set": "s", "method": method, "epsilon": "1", "k": "2", "centres": str(centres)}
        | {"inertia": found, "best": "1", "seconds": "0"}
        for centres, found, method in runs
    ]
    cells = page_of(board).cells_from_release(rows)
    assert [round(cells["s", name, 1.0][0][0], 9) for name in "abc"] == [1.5, 1, 0.5]


def run_of(method, found, *, name="s", centres=2, best="1"):
    return {
        "set": name, "method": method, "epsilon": "1", "k": "2", "centres": str(centres),
        "inertia": str(found), "best": best, "seconds": "0",
    }  # fmt: skip


def test_the_best_of_the_file_is_the_best_of_all_runs_of_a_set(board):
    rows = [run_of("a", 1.2), run_of("b", 0.8, best="2"), run_of("c", 0.4, centres=5)]
    mended = page_of(board).mend_best([*rows, run_of("a", 7, name="t", best="5")])
    assert [row["best"] for row in mended] == ["0.8", "0.8", "0.8", "5"]
    assert page_of(board).mend_best(mended) == mended


def test_wins_ties_and_losses_are_counted_without_more_centres_and_without_the_exact(board):
    rows = [run_of("a", 1), run_of("b", 1.01), run_of("c", 2), run_of("many", 0.1, centres=9)]
    rows += [
        run_of("k-means, not private", 0.9),
        run_of("a", 1, name="t"),
        run_of("b", 2, name="t"),
    ]
    lines = page_of(board).summary(rows).splitlines()[2:]
    assert lines == ["| a | 1 | 1 | 0 |", "| b | 0 | 1 | 1 |", "| c | 0 | 0 | 1 |"]
    assert page_of(board).lost(rows, "b") == "b is behind on t at ε = 1 (a, 1 against 2)."
    assert page_of(board).lost(rows, "a") == "a is behind on none."
    assert "**" in page_of(board).marked("1", {"a": 1.0, "b": 2.0}, "a")
    assert "**" not in page_of(board).marked("2", {"a": 1.0, "b": 2.0}, "b")


@pytest.mark.parametrize("name", ["dpm", "eugkm", "lsh", "pe_means"])
def test_rivals_in_our_words_keep_their_claim_on_a_pair(board, name):
    (centres,) = board.methods_in(FOLDER / "methods", [name]).values()
    data = clump_set("tiny", 300, 2, 3)
    more = np.vstack([data.points, data.schema.high])

    def fit(points):
        return centres(replace(data, points=points), 1.0, 1e-6, 0)

    report = replay(fit, data.points, more, Budget(1, 1e-6), noise="numpy")
    # The sizes of LSH clustering are Laplace noise, of which only a bound is known with a δ.
    assert report.verdict == ("undecided" if name == "lsh" else "kept")
    assert report.epsilon < 1.1


def test_real_sets_need_the_folder_of_the_data(board, tmp_path):
    with pytest.raises(DataError, match="--data"):
        board.opened("S1", tmp_path)
    np.savetxt(tmp_path / "s1.txt.gz", [[2**19, 2**20]] * 20, "%d")
    data = board.opened("S1", tmp_path)
    assert (data.n_clusters, data.points.tolist()[0]) == (15, [0.5, 1.0])


def page_of(board):
    return sys.modules[board.publish.__module__]


def test_a_set_that_is_run_again_replaces_the_rows_of_its_methods_alone(board, tmp_path):
    for name, method, value in (("s", "a", 1), ("s", "b", 2), ("t", "a", 3), ("s", "a", 4)):
        row = {"set": name, "method": method, "inertia": value}
        board.replace_rows("x", [row], by=("set", "method"), folder=tmp_path)
    kept = [(r["set"], r["method"], r["inertia"]) for r in board.read_rows("x", tmp_path)]
    assert kept == [("s", "a", "4"), ("s", "b", "2"), ("t", "a", "3")]  # where the old ones stood


def test_the_page_is_filled_from_the_results_alone(rows, board, tmp_path):
    page, readme = copies(tmp_path)
    told = [{**row, **board.origin(0, "tiny")} for row in rows[1]]
    board.replace_rows("leaderboard", told, folder=tmp_path)
    twelve = board.twelve
    methods = board.methods_in(FOLDER / "methods", list(twelve.METHODS))
    found = twelve.losses(twelve.generated(4, 4, 300), methods, 1, 0)
    fits = [{**row, **board.origin(0, "tiny")} for row in found]
    board.replace_rows("leaderboard-twelve", fits, folder=tmp_path)
    files = (board.read_rows(name, tmp_path) for name in ("leaderboard", "leaderboard-twelve"))
    board.publish(*files, page, [*rows[0], "another"], readme)
    text = page.read_text("utf-8")
    assert "**tiny: 400 points, 2 dimensions, k = 3**" in text
    assert "| privclust | 1 | 1 |" in text  # one set, one run at each ε
    assert "was not run on it: another on tiny." in text
    assert "ahead by more than 2 % on 0 of 1 sets" in text  # of 300 rows, not of 20 000
    assert "of 1 pairs of a set and an ε" in readme.read_text("utf-8").replace("Of", "of")
    assert (tmp_path / "figures" / "leaderboard.png").exists()


def test_the_integral_of_a_loss_is_that_of_trapezoids(board):
    losses = {"0.25": 4, "0.5": 2, "1.0": 1, "2.0": 1, "4.0": 1}
    rows = [
        {"k": "4", "d": "16", "method": "a", "run": run, "epsilon": e, "loss": str(loss)}
        for run in "01"
        for e, loss in losses.items()
    ]
    assert board.twelve.integrals(rows) == {(4, 16): {"a": (0.75 + 0.75 + 1 + 2, 0.0)}}


def test_more_centres_than_wanted_are_cut(board):
    (centres,) = board.methods_in(FOLDER / "methods", ["dpm"]).values()
    data = clump_set("tiny", 5000, 2, 3)
    assert len(centres(data, 10.0, 1e-6, 0)) == 3


def test_a_method_is_one_file_with_one_function(board, tmp_path):
    (tmp_path / "corner.py").write_text(
        '"""Corner: never looks."""\n\ndef centres(data, epsilon, delta, seed):\n'
        "    return data.schema.low[None, :]\n"
    )
    (tmp_path / "picky.py").write_text(
        '"""Picky: no."""\n\ndef centres(data, epsilon, delta, seed):\n'
        '    raise NotImplementedError("not this one")\n'
    )
    methods = board.methods_in(tmp_path)
    assert [*methods] == ["Corner", "Picky"]
    (row,) = board.measured(clump_set("tiny", 50, 2, 2), methods, OPTIONS)
    assert (row["method"], row["centres"]) == ("Corner", 1)


def test_the_pages_say_what_the_committed_file_holds(board, tmp_path):
    page, readme = copies(tmp_path)
    methods = [*board.methods_in(FOLDER / "methods")]
    files = (board.read_rows(f"leaderboard{part}", board.RESULTS) for part in ("", "-twelve"))
    board.publish(*files, page, methods, readme)
    assert page.read_text("utf-8") == (ROOT / "docs" / "leaderboard.md").read_text("utf-8")
    assert readme.read_text("utf-8") == (ROOT / "README.md").read_text("utf-8")


def copies(folder):
    """Return copies of the pages that are filled."""
    pages = (ROOT / "docs" / "leaderboard.md", ROOT / "README.md")
    return [Path(shutil.copy(page, folder)) for page in pages]
