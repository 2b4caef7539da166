"""Does more budget keep helping? Centres beside what Lloyd reaches from them, now and before.

``python benchmarks/floor.py run [SET ...] [--runs 4] [--data FOLDER]`` fits ``PrivateKMeans`` on
sets of the leaderboard, with and without a δ, by the library as it is and as it was at ``BEFORE``,
and puts the rows into ``benchmarks/results/floor.csv``, in place of older ones of the same set.
``page`` fills the table of ``docs/research/accuracy.md``. "adult 3" is adult as it is, shifted and
scaled into the unit ball, with three clusters.
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
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "leaderboard")]

from keeping import (  # noqa: E402
    RESULTS,
    markdown,
    origin,
    put_table,
    read_rows,
    replace_rows,
    run_line,
    source_at,
)

BEFORE = "1993cd8"
# Rules and constants were chosen on the first; the others were only looked at.
CHOSEN_ON = (
    "adult",
    "adult 3",
    "birch2",
    "unb 1e5_5_16",
    "china_16",
    "digits",
    "s1",
    "g2",
    "1e4_2_5",
)
OTHERS = ("1e4_10_5", "over 1e5_2_15", "over 1e5_10_10")
EPSILONS = (0.2, 1.0, 4.0, 10.0, 100.0)
DELTAS = (1e-6, 0)


def main() -> None:
    """Run or fill the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["run", "page", "child"])
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--data", type=Path, default=os.environ.get("PRIVCLUST_DATA"))
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, default=HERE.parent / "docs/research/accuracy.md")
    options = parser.parse_args()
    if options.part == "child":
        print(json.dumps(measured(Path(options.sets[0]), options.runs)))
    elif options.part == "page":
        rows = read_rows("floor", options.output)
        put_table(options.page, "floor", f"{table(rows)}\n\n{run_line(rows, 'floor')}")
        print(f"{len(rows)} rows shown")
    else:
        with tempfile.TemporaryDirectory() as folder:
            sources = {"before": source_at(BEFORE, Path(folder)), "now": HERE.parent / "src"}
            for name in options.sets or (*CHOSEN_ON, *OTHERS):
                file = Path(folder) / "set.npz"
                points, k, schema = opened_set(name, options.data)
                np.savez(file, points=points, k=k, low=schema.low, high=schema.high)
                rows = [
                    {"set": name, "code": code, **row, **origin(0, f"{options.runs} runs")}
                    for code, source in sources.items()
                    for row in of_source(source, file, options)
                ]
                replace_rows("floor", rows, by=("set",), folder=options.output)


def of_source(source: Path, file: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the rows of a process that imports the library from a folder."""
    command = [sys.executable, __file__, "child", str(file), "--runs", str(options.runs)]
    environment = os.environ | {"PYTHONPATH": str(source)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)  # noqa: S603
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def measured(file: Path, runs: int) -> list[dict[str, Any]]:
    """Return one row for each fit; older versions of the library have these names too."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import pairwise_distances_argmin_min

    from privclust import PrivateKMeans

    warnings.simplefilter("ignore")
    given = np.load(file)
    points, k, bounds = given["points"], int(given["k"]), (given["low"], given["high"])

    def inertia(centres: np.ndarray) -> float:
        return float((pairwise_distances_argmin_min(points, centres)[1] ** 2).sum())

    starts = 10 if len(points) < 60_000 else 3
    best = float(KMeans(k, n_init=starts, random_state=0).fit(points).inertia_)
    rows = []
    for delta in DELTAS:
        for epsilon in EPSILONS:
            for seed in range(runs):
                start = time.process_time()
                model = PrivateKMeans(
                    k, epsilon=epsilon, delta=delta, bounds=bounds, rescale=False, random_state=seed
                ).fit(points)
                seconds, centres = time.process_time() - start, model.cluster_centers_
                further = KMeans(k, init=centres, n_init=1, max_iter=300).fit(points).inertia_
                rows.append(
                    {
                        "delta": delta,
                        "epsilon": epsilon,
                        "run": seed,
                        "method": model.method_,
                        "ratio": f"{inertia(centres) / best:.6g}",
                        "lloyd": f"{float(further) / best:.6g}",
                        "seconds": f"{seconds:.3g}",
                    }
                )
    return rows


def opened_set(name: str, folder: Path | None) -> tuple[np.ndarray, int, Any]:
    """Return the rows of a set, the number of clusters and the schema."""
    from sets import opened

    from privclust.papers.datasets.categories import LAYOUTS
    from privclust.papers.datasets.formats import read_records
    from privclust.schema.schema import Schema

    if name != "adult 3":
        data = opened(name, folder)
        return data.points, data.n_clusters, data.schema
    names, *records = read_records((folder or Path()) / "adult.csv.gz")
    places = [names.index(column) for column in LAYOUTS["adult"].numeric]
    points = np.array([[row[place] for place in places] for row in records], dtype=np.float64)
    points -= points.mean(axis=0)
    points /= np.linalg.norm(points, axis=1).max()
    return points, 3, Schema.from_bounds(-1, 1, n_columns=len(places))


def table(rows: list[dict[str, str]]) -> str:
    """Return a line for each set and δ: ratio before and now, and what Lloyd still gains now."""
    cells: dict[tuple[str, ...], list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        key = row["set"], f"{float(row['delta']):g}", row["code"], f"{float(row['epsilon']):g}"
        cells[key].append((float(row["ratio"]), float(row["lloyd"])))
    lines = []
    for name, delta in dict.fromkeys(key[:2] for key in cells):
        line = [name, delta]
        for epsilon in EPSILONS:
            before, now = (
                np.array(cells[name, delta, code, f"{epsilon:g}"]) for code in ("before", "now")
            )
            line.append(f"{told(before[:, 0])} → {told(now[:, 0])}")
            if epsilon >= 4:
                over = [100 * (part[:, 0] / part[:, 1] - 1).mean() for part in (before, now)]
                line.append(f"{over[0]:.2g} → {over[1]:.2g}")
        lines.append(line)
    heads = ["set", "δ"]
    for epsilon in EPSILONS:
        heads += [f"ε = {epsilon:g}", *(["% above Lloyd"] if epsilon >= 4 else [])]
    return markdown(heads, lines)


def told(ratios: np.ndarray) -> str:
    """Return mean and standard error."""
    return f"{ratios.mean():.4g} ± {ratios.std(ddof=1) / np.sqrt(len(ratios)):.1g}"


if __name__ == "__main__":
    main()
