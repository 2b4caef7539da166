"""How long the categorical methods take, on the data sets of the paper and on many rows."""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from category_output import save_small
from privclust import Categories, Schema
from privclust.categories.task import DISTANCES

METHODS = ("max-dependency", "max-relevance", "mean-su", "baseline", "pairs", "tree")
# Seconds of the authors' code for max-dependency, all targets.
AUTHORS = {"adult": 71.0, "mushroom": 103.0, "soybean": 753.0, "dermatology": 660.0}
SIZES = (9, 7, 16, 16, 7, 14, 6, 5, 2, 5, 5, 5, 41, 2)
BLOCK = 10**6
# Rows for max-dependency, which keeps them all and takes long.
MOST_KEPT = 10**6


def cpu_seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def times(options: argparse.Namespace) -> None:
    """CPU seconds of one fit of the whole metric, all targets, contexts of three."""
    table: dict[str, list[float]] = {}
    for data in options.tables():
        models = [DISTANCES.model(schema=data.schema, method=method) for method in METHODS]
        table[data.name] = [
            min(cpu_seconds(lambda: model.fit(data.rows)) for _ in range(2))  # noqa: B023
            for model in models
        ]
    print("\n| CPU seconds | " + " | ".join(table) + " |\n" + "|---" * (len(table) + 1) + "|")
    for place, method in enumerate(METHODS):
        print(f"| {method} | " + " | ".join(f"{row[place]:.2f}" for row in table.values()) + " |")
    print(
        "| max-dependency, authors | "
        + " | ".join(f"{AUTHORS.get(n, np.nan):.0f}" for n in table)
        + " |"
    )
    print("| Hamming (learns nothing) | " + " | ".join("0.00" for _ in table) + " |", flush=True)
    if options.plots:
        _draw_times(options.plots / "categorical-times.png", table)


def _draw_times(path: Path, table: dict[str, list[float]]) -> None:
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    ax = figure.subplots()
    rows = [*METHODS, "max-dependency, authors"]
    width = 0.8 / len(rows)
    for place, row in enumerate(rows):
        heights = [[*values, AUTHORS.get(name, np.nan)][place] for name, values in table.items()]
        shade = "#d55e00" if "authors" in row else None
        ax.bar(np.arange(len(table)) + place * width, heights, width, label=row, color=shade)
    ax.axhline(1, color="#222222", lw=1, ls=":")
    ax.set(yscale="log", ylabel="CPU seconds, all targets")
    ax.set_xticks(np.arange(len(table)) + 0.4 - width / 2, list(table))
    figure.legend(loc="outside right upper", fontsize=8, frameon=False)
    save_small(figure, path)


def scale(options: argparse.Namespace) -> None:
    """CPU seconds and memory of one fit from Parquet, by the number of rows."""
    schema = Schema({f"c{i}": Categories(list(range(k))) for i, k in enumerate(SIZES)})
    print("\n| method | rows | CPU s | MB in all |\n|---|---|---|---|")
    seconds: dict[str, dict[int, float]] = {"pairs": {}, "max-dependency": {}}
    with tempfile.TemporaryDirectory() as folder:
        paths = {n_rows: Path(folder) / f"{n_rows}.parquet" for n_rows in options.many}
        for n_rows, path in paths.items():
            _write(path, n_rows)
        for method, n_rows in product(seconds, paths):
            if method == "max-dependency" and n_rows > MOST_KEPT:
                continue
            model = DISTANCES.model(schema=schema, method=method)
            seconds[method][n_rows] = cpu_seconds(lambda: model.fit(paths[n_rows]))  # noqa: B023
            figures = f"{seconds[method][n_rows]:.1f} | {_peak_megabytes():,.0f}"
            print(f"| {method} | {n_rows:,} | {figures} |", flush=True)
    if options.plots:
        _draw_scale(options.plots / "categorical-scale.png", seconds)


def _peak_megabytes() -> float:
    """Return the most memory that this process has had until now; it never falls."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _draw_scale(path: Path, seconds: dict[str, dict[int, float]]) -> None:
    figure = Figure(figsize=(5, 3.2), layout="constrained")
    ax = figure.subplots()
    for method, values in seconds.items():
        ax.plot(list(values), list(values.values()), "o-", label=method)
    ax.set(xscale="log", yscale="log", xlabel="rows of 14 columns", ylabel="CPU seconds")
    ax.grid(visible=True, alpha=0.25)
    ax.legend(frameon=False)
    save_small(figure, path)


def _write(path: Path, n_rows: int) -> None:
    """Write rows of small integers, a million at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    layout = pa.schema([(f"c{i}", pa.int8()) for i in range(len(SIZES))])
    with pq.ParquetWriter(path, layout) as writer:
        for start in range(0, n_rows, BLOCK):
            size = min(BLOCK, n_rows - start)
            columns = [rng.integers(0, k, size, dtype=np.int8) for k in SIZES]
            writer.write_table(pa.table(columns, schema=layout))
