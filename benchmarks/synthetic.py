"""Synthetic rows against the rows: ours, those of cells alone, MST, AIM, and yardsticks.

``python benchmarks/synthetic.py --data FOLDER [--sets a,b] [--methods tables,cells] [--runs 5]
[--first 0] [--epsilon 1] [--delta 1e-6]`` adds its runs to ``benchmarks/results/synthetic.csv``, in
place of those of the same set, method, budget and number, and draws the tables of
``docs/research/synthetic.md`` and the picture beside it from the file; ``--drawn`` runs nothing,
``--pictures`` draws pairs of columns beside those of the rows. Methods:

- ``tables``: ``PrivateSummary(synthetic=True)``; ``cells``: ``PrivateSummary()``;
- ``mst``, ``aim``: in a process of their own, see ``peers/rows_peer.py``; ``mst-mbi`` and
  ``aim-mbi`` with the model that ``mbi`` estimates, which takes minutes; ``aim-mbi-last`` with that
  of ``mbi`` once all tables are there;
- ``independent``: noisy histograms for the whole budget, columns drawn apart from each other;
- ``shuffled``: the true columns, each shuffled; ``bootstrap``: the rows, drawn with replacement.

Whole numbers with at most 32 values are left as they are for MST and AIM, all others are cut into
32 equal bins.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from keeping import Row, origin, read_rows, replace_rows
from privclust import Budget, PrivateSummary
from privclust.clustering.binned_columns import HistogramCounts, axes_of, histograms_from
from synthetic_measures import CLUSTERS, Judge
from synthetic_output import publish, side_by_side
from synthetic_sets import SETS, Places, SyntheticSet

ROOT = Path(__file__).parents[1]
PEERS = ROOT / ".venv-rows" / "bin" / "python"
PEER = Path(__file__).with_name("peers") / "rows_peer.py"
LIMIT = 5400  # seconds for one run of a peer
BINS = 32  # of numbers, for a peer
# Most of the time of mbi is compiling, which is faster like this.
QUICK = {"XLA_FLAGS": "--xla_backend_optimization_level=1 --xla_llvm_disable_expensive_passes=true"}
PEERED = "mst", "mst-mbi", "aim", "aim-mbi", "aim-mbi-last"

# Synthetic rows, centres for each k if the method has its own, and CPU seconds.
Found = tuple[pd.DataFrame, dict[int, np.ndarray] | None, float]


def summarised(of: SyntheticSet, judge: Judge, budget: Budget, run: int, **options: Any) -> Found:
    """Return rows and centres of a summary."""
    start = time.process_time()
    delta = float(budget.delta)
    model = PrivateSummary(
        epsilon=float(budget.epsilon), delta=delta, schema=of.schema, **options
    ).fit(of.rows)
    drawn = model.sample(len(of.rows), random_state=run)
    seconds = time.process_time() - start
    rows = drawn.to_pandas() if of.values else pd.DataFrame(drawn, columns=list(of.numbers))
    most = int((model.counts_ > 0).sum())
    return rows, {k: judge.scaled(model.centers(min(k, most))) for k in CLUSTERS}, seconds


def tables(of: SyntheticSet, judge: Judge, budget: Budget, run: int) -> Found:
    """Return rows of cells and tables."""
    return summarised(of, judge, budget, run, synthetic=True)


def cells(of: SyntheticSet, judge: Judge, budget: Budget, run: int) -> Found:
    """Return rows of cells alone."""
    return summarised(of, judge, budget, run, metric="mismatch")


def independent(of: SyntheticSet, judge: Judge, budget: Budget, run: int) -> Found:
    """Return columns that are drawn apart from each other from noisy histograms."""
    rng, start = np.random.default_rng(run), time.process_time()
    axes, d = axes_of(of.schema), len(of.schema)
    error = (
        np.sqrt(d / (2 * float(budget.amount)))
        if budget.delta
        else np.sqrt(2) * d / float(budget.amount)
    )
    lines = []
    for column, (name, axis) in enumerate(zip(of.schema.names, axes, strict=True)):
        values = of.rows[name]
        if name in of.values:
            values = pd.Categorical(values, categories=of.values[name]).codes
        edges = axis.edges()
        inner = np.searchsorted(edges[1:-1], np.asarray(values, float), side="right")
        exact = np.bincount(inner, minlength=len(edges) - 1)
        noise = rng.normal(0, error, len(exact))
        if not budget.delta:
            noise = rng.laplace(0, error / np.sqrt(2), len(exact))
        ones = np.ones(len(exact))
        lines.append([ones * column, ones * 0, edges[:-1], edges[1:], exact + noise, ones * error])
    columns, levels, *rest = np.concatenate(lines, axis=1)
    counts = HistogramCounts(columns.astype(int), levels.astype(int), *rest)
    found = histograms_from(counts, axes, counts.total(float(len(of.rows)), np.inf))
    made = {}
    for name, histogram in zip(of.schema.names, found, strict=True):
        mass = histogram.mass / histogram.mass.sum()
        codes = rng.choice(len(mass), len(of.rows), p=mass)
        low, high = histogram.edges[codes], histogram.edges[codes + 1]
        made[name] = (
            np.array(of.values[name])[codes]
            if name in of.values
            else histogram.axis.drawn(low, high, rng)
        )
    return pd.DataFrame(made), None, time.process_time() - start


def shuffled(of: SyntheticSet, judge: Judge, budget: Budget, run: int) -> Found:
    """Return the true columns, each in an order of its own."""
    rng = np.random.default_rng(run)
    return of.rows.apply(lambda column: rng.permutation(column.to_numpy())), None, 0.0


def bootstrap(of: SyntheticSet, judge: Judge, budget: Budget, run: int) -> Found:
    """Return rows drawn with replacement: how far off another sample would be."""
    return of.rows.sample(len(of.rows), replace=True, random_state=run), None, 0.0


def by_peer(which: str, whose: str) -> Callable[..., Found]:
    """Return a method that runs in a process of its own, with our model or that of ``mbi``."""
    python = sys.executable if whose == "ours" else PEERS

    def found(of: SyntheticSet, judge: Judge, budget: Budget, run: int) -> Found:
        codes, sizes, back = coded(of, np.random.default_rng(run))
        with tempfile.TemporaryDirectory() as folder:
            given, made = Path(folder) / "codes.csv", Path(folder) / "made.csv"
            codes.to_csv(given, index=False)
            words = (json.dumps(sizes), float(budget.amount), run)
            command = [python, PEER, which, whose, given, *words, made]
            done = subprocess.run(  # noqa: S603
                [str(word) for word in command],
                capture_output=True,
                text=True,
                timeout=LIMIT,
                env=os.environ | QUICK,
            )
            if done.returncode:
                raise SystemExit(done.stderr)
            drawn, seconds = pd.read_csv(made), float(done.stdout.split()[-1])
        rows = {name: turn(drawn[name].to_numpy()) for name, turn in back.items()}
        return pd.DataFrame(rows), None, seconds

    return found


def coded(
    of: SyntheticSet, rng: np.random.Generator
) -> tuple[pd.DataFrame, list[int], dict[str, Callable[[np.ndarray], np.ndarray]]]:
    """Return rows as codes, how many each column has, and the way back."""
    codes: dict[str, Any] = {}
    sizes: list[int] = []
    back: dict[str, Any] = {}
    for name, (low, high, whole) in of.numbers.items():
        size = int(high - low) + 1 if whole and high - low < BINS else BINS
        edges = np.linspace(low, high + whole, size + 1)
        edges = np.round(edges) if whole else edges
        cells = np.searchsorted(edges[1:-1], of.rows[name].to_numpy(float), side="right")

        def number(z: np.ndarray, at: Any = edges, is_whole: bool = whole) -> np.ndarray:
            inside = at[z] + rng.random(len(z)) * (at[z + 1] - at[z])
            return np.floor(inside) if is_whole else inside

        codes[name], back[name] = cells, number
        sizes.append(size)
    for name, values in of.values.items():
        codes[name] = pd.Categorical(of.rows[name], categories=values).codes
        sizes.append(len(values))
        back[name] = lambda z, of_it=tuple(values): np.array(of_it)[z]
    return pd.DataFrame(codes), sizes, back


METHODS: dict[str, Callable[..., Found]] = {
    "tables": tables,
    "cells": cells,
    "mst": by_peer("mst", "ours"),
    "mst-mbi": by_peer("mst", "mbi"),
    "aim": by_peer("aim", "ours"),
    "aim-mbi": by_peer("aim", "mbi"),
    "aim-mbi-last": by_peer("aim", "mbi-last"),
    "independent": independent,
    "shuffled": shuffled,
    "bootstrap": bootstrap,
}


def measured(of: SyntheticSet, judge: Judge, method: str, budget: Budget, run: int) -> Row:
    """Return one line of the file."""
    rows, centers, seconds = METHODS[method](of, judge, budget, run)
    found: Row = {
        "set": of.name,
        "epsilon": f"{float(budget.epsilon):g}",
        "delta": f"{float(budget.delta):g}",
        "method": method,
        "run": run,
        **judge.tables(rows),
        "ties": judge.ties(rows),
        "correlation": judge.correlations(rows),
        "shuffled": "",
        "learning": "",
        "k6": "",
        "k12": "",
        "seconds": seconds,
    }
    if method in ("tables", "cells"):
        apart, *_ = shuffled(_with_rows(of, rows), judge, budget, run)
        found["shuffled"] = judge.tables(apart)["two"]
    if (float(budget.epsilon), bool(budget.delta)) == (1.0, True):
        found["learning"] = judge.learning(rows)
        if method in ("tables", "cells", *PEERED):
            found |= judge.clusters(centers or judge.centers_of(rows))
    return {k: round(v, 5) if isinstance(v, float) else v for k, v in found.items()}


def _with_rows(of: SyntheticSet, rows: pd.DataFrame) -> SyntheticSet:
    return SyntheticSet(of.name, rows, of.numbers, of.target)


# Two columns that are drawn together.
PICTURED = {"adult9": ("age", "hours-per-week"), "diamonds": ("carat", "price")}


def pictures(at: Places, budget: Budget) -> None:
    """Draw pairs of columns of public sets beside those of synthetic rows."""
    panels = {}
    for name in PICTURED:
        of = SETS[name](at)
        judge = Judge(of)
        panels[name] = {
            f"{name}: the rows": of.rows,
            "synthetic=True": tables(of, judge, budget, 0)[0],
            "cells alone": cells(of, judge, budget, 0)[0],
            "columns shuffled": shuffled(of, judge, budget, 0)[0],
        }
    side_by_side(panels, PICTURED, ROOT / "docs" / "figures" / "synthetic-rows.png")


def main() -> None:
    """Add runs to the file, and draw pages from it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("PRIVCLUST_DATA"))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--methods", default="tables,cells,independent,shuffled,bootstrap")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the number of the first run")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-6)
    parser.add_argument("--pictures", action="store_true", help="draw pairs of columns as well")
    parser.add_argument("--drawn", action="store_true", help="run nothing, draw from the file")
    parser.add_argument("--page", type=Path, default=None, help="a page to put the tables on")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = () if options.drawn else options.sets.split(",")
    at = Places(options.data and Path(options.data), PEERS)
    budget = Budget(options.epsilon, options.delta)
    for name in names:
        of = SETS[name](at)
        judge = Judge(of)
        for method in options.methods.split(","):
            numbered = range(options.first, options.first + options.runs)
            rows = [measured(of, judge, method, budget, run) for run in numbered]
            about = origin(0, "full")
            replace_rows(
                "synthetic",
                [{**row, **about} for row in rows],
                by=("set", "epsilon", "delta", "method", "run"),
            )
            means = {k: np.mean([r[k] for r in rows]) for k in ("one", "two", "three", "seconds")}
            print(name, method, *(f"{k} {v:.4f}" for k, v in means.items()), flush=True)
    if options.pictures:
        pictures(at, budget)
    publish(read_rows("synthetic"), options.page)


if __name__ == "__main__":
    sys.exit(main())
