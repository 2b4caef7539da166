"""k-means side by side in one run: ours, DPLloyd, diffprivlib, and k-means without privacy.

``python benchmarks/kmeans.py [SET ...] [--epsilon .2 1] [--runs 10] [--peer PYTHON]`` prints, for
each point set, the inertia divided by the best that ordinary k-means finds (mean ± standard error),
and the seconds of one fit. diffprivlib needs an older scikit-learn than ours, hence an interpreter
of its own: ``make peers`` makes one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

from point_sets import POINT_SETS, PointSet, best_inertia
from privclust import PrivateKMeans

PEER = Path(__file__).parent.parent / ".venv-peers" / "bin" / "python"
DELTA = 1e-6

Fit = tuple[np.ndarray, float]


def main() -> None:
    """Print one line per point set and ε."""
    options = arguments()
    for epsilon in options.epsilon:
        methods = contestants(epsilon, options)
        print(f"\nε = {epsilon:g}\n| data | " + " | ".join(methods) + " |")
        print("|---" * (len(methods) + 1) + "|")
        for name in options.sets:
            data = POINT_SETS[name]()
            cells = [cell(data, fits(data)) for fits in methods.values()]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", choices=[*POINT_SETS, []], metavar="SET")
    parser.add_argument("--epsilon", nargs="+", type=float, default=[0.2, 1.0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--peer", type=Path, default=PEER if PEER.exists() else None)
    options = parser.parse_args()
    options.sets = options.sets or [name for name in POINT_SETS if name != "1e6_16_16"]
    return options


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
        "privclust δ": ours("auto", DELTA),
        "DPLloyd": ours("lloyd", 0),
        "DPLloyd δ": ours("lloyd", DELTA),
    }
    if options.peer:
        found["diffprivlib"] = lambda data: diffprivlib(data, epsilon, options)
    return {**found, "not private": without_privacy}


def timed(fit: Callable[[], np.ndarray]) -> Fit:
    start = time.perf_counter()
    centres = fit()
    return centres, time.perf_counter() - start


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


def cell(data: PointSet, fits: Iterator[Fit]) -> str:
    best = best_inertia(data.name)
    ratios, times = [], []
    for centres, seconds in fits:
        ratios.append(inertia(data.points, centres) / best)
        times.append(seconds)
    if not ratios:
        return "-"
    error = np.std(ratios, ddof=1) / np.sqrt(len(ratios)) if len(ratios) > 1 else np.nan
    return f"{np.mean(ratios):.3f} ± {error:.3f} ({np.median(times):.2f} s)"


def inertia(points: np.ndarray, centres: np.ndarray) -> float:
    total = 0.0
    for part in np.array_split(points, max(1, len(points) // 20_000)):
        squares = (part**2).sum(axis=1)[:, None] - 2 * part @ centres.T + (centres**2).sum(axis=1)
        total += float(np.maximum(squares, 0).min(axis=1).sum())
    return total


if __name__ == "__main__":
    main()
