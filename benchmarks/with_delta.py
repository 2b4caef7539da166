"""Private k-means with a δ and without one, at the same ε: when to leave δ at 0.

``python benchmarks/with_delta.py [--epsilon .1 .3 1] [--runs 5] [--seed 0]`` prints a table and
writes every mean to ``benchmarks/results/with-delta.csv``; ``--page docs/research/kmeans.md``
puts the table there, and ``--drawn`` draws it from its file. The sets are generated clumps, scaled
to the unit box. The error is the inertia over the best that ordinary k-means finds; the file also
holds what ``plan()`` expects of both without any rows. The noise of run r is seeded with r.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from sklearn.cluster import KMeans

from few_rows import clumps, in_unit_box
from few_runs import run
from keeping import Row
from privclust import PrivateKMeans
from privclust.papers.metrics import inertia

EPSILONS = 0.1, 0.3, 1.0
DELTAS = {"pure": 0, "delta": 1e-6}
N_CLUSTERS = 8
SHAPES = [(n, d) for n in (2000, 20_000) for d in (2, 4, 8, 16, 32)]


def main() -> None:
    """Run all shapes and write them down."""
    heads = ["rows x columns", *(f"ε = {epsilon:g}" for epsilon in EPSILONS), "plan() is right"]
    run("with-delta", __doc__, compared, heads, lines_of=lines_of, epsilons=EPSILONS, runs=5)


def compared(options: argparse.Namespace) -> Iterator[Row]:
    """Yield the mean error with a δ and without, and what a plan says of both."""
    for n, d in SHAPES:
        name = f"{n} x {d}"
        if options.sets and name not in options.sets:
            continue
        rows = in_unit_box(clumps(n, d, N_CLUSTERS, 500 + options.seed))
        best = KMeans(N_CLUSTERS, n_init=10, random_state=options.seed).fit(rows).inertia_
        for epsilon in options.epsilon:
            row: Row = {"set": name, "epsilon": epsilon, "runs": options.runs}
            for way, delta in DELTAS.items():
                given = {"epsilon": epsilon, "delta": delta, "bounds": (0, 1)}
                fits = (
                    PrivateKMeans(N_CLUSTERS, random_state=number, **given).fit(rows)
                    for number in range(options.runs)
                )
                found = np.array([inertia(rows, fit.cluster_centers_) / best for fit in fits])
                row[way] = float(found.mean())
                row[f"{way}_error"] = float(found.std(ddof=1) / np.sqrt(len(found)))
            yield row | planned(epsilon, n, d)


def planned(epsilon: float, n: int, d: int) -> Row:
    """Return what plans expect, with a δ and without."""
    plans = {
        way: PrivateKMeans(N_CLUSTERS, epsilon=epsilon, delta=delta, bounds=(0, 1)).plan(n, d)
        for way, delta in DELTAS.items()
    }
    return {f"{way}_planned": plan.error_ratio for way, plan in plans.items()}


def lines_of(rows: list[dict[str, str]]) -> list[list[str]]:
    """Return a line for each shape: δ = 0 / δ = 1e-6, the better one in bold if it is clear."""
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        own = [row for row in rows if row["set"] == name]
        right = [foretold(row) for row in own]
        cells = [cell_of(row) for row in own]
        lines.append([name, *cells, f"{sum(right)} of {len(right)}"])
    return lines


def cell_of(row: dict[str, str]) -> str:
    shown = {way: f"{float(row[way]):.2f}" for way in DELTAS}
    better = better_of(row)
    return " / ".join(f"**{text}**" if way == better else text for way, text in shown.items())


def better_of(row: dict[str, str]) -> str | None:
    """Return which is better by more than two errors of the difference, if any."""
    apart = float(row["delta"]) - float(row["pure"])
    error = np.hypot(float(row["delta_error"]), float(row["pure_error"]))
    return None if abs(apart) <= 2 * error else "pure" if apart > 0 else "delta"


def foretold(row: dict[str, str]) -> bool:
    """Tell whether a plan would have led to the better one, or there is none."""
    suggested = min(DELTAS, key=lambda way: float(row[f"{way}_planned"]))
    return better_of(row) in (None, suggested)


if __name__ == "__main__":
    main()
