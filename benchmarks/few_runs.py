"""What the benchmarks of few rows, of few columns and of δ share: options, file and page."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from keeping import Row, markdown, put_table, read_rows, write_rows

__all__ = ["run"]


def run(
    name: str,
    description: str | None,
    compared: Callable[[argparse.Namespace], Iterator[Row]],
    heads: Sequence[str],
    line_of: Callable[[dict[str, str]], list[str]] | None = None,
    *,
    lines_of: Callable[[list[dict[str, str]]], list[list[str]]] | None = None,
    epsilons: Sequence[float],
    runs: int,
    only: Sequence[str] = (),
) -> None:
    """Run all sets and write them down; a method of ``only`` may be run alone.

    A line of the table is drawn from each row of the file, or all lines from all rows.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--epsilon", nargs="+", type=float, default=epsilons)
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--seed", type=int, default=0)
    if only:
        parser.add_argument("--only", choices=only, help="keep the other columns of the file")
    parser.add_argument("--drawn", action="store_true", help="run nothing, draw from the file")
    parser.add_argument("--page", type=Path, default=None, help="a page to put the table on")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.drawn:
        found = list(compared(options))
        write_rows(name, found, seed=options.seed, setting=f"{options.runs} runs")
    rows = read_rows(name)
    lines = lines_of(rows) if lines_of else [line_of(row) for row in rows] if line_of else []
    table = markdown(heads, lines)
    print(table)
    if options.page:
        put_table(options.page, name, table)
