"""A leaderboard of private k-means: sets by ε by methods, one file for each method.

``python benchmarks/leaderboard run [SET ...] [--full] [--runs 3] [--methods ours ...]`` fits every
method of ``methods/`` on every set and puts its rows into ``benchmarks/results/leaderboard.csv``
after each set, in place of older ones of that set, method and ε. ``python benchmarks/leaderboard
twelve`` fits ours to the twelve generated sets of PE-means. ``python benchmarks/leaderboard page``
fills ``docs/leaderboard.md`` and the README from both files. A SET is a name of ``POINT_SETS`` in
``privclust.papers.datasets.named``, "adult", or a file as PATH:CLUSTERS.
"""

from __future__ import annotations

import argparse
import os
import resource
import runpy
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]

import twelve  # noqa: E402
from page import mend_best, publish  # noqa: E402
from sets import FULL, SMALL, opened  # noqa: E402

from keeping import RESULTS, origin, read_rows, replace_rows  # noqa: E402
from privclust.exceptions import DataError  # noqa: E402
from privclust.papers.datasets.points import PointSet  # noqa: E402
from privclust.papers.metrics import inertia  # noqa: E402

EPSILONS = (0.1, 0.2, 0.5, 1.0, 3.0, 10.0, 100.0)
DELTA = 1e-6

Method = Callable[[PointSet, float, float, int], np.ndarray]


def main() -> None:
    """Run or draw."""
    parser = argparse.ArgumentParser(prog="leaderboard", description=__doc__)
    parser.add_argument("part", choices=["run", "twelve", "page"])
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--epsilon", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--methods", nargs="+", default=None, help="files of methods/")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=os.environ.get("PRIVCLUST_DATA"))
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "leaderboard.md")
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md")
    options = parser.parse_intermixed_args()
    warnings.simplefilter("ignore")
    if options.part == "page":
        known = [*methods_in(HERE / "methods")]
        files = (read_rows(f"leaderboard{part}", options.output) for part in ("", "-twelve"))
        publish(*files, options.page, known, options.readme)
        return
    run = run_twelve if options.part == "twelve" else run_sets
    run(options)


def run_twelve(options: argparse.Namespace) -> None:
    """Fit ours, and k-means without privacy, to the sets of PE-means."""
    methods = methods_in(HERE / "methods", list(twelve.METHODS))
    for k, d in twelve.SETS:
        found = twelve.losses(twelve.generated(k, d), methods, options.runs, options.seed)
        rows = [{**row, **origin(options.seed, "full")} for row in found]
        replace_rows("leaderboard-twelve", rows, folder=options.output)
        print(k, d, flush=True)


def run_sets(options: argparse.Namespace) -> None:
    """Fit methods to sets, and keep what each set showed before the next is begun."""
    setting = "full" if options.full else "small"
    for name in options.sets or (FULL if options.full else SMALL):
        try:
            data = opened(name, options.data)
        except DataError as error:
            print(f"{name} is left out: {error}")
            continue
        found = measured(data, methods_in(HERE / "methods", options.methods), options)
        rows = [{**row, **origin(options.seed, setting)} for row in found]
        if rows:
            replace_rows(
                "leaderboard", rows, by=("set", "method", "epsilon"), folder=options.output
            )
            every = mend_best(read_rows("leaderboard", options.output))
            replace_rows("leaderboard", every, folder=options.output)


def methods_in(folder: Path, chosen: list[str] | None = None) -> dict[str, Method]:
    """Return the function of every file, under the name that the file gives itself."""
    found = {}
    for path in sorted(folder.glob("[!_]*.py")):
        if chosen is None or path.stem in chosen:
            module = runpy.run_path(str(path))
            found[module["__doc__"].partition(":")[0]] = module["centres"]
    return found


def measured(
    data: PointSet, methods: dict[str, Method], options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Yield one row for each run of each method at each ε."""
    starts = 10 if len(data.points) <= 10**4 else 3
    model = KMeans(data.n_clusters, n_init=starts, random_state=options.seed)
    best = float(model.fit(data.points).inertia_)
    n, d = data.points.shape
    for name, centres in methods.items():
        for epsilon in options.epsilon:
            for run in range(options.runs):
                start = cpu_seconds()
                try:
                    found = centres(data, epsilon, DELTA, options.seed + run)
                except NotImplementedError as reason:
                    print(f"{name} is left out on {data.name}: {reason}")
                    break
                seconds = cpu_seconds() - start
                cost = inertia(data.points, found)
                print(f"{data.name} {name} ε = {epsilon:g}: {cost / best:.3f}", flush=True)
                yield {
                    "set": data.name, "n": n, "d": d, "k": data.n_clusters, "method": name,
                    "epsilon": epsilon, "delta": DELTA, "run": run, "inertia": f"{cost:.8g}",
                    "best": f"{best:.8g}", "seconds": f"{seconds:.3g}", "centres": len(found),
                }  # fmt: skip


def cpu_seconds() -> float:
    """Return the processor time of this process and of those it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main()
