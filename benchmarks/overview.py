"""The README's tables beside each other: what they would cost, how to renew them, what we lose at.

``python benchmarks/overview.py`` (``make benchmarks``) says what each benchmark behind the README
cost in CPU seconds when its file was written, and at which commit; ``--run`` (``make benchmarks
RUN=yes``) runs all of them, which takes hours; both then draw README's short table of shapes and
the page ``docs/research/losses.md`` from the files.
"""

from __future__ import annotations

import argparse
import os
import runpy
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from keeping import markdown, put_table, read_rows, run_line

HERE = Path(__file__).parent
ROOT = HERE.parent
PAGE, README = ROOT / "docs" / "research" / "losses.md", ROOT / "README.md"
# Of the README: methods for clusters of any shape.
SHAPES = (
    *("density, k found", "HDBSCAN of the density, never one", "spectral of a summary, k given"),
    *("no privacy: density, k found", "no privacy: HDBSCAN", "no privacy: spectral, k given"),
)
FAR = 1.1  # by so much a fit without privacy must be ahead to be listed

Rows = list[dict[str, str]]


class Benchmark(NamedTuple):
    """A file of results, the commands that renew it and its pages, and its column of seconds."""

    file: str
    commands: tuple[str, ...]
    seconds: str = ""


BENCHMARKS = (
    Benchmark("leaderboard", ("leaderboard run --full", "leaderboard page"), "seconds"),
    Benchmark("leaderboard-twelve", ("leaderboard twelve", "leaderboard page")),
    Benchmark(
        "synthetic",
        (
            "synthetic.py",
            "synthetic.py --methods mst",
            "synthetic.py --methods aim --runs 1",
            "synthetic.py --drawn --pictures --page docs/research/synthetic.md",
        ),
        "seconds",
    ),
    Benchmark("synthetic-clusters", ("synthetic_clusters.py --page docs/research/synthetic.md",)),
    Benchmark("shapes", ("shapes.py shapes", "shapes.py page")),
    Benchmark("mixture-fits", ("shapes_mixture.py fits --page docs/research/mixture.md",)),
    Benchmark("scale", ("scale.py",), "cpu"),
)


def cost(benchmark: Benchmark, rows: Rows) -> list[object]:
    """Return a line: file, runs, CPU minutes, and the commits that wrote it."""
    commits = ", ".join(dict.fromkeys(row["commit"] for row in rows))
    minutes = ""
    if benchmark.seconds:
        seconds = [float(row[benchmark.seconds]) for row in rows if row[benchmark.seconds]]
        minutes = f"{sum(seconds) / 60:.3g}"
    return [benchmark.file, len(rows), minutes or "not kept", commits]


def renew(benchmark: Benchmark) -> None:
    """Run the commands of a benchmark."""
    for command in benchmark.commands:
        first, *rest = command.split()
        print(command, flush=True)
        subprocess.run(  # noqa: S603
            [sys.executable, str(HERE / first), *rest],
            check=True,
            cwd=ROOT,
            env={"OMP_NUM_THREADS": "1", **os.environ},
        )


# What we lose at: a line for each set, budget and measure.


class Loss(NamedTuple):
    """Where somebody is ahead of us, and by what."""

    where: str
    measure: str
    ours: float
    ahead: str
    theirs: float


def lost_kmeans(rows: Rows, page: dict[str, object]) -> Iterator[Loss]:
    """Yield where another private method, or the best known without privacy, is ahead."""
    measure = "inertia ÷ best known"
    for (name, epsilon), means in page["ranked"](rows).items():  # type: ignore[operator]
        ours = means.pop("privclust", None)
        if ours is None:
            continue
        where = f"{name}, ε = {epsilon:g}"
        best = min(means, key=lambda method: means[method], default=None)
        if best is not None and ours > means[best] * page["twelve"].TIE:  # type: ignore[attr-defined]
            yield Loss(where, measure, ours, best, means[best])
        if ours > FAR:
            yield Loss(where, measure, ours, "k-means, not private", 1.0)


def lost_twelve(rows: Rows, page: dict[str, object]) -> Iterator[Loss]:
    """Yield on which of PE-means' sets k-means without privacy is ahead, run here."""
    for (k, d), found in page["twelve"].integrals(rows).items():  # type: ignore[attr-defined]
        (ours, _), (exact, _) = found["privclust"], found["k-means, not private"]
        if ours > exact * FAR:
            where, measure = f"PE-means' set of k = {k}, {d} columns", "its integral over ε"
            yield Loss(where, measure, ours, "k-means, not private", exact)


# Measures of synthetic rows, and whether less is better; and who else is asked.
ROWS_MEASURES = {
    "one": ("one column", True),
    "two": ("two columns", True),
    "three": ("three columns", True),
    "correlation": ("correlations", True),
    "learning": ("learning", False),
    "k6": ("inertia, k = 6", True),
    "k12": ("inertia, k = 12", True),
}
OTHERS = {
    "mst": "MST",
    "aim": "AIM",
    "independent": "independent columns with noise",
    "cells": "cells alone (ours)",
}


def lost_rows(rows: Rows) -> Iterator[Loss]:
    """Yield where rows of another method are closer than those of tables."""
    means: dict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
    for name, values in _by(rows, ("set", "epsilon", "delta", "method")).items():
        for measure in ROWS_MEASURES:
            found = [float(row[measure]) for row in values if row[measure]]
            if found:
                means[(*name[:3], measure)][name[3]] = float(np.mean(found))
    for (name, epsilon, delta, measure), found in means.items():
        ours, (words, less) = found.get("tables"), ROWS_MEASURES[measure]
        where = f"{name}, ε = {epsilon}" + (f", δ = {delta}" if float(delta) else "")
        for method, told in OTHERS.items():
            theirs = found.get(method)
            if ours is None or theirs is None or ours == theirs:
                continue
            if (theirs < ours) == less:
                yield Loss(where, words, ours, told, theirs)


def lost_shapes(rows: Rows) -> Iterator[Loss]:
    """Yield where a clusterer without privacy is ahead of the density that finds k itself."""
    for (name, n, epsilon), found in _by(rows, ("set", "rows", "epsilon")).items():
        scores = {row["method"]: float(row["score"]) for row in found}
        exact = {m: s for m, s in scores.items() if m.startswith("no privacy")}
        best = max(exact, key=lambda method: exact[method], default="")
        ours = scores.get("density, k found")
        if best and ours is not None and exact[best] > ours * FAR:
            where = f"{name}, {int(n):,} rows, ε = {float(epsilon):g}"
            yield Loss(where, "adjusted Rand index", ours, best, exact[best])


def lost_mixtures(rows: Rows) -> Iterator[Loss]:
    """Yield where scikit-learn's mixture, or noisy EM, is ahead of ours."""
    means = {
        key: float(np.mean([float(row["ari"]) for row in found]))
        for key, found in _by(rows, ("set", "method", "budget")).items()
    }
    for (name, method, budget), ours in means.items():
        if method == "mixture":
            where = f"{name}, {'pure ε' if budget == 'pure' else 'with a δ'}"
            exact = means.get((name, "scikit-learn", "none"), 0.0)
            if exact > ours * FAR:
                yield Loss(where, "adjusted Rand index", ours, "scikit-learn's", exact)
            rival = means.get((name, "noisy EM", budget), 0.0)
            if rival > ours:
                yield Loss(where, "adjusted Rand index", ours, "noisy EM", rival)


def lost_time(rows: Rows) -> Iterator[Loss]:
    """Yield where MiniBatchKMeans takes less CPU time than we do."""
    times = {(row["size"], row["run"]): float(row["cpu"]) for row in rows if row["cpu"]}
    for (size, run), exact in times.items():
        ours = times.get((size, "local"), 0.0)
        if run == "minibatch" and ours > exact:
            yield Loss(f"{size}, 16 clusters", "CPU seconds", ours, "MiniBatchKMeans", exact)


def _by(rows: Rows, keys: Sequence[str]) -> dict[tuple[str, ...], Rows]:
    parts: dict[tuple[str, ...], Rows] = defaultdict(list)
    for row in rows:
        parts[tuple(row[key] for key in keys)].append(row)
    return parts


def table(losses: Sequence[Loss], rows: Rows, file: str) -> str:
    """Return the table of what is lost, or that nothing is."""
    lines = [[x.where, x.measure, f"{x.ours:.3g}", x.ahead, f"{x.theirs:.3g}"] for x in losses]
    heads = ["set and budget", "measure", "privclust", "ahead", "theirs"]
    told = markdown(heads, lines) if lines else "Nothing in the file."
    return f"{told}\n\n{run_line(rows, file)}"


def shapes_table(rows: Rows) -> str:
    """Return the README's table of shapes: mean scores over sets of two columns, by method."""
    shown = [row for row in rows if (row["rows"], row["epsilon"]) == ("10000", "1.0")]
    shown = [row for row in shown if not row["group"].startswith(("one", "three"))]
    lines = []
    of_method = _by(shown, ("method",))
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
    files = {name: read_rows(name) for name in (b.file for b in BENCHMARKS)}
    lost = {
        "leaderboard": lost_kmeans(files["leaderboard"], page),
        "leaderboard-twelve": lost_twelve(files["leaderboard-twelve"], page),
        "synthetic": lost_rows(files["synthetic"]),
        "shapes": lost_shapes(files["shapes"]),
        "mixture-fits": lost_mixtures(files["mixture-fits"]),
        "scale": lost_time(files["scale"]),
    }
    for name, found in lost.items():
        put_table(PAGE, f"losses-{name}", table(list(found), files[name], name))
    put_table(README, "shapes-short", shapes_table(files["shapes"]))


def main() -> None:
    """Say what it costs, run if wanted, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", action="store_true", help="run everything, which takes hours")
    options = parser.parse_args()
    lines = [cost(benchmark, read_rows(benchmark.file)) for benchmark in BENCHMARKS]
    print(markdown(["benchmarks/results", "lines", "CPU minutes of fits", "commits"], lines))
    if options.run:
        for benchmark in BENCHMARKS:
            renew(benchmark)
    else:
        print("`make benchmarks RUN=yes` runs all of them anew, after `make peers`.")
    draw()


if __name__ == "__main__":
    main()
