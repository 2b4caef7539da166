"""What tables for synthetic rows cost beside a summary without: CPU seconds and memory.

``python benchmarks/synthetic_size.py [--rows 1000000] [--page docs/research/synthetic.md]`` runs
each in a process of its own and writes ``benchmarks/results/synthetic-size.csv``.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from keeping import Row, markdown, put_table, read_rows, run_line, write_rows
from privclust import Box, Categories, PrivateSummary, Schema

NUMBERS, CATEGORIES, VALUES = 6, 6, [f"v{code}" for code in range(8)]
WAYS = {"cells alone": False, "tables": True}


def table_of(n_rows: int) -> tuple[pd.DataFrame, Schema]:
    """Return rows of eight kinds, and what is declared of them."""
    rng = np.random.default_rng(0)
    kinds = rng.choice(8, n_rows)
    columns = {}
    for place in range(NUMBERS):
        middles = rng.uniform(20, 80, 8)[kinds]
        columns[f"x{place}"] = np.clip(rng.normal(middles, 6), 0, 100)
    for place in range(CATEGORIES):
        columns[f"c{place}"] = np.array(VALUES)[(kinds + rng.integers(0, 3, n_rows)) % 8]
    facts = {name: Box(0, 100) if name[0] == "x" else Categories(VALUES) for name in columns}
    return pd.DataFrame(columns), Schema(facts)


def run(way: str, n_rows: int) -> Row:
    """Return what one fit and its rows cost."""
    warnings.simplefilter("ignore")
    rows, schema = table_of(n_rows)
    start = time.process_time()
    options = {"epsilon": 1.0, "delta": 1e-6, "schema": schema, "synthetic": WAYS[way]}
    model = PrivateSummary(**options).fit(rows)
    fitted = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    model.sample(n_rows, random_state=0)
    drawn = time.process_time()
    figures = {"fit": fitted - start, "sample": drawn - fitted, "gigabytes": peak}
    return {"method": way, "rows": n_rows} | {k: round(v, 2) for k, v in figures.items()}


def table(rows: list[dict[str, str]]) -> str:
    """Return the table of the page."""
    lines = [
        [f"{int(row['rows']):,}", row["method"], row["fit"], row["sample"], row["gigabytes"]]
        for row in rows
    ]
    heads = ["rows", "summary with", "fit, CPU s", "rows drawn, CPU s", "GB"]
    return markdown(heads, lines) + "\n\n" + run_line(rows, "synthetic-size")


def _in_a_process(way: str, n_rows: int) -> Row:
    command = [sys.executable, __file__, "--only", way, "--rows", str(n_rows)]
    told = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    found: Row = json.loads(told.stdout)
    return found


def main() -> None:
    """Run both, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--only", choices=[*WAYS], help="run this alone, and print what it took")
    parser.add_argument("--page", type=Path, default=None, help="a page to put the table on")
    options = parser.parse_args()
    if options.only:
        print(json.dumps(run(options.only, options.rows)))
        return
    found = [_in_a_process(way, options.rows) for way in WAYS]
    write_rows("synthetic-size", found, seed=0, setting="full")
    shown = table(read_rows("synthetic-size"))
    print(shown)
    if options.page:
        put_table(options.page, "synthetic-size", shown)


if __name__ == "__main__":
    main()
