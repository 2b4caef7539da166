"""The experiments of Battaglia and Pensa (2025), with our methods; a table and a plot for each.

Real matrices are read from the folder given by ``--data`` or by PRIVCLUST_DATA, or by paths, in
any format of ``privclust.papers.datasets.read_matrix``. Those that are not there are named and left
out.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from PIL import Image
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from privclust.coclustering.estimator import PrivateCoclustering
from privclust.papers.datasets.matrices import MatrixSet, biclusters
from privclust.papers.datasets.named import matrix_set
from privclust.papers.tau.private import PrivateTauCoclustering
from privclust.papers.tau.published import TauCoclustering

matplotlib.use("Agg")
from matplotlib import pyplot as plt

from privclust.exceptions import DataError, LowSignalWarning

REAL = ("classic3", "cstr", "tr11", "hitech")
EPSILONS = (0.1, 0.2, 0.5, 1, 2, 3)
WIDE_EPSILONS = (0.1, 0.3, 1, 3, 10)
ROUNDS = tuple(range(2, 11))
PAPERS_ROUNDS = 4
CHOICE_SHARES = tuple(round(0.1 * n, 1) for n in range(1, 10))
WIDTHS = (10, 30, 100, 300, 1000, 3000, 10_000)
COLUMN_EPSILONS = (0.1, 0.5, 1, 3)
NAMES = {"epsilon": "ε", "nmi": "NMI", "ari": "ARI", "tau": "τ", "seconds": "CPU seconds"}


def private_models(k: int, epsilon: float) -> dict[str, Any]:
    """Return the methods under comparison."""
    return {
        "tables": PrivateCoclustering(k, k, epsilon=epsilon),
        "tables, tau rule": PrivateCoclustering(k, k, epsilon=epsilon, rule="tau"),
        "DP-tauCC, repaired, 4 rounds": PrivateTauCoclustering(
            k, k, epsilon=epsilon, n_rounds=PAPERS_ROUNDS
        ),
        "DP-tauCC, paper's noise, 4 rounds": PrivateTauCoclustering(
            k, k, epsilon=epsilon, n_rounds=PAPERS_ROUNDS, noise="published"
        ),
        "DP-tauCC, repaired, rounds by ε": PrivateTauCoclustering(k, k, epsilon=epsilon),
        "tables, entry": PrivateCoclustering(k, k, epsilon=epsilon, unit="entry"),
        "tables, row": PrivateCoclustering(k, k, epsilon=epsilon, delta=1e-6, unit="row"),
    }


def real_matrices(folder: Path | None, names: Sequence[str]) -> Iterator[MatrixSet]:
    """Yield each matrix there is; a name is that of a file in the folder, or a path."""
    for name in names:
        try:
            yield matrix_set(name, folder)
        except DataError as error:
            print(f"{name} is left out: {error}")


def scored(model: Any, data: MatrixSet, runs: int) -> dict[str, float]:
    """Return means over runs: NMI and ARI with their standard errors, tau, CPU seconds."""
    nmi, ari, tau = [], [], []
    start = time.process_time()
    for _ in range(runs):
        model.fit(data.counts)
        exact = isinstance(model, TauCoclustering)
        labels = model.row_labels_ if exact else model.predict(data.counts)
        nmi.append(normalized_mutual_info_score(data.classes, labels))
        ari.append(adjusted_rand_score(data.classes, labels))
        tau.append(getattr(model, "tau_", np.nan))
    found = {"seconds": (time.process_time() - start) / runs}
    for measure, values in (("nmi", nmi), ("ari", ari), ("tau", tau)):
        found[measure] = float(np.mean(values))
        spread = np.std(values, ddof=1) if runs > 1 else np.nan
        found[f"{measure}_error"] = float(spread / np.sqrt(runs))
    return found


def by_epsilon(
    data: MatrixSet, runs: int, epsilons: Sequence[float] | None = None, models: Any = None
) -> Iterator[dict[str, Any]]:
    """NMI and ARI against ε (paper, figures 2 and S1)."""
    k = data.n_classes
    yield {"data": data.name, "method": "Fast-tauCC, not private", "epsilon": np.inf} | scored(
        TauCoclustering(k, k), data, runs
    )
    for epsilon in epsilons or EPSILONS:
        for method, model in (models or private_models)(k, epsilon).items():
            found = scored(model, data, runs)
            yield {"data": data.name, "method": method, "epsilon": epsilon} | found


def by_rounds(
    data: MatrixSet, runs: int, epsilons: Sequence[float] | None = None, noise: str = "exact"
) -> Iterator[dict[str, Any]]:
    """tau against rounds and ε (figures 3 and S2)."""
    k = data.n_classes
    for epsilon in epsilons or WIDE_EPSILONS:
        for rounds in ROUNDS:
            model = PrivateTauCoclustering(k, k, epsilon=epsilon, n_rounds=rounds, noise=noise)
            found = scored(model, data, runs)
            yield {"data": data.name, "method": f"ε = {epsilon:g}", "rounds": rounds} | found


def by_choice_share(
    data: MatrixSet, runs: int, epsilons: Sequence[float] | None = None, noise: str = "exact"
) -> Iterator[dict[str, Any]]:
    """tau against h, the share of the choices, and ε (figure S3), at the paper's four rounds."""
    k = data.n_classes
    for epsilon in epsilons or WIDE_EPSILONS:
        for share in CHOICE_SHARES:
            asked = {"epsilon": epsilon, "n_rounds": PAPERS_ROUNDS, "choice_share": share}
            model = PrivateTauCoclustering(k, k, noise=noise, **asked)
            found = scored(model, data, runs)
            yield {"data": data.name, "method": f"ε = {epsilon:g}", "h": share} | found


def by_columns(
    runs: int,
    widths: Sequence[int] | None = None,
    epsilons: Sequence[float] | None = None,
    models: Any = None,
) -> Iterator[dict[str, Any]]:
    """NMI, ARI and running time on synthetic biclusters (figures S4 to S6)."""
    for n_columns in widths or WIDTHS:
        drawn = [biclusters(n_columns, seed=n_columns + run) for run in range(runs)]
        for epsilon in epsilons or COLUMN_EPSILONS:
            for method, model in (models or private_models)(3, epsilon).items():
                found = averaged([scored(model, data, 1) for data in drawn])
                yield {"data": f"ε = {epsilon:g}", "method": method, "columns": n_columns} | found


def averaged(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return means over runs on different matrices, and their standard errors."""
    found = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
    for name in ("nmi", "ari", "tau"):
        values = [run[name] for run in runs]
        spread = np.std(values, ddof=1) if len(runs) > 1 else np.nan
        found[f"{name}_error"] = float(spread / np.sqrt(len(runs)))
    return found


def write(rows: list[dict[str, Any]], path: Path) -> None:
    """Write a table."""
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def draw(rows: list[dict[str, Any]], x: str, y: str, path: Path) -> None:
    """Draw ``y`` against ``x``: a panel per data set and a line per method."""
    panels = list(dict.fromkeys(row["data"] for row in rows))
    figure, axes = plt.subplots(1, len(panels), figsize=(3.2 * len(panels), 3.2), squeeze=False)
    for ax, panel in zip(axes[0], panels, strict=True):
        draw_panel(ax, [row for row in rows if row["data"] == panel], x, y)
        ax.set(title=panel, xlabel=NAMES.get(x, x))
    axes[0][0].set_ylabel(NAMES.get(y, y))
    lines, methods = axes[0][0].get_legend_handles_labels()
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    figure.legend(lines, methods, loc="lower center", ncols=len(methods), frameon=False)
    figure.savefig(path, dpi=70)
    plt.close(figure)
    with Image.open(path) as picture:
        few_colours = picture.convert("RGB").quantize(32)
    few_colours.save(path, optimize=True)  # a third of the size, and it looks the same


def draw_panel(ax: Any, rows: list[dict[str, Any]], x: str, y: str) -> None:
    """Draw a line for each method; a dotted one for what does not depend on ``x``."""
    for method in dict.fromkeys(row["method"] for row in rows):
        line = [row for row in rows if row["method"] == method]
        if line[0][x] == np.inf:
            ax.axhline(line[0][y], color="grey", linestyle=":", label=method)
            continue
        ax.plot([row[x] for row in line], [row[y] for row in line], marker=".", label=method)
    if x in ("epsilon", "columns"):
        ax.set_xscale("log")
    if y == "seconds":
        ax.set_yscale("log")


def main() -> None:
    """Run the experiments that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    folder = os.environ.get("PRIVCLUST_DATA")
    parser.add_argument("--data", type=Path, default=Path(folder) if folder else None)
    parser.add_argument("--output", type=Path, default=Path("benchmark-results"))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", choices=["epsilon", "rounds", "h", "columns"])
    parser.add_argument("--matrices", nargs="+", metavar="NAME", default=REAL)
    chosen = parser.parse_args()
    chosen.output.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", LowSignalWarning)
    matrices = list(real_matrices(chosen.data, chosen.matrices))
    real = {"epsilon": by_epsilon, "rounds": by_rounds, "h": by_choice_share}
    measures = {"epsilon": ("nmi", "ari"), "rounds": ("tau",), "h": ("tau",)}
    for x, experiment in real.items():
        if chosen.only not in (None, x) or not matrices:
            continue
        rows = [row for matrix in matrices for row in experiment(matrix, chosen.runs)]
        report(rows, x, measures[x], chosen.output)
    if chosen.only in (None, "columns"):
        report(list(by_columns(chosen.runs)), "columns", ("nmi", "ari", "seconds"), chosen.output)


def report(rows: list[dict[str, Any]], x: str, measures: tuple[str, ...], output: Path) -> None:
    """Print, write and draw the results of one experiment."""
    for row in rows:
        words = [f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()]
        print("  ".join(words))
    write(rows, output / f"coclustering-{x}.csv")
    for y in measures:
        draw(rows, x, y, output / f"coclustering-{y}-by-{x}.png")


if __name__ == "__main__":
    main()
