"""Results as files: ``benchmarks/results/NAME.csv``, with seed, commit, date and machine class.

Pages are written from these files, so that no number on a page is typed by hand: a page has a
marker around every table that is drawn from a file, and :func:`put_table` fills it. The variable
PRIVCLUST_RESULTS names another folder for the files.
"""

from __future__ import annotations

import csv
import os
import platform
import subprocess
import tarfile
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

__all__ = [
    "RESULTS",
    "markdown",
    "origin",
    "put_table",
    "read_rows",
    "replace_rows",
    "results_folder",
    "run_line",
    "source_at",
    "write_rows",
]

RESULTS = Path(__file__).parent / "results"

Row = dict[str, Any]


def results_folder(folder: Path | None = None) -> Path:
    """Return where results are kept: the folder that is given, or the usual one."""
    return folder or Path(os.environ.get("PRIVCLUST_RESULTS", RESULTS))


def origin(seed: int, setting: str) -> dict[str, str]:
    """Return where rows that are made now come from: seed, setting, commit, date, machine class."""
    return {
        "seed": str(seed),
        "setting": setting,
        "commit": _commit(),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores {platform.machine()}",
    }


@cache
def _commit() -> str:
    """Return the commit; asked once, for the results of a long run change the tree themselves."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    told = subprocess.run(  # noqa: S603
        command, capture_output=True, text=True, check=False, cwd=Path(__file__).parent
    )
    return told.stdout.strip()


def write_rows(
    name: str, rows: Sequence[Row], *, seed: int, setting: str, folder: Path | None = None
) -> Path:
    """Write rows with where they came from, and return the path."""
    about = origin(seed, setting)
    path = results_folder(folder) / f"{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*rows[0], *about])
        writer.writeheader()
        writer.writerows({**row, **about} for row in rows)
    return path


def replace_rows(
    name: str, rows: Sequence[Row], *, by: Sequence[str] = ("set",), folder: Path | None = None
) -> Path:
    """Put rows with their origin into a file, in place of those of the same sets that stood there.

    They stand where the first of those stood, so that pages keep their order. Every row says where
    it comes from, so sets may be run apart, each at a setting of its own. ``by`` names what else
    tells apart the rows that are replaced.
    """
    path = results_folder(folder) / f"{name}.csv"
    before = read_rows(name, folder) if path.exists() else []
    new = {tuple(str(row[key]) for key in by) for row in rows}
    replaced = [tuple(row[key] for key in by) in new for row in before]
    place = replaced.index(True) if any(replaced) else len(before)
    kept = [row for row, old in zip(before, replaced, strict=True) if not old]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows([*kept[:place], *rows, *kept[place:]])
    return path


def read_rows(name: str, folder: Path | None = None) -> list[dict[str, str]]:
    """Return the rows of a results file as text."""
    with (results_folder(folder) / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def markdown(heads: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    drawn = [heads, ["---"] * len(heads), *lines]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in drawn)


def run_line(rows: Sequence[dict[str, str]], name: str) -> str:
    """Return the line below a table that says where its rows come from."""
    keys = ("setting", "commit", "date", "machine")
    told = dict.fromkeys(", ".join(row[key] for key in keys) for row in rows)
    return f"*Run: {'; '.join(told)}.* `benchmarks/results/{name}.csv`"


def put_table(page: Path, name: str, table: str) -> None:
    """Put a table between the markers of its name on a page."""
    start, end = f"<!-- table: {name} -->", f"<!-- end: {name} -->"
    text = page.read_text("utf-8")
    before, _, rest = text.partition(start)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"{page} has no markers for the table {name!r}.")
    page.write_text(f"{before}{start}\n{table}\n{end}{after}", encoding="utf-8")


def source_at(commit: str, folder: Path) -> Path:
    """Put the library as it was at a commit into a folder, and return what to import it from."""
    command = ["git", "archive", commit, "src"]
    archive = subprocess.run(  # noqa: S603
        command, cwd=Path(__file__).parents[1], capture_output=True, check=True
    )
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as packed:
        packed.extractall(folder, filter="data")
    return folder / "src"
