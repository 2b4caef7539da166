"""What tables for synthetic rows cost the clusters: summaries with and without, beside each other.

``python benchmarks/synthetic_clusters.py --data FOLDER [--sets a,b] [--runs 15] [--page
docs/research/synthetic.md]`` writes ``benchmarks/results/synthetic-clusters.csv``: the inertia of
the released centres, for a row, in the metric of the summary, and the CPU seconds of a fit.
``--plain`` writes ``synthetic-plain.csv`` instead: the inertia over the best of five starts, where
two categories are as far apart as the bounds of a number and no column is weighed by agreement.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from functools import cached_property
from pathlib import Path

import numpy as np

from keeping import Row, markdown, origin, put_table, read_rows, replace_rows, run_line
from privclust import Box, Categories, PrivateSummary, Schema
from privclust.papers.metrics import inertia
from synthetic import PEERS
from synthetic_measures import CLUSTERS, Judge
from synthetic_output import shown
from synthetic_sets import SETS, Places, SyntheticSet

WAYS = {"tables": {"synthetic": True}, "cells": {"metric": "mismatch"}}


class PlainSet(SyntheticSet):
    """A set whose numbers count in their declared widths, and whose categories are one apart."""

    @cached_property
    def schema(self) -> Schema:
        """What is declared, with weights; a summary takes it as it is with ``rescale=False``."""
        boxes = {
            name: Box(low, high, form="integer" if whole else "number", weight=1 / (high - low))
            for name, (low, high, whole) in self.numbers.items()
        }
        return Schema(boxes | {name: Categories(v) for name, v in self.values.items()})


def run(of: SyntheticSet, judge: Judge, way: str, number: int, *, plain: bool) -> Row:
    """Return the inertia of centres of one fit: for a row, or plain, over the best known."""
    options = {"epsilon": 1.0, "delta": 1e-6, "schema": of.schema, **WAYS[way]}
    if plain:
        options["rescale"] = False
    start = time.process_time()
    model = PrivateSummary(**options).fit(of.rows)
    most = int((model.counts_ > 0).sum())
    centers = {k: judge.scaled(model.centers(min(k, most))) for k in CLUSTERS}
    seconds = round(time.process_time() - start, 3)
    if plain:
        found = {k: round(ratio, 5) for k, ratio in judge.clusters(centers).items()}
    else:
        rows = judge.points(of.rows)
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


def plain_table(rows: list[dict[str, str]]) -> str:
    """Return the inertia over the best known, in the plain metric."""
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        of_way = {way: [r for r in rows if (r["set"], r["method"]) == (name, way)] for way in WAYS}
        cells = [
            shown(np.array([float(r[f"k{k}"]) for r in found]), 4, error=True)
            for k in CLUSTERS
            for found in of_way.values()
        ]
        lines.append([name, *cells, len(of_way["tables"])])
    heads = [f"k = {k}, {way}" for k in CLUSTERS for way in ("with tables", "cells alone")]
    told = markdown(["set", *heads, "fits of each"], lines)
    return told + "\n\n" + run_line(rows, "synthetic-plain")


def main() -> None:
    """Fit, write, and draw the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("PRIVCLUST_DATA"))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--plain", action="store_true", help="in the plain metric")
    parser.add_argument("--page", type=Path, default=None, help="a page to put the table on")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    at = Places(options.data and Path(options.data), PEERS)
    file = "synthetic-plain" if options.plain else "synthetic-clusters"
    for name in options.sets.split(","):
        of = SETS[name](at)
        if options.plain:
            of = PlainSet(of.name, of.rows, of.numbers, of.target)
        judge, numbers = Judge(of, rescale=not options.plain), range(options.runs)
        found = [run(of, judge, way, n, plain=options.plain) for way in WAYS for n in numbers]
        replace_rows(file, [{**row, **origin(0, "full")} for row in found])
    drawn = (plain_table if options.plain else table)(read_rows(file))
    print(drawn)
    if options.page:
        put_table(options.page, file, drawn)


if __name__ == "__main__":
    main()
