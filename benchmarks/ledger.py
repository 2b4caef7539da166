"""The ledger: durable charges a second, and what a charge adds to a fit.

Run with ``python benchmarks/ledger.py [FOLDER]``; the ledger is made in a new folder within FOLDER,
or where temporary files go. Give a folder on the disk that matters: a charge waits for it once.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from privclust import PrivateKMeans
from privclust.budget import Budget
from privclust.ledger import Ledger
from privclust.unit import AddRemoveRow

CHARGES = 1000
SYNCS = 300
FITS = 15
SIZES = ((1_000, 2), (100_000, 8))


def main(place: str | None = None) -> None:
    """Print the table of the README."""
    with tempfile.TemporaryDirectory(dir=place) as folder:
        ledger = Ledger.open(Path(folder, "budget.db"))
        ledger.create_dataset("visits")
        ledger.grant("visits", 10**5)
        print("| what | measured |")
        print("|---|---|")
        print(f"| the disk alone: writes of 500 bytes and fsync | {syncs(Path(folder)):.0f} / s |")
        print(f"| durable charges, SQLite | {charges(ledger):.0f} / s |")
        for rows, columns in SIZES:
            without, with_ledger = fits(ledger, rows, columns)
            print(
                f"| fit of {rows} x {columns}, without and with a ledger | "
                f"{1000 * without:.1f} ms, {1000 * with_ledger:.1f} ms |"
            )
        begin = time.perf_counter()
        entries = ledger.verify().entries
        print(f"| verify {entries} entries | {time.perf_counter() - begin:.2f} s |")


def syncs(folder: Path) -> float:
    """Return how often a second the disk can be waited for."""
    with open(folder / "file", "wb", buffering=0) as file:
        begin = time.perf_counter()
        for _ in range(SYNCS):
            file.write(b"x" * 500)
            os.fsync(file.fileno())
        return SYNCS / (time.perf_counter() - begin)


def charges(ledger: Ledger) -> float:
    """Return the number of charges a second by one process."""
    budget, unit = Budget("0.001"), AddRemoveRow()
    begin = time.perf_counter()
    for _ in range(CHARGES):
        ledger.reserve("visits", budget, unit, "benchmark")
    return CHARGES / (time.perf_counter() - begin)


def fits(ledger: Ledger, rows: int, columns: int) -> tuple[float, float]:
    """Return the median seconds of a fit without and with a ledger, run in turns."""
    X = np.random.default_rng(0).random((rows, columns))
    plain = PrivateKMeans(8, bounds=(0, 1))
    charged = PrivateKMeans(8, bounds=(0, 1), ledger=ledger, dataset="visits")
    plain.fit(X)
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(FITS):
        for model, times in zip((plain, charged), seconds, strict=True):
            begin = time.perf_counter()
            model.fit(X)
            times.append(time.perf_counter() - begin)
    return statistics.median(seconds[0]), statistics.median(seconds[1])


if __name__ == "__main__":
    main(*sys.argv[1:])
