"""Private k-means of few rows: the method that is chosen, beside every method by name.

``python benchmarks/few_rows.py [--epsilon .5 1] [--runs 40] [--seed 0]`` prints a table and writes
every mean to ``benchmarks/results/few-rows.csv``; ``--page docs/research/few-rows.md`` puts the
table there, and ``--drawn`` draws it from its file. The named sets are scaled to the unit box; the
generated ones are of 100 to 2000 rows, and none of them was used to choose the rule. The error is
the inertia over the best that ordinary k-means finds. The noise of run r is seeded with r for every
method, so that a method is compared with itself by the same noise.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from few_runs import run
from keeping import Row
from privclust import PrivateKMeans
from privclust.clustering.weighted_kmeans import spread_out_centres
from privclust.papers.metrics import inertia

EPSILONS = 0.2, 0.5, 1.0, 3.0
DELTAS = 0, 1e-6
METHODS = "auto", "cells", "lloyd", "cautious"
RIVALS = "cells", "lloyd", "no_data"
NAMED = {
    "iris": (load_iris, 3),
    "wine": (load_wine, 3),
    "breast cancer": (load_breast_cancer, 2),
    "digits": (load_digits, 10),
}
GENERATED = (100, 3, 3), (200, 2, 4), (500, 4, 5), (1000, 8, 6), (2000, 5, 8)


def main() -> None:
    """Run all sets and write them down."""
    heads = ["set", "ε", "δ", "no data", *METHODS, "beyond the best"]
    run("few-rows", __doc__, compared, heads, line_of, epsilons=EPSILONS, runs=40)


def line_of(row: dict[str, str]) -> list[str]:
    cells = [f"{float(row[way]):.2f} ± {float(row[f'{way}_error']):.2f}" for way in METHODS]
    about = [row["set"], row["epsilon"], row["delta"], f"{float(row['no_data']):.2f}"]
    return [*about, *cells, f"{float(row['beyond']):+.1f}"]


def rows_of(seed: int) -> dict[str, tuple[np.ndarray, int]]:
    """Return every set in the unit box, with its number of clusters."""
    sets = {name: (in_unit_box(load().data), k) for name, (load, k) in NAMED.items()}
    for n, d, k in GENERATED:
        sets[f"{n} x {d}, {k} clumps"] = in_unit_box(clumps(n, d, k, 4000 + seed)), k
    return sets


def in_unit_box(rows: np.ndarray) -> np.ndarray:
    width = np.ptp(rows, axis=0)
    return (rows - rows.min(axis=0)) / np.where(width > 0, width, 1)


def clumps(n: int, d: int, k: int, seed: int) -> np.ndarray:
    """Return clumps of unequal sizes and widths."""
    rng = np.random.default_rng(seed)
    own = rng.choice(k, n, p=rng.dirichlet(np.full(k, 5.0)))
    centres, widths = rng.uniform(-1, 1, (k, d)), rng.uniform(0.1, 0.3, (k, 1))
    return centres[own] + widths[own] * rng.standard_normal((n, d))


def compared(options: argparse.Namespace) -> Iterator[Row]:
    """Yield the mean error of each method, and how far the chosen one is beyond the best rival."""
    runs, seed = options.runs, options.seed
    for name, (rows, k) in rows_of(seed).items():
        if options.sets and name not in options.sets:
            continue
        best = KMeans(k, n_init=20, random_state=seed).fit(rows).inertia_
        rng, dimension = np.random.default_rng(seed), rows.shape[1]
        corners = np.zeros(dimension), np.ones(dimension)
        unseen = [inertia(rows, spread_out_centres(k, *corners, rng)) / best for _ in range(runs)]
        for delta in DELTAS:
            for epsilon in options.epsilon:
                given = {"epsilon": epsilon, "delta": delta, "bounds": (0, 1)}
                errors = {way: fitted(rows, k, best, runs, method=way, **given) for way in METHODS}
                about = {"set": name, "epsilon": epsilon, "delta": delta, "runs": runs}
                yield about | told(errors | {"no_data": np.array(unseen)})


def fitted(rows: np.ndarray, k: int, best: float, runs: int, **given: object) -> np.ndarray:
    """Return the errors of many fits."""
    models = (PrivateKMeans(k, random_state=run, **given).fit(rows) for run in range(runs))
    return np.array([inertia(rows, model.cluster_centers_) / best for model in models])


def told(errors: dict[str, np.ndarray]) -> Row:
    """Return means and errors, and the mean difference to the best rival in its standard error."""
    mean = {way: float(found.mean()) for way, found in errors.items()}
    error = {way: float(found.std(ddof=1) / np.sqrt(len(found))) for way, found in errors.items()}
    apart = errors["auto"] - errors[min(RIVALS, key=mean.__getitem__)]
    spread = float(apart.std(ddof=1) / np.sqrt(len(apart)))
    beyond = float(apart.mean()) / spread if spread else 0.0
    return {**mean, **{f"{way}_error": error[way] for way in errors}, "beyond": beyond}


if __name__ == "__main__":
    main()
