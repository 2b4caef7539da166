"""The experiments of the DP-DILCA paper, for the published variants and for ours.

``python benchmarks/categorical.py [EXPERIMENT ...] [--data FOLDER] [--sets ...] [--runs 30]``
prints a table per experiment and data set, and draws it with ``--plots FOLDER``. The folder of the
data, which are not part of the project, may also be named by the variable PRIVCLUST_DATA. ε is
always the total for the whole metric; ``--unit`` chooses the neighbours (the paper's: replace-row).
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from category_measures import (
    adjusted_f,
    chance_f,
    hamming_points,
    l1_distance,
    object_pearson,
    off_diagonal_pearson,
)
from category_output import Scores, mean_and_error, show
from category_rivals import raw_pairs, shrunk_pairs
from category_sets import REAL, SYNTHETIC, CategorySet, load
from privclust.categorical import PrivateCategoricalKMeans, PrivateDilca
from privclust.reference import Dilca

DELTA = 1e-6

# The name of a row: method, δ, and the rule of the non-private counterpart.
ROWS: dict[str, tuple[str, float, str]] = {
    "baseline": ("baseline", 0, "relevant-non-redundant"),
    "mean-su": ("mean-su", 0, "mean-su"),
    "max-relevance": ("max-relevance", 0, "max-relevance"),
    "max-dependency": ("max-dependency", 0, "max-dependency"),
    "raw pairs": ("raw", 0, "max-relevance"),
    "shrunk pairs": ("shrunk", 0, "max-relevance"),
    "pairs": ("pairs", 0, "max-relevance"),
    "tree (default)": ("tree", 0, "max-relevance"),
    "raw pairs, δ": ("raw", DELTA, "max-relevance"),
    "shrunk pairs, δ": ("shrunk", DELTA, "max-relevance"),
    "pairs, δ (default)": ("pairs", DELTA, "max-relevance"),
    "tree, δ": ("tree", DELTA, "max-relevance"),
}

RIVALS = {"raw": raw_pairs, "shrunk": shrunk_pairs}


def main() -> None:
    """Run the experiments asked for."""
    options = arguments()
    warnings.simplefilter("ignore")
    for name in options.experiments:
        EXPERIMENTS[name](options)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("experiments", nargs="*", choices=[*EXPERIMENTS, []], metavar="EXPERIMENT")
    parser.add_argument("--data", type=Path, default=os.environ.get("PRIVCLUST_DATA"))
    parser.add_argument("--sets", nargs="+", default=list(REAL), choices=REAL)
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--epsilon", nargs="+", type=float, default=[0.1, 0.5, 1.0, 2.5])
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--unit", default="add-remove-row")
    parser.add_argument("--plots", type=Path, help="folder for the figures")
    options = parser.parse_args()
    options.experiments = options.experiments or list(EXPERIMENTS)
    if options.data is None and set(options.experiments) != {"synthetic"}:
        parser.error("name the folder of the data with --data or PRIVCLUST_DATA")
    return options


def private(data: CategorySet, method: str, delta: float, epsilon: float, unit: str) -> Any:
    """Fit a private metric; ``raw`` and ``shrunk`` are the rivals."""
    if method in RIVALS:
        return RIVALS[method](data.rows, data.schema, epsilon, delta, unit)
    model = PrivateDilca(epsilon=epsilon, delta=delta, schema=data.schema, method=method, unit=unit)
    return model.fit(data.rows)


def sweep(
    options: argparse.Namespace,
    data: CategorySet,
    measure: Callable[[Any, Dilca], float],
    rows: Iterable[str],
) -> Scores:
    """Return mean and standard error of a measure for each row and ε."""
    scores: Scores = {}
    for row in rows:
        method, delta, rule = ROWS[row]
        exact = Dilca(rule, schema=data.schema).fit(data.rows)
        scores[row] = []
        for epsilon in options.epsilon:
            values = [
                measure(private(data, method, delta, epsilon, options.unit), exact)
                for _ in range(options.runs)
            ]
            scores[row].append(mean_and_error(values))
    return scores


def distances(options: argparse.Namespace) -> None:
    """Off-diagonal Pearson and L1 of the distance matrices; Hamming has no contrast at all."""
    for name in options.sets:
        data = load(name, options.data)
        for what, measure in (("Pearson", off_diagonal_pearson), ("L1", l1_distance)):
            flat = {"Hamming": 0.0 if what == "Pearson" else l1_distance(None, _exact(data))}
            show(
                options,
                f"distances {what} {name}",
                sweep(options, data, measure, options.rows),
                flat,
            )


def _exact(data: CategorySet) -> Dilca:
    return Dilca("max-relevance", schema=data.schema).fit(data.rows)


def contexts(options: argparse.Namespace) -> None:
    """F-score of the contexts, adjusted for chance."""
    for name in options.sets:
        data = load(name, options.data)
        m = len(data.schema)
        scores = sweep(options, data, partial(adjusted_f, chance=chance_f(m)), options.rows)
        show(options, f"contexts adjusted F {name}", scores, {})


def objects(options: argparse.Namespace) -> None:
    """Pearson of the distances between a thousand rows."""
    for name in options.sets:
        data = load(name, options.data)
        some = data.rows.sample(min(1000, len(data.rows)), random_state=0)
        scores = sweep(options, data, partial(object_pearson, rows=some), options.rows)
        plain = object_pearson(hamming_points(data.schema), _exact(data), rows=some)
        show(options, f"objects Pearson {name}", scores, {"Hamming": plain})


def ward(options: argparse.Namespace) -> None:
    """ARI of Ward's clusters with the classes, on at most two thousand rows."""
    for name in options.sets:
        data = load(name, options.data)
        chosen = data.rows.sample(min(2000, len(data.rows)), random_state=0).index

        def ari(model: Any, _: Any, data: CategorySet = data, chosen: Any = chosen) -> float:
            points = model.transform(data.rows.loc[chosen])
            labels = AgglomerativeClustering(data.n_classes).fit_predict(points)
            return float(adjusted_rand_score(data.classes[chosen], labels))

        flat = {
            "DILCA": ari(_exact(data), None),
            "Hamming": ari(hamming_points(data.schema), None),
        }
        show(options, f"Ward ARI {name}", sweep(options, data, ari, options.rows), flat)


def neighbours(options: argparse.Namespace) -> None:
    """Accuracy of 5-NN by 4-fold cross-validation, on at most four thousand rows."""
    for name in options.sets:
        data = load(name, options.data)
        chosen = data.rows.sample(min(4000, len(data.rows)), random_state=0).index
        rows, classes = data.rows.loc[chosen], data.classes[chosen]
        folds = list(StratifiedKFold(4, shuffle=True, random_state=0).split(rows, classes))

        def accuracy(fit: Callable[[Any], Any], rows: Any = rows, classes: Any = classes) -> float:
            hits = []
            for train, test in folds:  # noqa: B023 - used within the loop only
                model = fit(rows.iloc[train])
                knn = KNeighborsClassifier(5)
                knn.fit(model.transform(rows.iloc[train]), classes[train])
                hits.append(knn.score(model.transform(rows.iloc[test]), classes[test]))
            return float(np.mean(hits))

        scores: Scores = {}
        for row in options.rows:
            method, delta, _ = ROWS[row]
            scores[row] = []
            for epsilon in options.epsilon:

                def fit(train: Any, m: str = method, d: float = delta, e: float = epsilon) -> Any:
                    part = CategorySet(data.name, train, data.schema, classes)  # noqa: B023
                    return private(part, m, d, e, options.unit)

                values = [accuracy(fit) for _ in range(max(2, options.runs // 10))]
                scores[row].append(mean_and_error(values))
        flat = {
            "DILCA": accuracy(lambda train: Dilca("max-relevance", schema=data.schema).fit(train)),  # noqa: B023
            "Hamming": accuracy(lambda _: hamming_points(data.schema)),  # noqa: B023
        }
        show(options, f"5-NN accuracy {name}", scores, flat)


def kmeans(options: argparse.Namespace) -> None:
    """ARI of private k-means with the classes; ε is the total of metric and clusters."""
    for name in options.sets:
        data = load(name, options.data)
        scores: Scores = {}
        for delta in (0, DELTA):
            cells = []
            for epsilon in options.epsilon:
                model = PrivateCategoricalKMeans(
                    data.n_classes,
                    epsilon=epsilon,
                    delta=delta,
                    schema=data.schema,
                    unit=options.unit,
                )
                values = [
                    adjusted_rand_score(data.classes, model.fit_predict(data.rows))
                    for _ in range(options.runs)
                ]
                cells.append(mean_and_error(values))
            scores["k-means, δ" if delta else "k-means"] = cells
        plain = one_hot_kmeans(data, _exact(data).transform(data.rows))
        hamming = one_hot_kmeans(data, hamming_points(data.schema).transform(data.rows))
        flat = {"DILCA, not private": plain, "Hamming, not private": hamming}
        show(options, f"k-means ARI {name}", scores, flat)


def one_hot_kmeans(data: CategorySet, points: np.ndarray) -> float:
    from sklearn.cluster import KMeans

    labels = KMeans(data.n_classes, n_init=5, random_state=0).fit_predict(points)
    return float(adjusted_rand_score(data.classes, labels))


def synthetic(options: argparse.Namespace) -> None:
    """Share of runs in which the right context of the first column is found."""
    rng = np.random.default_rng(0)
    for name, make in SYNTHETIC.items():
        for noise in (0.1, 0.2, 0.3):
            data, size = make(noise, rng)
            right = {f"x{i}" for i in range(1, size + 1)}
            scores: Scores = {}
            for method in ("mean-su", "max-relevance", "max-dependency", "pairs"):
                scores[method] = []
                for epsilon in options.epsilon:
                    model = PrivateDilca(
                        epsilon=epsilon,
                        schema=data.schema,
                        method=method,
                        targets=["x0"],
                        context_size=size,
                        unit=options.unit,
                    )
                    found = [
                        set(model.fit(data.rows).contexts_["x0"]) == right
                        for _ in range(options.runs)
                    ]
                    scores[method].append(mean_and_error(found))
            show(options, f"{name} noise {noise:g}", scores, {})


def times(options: argparse.Namespace) -> None:
    """CPU seconds of one fit of the whole metric, all targets, contexts of three."""
    methods = ("max-dependency", "max-relevance", "mean-su", "baseline", "pairs", "tree")
    print("\n| CPU seconds | " + " | ".join(methods) + " |\n" + "|---" * (len(methods) + 1) + "|")
    for name in options.sets:
        data = load(name, options.data)
        cells = []
        for method in methods:
            model = PrivateDilca(epsilon=1.0, schema=data.schema, method=method)
            start = time.process_time()
            model.fit(data.rows)
            cells.append(f"{time.process_time() - start:.2f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


EXPERIMENTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "distances": distances,
    "contexts": contexts,
    "objects": objects,
    "ward": ward,
    "neighbours": neighbours,
    "kmeans": kmeans,
    "synthetic": synthetic,
    "times": times,
}

if __name__ == "__main__":
    main()
