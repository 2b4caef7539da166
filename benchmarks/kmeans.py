"""k-means side by side in one run: ours, DPLloyd, diffprivlib, and k-means without privacy.

``python benchmarks/kmeans.py [SET ...] [--epsilon .2 1] [--runs 10] [--peer PYTHON]`` prints, for
each point set, the inertia divided by the best that ordinary k-means finds (mean ± standard error),
and the seconds of one fit. A SET is a name of ``POINT_SETS`` in
``privclust.datasets.named``, or a file and the number of clusters as PATH:K. diffprivlib
needs an older scikit-learn than ours, hence an interpreter of its own: ``make peers`` makes one.
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

from privclust import PrivateKMeans
from privclust.datasets import PointSet, point_set
from privclust.metrics import inertia

PEER = Path(__file__).parent.parent / ".venv-peers" / "bin" / "python"
DELTA = 1e-6
# What runs unless sets are named.
USUAL = (
    "1e4_2_5",
    "1e4_10_5",
    "over 1e5_2_15",
    "unb 1e5_5_16",
    "over 1e5_10_10",
    "1e5_20_20",
    "1e5_64_64",
    "china_16",
    "patch_8_16",
    "1e6_8_32",
    "digits",
)

Fit = tuple[np.ndarray, float]


def main() -> None:
    """Print one line per point set and ε."""
    options = arguments()
    for epsilon in options.epsilon:
        methods = contestants(epsilon, options)
        print(f"\nε = {epsilon:g}\n| data | " + " | ".join(methods) + " |")
        print("|---" * (len(methods) + 1) + "|")
        for name in options.sets:
            data = point_set(name)
            best = best_inertia(data)
            cells = [cell(data, best, fits(data)) for fits in methods.values()]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--epsilon", nargs="+", type=float, default=[0.2, 1.0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--peer", type=Path, default=PEER if PEER.exists() else None)
    options = parser.parse_args()
    options.sets = options.sets or list(USUAL)
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


def best_inertia(data: PointSet) -> float:
    """Return the best inertia that ordinary k-means finds in several starts."""
    starts = 20 if len(data.points) <= 10**5 else 5
    return float(KMeans(data.n_clusters, n_init=starts, random_state=0).fit(data.points).inertia_)


def cell(data: PointSet, best: float, fits: Iterator[Fit]) -> str:
    ratios, times = [], []
    for centres, seconds in fits:
        ratios.append(inertia(data.points, centres) / best)
        times.append(seconds)
    if not ratios:
        return "-"
    error = np.std(ratios, ddof=1) / np.sqrt(len(ratios)) if len(ratios) > 1 else np.nan
    return f"{np.mean(ratios):.3f} ± {error:.3f} ({np.median(times):.2f} s)"


if __name__ == "__main__":
    main()
