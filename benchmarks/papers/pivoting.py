"""Rows of results as tables: lines by values, mean ± error, and where the rows come from."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from keeping import markdown

__all__ = [
    "Line",
    "Rows",
    "about",
    "cell",
    "named",
    "number",
    "picked",
    "pivot",
    "published",
    "rows_in",
    "table_of",
    "with_a_gap",
]

# Files of sources and targets, by the names of their data sets.
FILES = {"mnist_pairs": "MNIST", "office_surf": "SURF", "superconductivity": "superconductivity"}
PUBLISHED = Path(__file__).parents[1] / "published"
Line = dict[str, str]
# Rows of results by the name of their file.
Rows = dict[str, list[Line]]


def rows_in(folder: Path) -> Rows:
    """Return all results of the papers in a folder."""
    found = {}
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8") as file:
            found[path.stem] = list(csv.DictReader(file))
    return found


def published(name: str) -> list[Line]:
    """Return a file of published values."""
    with (PUBLISHED / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def picked(rows: Iterable[Line], **wanted: str | Sequence[str]) -> list[Line]:
    """Return the rows with these values."""
    allowed = {key: (v,) if isinstance(v, str) else tuple(v) for key, v in wanted.items()}
    return [row for row in rows if all(row[key] in values for key, values in allowed.items())]


def number(text: str, digits: int = 2) -> str:
    """Return a number as a page shows it: whole, or with few digits and tiny ones as powers."""
    value = float(text)
    if np.isnan(value):
        return ""
    if digits == 0:
        return f"{value:.0f}" if abs(value) >= 0.5 else "0"
    if value and abs(value) < 10.0**-digits:
        return f"{value:.0e}"
    return f"{value:.{digits}f}"


def cell(row: Line | None, digits: int, *, errors: bool = True) -> str:
    """Return mean ± standard error, or the mean alone where there is no error."""
    if row is None:
        return ""
    error = float(row["error"] or "nan")
    shown = number(row["mean"], digits)
    if not errors or np.isnan(error) or error == 0:
        return shown
    return f"{shown} ± {error:.{digits}f}"


def named(value: str) -> str:
    """Return a value of a column as the page names it."""
    file, *parts = value.split(":")
    if file in FILES and len(parts) == 2:
        source, target = (part.removeprefix("digit") for part in parts)
        return f"{FILES[file]} {source}→{target}"
    return value.replace("tauCC", "τCC").replace("|", "\\|")


def pivot(
    rows: list[Line],
    lines: Sequence[str] = ("set", "method"),
    across: str = "at",
    digits: int = 2,
    *,
    head: str = "",
    errors: bool = True,
) -> str:
    """Return a table: a line for each combination of ``lines``, a column for each of ``across``."""
    columns = list(dict.fromkeys(row[across] for row in rows if row[across]))
    columns = _in_order(columns)
    keys = list(dict.fromkeys(tuple(row[key] for key in lines) for row in rows))
    keys.sort(key=lambda key: [row[lines[0]] for row in rows].index(key[0]))
    found = {(tuple(row[key] for key in lines), row[across]): row for row in rows}
    body = []
    for key in keys:
        alone = found.get((key, ""))
        cells = [
            cell(found.get((key, value), alone), digits, errors=errors) for value in columns or [""]
        ]
        body.append([*map(named, key), *cells])
    heads = [*({"at": ""}.get(key, key) for key in lines), *(columns or ["value"])]
    heads[len(lines) :] = [f"{head}{named(value)}" for value in heads[len(lines) :]]
    return markdown(heads, body)


def _in_order(values: list[str]) -> list[str]:
    """Return numbers by size, and budgets such as ε=3 by their letter and size; others as given."""
    if all(_is_number(value) for value in values):
        return sorted(values, key=float)
    parts = {value: value.partition("=") for value in values}
    if all(sign and _is_number(size) for _, sign, size in parts.values()):
        return sorted(values, key=lambda value: (parts[value][0], float(parts[value][2])))
    return values


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def about(rows: list[Line]) -> str:
    """Return the line that says where rows come from."""
    told = []
    for key in dict.fromkeys((r["setting"], r["commit"], r["date"], r["machine"]) for r in rows):
        own = [r for r in rows if (r["setting"], r["commit"], r["date"], r["machine"]) == key]
        sets = ", ".join(dict.fromkeys(named(r["set"]) for r in own))
        most = max(int(r["runs"]) for r in own)
        times = "run" if most == 1 else "runs"
        told.append(
            f"{key[0]} setting, up to {most} {times}, seed {own[0]['seed']}, commit {key[1]}, "
            f"{key[2]}, {key[3]} ({sets})"
        )
    return "*Run: " + "; ".join(told) + ".*"


def with_a_gap(rows: list[Line], least: float = 0.01) -> list[Line]:
    """Return the rows of source-target sets in which the source matters.

    A share of the gap says nothing where the best choice is no better than ClusterT by at least
    this share of the cost.
    """
    means = picked(rows, measure="cost, mean of all k", method=("ClusterT", "not private"))
    cost = {(row["set"], row["method"]): float(row["mean"]) for row in means}
    kept = {
        name
        for name, method in cost
        if method == "ClusterT"
        and cost[name, method] - cost[name, "not private"] > least * cost[name, method]
    }
    return [row for row in rows if row["set"] in kept]


def table_of(
    file: str, make: Callable[[list[Line]], str], **wanted: str | Sequence[str]
) -> Callable[[Rows], str]:
    """Return a table of some rows of a file, with the line that says where they come from."""

    def made(rows: Rows) -> str:
        found = picked(rows.get(file, []), **wanted)
        if not found:
            return f"*No results yet: `make papers` writes `{file}.csv`.*"
        return f"{make(found)}\n\n{about(found)} `benchmarks/results/{file}.csv`"

    return made
