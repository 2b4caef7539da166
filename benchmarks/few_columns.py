"""Private k-means of few rows in one to three columns, where a grid of counts can cover everything.

``python benchmarks/few_columns.py [--epsilon .1 .3 1] [--runs 20] [--seed 0]`` prints a table and
writes every mean to ``benchmarks/results/few-columns.csv``; ``--page docs/research/few-rows.md``
puts the table there, and ``--drawn`` draws it from its file. ``--only auto`` measures what is
chosen alone and keeps the other columns of the file, where it has the set; noise is seeded, so that
methods that have not changed would give the same again. The grid whose cells are split by their
rows, and the signal up to which it is taken, were fixed with the results on the sets of at most two
stars in view; those with three were drawn after that. The error is the inertia over the best that
ordinary k-means finds. EUGkM is the uniform grid of the literature, with noise in floats.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from sklearn.cluster import KMeans

from few_runs import run
from keeping import Row, read_rows
from leaderboard.methods.eugkm import centres as uniform_grid
from privclust import PrivateKMeans, Schema
from privclust.papers.datasets.points import PointSet, s_like
from privclust.papers.metrics import inertia
from privclust.schema.facts import Box

EPSILONS = 0.1, 0.3, 1.0
DELTAS = 0, 1e-6
METHODS = "auto", "cells", "cautious", "grid"
UNIT = -1.0, 1.0


def clumps(n: int, d: int, k: int, seed: int, width: float, shrunk: float = 1.0) -> np.ndarray:
    """Return clumps of unequal sizes in the cube from -1 to 1, or in a part of it."""
    rng = np.random.default_rng(seed)
    centres, shares = rng.uniform(-0.8, 0.8, (k, d)), rng.dirichlet(np.full(k, 3.0))
    rows = centres[rng.choice(k, n, p=shares)] + rng.normal(0, width, (n, d))
    return np.clip(rows, -1, 1) * shrunk - (1 - shrunk) * 2 / 3


def heavy_tails(n: int, d: int, k: int, seed: int) -> np.ndarray:
    """Return clumps some of whose rows lie far out."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-0.7, 0.7, (k, d))
    return np.clip(centres[rng.integers(0, k, n)] + 0.05 * rng.standard_t(2, (n, d)), -1, 1)


def evenly(n: int, d: int, seed: int) -> np.ndarray:
    """Return rows without clusters."""
    return np.random.default_rng(seed).uniform(-1, 1, (n, d))


def sets() -> dict[str, tuple[np.ndarray, int]]:
    """Return every set, with its number of clusters."""
    return {
        "S1-like, 5000 x 2": (_in_unit_cube(s_like()), 15),
        "2000 x 2, 8 clumps": (clumps(2000, 2, 8, 1, 0.06), 8),
        "20000 x 2, 20 clumps": (clumps(20000, 2, 20, 2, 0.05), 20),
        "5000 x 3, 8 clumps": (clumps(5000, 3, 8, 3, 0.08), 8),
        "3000 x 2, 4 clumps": (clumps(3000, 2, 4, 4, 0.12), 4),
        "4000 x 2, 10 clumps, heavy tails": (heavy_tails(4000, 2, 10, 21), 10),
        "5000 x 2, no clusters, k = 12": (evenly(5000, 2, 22), 12),
        "5000 x 2, 10 clumps in a corner": (clumps(5000, 2, 10, 24, 0.05, 0.25), 10),
        "1000 x 1, 6 clumps": (clumps(1000, 1, 6, 25, 0.04), 6),
        "20000 x 3, 12 clumps": (clumps(20000, 3, 12, 26, 0.06), 12),
        "10000 x 2, 6 clumps": (clumps(10000, 2, 6, 27, 0.1), 6),
        "800 x 2, 15 clumps": (clumps(800, 2, 15, 28, 0.04), 15),
        "*6000 x 2, 9 clumps": (clumps(6000, 2, 9, 101, 0.07), 9),
        "*2500 x 2, 25 clumps": (clumps(2500, 2, 25, 102, 0.03), 25),
        "*8000 x 3, 10 clumps": (clumps(8000, 3, 10, 103, 0.1), 10),
        "*4000 x 2, 12 clumps in a part": (clumps(4000, 2, 12, 104, 0.05, 0.5), 12),
        "**6000 x 2, 7 clumps in a corner": (clumps(6000, 2, 7, 201, 0.06, 0.2), 7),
        "**7000 x 3, 6 clumps in a corner": (clumps(7000, 3, 6, 202, 0.08, 0.25), 6),
        "**3000 x 2, 14 clumps in a part": (clumps(3000, 2, 14, 203, 0.05, 0.35), 14),
        "**5000 x 2, 3 clumps": (clumps(5000, 2, 3, 204, 0.1), 3),
        "**4000 x 3, 5 clumps": (clumps(4000, 3, 5, 205, 0.1), 5),
        "***3500 x 2, 6 clumps": (clumps(3500, 2, 6, 501, 0.07), 6),
        "***9000 x 3, 9 clumps": (clumps(9000, 3, 9, 502, 0.07), 9),
        "***15000 x 2, 30 clumps": (clumps(15000, 2, 30, 503, 0.03), 30),
        "***2200 x 1, 5 clumps": (clumps(2200, 1, 5, 504, 0.05), 5),
        "***7000 x 2, 11 clumps in a part": (clumps(7000, 2, 11, 505, 0.06, 0.4), 11),
        "***12000 x 3, 7 clumps in a corner": (clumps(12000, 3, 7, 506, 0.07, 0.2), 7),
        "***6000 x 2, 8 clumps, heavy tails": (heavy_tails(6000, 2, 8, 507), 8),
        "***4000 x 3, no clusters, k = 8": (evenly(4000, 3, 508), 8),
        "***30000 x 2, 2 clumps": (clumps(30000, 2, 2, 509, 0.15), 2),
        "***1200 x 2, 3 clumps": (clumps(1200, 2, 3, 510, 0.1), 3),
        "***40000 x 3, 25 clumps": (clumps(40000, 3, 25, 511, 0.05), 25),
        "***50000 x 2, 60 clumps in a part": (clumps(50000, 2, 60, 512, 0.02, 0.3), 60),
    }


def _in_unit_cube(found: PointSet) -> np.ndarray:
    low, high = found.schema.low, found.schema.high
    return np.asarray((found.points - low) / (high - low) * 2 - 1)


def compared(options: argparse.Namespace) -> Iterator[Row]:
    """Yield the mean error of each method, or of what is chosen alone."""
    known = known_rows() if options.only else {}
    for name, (rows, k) in sets().items():
        if options.sets and name not in options.sets:
            continue
        best = KMeans(k, n_init=20, random_state=options.seed).fit(rows).inertia_
        schema = Schema({f"x{j}": Box(*UNIT) for j in range(rows.shape[1])})
        points = PointSet(name, rows, k, schema)
        for delta in DELTAS:
            for epsilon in options.epsilon:
                given = {"epsilon": epsilon, "delta": delta, "bounds": UNIT}
                row: Row = {"set": name, "epsilon": epsilon, "delta": delta, "runs": options.runs}
                kept = known.get(tuple(map(str, row.values())), {})
                for method in ("auto",) if kept else METHODS:
                    models = [
                        PrivateKMeans(k, method=method, random_state=run, **given).fit(rows)
                        for run in range(options.runs)
                    ]
                    row |= _told(method, [inertia(rows, m.cluster_centers_) / best for m in models])
                    if method == "auto":
                        row["chosen"] = "/".join(sorted({model.method_ for model in models}))
                if kept:
                    yield {part: row.get(part, kept[part]) for part in kept}
                    continue
                rival = [uniform_grid(points, epsilon, delta, run) for run in range(options.runs)]
                yield row | _told("eugkm", [inertia(rows, centres) / best for centres in rival])


def known_rows() -> dict[tuple[str, ...], Row]:
    """Return the lines of the file, by set, budget and runs, without where they came from."""
    last = "eugkm_error"
    lines = [[*row.items()] for row in read_rows("few-columns")]
    kept = [dict(line[: [name for name, _ in line].index(last) + 1]) for line in lines]
    return {(row["set"], row["epsilon"], row["delta"], row["runs"]): row for row in kept}


def _told(name: str, errors: list[float]) -> Row:
    found = np.array(errors)
    return {name: float(found.mean()), f"{name}_error": float(found.std() / np.sqrt(len(found)))}


def line_of(row: dict[str, str]) -> list[str]:
    """Return a row of the table."""
    ways = (*METHODS, "eugkm")
    cells = [f"{float(row[way]):.2f} ± {float(row[f'{way}_error']):.2f}" for way in ways]
    return [row["set"], row["epsilon"], row["delta"], row["chosen"], *cells]


def main() -> None:
    """Run all sets and write them down."""
    heads = ["set", "ε", "δ", "chosen", *METHODS, "EUGkM"]
    given = {"epsilons": EPSILONS, "runs": 20, "only": ["auto"]}
    run("few-columns", __doc__, compared, heads, line_of, **given)


if __name__ == "__main__":
    main()
