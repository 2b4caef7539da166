"""The experiments of the DP-DILCA paper, for the published variants and for ours.

``python benchmarks/categorical.py [EXPERIMENT ...] [--data FOLDER] [--sets ...] [--runs 30]``
prints a table per experiment and data set, and draws them with ``--plots FOLDER``. The data are not
part of the project: sets are paths of files, or names in the folder, which the variable
PRIVCLUST_DATA may give too; those that are not there are named and left out. ε is the total for the
whole metric or, with ``--per-target``, as in the paper's figures 2, 3 and 8, that of every
single target; ``--unit`` chooses the neighbours (the paper's: replace-row).
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from category_fits import Fits
from category_measures import hamming_points
from category_output import Scores, draw, mean_and_error, show
from category_speed import scale, times
from privclust import Schema
from privclust.categories.task import CATEGORICAL
from privclust.exceptions import DataError
from privclust.papers.datasets.categories import CategorySet
from privclust.papers.datasets.named import SYNTHETIC_CATEGORIES, category_set
from privclust.papers.dilca.published import Dilca
from privclust.papers.metrics import context_scores, distance_l1, distance_pearson, object_pearson

REAL = ("adult", "mushroom", "soybean", "dermatology")
DELTA = 1e-6

# The name of a row: method, δ, and the rule of the non-private counterpart.
ROWS: dict[str, tuple[str, float, str]] = {
    "baseline": ("baseline", 0, "relevant-non-redundant"),
    "mean-su": ("mean-su", 0, "mean-su"),
    "max-relevance": ("max-relevance", 0, "max-relevance"),
    "max-dependency": ("max-dependency", 0, "max-dependency"),
    "max-relevance, paper's noise": ("max-relevance/published", 0, "max-relevance"),
    "max-dependency, paper's noise": ("max-dependency/published", 0, "max-dependency"),
    "raw pairs": ("raw", 0, "max-relevance"),
    "shrunk pairs": ("shrunk", 0, "max-relevance"),
    "pairs": ("pairs", 0, "max-relevance"),
    "tree (default)": ("tree", 0, "max-relevance"),
    "raw pairs, δ": ("raw", DELTA, "max-relevance"),
    "shrunk pairs, δ": ("shrunk", DELTA, "max-relevance"),
    "pairs, δ (default)": ("pairs", DELTA, "max-relevance"),
    "tree, δ": ("tree", DELTA, "max-relevance"),
}


def main() -> None:
    """Run the experiments asked for."""
    options = arguments()
    warnings.simplefilter("ignore")
    for name in options.experiments:
        options.panels = []
        EXPERIMENTS[name](options)
        if options.plots and options.panels:
            draw(options.plots / f"categorical-{name}.png", options.epsilon, options.panels)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("experiments", nargs="*", choices=[*EXPERIMENTS, []], metavar="EXPERIMENT")
    parser.add_argument("--data", type=Path, default=os.environ.get("PRIVCLUST_DATA"))
    parser.add_argument("--sets", nargs="+", default=list(REAL), metavar="SET")
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--epsilon", nargs="+", type=float, default=[0.1, 0.5, 1.0, 2.5])
    parser.add_argument("--many", nargs="+", type=int, default=[10**6, 10**7])
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--unit", default="add-remove-row")
    parser.add_argument("--per-target", action="store_true", help="ε for each target, as published")
    parser.add_argument("--plots", type=Path, help="folder for the figures")
    options = parser.parse_args()
    options.experiments = options.experiments or list(EXPERIMENTS)
    options.tables = partial(tables, options)
    return options


def fits_of(options: argparse.Namespace, rows: Any, schema: Schema) -> Fits:
    """Return fits of some rows, with ε for each target or for all."""
    return Fits(rows, schema, options.unit, per_target=options.per_target)


def tables(options: argparse.Namespace) -> Iterator[CategorySet]:
    """Yield each data set there is."""
    for name in options.sets:
        try:
            yield category_set(name, options.data)
        except DataError as error:
            print(f"{name} is left out: {error}")


def sweep(
    options: argparse.Namespace,
    data: CategorySet,
    measures: dict[str, Callable[[Any, Dilca], float]],
    fits: Fits | None = None,
) -> dict[str, Scores]:
    """Return mean and standard error of each measure for each row and ε."""
    fits = fits or fits_of(options, data.rows, data.schema)
    scores: dict[str, Scores] = {name: {} for name in measures}
    for row in options.rows:
        method, delta, rule = ROWS[row]
        exact = fits.exact(rule)
        for epsilon in options.epsilon:
            contexts = getattr(options, "contexts", False)
            models = fits.many(method, epsilon, delta, runs=options.runs, contexts=contexts)
            for name, measure in measures.items():
                found = [measure(model, exact) for model in models]
                scores[name].setdefault(row, []).append(mean_and_error(found))
    return scores


def distances(options: argparse.Namespace) -> None:
    """Off-diagonal Pearson and L1 of the distance matrices; Hamming has no contrast at all."""
    measures = {"Pearson": distance_pearson, "L1": distance_l1}
    for data in options.tables():
        plain = {"Pearson": 0.0, "L1": distance_l1(hamming_points(data.schema), _exact(data))}
        for what, scores in sweep(options, data, measures).items():
            show(options, f"distances {what} {data.name}", scores, {"Hamming": plain[what]})


def _exact(data: CategorySet) -> Dilca:
    return Dilca("max-relevance", schema=data.schema).fit(data.rows)


def contexts(options: argparse.Namespace) -> None:
    """F-score of the contexts, adjusted for chance."""
    for data in options.tables():

        def adjusted(model: Any, exact: Dilca, m: int = len(data.schema)) -> float:
            found, right = model.contexts_, exact.contexts_
            return context_scores(found, right, n_attributes=m).adjusted_f

        scores = sweep(options, data, {"F": adjusted})["F"]
        # Hamming looks at no other attribute: its context is a random one, which scores zero.
        show(options, f"contexts adjusted F {data.name}", scores, {"Hamming": 0.0})


def objects(options: argparse.Namespace) -> None:
    """Pearson of the distances between a thousand rows."""
    for data in options.tables():
        some = data.frame.sample(min(1000, len(data.rows)), random_state=0)
        pearson = partial(object_pearson, rows=some)
        scores = sweep(options, data, {"objects": pearson})["objects"]
        plain = object_pearson(hamming_points(data.schema), _exact(data), rows=some)
        show(options, f"objects Pearson {data.name}", scores, {"Hamming": plain})


def ward(options: argparse.Namespace) -> None:
    """ARI of Ward's clusters with the classes, on at most two thousand rows."""
    for data in options.tables():
        some = data.frame.sample(min(2000, len(data.rows)), random_state=0)

        def ari(model: Any, _: Any, data: CategorySet = data, some: Any = some) -> float:
            labels = AgglomerativeClustering(data.n_classes).fit_predict(model.transform(some))
            return float(adjusted_rand_score(data.classes[some.index], labels))

        flat = {
            "DILCA": ari(_exact(data), None),
            "Hamming": ari(hamming_points(data.schema), None),
        }
        show(options, f"Ward ARI {data.name}", sweep(options, data, {"ARI": ari})["ARI"], flat)


def neighbours(options: argparse.Namespace) -> None:
    """Accuracy of 5-NN by 4-fold cross-validation, on at most four thousand rows."""
    for data in options.tables():
        some = data.frame.sample(min(4000, len(data.rows)), random_state=0)
        folds = FoldsOf(some, data.classes[some.index])
        fits = [fits_of(options, train, data.schema) for train in folds.trains]
        scores: Scores = {}
        for row in options.rows:
            method, delta, _ = ROWS[row]
            scores[row] = [
                mean_and_error(
                    [
                        folds.accuracy([fit(method, epsilon, delta) for fit in fits])
                        for _ in range(max(2, options.runs // 10))
                    ]
                )
                for epsilon in options.epsilon
            ]
        exact = [Dilca("max-relevance", schema=data.schema).fit(train) for train in folds.trains]
        plain = [hamming_points(data.schema)] * len(fits)
        flat = {"DILCA": folds.accuracy(exact), "Hamming": folds.accuracy(plain)}
        show(options, f"5-NN accuracy {data.name}", scores, flat)


class FoldsOf:
    """Four folds of labelled rows."""

    def __init__(self, rows: Any, classes: np.ndarray) -> None:
        self.classes = classes
        splits = StratifiedKFold(4, shuffle=True, random_state=0).split(rows, classes)
        self.splits = list(splits)
        self.trains = [rows.iloc[train] for train, _ in self.splits]
        self.tests = [rows.iloc[test] for _, test in self.splits]

    def accuracy(self, models: list[Any]) -> float:
        """Return the accuracy of 5-NN with one metric per fold."""
        hits = []
        parts = zip(models, self.splits, self.trains, self.tests, strict=True)
        for model, (train, test), train_rows, test_rows in parts:
            knn = KNeighborsClassifier(5)
            knn.fit(model.transform(train_rows), self.classes[train])
            hits.append(knn.score(model.transform(test_rows), self.classes[test]))
        return float(np.mean(hits))


def kmeans(options: argparse.Namespace) -> None:
    """ARI of private k-means with the classes; ε is the total of metric and clusters."""
    for data in options.tables():
        scores = {
            f"{name}, δ" if delta else name: [
                mean_and_error(kmeans_scores(options, data, epsilon, delta, method))
                for epsilon in options.epsilon
            ]
            for delta in (0, DELTA)
            for name, method in (("k-means", "auto"), ("DP-KMeans-DPMD", "max-relevance"))
        }
        plain = one_hot_kmeans(data, _exact(data).transform(data.rows))
        hamming = one_hot_kmeans(data, hamming_points(data.schema).transform(data.rows))
        flat = {"DILCA, not private": plain, "Hamming, not private": hamming}
        show(options, f"k-means ARI {data.name}", scores, flat)


def kmeans_scores(
    options: argparse.Namespace, data: CategorySet, epsilon: float, delta: float, method: str
) -> list[float]:
    """Return the ARI of some fits of private k-means in a private metric."""
    model = CATEGORICAL.model(
        data.n_classes,
        epsilon=epsilon,
        delta=delta,
        method=method,
        schema=data.schema,
        unit=options.unit,
    )
    return [
        float(adjusted_rand_score(data.classes, model.fit_predict(data.rows)))
        for _ in range(options.runs)
    ]


def one_hot_kmeans(data: CategorySet, points: np.ndarray) -> float:
    from sklearn.cluster import KMeans

    labels = KMeans(data.n_classes, n_init=5, random_state=0).fit_predict(points)
    return float(adjusted_rand_score(data.classes, labels))


def synthetic(options: argparse.Namespace) -> None:
    """Share of runs in which the right context of the first column is found."""
    rng = np.random.default_rng(0)
    for name, make in SYNTHETIC_CATEGORIES.items():
        for noise in (0.1, 0.2, 0.3):
            data, size = make(noise, rng)
            right = {f"x{i}" for i in range(1, size + 1)}
            scores: Scores = {}
            fits = fits_of(options, data.rows, data.schema)
            for method in ("mean-su", "max-relevance", "max-dependency", "pairs", "tree"):
                scores[method] = []
                for epsilon in options.epsilon:
                    found = [
                        set(fits(method, epsilon, 0, size, (0,)).contexts_["x0"]) == right
                        for _ in range(options.runs)
                    ]
                    scores[method].append(mean_and_error(found))
            chance = 1 / comb(len(data.schema) - 1, size)
            show(options, f"{name} noise {noise:g}", scores, {"Hamming (chance)": chance})


EXPERIMENTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "distances": distances,
    "contexts": contexts,
    "objects": objects,
    "ward": ward,
    "neighbours": neighbours,
    "kmeans": kmeans,
    "synthetic": synthetic,
    "times": times,
    "scale": scale,
}

if __name__ == "__main__":
    main()
