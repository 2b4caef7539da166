"""The characteristics of the papers' data sets, as the files at hand have them, on a page.

``python benchmarks/data_sets.py --data FOLDER [--page docs/datasets.md]`` reads every matrix and
table that the folder has, writes ``benchmarks/results/data-sets.csv`` and fills the tables of the
page. Sets that are not there are named and left out.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from keeping import RESULTS, markdown, put_table, write_rows
from privclust.exceptions import DataError
from privclust.papers.datasets.categories import CategorySet
from privclust.papers.datasets.matrices import MatrixSet
from privclust.papers.datasets.named import category_set, matrix_set

# Rows, columns, per cent density and classes as the paper on DP-τCC has them (its table 1).
MATRICES = {
    "classic3": (3891, 4303, 1.053, 3),
    "cstr": (475, 1000, 3.366, 4),
    "tr11": (414, 6429, 4.381, 9),
    "tr41": (878, 7454, 2.621, 10),
    "hitech": (2301, 10080, 1.429, 6),
    "k1b": (2340, 10431, 1.372, 6),
    "reviews": (4069, 18483, 1.009, 5),
    "sports": (8280, 14870, 0.856, 7),
}
# Rows, columns, values and classes as the paper on DP-DILCA has them (its table 1).
TABLES = {
    "dermatology": (366, 34, 131, 6),
    "soybean": (683, 35, 100, 19),
    "cmc": (1473, 9, 32, 3),
    "mushroom": (8124, 22, 117, 2),
    "nltcs": (21574, 16, 32, None),
    "ipums-br": (37334, 13, 84, None),
    "ipums-me": (42301, 13, 85, None),
    "adult": (48842, 14, 120, 2),
}


def main() -> None:
    """Measure, write, and fill the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("PRIVCLUST_DATA"))
    parser.add_argument("--page", type=Path, default=None)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    found = [*matrices(options.data), *tables(options.data)]
    write_rows("data-sets", found, seed=0, setting="full", folder=options.output)
    third = {"matrix": "density in %", "table": "values"}
    for kind, name in third.items():
        lines = [shown(row) for row in found if row["kind"] == kind]
        table = markdown(["set", "rows", "columns", name, "classes"], lines)
        print(f"\n{table}")
        if options.page:
            put_table(options.page, f"{kind}-sets", table)


def matrices(folder: Path | None) -> list[dict[str, Any]]:
    """Return a row of facts for each matrix of the paper."""
    rows = []
    for name, paper in MATRICES.items():
        data = there(matrix_set, name, folder)
        facts: tuple[Any, ...] = ("",) * 4
        if isinstance(data, MatrixSet):
            facts = (*data.counts.shape, round(100 * data.density, 3), data.n_classes)
        rows.append(row("matrix", name, paper, facts))
    return rows


def tables(folder: Path | None) -> list[dict[str, Any]]:
    """Return a row of facts for each table of the paper."""
    rows = []
    for name, paper in TABLES.items():
        data = there(category_set, name, folder)
        facts: tuple[Any, ...] = ("",) * 4
        if isinstance(data, CategorySet):
            classes = data.n_classes if data.n_classes > 1 else ""
            facts = (len(data.rows), len(data.schema), data.n_values, classes)
        rows.append(row("table", name, ["" if x is None else x for x in paper], facts))
    return rows


def there(read: Any, name: str, folder: Path | None) -> Any:
    """Return a data set, or say that it is not there."""
    try:
        return read(name, folder)
    except DataError as error:
        print(f"{name} is left out: {error}")
        return None


def row(kind: str, name: str, paper: Any, ours: Any) -> dict[str, Any]:
    """Return the facts of one set, those of the paper beside those of the file."""
    keys = ("rows", "columns", "third", "classes")
    return {
        "kind": kind,
        "set": name,
        **{f"paper_{key}": value for key, value in zip(keys, paper, strict=True)},
        **dict(zip(keys, ours, strict=True)),
    }


def shown(row: dict[str, Any]) -> list[str]:
    """Return the cells of one line: what both agree on, or the file's figure and the paper's."""
    cells = [row["set"]]
    for key in ("rows", "columns", "third", "classes"):
        ours, paper = str(row[key]), str(row[f"paper_{key}"])
        if row["rows"] == "":
            cells.append(f"({paper})" if paper else "")
        else:
            cells.append(ours if ours == paper else f"{ours} (paper {paper})")
    return cells


if __name__ == "__main__":
    main()
