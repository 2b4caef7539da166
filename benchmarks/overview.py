"""The README's tables beside each other: what they would cost, how to renew them, what we lose at.

``python benchmarks/overview.py`` (``make benchmarks``) says what each benchmark behind the README
cost in CPU minutes when its commands were run last, or its fits alone, and at which commit its file
was written; ``--run [FILE ...]`` (``make benchmarks RUN=yes``) runs all of them, which takes hours,
or those named, and keeps what they cost in ``benchmarks/results/benchmark-costs.csv``; both then
draw README's short table of shapes and the page ``docs/research/losses.md`` from the files.
"""

from __future__ import annotations

import argparse
import os
import resource
import runpy
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from keeping import markdown, origin, put_table, read_rows, replace_rows, results_folder, run_line
from losses import (
    DISTANCES,
    grouped,
    lost_coclusters,
    lost_distances,
    lost_kmeans,
    lost_mixtures,
    lost_rows,
    lost_shapes,
    lost_targets,
    lost_time,
    lost_twelve,
    table,
)

HERE = Path(__file__).parent
ROOT = HERE.parent
PAGE, README = ROOT / "docs" / "research" / "losses.md", ROOT / "README.md"
# Of the README: methods for clusters of any shape.
SHAPES = (
    *("density, k found", "HDBSCAN of the density, never one", "spectral of a summary, k given"),
    *("no privacy: density, k found", "no privacy: HDBSCAN", "no privacy: spectral, k given"),
)

Rows = list[dict[str, str]]


class Benchmark(NamedTuple):
    """A file of results, the commands that renew it and its pages, and its column of seconds."""

    file: str
    commands: tuple[str, ...]
    seconds: str = "seconds"


BENCHMARKS = (
    Benchmark("leaderboard", ("leaderboard run --full", "leaderboard page")),
    Benchmark("leaderboard-twelve", ("leaderboard twelve", "leaderboard page")),
    Benchmark(
        "synthetic",
        (
            "synthetic.py",
            *(
                f"synthetic.py --methods tables,independent {budget}"
                for budget in (
                    "--epsilon 3",
                    "--epsilon 0.2",
                    "--delta 0",
                    "--epsilon 0.2 --delta 0",
                )
            ),
            "synthetic.py --methods mst,aim,mst-mbi,aim-mbi-last",
            "synthetic.py --drawn --pictures --page docs/research/synthetic.md",
        ),
    ),
    Benchmark("synthetic-model", ("synthetic_model.py --page docs/research/synthetic.md",)),
    Benchmark("synthetic-clusters", ("synthetic_clusters.py --page docs/research/synthetic.md",)),
    Benchmark(
        "synthetic-plain",
        ("synthetic_clusters.py --plain --sets adult9 --runs 5 --page docs/research/synthetic.md",),
    ),
    Benchmark("shapes", ("shapes.py shapes", "shapes.py page")),
    Benchmark(
        "mixture-fits", ("shapes_mixture.py fits --runs 10 --page docs/research/mixture.md",)
    ),
    Benchmark(
        "mixture-expected",
        (
            "shapes_mixture.py expected --runs 10 --sets "
            "300x3,500x2,1000x2,2000x4,5000x6,unbalanced,overlapping",
            "shapes.py page",
        ),
    ),
    Benchmark(
        "scale",
        ("scale.py --rows 2000000 10000000 --pairs 10000000 --setting medium",),
        "cpu",
    ),
)


def cost(benchmark: Benchmark, rows: Rows, costs: Rows) -> list[object]:
    """Return a line: file, runs, CPU minutes, and the commits that wrote it."""
    commits = ", ".join(dict.fromkeys(row["commit"] for row in rows))
    kept = {row["command"]: float(row["minutes"]) for row in costs}
    if benchmark.commands and kept.keys() >= {*benchmark.commands}:
        minutes = f"{sum(kept[command] for command in benchmark.commands):.3g}"
        return [benchmark.file, len(rows), minutes, commits]
    seconds = [float(row[benchmark.seconds]) for row in rows if row.get(benchmark.seconds)]
    minutes = f"{sum(seconds) / 60:.3g} of fits" if seconds else "not kept"
    if seconds and len(seconds) < len(rows):
        minutes += f", {len(seconds)} lines"
    return [benchmark.file, len(rows), minutes, commits]


def renew(benchmark: Benchmark) -> None:
    """Run the commands of a benchmark, and keep what each cost."""
    for command in benchmark.commands:
        first, *rest = command.split()
        print(command, flush=True)
        start = cpu_seconds()
        subprocess.run(  # noqa: S603
            [sys.executable, str(HERE / first), *rest],
            check=True,
            cwd=ROOT,
            env={"OMP_NUM_THREADS": "1", **os.environ},
        )
        spent = {"command": command, "minutes": f"{(cpu_seconds() - start) / 60:.3g}"}
        replace_rows("benchmark-costs", [spent | origin(0, "full")], by=("command",))


def cpu_seconds() -> float:
    """Return the processor time of the commands that were run so far."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def shapes_table(rows: Rows) -> str:
    """Return the README's table of shapes: mean scores over sets of two columns, by method."""
    shown = [row for row in rows if (row["rows"], row["epsilon"]) == ("10000", "1.0")]
    shown = [row for row in shown if not row["group"].startswith(("one", "three"))]
    lines = []
    of_method = grouped(shown, ("method",))
    for method in SHAPES:
        found = of_method[(method,)]
        error = np.sqrt(sum(float(row["error"]) ** 2 for row in found)) / len(found)
        mean = np.mean([float(row["score"]) for row in found])
        lines.append([method, len(found), f"{mean:.3f} ± {error:.3f}"])
    heads = ["10,000 rows in two columns, ε = 1", "sets", "mean adjusted Rand index"]
    return f"{markdown(heads, lines)}\n\n{run_line(shown, 'shapes')}"


def draw() -> None:
    """Fill the page of losses and README's table of shapes."""
    sys.path[:0] = [str(HERE), str(HERE / "leaderboard")]
    page = runpy.run_path(str(HERE / "leaderboard" / "page.py"))
    papers = ("tau-epsilon", "tau-rivals", "tau-columns", "targets-costs", "targets-rivals")
    names = (*(b.file for b in BENCHMARKS), *papers, "dilca-kmeans", *DISTANCES)
    files = {name: read_rows(name) for name in names}
    by_epsilon = [*files["tau-epsilon"], *files["tau-rivals"]]
    lost = {
        "leaderboard": lost_kmeans(files["leaderboard"], page),
        "leaderboard-twelve": lost_twelve(files["leaderboard-twelve"], page),
        "synthetic": lost_rows(files["synthetic"]),
        "shapes": lost_shapes(files["shapes"]),
        "mixture-fits": lost_mixtures(files["mixture-fits"]),
        "tau-epsilon": lost_coclusters(by_epsilon, files["tau-columns"]),
        "targets-costs": lost_targets(files["targets-costs"], files["targets-rivals"]),
        "dilca-values": lost_distances(files),
        "scale": lost_time(files["scale"]),
    }
    for name, found in lost.items():
        put_table(PAGE, f"losses-{name}", table(list(found), files[name], name))
    put_table(README, "shapes-short", shapes_table(files["shapes"]))


def main() -> None:
    """Say what it costs, run if wanted, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = [benchmark.file for benchmark in BENCHMARKS]
    parser.add_argument("--run", nargs="*", choices=names, help="run all, for hours, or some")
    options = parser.parse_args()
    kept = (results_folder() / "benchmark-costs.csv").exists()
    costs = read_rows("benchmark-costs") if kept else []
    lines = [cost(benchmark, read_rows(benchmark.file), costs) for benchmark in BENCHMARKS]
    print(markdown(["benchmarks/results", "lines", "CPU minutes", "commits"], lines))
    if options.run is not None:
        for benchmark in BENCHMARKS:
            if not options.run or benchmark.file in options.run:
                renew(benchmark)
    else:
        print("`make benchmarks RUN=yes` runs all of them anew, after `make peers`.")
    draw()


if __name__ == "__main__":
    main()
