"""The ledger: durable charges a second, by how the file is written, and what they add to a fit.

The ledger is made in a new folder within FOLDER, or where temporary files go. Give a folder on the
disk that matters: a charge waits for it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from privclust import PrivateKMeans
from privclust.budget import Budget
from privclust.ledger import Ledger, sqlite
from privclust.unit import AddRemoveRow

CHARGES = 400
ROUNDS, CHARGES_A_ROUND = 7, 64
SYNCS = 300
FITS = 15
SIZES = ((1_000, 2), (100_000, 8))
PROCESSES = (1, 8)
# What was measured before the journal was chosen: mode, what a commit waits for, what comes after.
WAYS = (
    ("DELETE", "EXTRA", ""),
    ("TRUNCATE", "FULL", ""),
    ("PERSIST", "FULL", ""),
    ("WAL", "FULL", "PRAGMA wal_checkpoint(TRUNCATE)"),
    ("WAL", "FULL", ""),
)


def main() -> None:
    """Print what was measured as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", help="a folder on the disk that matters")
    parser.add_argument("--ways", action="store_true", help="compare ways to write the file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        print("| what | measured |")
        print("|---|---|")
        print(f"| the disk alone: writes of 500 bytes and fsync | {syncs(folder):.0f} / s |")
        if options.ways:
            compare(folder)
        else:
            measure(folder)


def measure(folder: Path) -> None:
    """Print the figures of the ledger as it is."""
    for processes in PROCESSES:
        print(f"| durable charges, {processes} processes | {charges(folder, processes):.0f} / s |")
    ledger = new_ledger(folder)
    for rows, columns in SIZES:
        without, with_ledger = fits(ledger, rows, columns)
        print(
            f"| fit of {rows} x {columns}, without and with a ledger | "
            f"{1000 * without:.1f} ms, {1000 * with_ledger:.1f} ms |"
        )
    work(ledger.url, CHARGES)
    begin = time.perf_counter()
    entries = ledger.verify().entries
    print(f"| verify {entries} entries | {time.perf_counter() - begin:.2f} s |")


def compare(folder: Path) -> None:
    """Print the charges a second of every way to write the file: medians of rounds, in turns."""
    usual, rates = sqlite.SQLiteStore._durable, dict[tuple[int, int], list[float]]()
    for _ in range(ROUNDS):
        for number, way in enumerate(WAYS):
            sqlite.SQLiteStore._durable = written(*way)
            for processes in PROCESSES:
                rate = charges(folder, processes, CHARGES_A_ROUND)
                rates.setdefault((number, processes), []).append(rate)
    sqlite.SQLiteStore._durable = usual
    for number, (mode, synchronous, after) in enumerate(WAYS):
        name = f"{mode}, {synchronous}{', checkpoint' if after else ''}"
        told = [f"{statistics.median(rates[number, processes]):.0f} / s" for processes in PROCESSES]
        print(f"| {name}: 1 and 8 processes | {', '.join(told)} |")


def written(mode: str, synchronous: str, after: str) -> object:
    """Return a way to write a ledger, in place of the store's own."""

    @contextmanager
    def durable(self: sqlite.SQLiteStore, connection: sqlite.sqlite3.Connection) -> Iterator[None]:
        connection.execute(f"PRAGMA journal_mode = {mode}").fetchall()
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        with sqlite._transaction(connection, "BEGIN IMMEDIATE"):
            yield
        while after and connection.execute(after).fetchone()[0]:
            pass  # readers were in the way

    return durable


def syncs(folder: Path) -> float:
    """Return how often a second the disk can be waited for."""
    with open(folder / "file", "wb", buffering=0) as file:
        begin = time.perf_counter()
        for _ in range(SYNCS):
            file.write(b"x" * 500)
            os.fsync(file.fileno())
        return SYNCS / (time.perf_counter() - begin)


def new_ledger(folder: Path) -> Ledger:
    """Return a new ledger with a large grant."""
    ledger = Ledger.open(Path(tempfile.mkdtemp(dir=folder), "budget.db"), timeout=300)
    ledger.create_dataset("visits")
    ledger.grant("visits", 10**5)
    return ledger


def charges(folder: Path, processes: int, count: int = CHARGES) -> float:
    """Return the number of charges a second by all processes together."""
    ledger, fork = new_ledger(folder), multiprocessing.get_context("fork")
    crowd = [
        fork.Process(target=work, args=(ledger.url, count // processes)) for _ in range(processes)
    ]
    begin = time.perf_counter()
    for process in crowd:
        process.start()
    for process in crowd:
        process.join()
    seconds = time.perf_counter() - begin
    assert len(ledger.history()) == 2 + count
    return count / seconds


def work(url: str, count: int) -> None:
    """Charge a ledger again and again."""
    ledger, budget, unit = Ledger.open(url, timeout=300), Budget("0.001"), AddRemoveRow()
    for _ in range(count):
        ledger.reserve("visits", budget, unit, "benchmark")


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
    main()
