"""Distances between categories where noise hides much, or where there is nothing to be seen.

``python benchmarks/category_signal.py [SET ...] [--data FOLDER] [--runs 10] [--seed 0]`` fits the
default of ``PrivateDilca`` and writes means and standard errors to
``benchmarks/results/category-signal.csv``; ``--name`` writes another file, such as that of an
earlier commit, and ``--page docs/research/categorical.md`` draws both files as one table. The set
"factorial" has 12 960 rows of eight independent columns and is always there. The calibration was
chosen on cmc, mushroom and soybean, the test for signal with factorial and dermatology as well;
nltcs and adult were not looked at. Ward and leave-one-out 5-NN use at most 600 rows.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from category_sets import open_table
from keeping import RESULTS, Row, markdown, put_table, read_rows, write_rows
from privclust import Categories, Schema
from privclust.categories.task import DISTANCES
from privclust.exceptions import DataError
from privclust.papers.dilca.published import Dilca
from privclust.papers.metrics import distance_l1, distance_pearson

CHOSEN_ON = "cmc", "mushroom", "soybean", "dermatology"
REPORTED = "nltcs", "adult"
EPSILONS = 0.1, 1.0
DELTAS = 0, 1e-6
SIZES = 3, 5, 4, 4, 3, 2, 3, 3
MOST_ROWS = 600
MEASURES = "level", "l1", "pearson", "ward", "neighbours"


def main() -> None:
    """Fit, write, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--data", type=Path, default=os.environ.get("PRIVCLUST_DATA"))
    parser.add_argument("--epsilon", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--name", default="category-signal")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--drawn", action="store_true", help="run nothing, draw from the files")
    parser.add_argument("--page", type=Path, default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.drawn:
        found = list(measured(options))
        setting = f"{options.runs} runs"
        write_rows(options.name, found, seed=options.seed, setting=setting, folder=options.output)
    if options.page:
        put_table(options.page, "category-signal", drawn(options.output))


def measured(options: argparse.Namespace) -> Iterator[Row]:
    """Yield means and standard errors for each set and budget."""
    for name in options.sets or ("factorial", *CHOSEN_ON, *REPORTED):
        try:
            rows, schema, classes = table(name, options.data)
        except DataError as error:
            print(f"{name} is left out: {error}")
            continue
        exact = Dilca("max-relevance", schema=schema).fit(rows)
        for delta, epsilon in product(DELTAS, options.epsilon):
            seeds = range(options.seed, options.seed + options.runs)
            given = {"epsilon": epsilon, "delta": delta, "schema": schema}
            models = (DISTANCES.model(random_state=seed, **given).fit(rows) for seed in seeds)
            scores = [scores_of(model, exact, rows, classes) for model in models]
            row: Row = {"set": name, "rows": len(rows), "epsilon": epsilon, "delta": delta}
            row |= {"true_level": level(exact)}
            for place, measure in enumerate((*MEASURES, "warned")):
                values = np.array([score[place] for score in scores])
                row[measure] = float(values.mean())
                row[f"{measure}_error"] = float(values.std(ddof=1) / np.sqrt(len(values)))
            print({key: f"{v:.3f}" if isinstance(v, float) else v for key, v in row.items()})
            yield row


def table(name: str, folder: Path | None) -> tuple[Any, Schema, np.ndarray | None]:
    """Return rows, schema and classes of a set."""
    if name == "factorial":
        names = [f"x{i}" for i in range(len(SIZES))]
        values = [[str(value) for value in range(size)] for size in SIZES]
        rows = pd.DataFrame(list(product(*values)), columns=names)
        return rows, Schema({n: Categories(v) for n, v in zip(names, values, strict=True)}), None
    data = open_table(name, folder)
    return data.frame, data.schema, data.classes if data.n_classes > 1 else None


def scores_of(model: Any, exact: Dilca, rows: Any, classes: np.ndarray | None) -> tuple[float, ...]:
    """Return the measures of one fit; those that a set does not have are nan."""
    contrast = any(part.distances().std() > 0 for part in exact.metric_.attributes.values())
    binary = all(len(part.labels) == 2 for part in exact.metric_.attributes.values())
    pearson = distance_pearson(model, exact) if contrast and not binary else np.nan
    by_class = (np.nan, np.nan) if classes is None else told_apart(model, rows, classes)
    warned = float(bool(model.warnings_))
    return level(model), distance_l1(model, exact), pearson, *by_class, warned


def level(model: Any) -> float:
    """Return the mean distance between different values."""
    parts = [part for part in model.metric_.attributes.values() if len(part.labels) > 1]
    return float(np.mean([p.distances()[np.triu_indices(len(p.labels), 1)].mean() for p in parts]))


def told_apart(model: Any, rows: Any, classes: np.ndarray) -> tuple[float, float]:
    """Return the ARI of Ward's clusters and the accuracy of 5-NN, each row without itself."""
    chosen = np.random.default_rng(0).permutation(len(rows))[:MOST_ROWS]
    points, right = model.transform(rows.iloc[chosen]), classes[chosen]
    if not points.shape[1]:
        return 0.0, float(np.bincount(right).max() / len(right))
    labels = AgglomerativeClustering(len(np.unique(right))).fit_predict(points)
    near = NearestNeighbors(n_neighbors=5).fit(points).kneighbors(return_distance=False)
    votes = [np.bincount(right[others]).argmax() for others in near]
    return float(adjusted_rand_score(right, labels)), float(np.mean(votes == right))


def drawn(folder: Path) -> str:
    """Return both files as a table in Markdown, before and after in one cell."""
    after = read_rows("category-signal", folder)
    before = {key(row): row for row in read_rows("category-signal-before", folder)}
    heads = ["set", "ε", "δ", "true level", "level", "L1", "Pearson", "Ward ARI", "5-NN", "warned"]
    lines = []
    for row in after:
        old = before.get(key(row), {})
        cells = [pair_of(old.get(measure), row[measure]) for measure in (*MEASURES, "warned")]
        about = [row["set"], row["epsilon"], row["delta"], f"{float(row['true_level']):.2f}"]
        lines.append([*about, *cells])
    return markdown(heads, lines)


def key(row: dict[str, str]) -> tuple[str, str, str]:
    return row["set"], row["epsilon"], row["delta"]


def pair_of(old: str | None, new: str) -> str:
    if new == "nan":
        return ""
    return f"{float(new):.2f}" if old is None else f"{float(old):.2f} → {float(new):.2f}"


if __name__ == "__main__":
    main()
