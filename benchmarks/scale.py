"""How fits grow with the rows: one machine, two workers of Dask, the code before, and others.

``python benchmarks/scale.py --data FOLDER --rows 2000000 10000000`` makes the data, runs every
configuration in a process of its own, one after the other, and writes ``results/scale.csv``.
``--draw`` fills the tables of ``docs/research/scaling.md`` and the README, and draws a figure. CPU
seconds of one run on a shared machine are compared with each other, not with those of another run.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from keeping import (
    markdown,
    put_table,
    read_rows,
    results_folder,
    run_line,
    source_at,
    write_rows,
)
from scale_sets import DIMENSION, make_baskets, make_categories, make_points

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "research" / "scaling.md"
README = HERE.parent / "README.md"
FIGURE = HERE.parent / "docs" / "figures" / "scaling.png"
# The last commit that read the files again for every question.
BEFORE = "31eb29a"
POINTS = ("before", "local", "local-256MB", "dask", "dask-killed", "minibatch", "diffprivlib")
OTHERS = ("local", "dask")
NAMES = ("scale", "scale-large")
WORDS = {
    "before": "before parts and engines",
    "local": "one machine, rows kept",
    "local-256MB": "one machine, at most 256 MB of rows kept, the rest read again",
    "dask": "Dask, two workers",
    "dask-killed": "Dask, one worker killed in pass 3",
    "minibatch": "MiniBatchKMeans, 13 passes (not private)",
    "diffprivlib": "diffprivlib's KMeans, in memory",
}
# In the README.
IN_SHORT = {
    "local": "privclust, from Parquet",
    "diffprivlib": "diffprivlib's KMeans, in memory",
    "minibatch": "MiniBatchKMeans, as many passes, not private",
}
# diffprivlib holds all rows and a few tables as long; beyond this it is left out.
MOST_IN_MEMORY = 2_000_000
# Of a row when it is kept: four bytes a number.
KEPT_BYTES = 4 * DIMENSION


def measured(run: str, data: Path, source: Path | None = None) -> dict[str, Any]:
    """Return the figures of one run in a process of its own."""
    path = str(HERE.parent / "src" if source is None else source)
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(HERE / "scale_runs.py"), run, str(data)]
    found = subprocess.run(  # noqa: S603
        command, env=environment, capture_output=True, text=True, check=False
    )
    lines = found.stdout.strip().splitlines()
    if found.returncode or not lines:
        print(found.stderr[-2000:], file=sys.stderr)
        raise SystemExit(f"{run} failed.")
    facts: dict[str, Any] = json.loads(lines[-1])
    return facts


def all_runs(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Run everything that was asked for."""
    rows: list[dict[str, Any]] = []

    def keep(what: str, size: str, run: str, facts: dict[str, Any]) -> None:
        names = ("cpu", "wall", "megabytes", "worker_cpu", "coordinator_cpu", "digest")
        wire = ("passes", "tasks", "bytes_out", "bytes_back")
        shown = {n: round(v, 5) if isinstance(v, float) else v for n, v in facts.items()}
        rows.append({"what": what, "size": size, "run": run}
                    | {name: shown.get(name, "") for name in (*names, *wire)})  # fmt: skip
        print(rows[-1], flush=True)
        write_rows(options.name, rows, seed=0, setting=options.setting)

    keep("tasks", "2000", "dask", measured("tasks", options.data))
    runs = POINTS if options.runs is None else options.runs
    with tempfile.TemporaryDirectory() as folder:
        before = source_at(BEFORE, Path(folder)) if "before" in runs else None
        for n_rows in options.rows:
            data = make_points(options.data / f"points-{n_rows}", n_rows)
            for run in runs:
                if run == "diffprivlib" and n_rows > MOST_IN_MEMORY:
                    continue
                old = before if run == "before" else None
                facts = measured(f"points-{'local' if old else run}", data, old)
                keep("points", f"{n_rows:.0e} x {DIMENSION}", run, facts)
    for n_rows in options.pairs:
        data = make_categories(options.data / f"categories-{n_rows}", n_rows)
        for run in options.others:
            keep("pairs", f"{n_rows:.0e} x 14", run, measured(f"pairs-{run}", data))
    for n_entries in options.entries:
        shape = math.isqrt(n_entries) * 100, math.isqrt(n_entries) * 10
        data = make_baskets(options.data / f"baskets-{n_entries}", shape, n_entries)
        size = f"{shape[0]:.0e} x {shape[1]:.0e}, {n_entries:.0e} entries"
        for run in options.others:
            keep("baskets", size, run, measured(f"baskets-{run}", data))
    return rows


def draw() -> None:
    """Fill the page from the file."""
    rows = read_rows("scale")
    for what in ("points", "pairs", "baskets"):
        lines = [
            (r["size"], WORDS[r["run"]], f"{float(r['cpu']):.1f}",
             f"{float(r['megabytes']):,.0f}", r["digest"] if r["run"] != "minibatch" else "none")
            for r in rows if r["what"] == what
        ]  # fmt: skip
        if lines:
            heads = ("size", "where", "CPU seconds", "MB, all processes", "digest of the release")
            put_table(PAGE, f"scale-{what}", markdown(heads, lines))
    put_table(PAGE, "scale-paper", _on_paper(rows))
    put_table(README, "scale-short", f"{_short(rows)}\n\n{run_line(rows[:1], 'scale')}")
    for name in NAMES[1:]:
        if (results_folder() / f"{name}.csv").exists():
            put_table(PAGE, name, _apart(read_rows(name)))
    about = rows[0]
    words = f"Commit {about['commit']}, {about['date']}, {about['machine']}, {about['setting']}."
    put_table(PAGE, "scale-about", words)
    _figure([row for row in rows if row["what"] == "points"])


def _apart(rows: Sequence[dict[str, str]]) -> str:
    """Return the table of a run apart from the others."""
    lines = [
        (row["what"], row["size"], WORDS[row["run"]], f"{float(row['cpu']):.1f}",
         f"{float(row['megabytes']):,.0f}", row["digest"], row["commit"])
        for row in rows if row["what"] != "tasks"
    ]  # fmt: skip
    heads = ("what", "size", "where", "CPU seconds", "MB, all processes", "digest", "commit")
    return markdown(heads, lines)


def _short(rows: Sequence[dict[str, str]]) -> str:
    """Return the table of the README: one machine beside what a user would pick instead."""
    lines = [
        (row["size"], told, f"{float(row['cpu']):.1f}", f"{float(row['megabytes']):,.0f}")
        for row in rows
        if row["what"] == "points" and (told := IN_SHORT.get(row["run"]))
    ]
    return markdown(("rows x columns, 16 clusters", "", "CPU seconds", "MB of memory"), lines)


def _on_paper(rows: Sequence[dict[str, str]], workers: int = 1000, gigabytes: int = 100) -> str:
    """Compute a fit of many gigabytes on many workers from the measured constants."""
    task = next(row for row in rows if row["what"] == "tasks")
    run = [r for r in rows if r["what"] == "points" and r["run"] == "dask"][-1]
    n_rows = float(run["size"].split(" x ")[0])
    passes, n_tasks = int(run["passes"]), int(run["tasks"])
    many = gigabytes * 10**9 / KEPT_BYTES
    parts = 4 * workers
    per_pass = parts * (1 + 1 / 8 + 1 / 64 + 1 / 512) + 1
    all_tasks = parts + passes * per_pass
    work = float(run["worker_cpu"]) / n_rows * many / workers
    scheduling = all_tasks * float(task["cpu"])
    out = float(run["bytes_out"]) / n_tasks * all_tasks
    lines = [
        ("rows of 16 numbers, kept", f"{many:.2e}"),
        ("passes", passes),
        ("tasks of the fit", f"{all_tasks:,.0f}"),
        ("bytes sent out, all passes", f"{out / 1e6:,.0f} MB"),
        ("bytes back to the coordinator, all passes", f"{int(run['bytes_back']) / 1e3:,.0f} kB"),
        ("work of each worker, one thread", f"{work:,.0f} s"),
        ("time of the scheduler and the coordinator for the tasks", f"{scheduling:,.0f} s"),
        ("expected time, if neither overlaps", f"{work + scheduling:,.0f} s"),
    ]
    return markdown((f"{gigabytes} GB on {workers} workers", "computed"), lines)


def _figure(rows: Sequence[dict[str, str]]) -> None:
    figure = Figure(figsize=(5.4, 3.4), layout="constrained")
    ax = figure.subplots()
    for run in WORDS:
        found = [
            (float(r["size"].split(" x ")[0]), float(r["cpu"])) for r in rows if r["run"] == run
        ]
        if found:
            ax.plot(*zip(*found, strict=True), "o-", label=WORDS[run])
    ax.set(xscale="log", yscale="log", xlabel="rows of 16 columns", ylabel="CPU seconds")
    ax.grid(visible=True, alpha=0.25)
    ax.legend(frameon=False, fontsize=7)
    figure.savefig(FIGURE, dpi=110)


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("scale-data"), help="Where data lie.")
    parser.add_argument("--rows", type=int, nargs="*", default=[200_000, 1_000_000])
    parser.add_argument("--pairs", type=int, nargs="*", default=[1_000_000])
    parser.add_argument("--entries", type=int, nargs="*", default=[1_000_000])
    parser.add_argument("--runs", nargs="*", choices=POINTS, help="Of the points; all by default.")
    parser.add_argument("--others", nargs="*", choices=OTHERS, default=OTHERS, help="The same.")
    parser.add_argument("--setting", default="small")
    parser.add_argument("--name", choices=NAMES, default="scale")
    parser.add_argument("--draw", action="store_true", help="Only fill the page from the file.")
    options = parser.parse_args()
    if not options.draw:
        all_runs(options)
    draw()


if __name__ == "__main__":
    main()
