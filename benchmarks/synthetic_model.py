"""Whether the model behind our MST and AIM is as good as that of ``mbi``, after ``make peers``.

``python benchmarks/synthetic_model.py --data FOLDER [--sets food,cmc] [--page
docs/research/synthetic.md]`` runs AIM once, gives its noisy tables to mbi's mirror descent as well
and writes ``benchmarks/results/synthetic-model.csv``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from keeping import Row, markdown, origin, put_table, read_rows, replace_rows, run_line
from privclust import Budget
from synthetic import PEERS, coded
from synthetic_sets import SETS, Places, SyntheticSet

CHECK = Path(__file__).with_name("peers") / "model_check.py"


def checked(of: SyntheticSet, budget: Budget, seed: int) -> Row:
    """Return what both make of the tables of one run."""
    codes, sizes, _ = coded(of, np.random.default_rng(seed))
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "codes.csv"
        codes.to_csv(given, index=False)
        command = [PEERS, CHECK, given, json.dumps(sizes), float(budget.amount), seed]
        told = subprocess.run(  # noqa: S603
            [str(word) for word in command], capture_output=True, text=True, check=True
        )
    return {"set": of.name, **json.loads(told.stdout)}


def table(rows: list[dict[str, str]]) -> str:
    """Return the table of the page."""
    heads = ["set", "tables", "loss", "loss, mbi", "pairs apart", "CPU s", "CPU s, mbi"]
    names = ("set", "tables", "loss", "loss_mbi", "apart", "seconds", "seconds_mbi")
    lines = [[row[name] for name in names] for row in rows]
    return markdown(heads, lines) + "\n\n" + run_line(rows, "synthetic-model")


def main() -> None:
    """Run each set once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("PRIVCLUST_DATA"))
    parser.add_argument("--sets", default="food,cmc,health,vietnam,adult9,nltcs")
    parser.add_argument("--drawn", action="store_true", help="run nothing, draw from the file")
    parser.add_argument("--page", type=Path, default=None, help="a page to put the table on")
    options = parser.parse_args()
    at = Places(options.data and Path(options.data), PEERS)
    for name in () if options.drawn else options.sets.split(","):
        row = checked(SETS[name](at), Budget(1.0, 1e-6), 0)
        replace_rows("synthetic-model", [{**row, **origin(0, "full")}], by=("set",))
    shown = table(read_rows("synthetic-model"))
    print(shown)
    if options.page:
        put_table(options.page, "synthetic-model", shown)


if __name__ == "__main__":
    main()
