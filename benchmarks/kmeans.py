"""k-means side by side in one run: ours, DPLloyd, diffprivlib, and k-means without privacy.

``python benchmarks/kmeans.py run [SET ...] [--epsilon .2 1] [--runs 10] [--peer PYTHON]`` measures,
for each point set, the inertia divided by the best that ordinary k-means finds, and the CPU seconds
of one fit, and keeps every run in ``kmeans.csv``, in place of older ones of the same set and ε.
``... page`` fills the tables of ``docs/research/accuracy.md`` from that file. A
SET is a name of ``POINT_SETS`` in ``privclust.papers.datasets.named``, or a file and the number of
clusters as PATH:K. diffprivlib needs an older scikit-learn than ours, hence an interpreter of its
own: ``make peers`` makes one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from keeping import markdown, origin, put_table, read_rows, replace_rows, run_line
from privclust import PrivateKMeans
from privclust.papers.datasets.named import point_set
from privclust.papers.datasets.points import PointSet
from privclust.papers.metrics import inertia

ROOT = Path(__file__).parent.parent
PEER = ROOT / ".venv-peers" / "bin" / "python"
DELTA = 1e-6
# What runs unless sets are named.
USUAL = (
    *("1e4_2_5", "1e4_10_5", "digits", "patch_8_16", "unb 1e5_5_16", "china_16", "1e5_20_20"),
    *("over 1e5_2_15", "over 1e5_10_10", "1e5_64_64", "1e6_8_32", "1e6_16_16"),
)

Fit = tuple[np.ndarray, float]
Lines = list[dict[str, str]]


def main() -> None:
    """Run, or fill the pages."""
    options = arguments()
    if options.part == "page":
        publish(read_rows("kmeans"), ROOT / "docs" / "research" / "accuracy.md")
        return
    warnings.simplefilter("ignore")
    setting = f"{options.runs} runs"
    for name in options.sets:
        data = point_set(name)
        best = best_inertia(data)
        for epsilon in options.epsilon:
            found = [
                {**row, **origin(0, setting)} for row in measured(data, best, epsilon, options)
            ]
            replace_rows("kmeans", found, by=("set", "epsilon"))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["run", "page"])
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--epsilon", nargs="+", type=float, default=[0.2, 1.0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--peer", type=Path, default=PEER if PEER.exists() else None)
    options = parser.parse_args()
    options.sets = options.sets or list(USUAL)
    return options


def measured(
    data: PointSet, best: float, epsilon: float, options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Yield one row for each run of each method on a set."""
    n, d = data.points.shape
    for method, fits in contestants(epsilon, options).items():
        for run, (centres, seconds) in enumerate(fits(data)):
            ratio = inertia(data.points, centres) / best
            print(f"{data.name} {method} ε = {epsilon:g}: {ratio:.3f}, {seconds:.2f} s", flush=True)
            yield {
                "set": data.name, "n": n, "d": d, "k": data.n_clusters, "method": method,
                "epsilon": f"{epsilon:g}", "run": run, "ratio": f"{ratio:.6g}",
                "seconds": f"{seconds:.3g}",
            }  # fmt: skip


def contestants(
    epsilon: float, options: argparse.Namespace
) -> dict[str, Callable[[PointSet], Iterator[Fit]]]:
    def ours(method: str, delta: float) -> Callable[[PointSet], Iterator[Fit]]:
        def fits(data: PointSet) -> Iterator[Fit]:
            for _ in range(options.runs):
                model = PrivateKMeans(
                    data.n_clusters,
                    epsilon=epsilon,
                    delta=delta,
                    schema=data.schema,
                    method=method,
                )
                yield timed(lambda model=model: model.fit(data.points).cluster_centers_)

        return fits

    def without_privacy(data: PointSet) -> Iterator[Fit]:
        for seed in range(min(options.runs, 5)):
            model = KMeans(data.n_clusters, n_init=1, random_state=seed)
            yield timed(lambda model=model: model.fit(data.points).cluster_centers_)

    found = {
        "privclust": ours("auto", 0),
        f"privclust, δ = {DELTA:g}": ours("auto", DELTA),
        "DPLloyd": ours("lloyd", 0),
    }
    if options.peer:
        found["diffprivlib"] = lambda data: diffprivlib(data, epsilon, options)
    return {**found, "k-means, one start, not private": without_privacy}


def timed(fit: Callable[[], np.ndarray]) -> Fit:
    start = time.process_time()
    centres = fit()
    return centres, time.process_time() - start


def diffprivlib(data: PointSet, epsilon: float, options: argparse.Namespace) -> Iterator[Fit]:
    runs = min(options.runs, 3 if len(data.points) > 10**5 else options.runs)
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file, data.points)
        file.flush()
        script = Path(__file__).parent / "peers" / "diffprivlib_kmeans.py"
        bounds = data.schema.low[0], data.schema.high[0]
        command = [options.peer, script, file.name, data.n_clusters, epsilon, *bounds, runs]
        answer = subprocess.run(  # noqa: S603
            [str(part) for part in command], capture_output=True, text=True, check=False
        )
    if answer.returncode:
        print(answer.stderr.strip() or "diffprivlib was stopped", file=sys.stderr)
        return
    for centres, seconds in json.loads(answer.stdout):
        yield np.array(centres), seconds


def best_inertia(data: PointSet) -> float:
    """Return the best inertia that ordinary k-means finds in several starts."""
    starts = 20 if len(data.points) <= 10**4 else 5
    return float(KMeans(data.n_clusters, n_init=starts, random_state=0).fit(data.points).inertia_)


def publish(rows: Lines, page: Path) -> None:
    """Fill the tables of the page."""
    epsilons = sorted({row["epsilon"] for row in rows}, key=float)
    tables = [table([r for r in rows if r["epsilon"] == e], f"ε = {e}") for e in epsilons]
    put_table(page, "kmeans-accuracy", "\n\n".join([*tables, run_line(rows, "kmeans")]))
    ours = [row for row in rows if row["epsilon"] == "1"]
    largest = max(ours, key=lambda row: int(row["n"]) * int(row["d"]))["set"]
    put_table(page, "kmeans-seconds", seconds_table([r for r in ours if r["set"] == largest]))


def table(rows: Lines, head: str) -> str:
    """Return ratios as mean ± standard error: a line for each set, a column for each method."""
    sets, methods = (list(dict.fromkeys(row[key] for row in rows)) for key in ("set", "method"))
    lines = []
    for name in sets:
        own = [row for row in rows if row["set"] == name]
        told = f"{name} ({own[0]['n']} x {own[0]['d']}, k = {own[0]['k']})"
        cells = [[float(r["ratio"]) for r in own if r["method"] == method] for method in methods]
        lines.append([told, *map(cell, cells)])
    return markdown([head, *methods], lines)


def cell(ratios: list[float]) -> str:
    """Return mean ± standard error, or nothing where a method was not run."""
    if not ratios:
        return ""
    error = np.std(ratios, ddof=1) / np.sqrt(len(ratios)) if len(ratios) > 1 else np.nan
    return f"{np.mean(ratios):.3f} ± {error:.3f}"


def seconds_table(rows: Lines) -> str:
    """Return the median CPU seconds of one fit of each method."""
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        own = [float(row["seconds"]) for row in rows if row["method"] == method]
        lines.append([method, f"{np.median(own):.2g}"])
    first = rows[0]
    head = f"{first['n']} points, {first['d']} columns, {first['k']} clusters, ε = 1"
    return f"{markdown([head, 'CPU seconds'], lines)}\n\n{run_line(rows, 'kmeans')}"


if __name__ == "__main__":
    main()
