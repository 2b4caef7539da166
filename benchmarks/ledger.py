"""The ledger: durable charges a second, by how the file is written, and what they add to a fit.

The ledger is made in a new folder within FOLDER, or where temporary files go. Give a folder on the
disk that matters: a charge waits for it. With ``--ways`` the ways to write the file are compared,
kept in ``ledger-ways.csv``, and the table of ``docs/research/ledger.md`` is filled.
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

from keeping import markdown, put_table, read_rows, run_line, write_rows
from privclust import PrivateKMeans
from privclust.budget import Budget
from privclust.ledger import sqlite
from privclust.ledger.ledger import Ledger
from privclust.unit.rows import AddRemoveRow

CHARGES = 400
ROUNDS, CHARGES_A_ROUND = 7, 64
SYNCS = 300
FITS = 15
SIZES = ((1_000, 2), (100_000, 8))
PROCESSES = (1, 8)
# How SQLite may write the file, with whether all charges are in the one file then: mode, what a
# commit waits for, what comes after.
WAYS = {
    ("DELETE", "EXTRA", ""): ("rollback journal, removed: **ours**", "yes"),
    ("TRUNCATE", "FULL", ""): ("rollback journal, cut to nothing", "yes"),
    ("PERSIST", "FULL", ""): ("rollback journal, kept", "yes, with a stale file beside it"),
    ("WAL", "FULL", "PRAGMA wal_checkpoint(TRUNCATE)"): (
        "write-ahead log and a checkpoint after each charge",
        "yes, unless a reader is in the way",
    ),
    ("WAL", "FULL", ""): ("write-ahead log", "**no**"),
}
PAGE = Path(__file__).parents[1] / "docs" / "research" / "ledger.md"


def main() -> None:
    """Print what was measured as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", help="a folder on the disk that matters")
    parser.add_argument("--ways", action="store_true", help="compare ways to write the file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        if options.ways:
            write_rows("ledger-ways", compare(folder), seed=0, setting=f"{ROUNDS} rounds")
            put_table(PAGE, "ledger-ways", ways_table(read_rows("ledger-ways")))
        else:
            print("| what | measured |")
            print("|---|---|")
            print(f"| the disk alone: writes of 500 bytes and fsync | {syncs(folder):.0f} / s |")
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


def compare(folder: Path) -> list[dict[str, str]]:
    """Return the charges a second of every way to write the file: medians of rounds, in turns."""
    usual, rates = sqlite.SQLiteStore._durable, dict[tuple[int, int], list[float]]()
    disk = f"{syncs(folder):.0f}"
    for _ in range(ROUNDS):
        for number, way in enumerate(WAYS):
            sqlite.SQLiteStore._durable = written(*way)
            for processes in PROCESSES:
                rate = charges(folder, processes, CHARGES_A_ROUND)
                rates.setdefault((number, processes), []).append(rate)
    sqlite.SQLiteStore._durable = usual
    rows = []
    for number, (mode, synchronous, after) in enumerate(WAYS):
        told = [f"{statistics.median(rates[number, processes]):.1f}" for processes in PROCESSES]
        row = {"mode": mode, "synchronous": synchronous, "after": after, "writes_of_disk": disk}
        rows.append({**row, "one_process": told[0], "eight_processes": told[-1]})
        print(*rows[-1].values(), flush=True)
    return rows


def ways_table(rows: list[dict[str, str]]) -> str:
    """Return the comparison as a table."""
    lines = []
    for row in rows:
        words, whole = WAYS[row["mode"], row["synchronous"], row["after"]]
        told = f"{words} (`{row['mode']}`, `{row['synchronous']}`)"
        rates = (f"{float(row[key]):.0f}" for key in ("one_process", "eight_processes"))
        lines.append([told, *rates, whole])
    heads = ["charges a second", "1 process", "8 processes", "all charges in the one file"]
    disk = f"The disk alone confirmed {rows[0]['writes_of_disk']} small writes a second."
    return f"{markdown(heads, lines)}\n\n{disk} {run_line(rows, 'ledger-ways')}"


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
