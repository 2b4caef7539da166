"""What it costs to read and encode rows, beside the code before columns had types.

``python benchmarks/reading.py`` makes files of mixed rows (numbers, texts, dates) and of floats,
lets a private k-means read each of them, in a process of its own and in turn with the code of an
earlier commit, and writes ``results/reading.csv``. ``--draw`` fills the table of
``docs/research/scaling.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from keeping import markdown, put_table, read_rows, run_line, source_at, write_rows

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "research" / "scaling.md"
# The last commit that inferred types of objects from their blocks.
BEFORE = "1993cd8"
REPEATS = 5
WORDS = {
    "floats": "16 floats, Parquet",
    "parquet": "12 mixed columns, Parquet",
    "csv": "12 mixed columns, CSV",
    "pandas": "12 mixed columns, pandas",
    "objects": "12 mixed columns, pandas, all of objects",
}
PLACES = ["north", "south", "east", "west", "centre", "abroad"]


def mixed_rows(n_rows: int) -> pd.DataFrame:
    """Return rows of six numbers, four texts and two dates, without a pattern."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"n{i}": rng.uniform(0, 1, n_rows) for i in range(6)})
    for i in range(4):
        frame[f"t{i}"] = rng.choice(PLACES, n_rows)
    for i in range(2):
        days = np.datetime64("2020-01-01") + rng.integers(0, 1000, n_rows)
        frame[f"d{i}"] = days.astype("datetime64[s]")
    return frame


def make_files(folder: Path, n_rows: int, n_floats: int) -> None:
    """Write what is read."""
    frame = mixed_rows(n_rows)
    frame.to_parquet(folder / "mixed.parquet")
    frame.assign(**{f"d{i}": frame[f"d{i}"].dt.strftime("%Y-%m-%d") for i in range(2)}).to_csv(
        folder / "mixed.csv", index=False
    )
    rng = np.random.default_rng(1)
    schema = pa.schema([(f"x{i}", pa.float64()) for i in range(16)])
    with pq.ParquetWriter(folder / "floats.parquet", schema) as writer:
        for start in range(0, n_floats, 2**20):
            height = min(2**20, n_floats - start)
            writer.write_batch(
                pa.RecordBatch.from_arrays(list(rng.uniform(-1, 1, (16, height))), schema=schema)
            )


def run(what: str, folder: Path) -> dict[str, float]:
    """Let a fit of few passes read the rows; return CPU seconds and megabytes."""
    from privclust import Box, Categories, PrivateKMeans, Schema

    facts: dict[str, Any] = {f"n{i}": Box(0, 1) for i in range(6)}
    facts |= {f"t{i}": Categories(PLACES) for i in range(4)}
    facts |= {f"d{i}": Box("2020-01-01", "2023-01-01", form="date") for i in range(2)}
    schema = Schema(facts)
    data: Any = folder / f"mixed.{what}"
    if what == "floats":
        schema = Schema.from_bounds(-1, 1, names=[f"x{i}" for i in range(16)])
        data = folder / "floats.parquet"
    elif what in ("pandas", "objects"):
        data = pd.read_parquet(folder / "mixed.parquet")
        if what == "objects":
            text = {f"d{i}": data[f"d{i}"].dt.strftime("%Y-%m-%d") for i in range(2)}
            data = data.assign(**text).astype(object)
    model = PrivateKMeans(2, method="lloyd", epsilon=1.0, schema=schema, random_state=0)
    start = os.times()
    model.fit(data)
    end = os.times()
    return {
        "cpu": end.user + end.system - start.user - start.system,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def measured(what: str, folder: Path, source: Path) -> dict[str, float]:
    """Return the figures of one run in a process of its own."""
    found = subprocess.run(  # noqa: S603
        [sys.executable, "-W", "ignore", __file__, "--run", what, "--data", str(folder)],
        env={**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        check=True,
    )
    figures: dict[str, float] = json.loads(found.stdout)
    return figures


def compared(folder: Path, n_rows: int, n_floats: int) -> list[dict[str, Any]]:
    """Return a line for each kind of source: now and before, the least of a few runs."""
    make_files(folder, n_rows, n_floats)
    sources = {"now": HERE.parent / "src", "before": source_at(BEFORE, folder / "before")}
    rows = []
    for what in WORDS:
        runs: dict[str, list[dict[str, float]]] = {"now": [], "before": []}
        for _ in range(REPEATS):
            for when, source in sources.items():
                runs[when].append(measured(what, folder, source))
        cpu = {when: min(found["cpu"] for found in of) for when, of in runs.items()}
        size = {when: max(found["megabytes"] for found in of) for when, of in runs.items()}
        rows.append(
            {
                "source": what,
                "rows": n_floats if what == "floats" else n_rows,
                "cpu": round(cpu["now"], 2),
                "cpu_before": round(cpu["before"], 2),
                "ratio": round(cpu["now"] / cpu["before"], 3),
                "megabytes": round(size["now"]),
                "megabytes_before": round(size["before"]),
            }
        )
        print(rows[-1], flush=True)
    return rows


def draw() -> None:
    """Fill the table of the page."""
    rows = read_rows("reading")
    heads = ("rows", "read from", "CPU seconds", "before", "now / before")
    lines = [
        (
            f"{float(row['rows']):.0e}",
            WORDS[row["source"]],
            row["cpu"],
            row["cpu_before"],
            row["ratio"],
        )
        for row in rows
    ]
    put_table(PAGE, "reading", f"{markdown(heads, lines)}\n\n{run_line(rows, 'reading')}")


def main() -> None:
    """Run or draw what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--floats", type=int, default=10_000_000)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--run", choices=list(WORDS), help="one source; for the processes")
    parser.add_argument("--draw", action="store_true", help="fill the page from the file")
    chosen = parser.parse_args()
    if chosen.run:
        print(json.dumps(run(chosen.run, chosen.data)))
    elif chosen.draw:
        draw()
    else:
        with tempfile.TemporaryDirectory(dir=chosen.data) as folder:
            rows = compared(Path(folder), chosen.rows, chosen.floats)
        write_rows("reading", rows, seed=0, setting="full")


if __name__ == "__main__":
    main()
