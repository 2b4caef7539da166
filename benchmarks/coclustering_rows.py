"""Whole rows of real matrices: the method of before beside the one of today, NMI of ``predict``.

``python benchmarks/coclustering_rows.py --data FOLDER [--runs 12] [--seed 0]`` runs both in a
process each and writes ``benchmarks/results/coclustering-rows.csv``; ``--page`` puts its table on a
page, and ``--drawn`` draws it from the file. The rule was chosen on ``CHOSEN_ON`` alone. δ is 1e-6.
Beside the NMI stand the released τ and the exact τ of the same blocks.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.metrics import normalized_mutual_info_score

from keeping import Row, markdown, put_table, read_rows, source_at, write_rows
from privclust.coclustering.association import tau
from privclust.coclustering.estimator import PrivateCoclustering
from privclust.exceptions import DataError
from privclust.papers.datasets.matrices import MatrixSet
from privclust.papers.datasets.named import matrix_set
from privclust.papers.tau.published import TauCoclustering

HERE = Path(__file__).parent
FILE = "coclustering-rows"
CHOSEN_ON = "classic3", "cstr", "hitech", "tr41"
REPORTED_ON = "k1b", "reviews", "tr11"
EPSILONS = 1.0, 3.0, 8.0
DELTA = 1e-6
# The last commit with as many prototypes as clusters in four rounds, and columns as they came.
BEFORE = "0717b7f"


def main() -> None:
    """Run both versions, write them down and draw the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    folder = os.environ.get("PRIVCLUST_DATA")
    parser.add_argument("--data", type=Path, default=Path(folder) if folder else None)
    parser.add_argument("--matrices", nargs="+", default=[*CHOSEN_ON, *REPORTED_ON])
    parser.add_argument("--epsilon", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--drawn", action="store_true", help="run nothing, draw from the file")
    parser.add_argument("--page", type=Path, default=None, help="a page to put the table on")
    parser.add_argument("--lines", action="store_true", help="print one line of JSON per setting")
    options = parser.parse_args()
    if options.lines:
        warnings.simplefilter("ignore")
        for row in measured(options):
            print(json.dumps(row), flush=True)
        return
    if not options.drawn:
        rows = beside(options)
        write_rows(FILE, rows, seed=options.seed, setting=f"{options.runs} runs")
    table = drawn(read_rows(FILE))
    print(table)
    if options.page:
        put_table(options.page, FILE, table)


def measured(options: argparse.Namespace) -> Iterator[Row]:
    """Yield the scores of the library at hand on every matrix that is there."""
    for name in options.matrices:
        try:
            data = matrix_set(name, options.data)
        except DataError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
            continue
        for epsilon in options.epsilon:
            yield scores(data, epsilon, options.runs, options.seed)


def scores(data: MatrixSet, epsilon: float, runs: int, seed: int) -> Row:
    """Return means over seeded fits."""
    k = data.n_classes
    nmi, released, exact = [], [], []
    for run in range(runs):
        model = PrivateCoclustering(
            k, k, epsilon=epsilon, delta=DELTA, unit="row", random_state=seed + run
        ).fit(data.counts)
        labels = model.predict(data.counts)
        nmi.append(normalized_mutual_info_score(data.classes, labels))
        released.append(model.tau_)
        exact.append(exact_tau(data.counts, labels, model.column_labels_, k))
    error = float(np.std(nmi, ddof=1) / np.sqrt(runs)) if runs > 1 else 0.0
    return {
        "set": data.name,
        "rows": data.counts.shape[0],
        "columns": data.counts.shape[1],
        "clusters": k,
        "epsilon": epsilon,
        "nmi": float(np.mean(nmi)),
        "error": error,
        "tau": float(np.mean(released)),
        "exact_tau": float(np.mean(exact)),
    }


def exact_tau(counts: sparse.csr_array, rows: np.ndarray, columns: np.ndarray, k: int) -> float:
    """Return τ of the exact block totals in which every row counts one."""
    totals = sparse.csr_array(counts) @ np.eye(k)[columns]
    shares = totals / np.maximum(totals.sum(axis=1, keepdims=True), 1)
    return tau(np.eye(k)[rows].T @ shares)


def beside(options: argparse.Namespace) -> list[Row]:
    """Return both versions in one row for every matrix and ε, with Fast-τCC for comparison."""
    with tempfile.TemporaryDirectory() as folder:
        before = lines_of(options, source_at(BEFORE, Path(folder)))
    now = lines_of(options, HERE.parent / "src")
    fast = {name: fast_nmi(name, options) for name in dict.fromkeys(row["set"] for row in now)}
    public = "set", "rows", "columns", "clusters", "epsilon"
    measures = "nmi", "error", "tau", "exact_tau"
    return [
        {"part": "chosen on" if new["set"] in CHOSEN_ON else "reported on"}
        | {name: new[name] for name in public}
        | {"delta": DELTA, "runs": options.runs, "before_commit": BEFORE}
        | {f"before_{name}": round(old[name], 4) for name in measures}
        | {f"now_{name}": round(new[name], 4) for name in measures}
        | {"not_private_nmi": round(fast[new["set"]], 4)}
        for old, new in zip(before, now, strict=True)
    ]


def fast_nmi(name: str, options: argparse.Namespace) -> float:
    """Return the mean NMI of Fast-τCC, which is not private."""
    data = matrix_set(name, options.data)
    k, seeds = data.n_classes, range(options.seed, options.seed + options.runs)
    fits = (TauCoclustering(k, k, random_state=seed).fit(data.counts) for seed in seeds)
    return float(
        np.mean([normalized_mutual_info_score(data.classes, fit.row_labels_) for fit in fits])
    )


def lines_of(options: argparse.Namespace, source: Path) -> list[Row]:
    """Return what a version of the library scores, in a process of its own."""
    given = ["--runs", str(options.runs), "--seed", str(options.seed)]
    given += ["--matrices", *options.matrices, "--epsilon", *map(str, options.epsilon)]
    given += ["--data", str(options.data)] if options.data else []
    command = [sys.executable, __file__, "--lines", *given]
    environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    found = subprocess.run(  # noqa: S603
        command, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return [json.loads(line) for line in found.stdout.splitlines()]


def drawn(rows: Sequence[dict[str, str]]) -> str:
    """Return the table: a line for each matrix, before and now for each ε."""
    epsilons = list(dict.fromkeys(row["epsilon"] for row in rows))
    heads = ["", "matrix", "rows", "clusters"]
    heads += [f"ε = {float(epsilon):g}: before, now" for epsilon in epsilons] + ["Fast-τCC"]
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        own = [row for row in rows if row["set"] == name]
        first = own[0]
        cells = [f"{scored(row, 'before')}, {scored(row, 'now')}" for row in own]
        about = [first["part"], name, first["rows"], first["clusters"]]
        lines.append([*about, *cells, f"{float(first['not_private_nmi']):.3f}"])
    return markdown(heads, lines)


def scored(row: dict[str, str], version: str) -> str:
    return f"{float(row[f'{version}_nmi']):.3f} ± {float(row[f'{version}_error']):.3f}"


if __name__ == "__main__":
    main()
