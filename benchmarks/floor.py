"""Does more budget keep helping? Centres beside what Lloyd reaches from them, now and before.

``python benchmarks/floor.py run [SET ...] [--runs 4] [--data FOLDER]`` fits ``PrivateKMeans`` on
sets of the leaderboard, with and without a δ, by the library as it is and as it was at ``BEFORE``,
and puts the rows into ``benchmarks/results/floor.csv``, in place of older ones of the same set.
``weak`` does the same for lines that are known to be weak (``weak-lines.csv``). Beside each fit by
the library as it is stands *noise alone*: one Lloyd step from the best centres with the whole
budget, which no fit can do, since it would have to know them. ``times`` measures the CPU of a fit
of 10^4, 10^5 and 10^6 rows in 16 columns (``fit-times.csv``), and ``page`` fills the tables of
``docs/research/accuracy.md``. "adult 3" is adult as it is, shifted and scaled into the unit ball,
with three clusters; "unit vectors" are 50 000 directions in 384 columns around 50.
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
    write_rows,
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
LINES = [(epsilon, delta) for delta in DELTAS for epsilon in EPSILONS]
WEAK = {
    "30000 x 12, unbalanced": [(0.2, 0)],
    "birch2": [(0.1, 1e-6)],
    "Birch2": [(0.1, 1e-6), (0.2, 1e-6), (0.5, 1e-6), (0.1, 0), (0.2, 0), (0.5, 0)],
    "blobs_100": [(0.1, 1e-6)],
    "1e5_64_64": [(0.25, 1e-6)],
    "64 clumps in 128 columns": [(0.25, 1e-6)],
    "unit vectors": [(1.0, 1e-6)],
    "1e4_2_5": [(0.1, 1e-6), (0.1, 0)],
    "iris": [(1.0, 0)],
    "wine": [(1.0, 0)],
    "breast_cancer": [(1.0, 0)],
}


def main() -> None:
    """Run or fill the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["run", "weak", "times", "page", "child"])
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--data", type=Path, default=os.environ.get("PRIVCLUST_DATA"))
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, default=HERE.parent / "docs/research/accuracy.md")
    options = parser.parse_args()
    if options.part == "child":
        file = Path(options.sets[0])
        found = timed(options.runs) if file.name == "times" else measured(file, options.runs)
        print(json.dumps(found))
    elif options.part == "times":
        with tempfile.TemporaryDirectory() as folder:
            sources = {"before": source_at(BEFORE, Path(folder)), "now": HERE.parent / "src"}
            rows = [
                {"code": code, **row}
                for code, source in sources.items()
                for row in of_source(source, Path("times"), options)
            ]
        setting = f"least of {options.runs} runs"
        write_rows("fit-times", rows, seed=0, setting=setting, folder=options.output)
    elif options.part == "page":
        shown = {"floor": table, "weak-lines": weak_table, "fit-times": table_of_times}
        for name, told in shown.items():
            rows = read_rows(name, options.output)
            put_table(options.page, name, f"{told(rows)}\n\n{run_line(rows, name)}")
            print(f"{len(rows)} rows shown")
    else:
        weak = options.part == "weak"
        known = WEAK if weak else dict.fromkeys((*CHOSEN_ON, *OTHERS), LINES)
        with tempfile.TemporaryDirectory() as folder:
            sources = {"before": source_at(BEFORE, Path(folder)), "now": HERE.parent / "src"}
            for name in options.sets or known:
                file = Path(folder) / "set.npz"
                points, k, schema = opened_set(name, options.data)
                bounds = {"low": schema.low, "high": schema.high}
                np.savez(file, points=points, k=k, lines=known[name], **bounds)
                rows = [
                    {"set": name, "code": code, **row, **origin(0, f"{options.runs} runs")}
                    for code, source in sources.items()
                    for row in of_source(source, file, options)
                ]
                to = "weak-lines" if weak else "floor"
                replace_rows(to, rows, by=("set",), folder=options.output)


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
    reached = KMeans(k, n_init=starts, random_state=0).fit(points)
    best, rows = float(reached.inertia_), []
    for epsilon, delta in given["lines"].tolist():
        for seed in range(runs):
            start = time.process_time()
            asked = {"epsilon": epsilon, "delta": delta, "bounds": bounds, "random_state": seed}
            model = PrivateKMeans(k, rescale=False, **asked).fit(points)
            seconds, centres = time.process_time() - start, model.cluster_centers_
            further = KMeans(k, init=centres, n_init=1, max_iter=300).fit(points).inertia_
            stepped = noise_alone(points, reached.cluster_centers_, best, asked)
            rows.append(
                {
                    "delta": delta,
                    "epsilon": epsilon,
                    "run": seed,
                    "method": model.method_,
                    "ratio": f"{inertia(centres) / best:.6g}",
                    "lloyd": f"{float(further) / best:.6g}",
                    "noise_alone": "" if stepped is None else f"{inertia(stepped) / best:.6g}",
                    "seconds": f"{seconds:.3g}",
                }
            )
    return rows


def timed(runs: int) -> list[dict[str, Any]]:
    """Return the CPU seconds of fits, the least of several, with the library's own noise."""
    from privclust import PrivateKMeans

    warnings.simplefilter("ignore")
    rows = []
    for n_rows in (10**4, 10**5, 10**6):
        rng = np.random.default_rng(0)
        middles = rng.uniform(-0.7, 0.7, (16, 16))
        points = middles[rng.integers(0, 16, n_rows)] + 0.1 * rng.standard_normal((n_rows, 16))
        for epsilon, delta in ((1.0, 0), (1.0, 1e-6)):
            seconds = []
            for _ in range(runs):
                model = PrivateKMeans(16, epsilon=epsilon, delta=delta, bounds=(-1, 1))
                start = time.process_time()
                model.fit(points)
                seconds.append(time.process_time() - start)
            about = {"rows": n_rows, "columns": 16, "epsilon": epsilon, "delta": delta}
            rows.append({**about, "cpu_seconds": f"{min(seconds):.3g}"})
    return rows


def noise_alone(
    points: np.ndarray, centres: np.ndarray, inertia: float, asked: dict[str, Any]
) -> np.ndarray | None:
    """Return the best centres after one private step with the whole budget; not of old code."""
    try:
        from privclust.clustering import estimator
        from privclust.clustering.cells import ask_cluster_sizes
    except ImportError:
        return None
    from unittest.mock import patch

    from privclust import PrivateKMeans, Schema
    from privclust.data.points.door import region_of
    from privclust.data.points.public import Projection

    low, high = asked["bounds"]
    region = region_of(Schema.from_bounds(low, high, n_columns=points.shape[1]))
    lengths = region.radius * region.scales
    at = (centres - region.in_data_units(np.zeros((1, points.shape[1])))) / lengths
    rms = np.sqrt(inertia / len(points)) / region.radius
    clip = float(min((1 + 0.5 / np.sqrt(points.shape[1])) * rms, 2.0))

    def one_step(view: Any, budget: Any, _k: int, _rng: Any) -> Any:
        counts, sizes, offsets = budget.split([0.1, 0.01, 0.89])
        frame = Projection(np.zeros(points.shape[1]))
        answer = view.ask_clusters("step", frame, at, clip, counts=counts, offsets=offsets)
        moves = answer.offsets.value / np.maximum(answer.counts.value, 1)[:, None]
        return ask_cluster_sizes(view, at + moves, np.zeros_like(at), sizes, "lloyd", ())

    with patch.dict(estimator._METHODS, lloyd=one_step):
        model = PrivateKMeans(len(centres), method="lloyd", rescale=False, **asked).fit(points)
    return model.cluster_centers_


def unbalanced() -> tuple[np.ndarray, int]:
    """Return 12 clumps in 12 columns, each 1.4 times as large as the next."""
    rng, shares = np.random.default_rng(7), 1.4 ** -np.arange(12)
    own = rng.choice(12, 30_000, p=shares / shares.sum())
    rows = rng.uniform(-1, 1, (12, 12))[own] + 0.12 * rng.standard_normal((30_000, 12))
    low, width = rows.min(axis=0), np.ptp(rows, axis=0)
    return 2 * (rows - low) / width - 1, 12


def directions() -> tuple[np.ndarray, int]:
    """Return 50 000 unit vectors of 384 columns around 50 of them."""
    rng = np.random.default_rng(3)
    middles = rng.standard_normal((50, 384))
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    rows = middles[rng.integers(0, 50, 50_000)] + 0.035 * rng.standard_normal((50_000, 384))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), 50


def many_columns() -> tuple[np.ndarray, int]:
    """Return 64 clumps in 128 columns."""
    from privclust.papers.datasets.points import clumps

    return clumps(100_000, 128, 64), 64


GENERATED = {
    "30000 x 12, unbalanced": unbalanced,
    "unit vectors": directions,
    "64 clumps in 128 columns": many_columns,
}


def opened_set(name: str, folder: Path | None) -> tuple[np.ndarray, int, Any]:
    """Return the rows of a set, the number of clusters and the schema."""
    from sets import opened

    from privclust.papers.datasets.categories import LAYOUTS
    from privclust.papers.datasets.formats import read_records
    from privclust.schema.schema import Schema

    if name in GENERATED:
        points, k = GENERATED[name]()
        return points, k, Schema.from_bounds(-1, 1, n_columns=points.shape[1])
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


def weak_table(rows: list[dict[str, str]]) -> str:
    """Return a line for each weak line: before, now, what Lloyd reaches from there, and noise."""
    lines = []
    keys = dict.fromkeys((row["set"], row["epsilon"], row["delta"]) for row in rows)
    for name, epsilon, delta in keys:
        these = [r for r in rows if (r["set"], r["epsilon"], r["delta"]) == (name, epsilon, delta)]
        parts = {code: [row for row in these if row["code"] == code] for code in ("before", "now")}

        def mean(code: str, field: str, of: dict[str, list[dict[str, str]]] = parts) -> str:
            return told(np.array([float(row[field]) for row in of[code]]))

        methods = "/".join(sorted({row["method"] for row in parts["now"]}))
        now = [mean("now", field) for field in ("ratio", "lloyd", "noise_alone")]
        budget = [f"{float(epsilon):g}", f"{float(delta):g}"]
        lines.append([name, *budget, methods, mean("before", "ratio"), *now])
    return markdown(
        ["set", "ε", "δ", "method", "before", "now", "Lloyd from there", "noise alone"], lines
    )


def table_of_times(rows: list[dict[str, str]]) -> str:
    """Return the CPU seconds of a fit before and now."""
    found = {(r["rows"], r["delta"], r["code"]): r["cpu_seconds"] for r in rows}
    lines = [
        [f"{int(n):,}".replace(",", " "), delta, found[n, delta, "before"], found[n, delta, "now"]]
        for n, delta in dict.fromkeys(key[:2] for key in found)
    ]
    return markdown(["rows", "δ", "CPU seconds before", "now"], lines)


def told(ratios: np.ndarray) -> str:
    """Return mean and standard error."""
    return f"{ratios.mean():.4g} ± {ratios.std(ddof=1) / np.sqrt(len(ratios)):.1g}"


if __name__ == "__main__":
    main()
