"""What tables for synthetic rows cost the clusters: summaries with and without, beside each other.

``python benchmarks/synthetic_clusters.py --data FOLDER [--sets a,b] [--runs 15] [--page
docs/research/synthetic.md]`` writes ``benchmarks/results/synthetic-clusters.csv``: the inertia of
the released centres, for a row, in the metric of the summary, and the CPU seconds of a fit.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np

from keeping import Row, markdown, origin, put_table, read_rows, replace_rows, run_line
from privclust import PrivateSummary
from privclust.papers.metrics import inertia
from synthetic import PEERS
from synthetic_measures import CLUSTERS, Judge
from synthetic_sets import SETS, Places, SyntheticSet

WAYS = {"tables": {"synthetic": True}, "cells": {"metric": "mismatch"}}


def run(of: SyntheticSet, judge: Judge, rows: np.ndarray, way: str, number: int) -> Row:
    """Return the inertia of centres of one fit."""
    options = {"epsilon": 1.0, "delta": 1e-6, "schema": of.schema, **WAYS[way]}
    start = time.process_time()
    model = PrivateSummary(**options).fit(of.rows)
    most = int((model.counts_ > 0).sum())
    centers = {k: judge.scaled(model.centers(min(k, most))) for k in CLUSTERS}
    seconds = round(time.process_time() - start, 3)
    found = {f"k{k}": round(inertia(rows, at) / len(rows), 7) for k, at in centers.items()}
    return {"set": of.name, "method": way, "run": number, **found, "seconds": seconds}


def table(rows: list[dict[str, str]]) -> str:
    """Return the inertia with tables over that without, and its standard error."""
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        cells: list[object] = [name]
        for k in CLUSTERS:
            of_way = [[r for r in rows if (r["set"], r["method"]) == (name, way)] for way in WAYS]
            ours, alone = (np.array([float(r[f"k{k}"]) for r in found]) for found in of_way)
            ratio = ours.mean() / alone.mean()
            parts = [part.std(ddof=1) / part.mean() / len(part) ** 0.5 for part in (ours, alone)]
            cells.append(f"{ratio:.3f} ± {ratio * np.hypot(*parts):.3f}")
        lines.append([*cells, len(ours)])
    heads = ["set", *(f"k = {k}" for k in CLUSTERS), "fits of each"]
    return markdown(heads, lines) + "\n\n" + run_line(rows, "synthetic-clusters")


def main() -> None:
    """Fit, write, and draw the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("PRIVCLUST_DATA"))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--page", type=Path, default=None, help="a page to put the table on")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    at = Places(options.data and Path(options.data), PEERS)
    for name in options.sets.split(","):
        of = SETS[name](at)
        judge = Judge(of)
        points, numbers = judge.points(of.rows), range(options.runs)
        found = [run(of, judge, points, way, number) for way in WAYS for number in numbers]
        replace_rows("synthetic-clusters", [{**row, **origin(0, "full")} for row in found])
    shown = table(read_rows("synthetic-clusters"))
    print(shown)
    if options.page:
        put_table(options.page, "synthetic-clusters", shown)


if __name__ == "__main__":
    main()
