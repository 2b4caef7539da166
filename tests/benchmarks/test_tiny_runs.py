"""Every benchmark runs at a tiny size, so that none rots: each file that is a command, each part.

A case names the file, its arguments, and what is made smaller. Results go to a folder of the test,
and pages are copies.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from privclust.papers.datasets.matrices import biclusters
from support.scripts import BENCHMARKS, scripts

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(0)


class Case(NamedTuple):
    """One command at a tiny size; ``{data}`` and ``{folder}`` are folders of the test."""

    file: str
    arguments: str
    smaller: dict[str, Any] = {}  # noqa: RUF012


def tiny_points(*_: Any) -> dict[str, Any]:
    from privclust import Schema

    return {"60x2": (RNG.uniform(-1, 1, (60, 2)), Schema.from_bounds(-1, 1, n_columns=2))}


def tiny_mixture(rng: np.random.Generator) -> Any:
    (mixture_sets,) = scripts("mixture_sets")
    rows, classes = rng.uniform(-1, 1, (120, 2)), rng.integers(2, size=60)
    low = np.full(2, -1.0)
    return mixture_sets.MixtureSet(rows[:60], rows[60:], classes, low, -low, 2)


def tiny_bounds(*_: Any) -> Iterator[tuple[str, Any]]:
    yield "200 x 2", RNG.normal(size=(200, 2))


def tiny_choices(*_: Any) -> Iterator[tuple[str, int, Any]]:
    yield "uniform", 1, RNG.uniform(-1, 1, (200, 2))


def tiny_tables(*_: Any) -> Iterator[tuple[str, Any, Any]]:
    from privclust import Schema

    yield "even", RNG.uniform(0, 1, (500, 2)), Schema.from_bounds(0, 1, n_columns=2)


def tiny_coins(*_: Any) -> Any:
    (mixed_sets,) = scripts("mixed_sets")

    return mixed_sets.generated((2, 0), (0, 1), n=200, k=2, seed=0)


def tiny_pair(*_: Any) -> Any:
    from privclust.papers.datasets.source_target import scale_pair

    pair = RNG.normal(size=(40, 2)), RNG.normal(size=(30, 2))
    return lambda seed: scale_pair(pair)


def of_one_machine(run: str, *_: Any) -> dict[str, Any]:
    wire = dict.fromkeys(("passes", "tasks", "bytes_out", "bytes_back"), 1)
    return {"cpu": 1.0, "wall": 1.0, "megabytes": 1.0, "worker_cpu": 1.0, "digest": run, **wire}


def tiny_table(*_: Any) -> Any:
    """Return a set for synthetic rows: a number and two categories."""
    (sets,) = scripts("synthetic_sets")
    words = np.array(["u", "v"])
    rows = pd.DataFrame({"x": RNG.integers(0, 20, 400), "y": words[RNG.integers(0, 2, 400)]})
    rows["z"] = words[(rows["x"] > 9).astype(int)]
    return sets.made("adult9", rows, {"x": (0, 20, True)}, "z")


def committed(name: str) -> list[dict[str, str]]:
    (keeping,) = scripts("keeping")
    found: list[dict[str, str]] = keeping.read_rows(name, BENCHMARKS / "results")
    return found


def tiny_check(*_: Any) -> dict[str, Any]:
    figures = ("tables", "loss", "loss_mbi", "apart", "seconds", "seconds_mbi")
    return {"set": "adult9", **dict.fromkeys(figures, 1.0)}


SOURCE_TARGET = {"pair_maker": tiny_pair, "NUMBERS": [2, 5]}
BUDGET = {"BUDGETS": ((1.0, 1e-6),)}
RICH = {"BUDGETS": ((20.0, 1e-6),)}  # so that noise never hides the cells
CASES = [
    Case("bounds", "ranges", {"sets": tiny_bounds, **BUDGET}),
    Case("bounds", "kmeans", {"CLUMPS": ((300, 2, 2),)}),
    *(
        Case("categorical", f"{part} --data {{data}} --sets tiny --runs 2 --epsilon 1 {more}")
        for part, more in {
            "distances": "--rows pairs max-dependency --per-target --plots {folder}",
            "contexts": "--rows mean-su",
            "objects": "--rows baseline",
            "ward": "--rows max-relevance",
            "neighbours": "--rows max-relevance",
            "kmeans": "",
            "times": "",
            "scale": "--many 100",
        }.items()
    ),
    Case("categorical", "synthetic --runs 2 --epsilon 1"),
    Case(
        "coclustering",
        "--data {data} --output {folder} --runs 1 --matrices blocks",
        {
            "WIDTHS": (12,),
            "COLUMN_EPSILONS": (1,),
            "EPSILONS": (1,),
            "WIDE_EPSILONS": (1,),
            "ROUNDS": (2,),
        },
    ),
    Case(
        "coclustering_rows",
        "--data {data} --matrices blocks --epsilon 8 --runs 1 --lines",
    ),
    Case("category_signal", "tiny --data {data} --runs 2 --epsilon 1 --output {folder}"),
    Case(
        "category_unused",
        "tiny --data {data} --runs 2 --epsilon 1 --page {pages}/research/categorical.md",
    ),
    Case(
        "source_target_worst",
        "one --runs 2 --output {folder}",
        {"pair_maker": tiny_pair, "NUMBERS": [2, 5]},
    ),
    Case("data_sets", "--data {data} --output {folder} --page {pages}/datasets.md"),
    Case(
        "few_rows",
        "iris --epsilon 1 --runs 2 --page {pages}/research/few-rows.md",
        {"DELTAS": (0,)},
    ),
    Case(
        "few_columns",
        "--epsilon 1 --runs 2 --page {pages}/research/few-rows.md",
        {"DELTAS": (0,), "sets": lambda: {"tiny": (RNG.uniform(-1, 1, (60, 2)), 3)}},
    ),
    Case(
        "with_delta",
        "--epsilon 1 --runs 2 --page {pages}/research/kmeans.md",
        {"SHAPES": [(60, 2)]},
    ),
    Case("kmeans", "run iris --epsilon 1 --runs 2"),
    Case("floor", "page --page {pages}/research/accuracy.md"),
    Case(
        "ledger",
        "{folder}",
        {"CHARGES": 4, "SYNCS": 2, "FITS": 1, "SIZES": ((50, 2),), "PROCESSES": (1, 2)},
    ),
    Case(
        "ledger",
        "{folder} --ways",
        {"CHARGES_A_ROUND": 8, "SYNCS": 2, "ROUNDS": 1, "PROCESSES": (1, 8)},
    ),
    # Of 80 rows no more cells than two are sure to stand out.
    Case("mixed", "adult --data {data}", {"CLUSTERS": (2,), **RICH}),
    Case(
        "mixed",
        "classes --data {folder}",
        {"ALL_SETS": {"iris, coin": tiny_coins}, "CLASS_BUDGETS": ((3.0, 0), (1.0, 1e-6))},
    ),
    Case(
        "mixed",
        "bounds --data {folder}",
        {"SETS": {"tiny": tiny_coins}, "BOUND_SETS": ("tiny",), "BOUND_BUDGETS": ((3.0, 0),)},
    ),
    Case("mixed", "metrics --data {data}", {"CATEGORY_SETS": ("tiny",)}),
    Case("mixed", "summary-metrics --data {data}", {"CATEGORY_SETS": ("tiny",)}),
    Case("mixed", "learned --data {folder}", {"ALL_SETS": {"generated": tiny_coins}}),
    Case("mixed", "summary-learned --data {folder}", {"ALL_SETS": {"generated": tiny_coins}}),
    Case(
        "mixed",
        "kinds",
        {"KINDS": ((300, 2, 1, (3, 3), 0.9, 0.05),), **{"BUDGETS": ((1, 0), (20.0, 1e-6))}},
    ),
    # A process for each fit, of which one will do.
    Case("mixed", "speed", {"SMALL": 200, "MODELS": ("summary",), "COLUMNS": ("mixed",)}),
    Case(
        "mixed_agreement",
        "--data {data} --runs 1",
        {"SETS": {"tiny": tiny_coins}, "FRESH": {}, "BUDGETS": ((3.0, 1e-6),)},
    ),
    Case("overview", "", {"read_rows": committed}),
    Case("noise", "", {"DRAWS": 20, "ROWS": 5, "REPEATS": 1}),
    Case(
        "scale",
        "--data {folder} --rows 64 --pairs 64 --entries 400 --runs local dask",
        {"measured": of_one_machine},  # which is tried by itself below
    ),
    Case(
        "reading",
        "--rows 300 --floats 500 --data {folder}",
        {"REPEATS": 1, "WORDS": {"csv": ""}, "source_at": lambda *_: ROOT / "src"},
    ),
    Case("scale_runs", "points-local {points}"),
    Case("scale_runs", "points-minibatch {points}"),
    Case("source_target", "costs one --runs 2 --budgets ε=1 ρ=3 --save {folder}", SOURCE_TARGET),
    Case("source_target", "coreset one --runs 1 --budgets ρ=3 --save {folder}", SOURCE_TARGET),
    Case("source_target", "nearest one --runs 1 --budgets ε=3 --save {folder}", SOURCE_TARGET),
    Case("source_target", "times one --runs 1 --save {folder}", SOURCE_TARGET),
    Case("shapes", "shapes --runs 2 --rivals 1 --only new", {"SETTINGS": ((500, 9.0),)}),
    Case("shapes", "real --runs 2", {"real_tables": tiny_tables, "TOWN_ROWS": (1000,)}),
    Case("shapes", "trees --runs 1", {"TREE_ROWS": 400}),
    Case("shapes_clusterers", "--runs 2", {"N_ROWS": 400, "FEW": 150}),
    Case("shapes", "times", {"SIZES": (500,)}),
    Case("shapes", "picture", {"draw_comparison": lambda path: None}),
    Case("subclustering", "gaps iris --runs 2 --figures {folder}"),
    Case("subclustering", "readings iris --runs 1"),
    Case("subclustering", "attack zone repaired --runs 4"),
    Case("subclustering", "compare iris --runs 2", {"EPSILONS": (1.0,)}),
    Case("subclustering", "ablation iris --runs 2"),
    *(
        Case(
            "shapes_mixture",
            f"{table} --runs 1 --sets tiny --page {{pages}}/research/mixture.md",
            {"GENERATED": {"tiny": tiny_mixture}, "real_sets": lambda folder: {}},
        )
        for table in ("fits", "expected", "kinds", "errors", "numbers", "clip")
    ),
    Case(
        "shapes_mixture",
        "time --runs 1 --sets tiny --page {pages}/research/mixture.md",
        {"GENERATED": {"tiny": tiny_mixture}, "real_sets": lambda folder: {}, "ROWS": (500,)},
    ),
    Case(
        "summary", "any-k --page {pages}/research/summary.md", {"point_sets": tiny_points, **BUDGET}
    ),
    Case(
        "summary", "choose-k --page {pages}/research/summary.md", {"sets_to_choose": tiny_choices}
    ),
    Case(
        "summary",
        "real-k --data {folder} --page {pages}/research/summary.md",
        {"SETS": {"tiny": tiny_coins}, "REAL": ("tiny",), "FILES": {}, "REAL_BUDGETS": ((9.0, 0),)},
    ),
    Case(
        "summary",
        "errors --page {pages}/research/summary.md",
        {"point_sets": tiny_points, **RICH},
    ),
    Case("summary_profiles", "profiles", {"N_ROWS": 2000, "SHARES": (0.2,), **RICH}),
    Case("summary_profiles", "sample", {"N_ROWS": 2000, **RICH}),
    Case(
        "synthetic",
        "--runs 2 --methods tables,cells,mst,aim,independent,shuffled,bootstrap"
        " --page {pages}/research/synthetic.md",
        {"SETS": {"adult9": tiny_table}},
    ),
    Case(
        "synthetic_clusters",
        "--data {data} --sets adult9 --runs 2 --page {pages}/research/synthetic.md",
        {"SETS": {"adult9": tiny_table}},
    ),
    Case(
        "synthetic_clusters",
        "--plain --data {data} --sets adult9 --runs 2 --page {pages}/research/synthetic.md",
        {"SETS": {"adult9": tiny_table}},
    ),
    Case(
        "synthetic_model",
        "--sets adult9 --page {pages}/research/synthetic.md",
        {"SETS": {"adult9": tiny_table}, "checked": tiny_check},  # mbi is not installed
    ),
    Case("synthetic_size", "--rows 500 --page {pages}/research/synthetic.md"),
    Case("witnesses", ""),
    Case("service", "--analysts 1 --seconds 0.1", {"WARMING": 0, "PAUSE": 0}),
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of data sets: a table of categories, one like adult, a matrix."""
    folder = tmp_path_factory.mktemp("data")
    kinds = RNG.integers(2, size=60)
    columns = {
        f"c{i}": np.where(RNG.random(60) < 0.8, kinds, RNG.integers(3, size=60)) for i in range(5)
    }
    pd.DataFrame({**columns, "class": kinds}).to_csv(folder / "tiny.csv.gz", index=False)
    numbers = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
    words = ("workclass", "marital-status", "occupation", "relationship", "race", "sex", "class")
    adult = {name: RNG.integers(1, 90, 80) for name in numbers}
    adult |= {name: RNG.choice(["a", "b"], 80) for name in words}
    pd.DataFrame(adult).to_csv(folder / "adult.csv.gz", index=False)
    made = biclusters(20, n_rows=30)
    parts = {part: getattr(made.counts, part) for part in ("data", "indices", "indptr", "shape")}
    np.savez(folder / "blocks.npz", **parts, labels=made.classes)
    return folder


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file} {case.arguments[:24]}")
def test_a_benchmark_runs_at_a_tiny_size(case, data, tmp_path, monkeypatch, capsys):
    pages = tmp_path / "docs"
    shutil.copytree(ROOT / "docs", pages, ignore=shutil.ignore_patterns("*.png", "reference"))
    (tmp_path / "results").mkdir()
    monkeypatch.setenv("PRIVCLUST_RESULTS", str(tmp_path / "results"))
    (module,) = scripts(case.file)
    for name, value in case.smaller.items():
        assert hasattr(module, name), f"{case.file} has no {name} any more"
        monkeypatch.setattr(module, name, value)
    shutil.copy(BENCHMARKS / "results" / "scale-large.csv", tmp_path / "results")
    for page in ("PAGE", "GUIDE"):
        if hasattr(module, page):
            own = getattr(module, page).relative_to(ROOT / "docs")
            monkeypatch.setattr(module, page, pages / own)
    if hasattr(module, "README"):
        monkeypatch.setattr(module, "README", Path(shutil.copy(module.README, tmp_path)))
    if hasattr(module, "FIGURE"):
        monkeypatch.setattr(module, "FIGURE", tmp_path / module.FIGURE.name)
    places = {"data": data, "folder": tmp_path, "pages": pages, "points": tmp_path / "points"}
    if "{points}" in case.arguments:
        scripts("scale_sets")[0].make_points(places["points"], 400)
    words = [word.format(**places) for word in case.arguments.split()]
    monkeypatch.setattr(sys, "argv", [case.file, *words])
    module.main()
    assert re.search(r"\d", capsys.readouterr().out)


def test_every_command_of_the_benchmarks_has_a_tiny_run():
    commands = {
        path.stem for path in BENCHMARKS.glob("*.py") if "__main__" in path.read_text("utf-8")
    }
    assert commands == {case.file for case in CASES}
