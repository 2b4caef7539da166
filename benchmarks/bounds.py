"""How far private bounds are from the true range, and what they cost the k-means that uses them.

``python benchmarks/bounds.py [ranges | kmeans] [--full] [--seed 0]`` prints a table, writes every
run to ``benchmarks/results/bounds-TABLE.csv`` and fills the table of ``docs/research/bounds.md``.
The true range of a column is the smallest one that leaves out 1 % of its rows. Data are generated
from the seed; the noise is the system's. The small setting takes a minute.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from keeping import markdown, put_table, write_rows
from privclust import PrivateBounds, PrivateKMeans, Schema
from privclust.papers.datasets.points import clumps
from privclust.papers.metrics import inertia

PAGE = Path(__file__).parents[1] / "docs" / "research" / "bounds.md"
BUDGETS = ((0.1, 0), (0.5, 0), (1.0, 0), (0.1, 1e-6))
OUTSIDE = 0.01
# Rows, columns and clumps; the small setting has the first two.
CLUMPS = ((20_000, 2, 5), (20_000, 8, 8), (100_000, 8, 8))
Row = dict[str, Any]


def main() -> None:
    """Run one table and write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", nargs="?", choices=[*TABLES], default="ranges")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = list(TABLES[options.table](options.seed, options.full))
    setting = "full" if options.full else "small"
    write_rows(f"bounds-{options.table}", rows, seed=options.seed, setting=setting)
    table = SHOWN[options.table](rows)
    print(table)
    put_table(PAGE, options.table, table)


def sets(seed: int, full: bool) -> Iterator[tuple[str, Any]]:
    """Yield tables of numbers under their names."""
    rng = np.random.default_rng(seed)
    for n in (2000, 20_000, 200_000) if full else (2000, 20_000):
        people = np.column_stack(
            [
                rng.integers(18, 90, n),  # age
                rng.integers(1990, 2024, n),  # year
                rng.lognormal(10, 1, n),  # income
                rng.exponential(5, n),  # stay
                rng.normal(36.8, 0.5, n),  # temperature
            ]
        )
        yield f"{n} people x 5", people
        sizes = 10.0 ** rng.uniform(-12, 12, 20)
        yield f"{n} normal x 20", (rng.normal(size=(n, 20)) + rng.uniform(-3, 3, 20)) * sizes
    yield "breast cancer, 569 x 30", load_breast_cancer().data
    yield "digits, 1797 x 64", load_digits().data


def true_range(column: Any) -> tuple[float, float]:
    """Return the smallest range that leaves out the declared share."""
    ordered = np.sort(column)
    kept = int(np.ceil((1 - OUTSIDE) * len(ordered)))
    starts = np.arange(len(ordered) - kept + 1)
    best = int((ordered[starts + kept - 1] - ordered[starts]).argmin())
    return float(ordered[best]), float(ordered[best + kept - 1])


def ranges(seed: int, full: bool) -> Iterator[Row]:
    """Compare the bounds of each column with its true range."""
    for name, rows in sets(seed, full):
        ends = np.array([true_range(column) for column in rows.T])
        widths = ends[:, 1] - ends[:, 0]
        for epsilon, delta in BUDGETS:
            for run in range(10 if full else 3):
                model = PrivateBounds(epsilon, delta=delta, outside_share=OUTSIDE).fit(rows)
                low, high = model.bounds_
                left = ((rows < low) | (rows > high)).mean(axis=0)
                for column, found in enumerate(model.found_):
                    if widths[column] == 0:
                        continue  # a constant has no range to compare with
                    yield {
                        "set": name,
                        "epsilon": epsilon,
                        "delta": delta,
                        "run": run,
                        "column": column,
                        "found": bool(found),
                        "width": (high[column] - low[column]) / widths[column],
                        "estimated_bias": left[column],
                    }


def show_ranges(rows: list[Row]) -> str:
    """Return how many columns are found, how wide their bounds are, and what they leave out."""
    lines = []
    for key in dict.fromkeys((row["set"], row["epsilon"], row["delta"]) for row in rows):
        own = [row for row in rows if (row["set"], row["epsilon"], row["delta"]) == key]
        found = [row for row in own if row["found"]]
        line = [key[0], f"{key[1]:g}, {key[2]:g}", f"{100 * len(found) / len(own):.0f} %"]
        if found:
            width = np.array([row["width"] for row in found])
            left = 100 * np.array([row["estimated_bias"] for row in found])
            line.append(f"{np.median(width):.2f} ({width.max():.3g})")
            line.append(f"{np.median(left):.1f} % ({left.max():.0f} %)")
        lines.append(line + [""] * (5 - len(line)))
    return markdown(["rows", "ε, δ", "found", "width", "left out"], lines)


def kmeans(seed: int, full: bool) -> Iterator[Row]:
    """Compare k-means with bounds that are known, guessed ten times too wide, or paid for."""
    for n, d, k in CLUMPS[: 3 if full else 2]:
        for run in range(10 if full else 4):
            rows = clumps(n, d, k, seed=seed + run) * 1000
            low, high = rows.min(axis=0), rows.max(axis=0)
            middle, half = (low + high) / 2, (high - low) / 2
            schemas: dict[str, tuple[float, Schema]] = {
                "known": (1.0, Schema.from_bounds(low, high))
            }
            for factor in (10, 1000, 100_000):
                wide = Schema.from_bounds(middle - factor * half, middle + factor * half)
                schemas[f"{factor} times too wide"] = (1.0, wide)
            for share in (0.1, 0.3):
                paid = PrivateBounds(share).fit(rows).schema_
                schemas[f"paid for with {share:g}"] = (1 - share, paid)
            scale = high - low
            for name, (epsilon, schema) in schemas.items():
                model = PrivateKMeans(k, epsilon=epsilon, schema=schema, rescale=True).fit(rows)
                cost = inertia(rows / scale, model.cluster_centers_ / scale)
                yield {"set": f"{n}x{d}, {k} clumps", "run": run, "bounds": name, "inertia": cost}


def show_kmeans(rows: list[Row]) -> str:
    """Return the inertia with bounds of each origin, relative to that with known ones."""
    names = list(dict.fromkeys(row["set"] for row in rows))
    lines = []
    for origin in dict.fromkeys(row["bounds"] for row in rows):
        line = [origin]
        for name in names:
            own = [row for row in rows if row["set"] == name]
            known = {row["run"]: row["inertia"] for row in own if row["bounds"] == "known"}
            logs = [np.log(r["inertia"] / known[r["run"]]) for r in own if r["bounds"] == origin]
            line.append(f"{np.exp(np.mean(logs)):.3f}")
        lines.append(line)
    return markdown(["bounds", *names], lines)


TABLES = {"ranges": ranges, "kmeans": kmeans}
SHOWN = {"ranges": show_ranges, "kmeans": show_kmeans}

if __name__ == "__main__":
    main()
