"""One summary against a fit for each k, the choice of k, and the errors of the noise.

``python benchmarks/summary.py [any-k | choose-k | errors] [--full] [--seed 0]`` prints a table and
writes every run to ``benchmarks/results/summary-TABLE.csv`` with seed, commit and date. The small
setting takes a minute or two; ``--full`` is for a quiet machine. Data are generated from the seed;
the noise is the system's.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from keeping import write_rows
from privclust import Ball, PrivateKMeans, PrivateSummary, Schema
from privclust.datasets import clumps
from privclust.metrics import inertia

BUDGETS = ((0.2, 0), (1.0, 0), (0.2, 1e-6), (1.0, 1e-6))
Row = dict[str, Any]


def main() -> None:
    """Run one table and write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", nargs="?", choices=[*TABLES], default="any-k")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = list(TABLES[options.table](options.seed, options.full))
    SHOWN[options.table](rows)
    setting = "full" if options.full else "small"
    write_rows(f"summary-{options.table}", rows, seed=options.seed, setting=setting)


# One summary against a fit for each k


def point_sets(seed: int, full: bool) -> dict[str, tuple[np.ndarray, Schema]]:
    """Return clumps in the unit ball, none of which the algorithm was tuned on."""
    shapes = [(10**4, 2, 5), (3 * 10**4, 6, 12), (2 * 10**4, 16, 8)]
    if full:
        shapes += [(10**5, 3, 20), (5 * 10**4, 10, 15), (3 * 10**4, 32, 15), (10**5, 64, 20)]
    sets = {}
    for n, d, k in shapes:
        schema = Schema.from_bounds(-1, 1, n_columns=d, ball=Ball(1.0, [0.0] * d))
        rows = clumps(n, d, k, balanced=False, seed=1000 + seed)
        sets[f"{n}x{d}, {k} clumps"] = rows, schema
    return sets


def any_k(seed: int, full: bool) -> Iterator[Row]:
    """Yield the inertia of summary, dedicated fit, DPLloyd and k-means, for many k."""
    ks, runs = ((3, 5, 8, 12, 20, 32), 5) if full else ((3, 8, 20), 2)
    for name, (rows, schema) in point_sets(seed, full).items():
        best = {k: KMeans(k, n_init=3, random_state=seed).fit(rows).inertia_ for k in ks}
        for epsilon, delta in BUDGETS:
            given = {"epsilon": epsilon, "delta": delta, "schema": schema}
            for run in range(runs):
                summary = PrivateSummary(**given).fit(rows)
                for k in ks:
                    fits = {
                        "summary": centers_of(summary, k),
                        "dedicated": PrivateKMeans(k, **given).fit(rows).cluster_centers_,
                        "lloyd": PrivateKMeans(k, method="lloyd", **given)
                        .fit(rows)
                        .cluster_centers_,
                    }
                    found = {way: inertia(rows, at) / best[k] for way, at in fits.items()}
                    about = {"set": name, "epsilon": epsilon, "delta": delta, "k": k, "run": run}
                    yield about | found


def centers_of(summary: PrivateSummary, k: int) -> np.ndarray:
    """Return k centres, or as many as there are cells."""
    return summary.centers(min(k, int((summary.counts_ > 0).sum())))


def show_any_k(rows: list[Row]) -> None:
    """Print geometric means over all k, relative to k-means without privacy."""
    print("| set | ε | δ | summary | dedicated | DPLloyd | summary / dedicated |")
    print("|---" * 7 + "|")
    keys = list(dict.fromkeys((row["set"], row["epsilon"], row["delta"]) for row in rows))
    for key in keys:
        these = [row for row in rows if (row["set"], row["epsilon"], row["delta"]) == key]
        means = [geometric(row[way] for row in these) for way in ("summary", "dedicated", "lloyd")]
        cells = " | ".join(f"{mean:.3f}" for mean in [*means, means[0] / means[1]])
        print(f"| {key[0]} | {key[1]:g} | {key[2]:g} | {cells} |")
    for epsilon, delta in BUDGETS:
        these = [row for row in rows if (row["epsilon"], row["delta"]) == (epsilon, delta)]
        ratios = np.log([row["summary"] / row["dedicated"] for row in these])
        error = ratios.std(ddof=1) / np.sqrt(len(ratios))
        print(
            f"all sets, ε = {epsilon:g}, δ = {delta:g}: {np.exp(ratios.mean()):.3f} ± {error:.3f}"
        )


def geometric(values: Iterator[float]) -> float:
    return float(np.exp(np.mean(np.log(list(values)))))


# The choice of k


def planted(n: int, d: int, k: int, spread: float, seed: int, even: float) -> np.ndarray:
    """Return round clumps that are well apart, of about equal or of unequal sizes."""
    rng = np.random.default_rng(seed)
    weights = np.maximum(rng.dirichlet(np.full(k, even)), 0.02)
    while True:
        centres = rng.uniform(-0.8, 0.8, (k, d))
        gaps = np.linalg.norm(centres[:, None] - centres, axis=2) + 9 * np.eye(k)
        if gaps.min() > 4.5 * spread:
            break
    rows = centres[rng.choice(k, n, p=weights / weights.sum())]
    return np.clip(rows + spread * rng.standard_normal((n, d)), -1, 1)


def shapeless(kind: str, n: int, d: int, seed: int) -> np.ndarray:
    """Return rows in one piece."""
    rng = np.random.default_rng(seed)
    if kind == "uniform":
        return rng.uniform(-1, 1, (n, d))
    if kind == "skew":
        return np.clip(rng.exponential(0.2, (n, d)) - 0.6, -1, 1)
    return np.clip(0.25 * rng.standard_normal((n, d)), -1, 1)


def choose_k(seed: int, full: bool) -> Iterator[Row]:
    """Yield the number that is chosen, and the planted one."""
    shapes = [(20_000, 3, 0.09), (10_000, 2, 0.05)]
    shapes += [(50_000, 8, 0.16), (40_000, 16, 0.2)] if full else []
    ks, times = ((3, 5, 8, 12), 2) if full else ((3, 8), 1)
    for n, d, spread in shapes:
        for number in range(times):
            at = 5000 + 100 * seed + number
            sets = [
                (name, k, planted(n, d, k, spread, at + 10 * k, even))
                for k in ks
                for name, even in (("balanced", 5.0), ("unbalanced", 1.0))
            ]
            sets += [(name, 1, shapeless(name, n, d, at)) for name in ("uniform", "normal", "skew")]
            for name, k, rows in sets:
                for epsilon in (0.2, 1.0):
                    model = PrivateSummary(epsilon=epsilon, delta=1e-6, bounds=(-1, 1)).fit(rows)
                    found = model.choose_k().n_clusters
                    yield {
                        "set": f"{name} {n}x{d}",
                        "epsilon": epsilon,
                        "planted": k,
                        "chosen": "" if found is None else found,
                    }


def show_choose_k(rows: list[Row]) -> None:
    """Print how many answers are right, wrong and unclear."""
    for epsilon in (0.2, 1.0):
        these = [row for row in rows if row["epsilon"] == epsilon]
        right = sum(row["chosen"] == row["planted"] for row in these)
        unclear = sum(row["chosen"] == "" for row in these)
        wrong = len(these) - right - unclear
        print(f"ε = {epsilon:g}, δ = 1e-6: {right} right, {wrong} wrong, {unclear} unclear")


# Errors of the noise


def errors(seed: int, full: bool) -> Iterator[Row]:
    """Yield how often two errors cover the truth, and the inertia over the true one."""
    ks, runs = ((5, 12, 20), 5) if full else ((5, 12), 2)
    for name, (rows, schema) in point_sets(seed, full).items():
        for epsilon, delta in BUDGETS:
            for run in range(runs):
                model = PrivateSummary(epsilon=epsilon, delta=delta, schema=schema).fit(rows)
                for k in (k for k in ks if k <= (model.counts_ > 0).sum()):
                    about = {"set": name, "epsilon": epsilon, "delta": delta, "k": k, "run": run}
                    yield about | coverage(model, rows, k)


def coverage(model: PrivateSummary, rows: np.ndarray, k: int) -> Row:
    """Compare what is released for k clusters with the rows nearest to its centres."""
    labels = model.kmeans(k).predict(rows)
    sizes = np.bincount(labels, minlength=k)
    used = sizes > 0
    means = np.array([rows[labels == label].mean(axis=0) for label in np.flatnonzero(used)])
    off = np.abs(means - model.centers(k)[used])
    return {
        "centers": (off <= 2 * model.centers_error(k)[used]).mean(),
        "sizes": (np.abs(sizes - model.sizes(k)) <= 2 * model.sizes_error(k)).mean(),
        "inertia": model.inertia(k) / inertia(rows, model.centers(k)),
    }


def show_errors(rows: list[Row]) -> None:
    """Print mean coverage, and how many inertias are within a tenth."""
    for name in dict.fromkeys(row["set"] for row in rows):
        these = [row for row in rows if row["set"] == name]
        centers, sizes = (np.mean([row[part] for row in these]) for part in ("centers", "sizes"))
        close = sum(abs(row["inertia"] - 1) <= 0.1 for row in these)
        print(f"{name}: centres {centers:.2f}, sizes {sizes:.2f}, inertia {close}/{len(these)}")


TABLES = {"any-k": any_k, "choose-k": choose_k, "errors": errors}
SHOWN = {"any-k": show_any_k, "choose-k": show_choose_k, "errors": show_errors}

if __name__ == "__main__":
    main()
