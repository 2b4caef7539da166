"""The figures of Battaglia, Celano and Pensa (2021), DP-DILCA; the tests of 4.3 are apart."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import combinations
from math import comb, exp, log, log2
from typing import Any

import numpy as np
from given import Given, Row, row, spread
from pivoting import published
from scipy.spatial.distance import pdist
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

from categorical import DELTA, ROWS, FoldsOf, sweep
from category_fits import Fits
from category_measures import hamming_points
from category_sets import open_table
from category_speed import METHODS, cpu_seconds
from privclust import PrivateKMeans
from privclust.categories.task import CATEGORICAL, DISTANCES
from privclust.papers.datasets.categories import CategorySet
from privclust.papers.datasets.named import SYNTHETIC_CATEGORIES, category_set
from privclust.papers.dilca.published import Dilca
from privclust.papers.metrics import (
    context_scores,
    distance_l1,
    distance_pearson,
)

REAL = ("dermatology", "soybean", "cmc", "mushroom", "nltcs", "adult")
VARIANTS = ("baseline", "mean-su", "max-relevance", "max-dependency")
# Algorithms 4 and 5 to the letter: with twice the noise that they need.
TO_THE_LETTER = ("max-relevance, paper's noise", "max-dependency, paper's noise")
LETTER_OF = {name: f"{name}/published" for name in ("max-relevance", "max-dependency")}
OURS = ("tree (default)", "pairs, δ (default)")
# Those of the paper's tables; its figures have some between them.
EPSILONS = (0.1, 0.5, 1.0, 1.5, 2.0, 2.5)
# The paper's neighbours.
UNIT = "replace-row"
# In Figure 7, max-dependency looks at no more sets of attributes than this.
MOST_SETS = 6000
SPENT = {"each target": True, "all targets": False}


def tables(given: Given) -> Iterator[CategorySet]:
    """Yield the tables of the setting that are there."""
    return given.opened(given.pick(("wine",), ("wine", "cmc"), ("wine", *REAL)), open_table)


def classified(given: Given) -> Iterator[CategorySet]:
    """Yield the tables with classes that clusters can find; cmc has none, says the paper."""
    return (data for data in tables(given) if data.n_classes > 1 and data.name != "cmc")


_FITS: dict[tuple[str, bool], Fits] = {}


def fits_of(data: CategorySet, *, per_target: bool = False) -> Fits:
    """Return the fits of a table; the experiments of one process share them."""
    key = data.name, per_target
    if key not in _FITS:
        _FITS[key] = Fits(data.rows, data.schema, UNIT, per_target=per_target)
    return _FITS[key]


def options(
    given: Given, rows: tuple[str, ...], per_target: bool, runs: int, *, contexts: bool = False
) -> Namespace:
    """Return what the benchmark of the categories is asked for."""
    epsilons = list(given.pick((1.0,), (0.5, 2.5), EPSILONS))
    asked = {"rows": rows, "epsilon": epsilons, "runs": runs, "unit": UNIT}
    return Namespace(**asked, per_target=per_target, contexts=contexts)


def values(given: Given) -> Iterator[Row]:
    """Figures 2, 3 and 8: contexts and distances of values, ε for each target and for all.

    Contexts, which Figure 2 measures alone, have all of ε; where distances are measured they have
    a share h of .3, as in the paper.
    """
    for data in tables(given):

        def adjusted(model: Any, exact: Dilca, m: int = len(data.schema)) -> float:
            return context_scores(model.contexts_, exact.contexts_, n_attributes=m).adjusted_f

        distances = {"Pearson": distance_pearson, "L1": distance_l1}
        for by, per_target in SPENT.items():
            rows = (*VARIANTS, *(TO_THE_LETTER if per_target else OURS))
            runs = given.often(2, 3, 30)
            fits = fits_of(data, per_target=per_target)
            for measures, alone in (({"adjusted F": adjusted}, True), (distances, False)):
                asked = options(given, rows, per_target, runs, contexts=alone)
                for measure, scores in sweep(asked, data, measures, fits).items():
                    yield from told(scores, asked, measure, set=data.name, by=by)
        exact = fits_of(data).exact("max-relevance")
        plain = distance_l1(hamming_points(data.schema), exact)
        yield row("L1", plain, 0, 1, set=data.name, by="not private", method="Hamming")


def told(scores: Any, asked: Namespace, measure: str, **keys: Any) -> Iterator[Row]:
    """Yield the scores of the benchmark of the categories as rows."""
    for method, cells in scores.items():
        for at, (mean, error) in zip(asked.epsilon, cells, strict=True):
            yield row(measure, mean, error, asked.runs, method=method, at=at, **keys)


def objects(given: Given) -> Iterator[Row]:
    """Figures 10 and 11: Pearson and L1 of the distances between rows; ε is the total."""
    for data in tables(given):
        some = data.frame.sample(min(given.pick(50, 300, 500), len(data.rows)), random_state=0)
        measures = of_objects(some)
        asked = options(given, (*VARIANTS, *TO_THE_LETTER, *OURS), False, given.often(2, 3, 30))
        for measure, scores in sweep(asked, data, measures, fits_of(data)).items():
            yield from told(scores, asked, measure, set=data.name)
        exact = fits_of(data).exact("max-relevance")
        for measure, score in measures.items():
            plain = score(hamming_points(data.schema), exact)
            yield row(measure, plain, 0, 1, set=data.name, method="Hamming")


def of_objects(rows: Any) -> dict[str, Callable[[Any, Any], float]]:
    """Return Pearson and L1 of the distances between rows; a metric's are found once for both."""
    between = lru_cache(maxsize=100)(lambda model: pdist(model.transform(rows)))
    return {
        "Pearson": lambda found, exact: float(np.corrcoef(between(found), between(exact))[0, 1]),
        "L1": lambda found, exact: float(np.abs(between(found) - between(exact)).mean()),
    }


def ward(given: Given) -> Iterator[Row]:
    """Figure 4: ARI of Ward's clusters with the classes; ε is the total."""
    for data in classified(given):
        some = data.frame.sample(min(given.pick(50, 500, 1000), len(data.rows)), random_state=0)

        def ari(model: Any, _: Any, data: CategorySet = data, some: Any = some) -> float:
            labels = AgglomerativeClustering(data.n_classes).fit_predict(model.transform(some))
            return float(adjusted_rand_score(data.classes[some.index], labels))

        rows = (*VARIANTS[1:], *TO_THE_LETTER, *OURS)
        asked = options(given, rows, False, given.often(2, 3, 30))
        found = sweep(asked, data, {"ARI": ari}, fits_of(data))["ARI"]
        yield from told(found, asked, "ARI", set=data.name)
        for method, model in plain_metrics(data).items():
            yield row("ARI", ari(model, None), 0, 1, set=data.name, method=method)


def plain_metrics(data: CategorySet) -> dict[str, Any]:
    """Return the two metrics without noise."""
    exact = fits_of(data).exact("max-relevance")
    return {"DILCA, not private": exact, "Hamming, not private": hamming_points(data.schema)}


def neighbours(given: Given) -> Iterator[Row]:
    """Figure 5: accuracy of 5-NN in four folds; ε is the total."""
    for data in classified(given):
        some = data.frame.sample(min(given.pick(60, 600, 1500), len(data.rows)), random_state=0)
        folds = FoldsOf(some, data.classes[some.index])
        fits = [Fits(train, data.schema, UNIT) for train in folds.trains]
        for name in (*VARIANTS[1:], *TO_THE_LETTER, *OURS):
            method, delta, _ = ROWS[name]
            for at in given.pick((1.0,), (0.5, 2.5), EPSILONS):
                found = [
                    folds.accuracy([fit(method, at, delta) for fit in fits])
                    for _ in range(given.often(1, 2, 30))
                ]
                yield spread("accuracy", found, set=data.name, method=name, at=at)
        exact = [fit.exact("max-relevance") for fit in fits]
        plain = [hamming_points(data.schema)] * len(fits)
        for name, models in (("DILCA, not private", exact), ("Hamming, not private", plain)):
            yield row("accuracy", folds.accuracy(models), 0, 1, set=data.name, method=name)


def synthetic(given: Given) -> Iterator[Row]:
    """Figure 6: how often the right context of the first column of Synth-A to D is found."""
    rng = np.random.default_rng(given.seed)
    for name, make in SYNTHETIC_CATEGORIES.items():
        for noise in given.pick((0.2,), (0.1, 0.3), (0.1, 0.2, 0.3)):
            data, size = make(noise, rng)
            right = {f"x{i}" for i in range(1, size + 1)}
            fits = Fits(data.rows, data.schema, UNIT)
            for method in (*VARIANTS[1:], *TO_THE_LETTER, "pairs", "tree"):
                for at in given.pick((1.0,), (0.1, 0.5, 1.0), (0.1, 0.3, 0.5, 1.0, 2.5)):
                    asked = ROWS[method][0] if method in ROWS else method, at, 0, size, (0,)
                    found = [
                        set(fits(*asked, contexts=True).contexts_["x0"]) == right
                        for _ in range(given.often(2, 10, 100))
                    ]
                    yield spread("found", found, set=name, by=noise, method=method, at=at)


def size(given: Given) -> Iterator[Row]:
    """Figure 7: Pearson by the size k of the context, at two ε for each target."""
    for data in tables(given):
        fits = fits_of(data, per_target=True)
        for method in ("max-relevance", "max-dependency"):
            for at in given.pick((1, 2), (1, 2, 3), (1, 2, 3, 4)):
                if method == "max-dependency" and comb(len(data.schema) - 1, at) > MOST_SETS:
                    continue
                exact = fits.exact(method, at)
                for epsilon in (0.5, 2.5):
                    runs = given.often(1, 2, 30)
                    models = [fits(method, epsilon, 0, at) for _ in range(runs)]
                    found = [distance_pearson(model, exact) for model in models]
                    keys = {"set": data.name, "by": f"ε = {epsilon:g}", "method": method}
                    yield spread("Pearson", found, at=at, **keys)


# What the paper gives to k-means; the metric gets the rest, and one-hot has both.
FOR_CLUSTERS = 2.0
# Larger tables are run less often.
MANY_ROWS = 10_000
CLUSTERERS = {"one k-means, DPLloyd": "lloyd", "one k-means, ours": "auto"}


def kmeans(given: Given) -> Iterator[Row]:
    """Figure 12: ARI of one private k-means on one-hot rows, and by metrics with and without noise.

    ``at`` is the total, 2 for the clusters and the rest for the metric; with one-hot rows k-means
    has all of it, and DILCA's exact metric costs nothing and is not private.
    """
    for data in classified(given):
        for by, method in CLUSTERERS.items():
            for at in given.pick((2.5,), (2.5, 4.5), (2.1, 2.5, 3.0, 3.5, 4.5)):
                for name, metric, epsilon in metrics_at(data, at):
                    runs = given.often(1, 2, 100 if len(data.rows) <= MANY_ROWS else 10)
                    found = [ari_of(data, metric(), epsilon, method) for _ in range(runs)]
                    keys = {"set": data.name, "by": by, "method": name}
                    yield spread("ARI", found, at=at, **keys)
        yield from ours_at_totals(given, data)


def metrics_at(data: CategorySet, total: float) -> Iterator[tuple[str, Callable[[], Any], float]]:
    """Yield name, a draw of the metric, and what is left for k-means."""
    fits, spent = fits_of(data), total - FOR_CLUSTERS
    yield "DP-KMeans-OH", lambda: hamming_points(data.schema), total
    yield "DP-KMeans-DPMD", lambda: fits("max-dependency", spent), FOR_CLUSTERS
    letter = "max-dependency/published"
    yield "DP-KMeans-DPMD, paper's noise", lambda: fits(letter, spent), FOR_CLUSTERS
    exact = fits.exact("max-dependency")
    yield "DP-KMeans-DILCA, its metric not private", lambda: exact, FOR_CLUSTERS


def ari_of(data: CategorySet, metric: Any, epsilon: float, method: str) -> float:
    """Return the ARI of private k-means on the points of a metric, whose bounds are public."""
    # The coordinates of the values are public; a row has those of its values one after another.
    tables = [coordinates for _, coordinates in metric.metric_.tables()]
    low, high = (np.concatenate([end(t, axis=0) for t in tables]) for end in (np.min, np.max))
    points, varies = metric.transform(data.frame), low < high
    bounds = low[varies], high[varies]
    model = PrivateKMeans(
        data.n_classes, epsilon=epsilon, bounds=bounds, rescale=False, unit=UNIT, method=method
    )
    return float(adjusted_rand_score(data.classes, model.fit_predict(points[:, varies])))


def ours_at_totals(given: Given, data: CategorySet) -> Iterator[Row]:
    """Yield our estimator at the same totals, in pure ε and with δ: beyond the paper's figure."""
    for delta in (0, DELTA):
        for at in given.pick((2.5,), (2.5, 4.5), (2.1, 2.5, 3.0, 3.5, 4.5)):
            budget = {"epsilon": at, "delta": delta, "schema": data.schema, "unit": UNIT}
            model = CATEGORICAL.model(data.n_classes, **budget)
            found = [
                adjusted_rand_score(data.classes, model.fit(data.rows).predict(data.rows))
                for _ in range(given.often(1, 2, 10))
            ]
            keys = {"set": data.name, "by": f"ours, δ = {delta:g}", "method": "ours"}
            yield spread("ARI", found, at=at, **keys)


def times(given: Given) -> Iterator[Row]:
    """Table 6: CPU seconds of one fit, all targets, contexts of three."""
    for data in tables(given):
        for method in METHODS:
            model = DISTANCES.model(schema=data.schema, method=method, unit=UNIT)
            taken = [cpu_seconds(lambda m=model: m.fit(data.rows)) for _ in range(2)]  # noqa: B023
            yield row("seconds", min(taken), np.nan, 2, set=data.name, method=method)


# The text does not say how many rows its example has; with these its chances come out.
EXAMPLE_ROWS = 80


def running_example(given: Given) -> Iterator[Row]:
    """Example 2: the chances of Algorithms 4 and 5 as printed, and by their own formulas.

    Of Algorithm 5 the text prints no scores. They lie between -log2 3 and 0, which bounds how much
    likelier one set is than another.
    """
    for name in given.among(["Example 2"]):
        lines = published("dilca_example_2")
        share = 1 / EXAMPLE_ROWS
        needed = -share * log2(share) - (1 - share) * log2(1 - share)
        paper = 2 * share * (1 / log(2) + log2(EXAMPLE_ROWS))
        scores = np.array([float(old["score"]) for old in lines if old["score"]])
        for method, sensitivity in (("its formula", paper), ("the noise it needs", needed)):
            odds = np.exp((scores - scores.max()) / (2 * sensitivity))
            sets = [old for old in lines if old["score"]]
            least = 1 / (1 + (len(lines) - len(sets) - 1) * exp(log2(3) / (2 * sensitivity)))
            for old, chance in zip(sets, odds / odds.sum(), strict=True):
                keys = {"set": name, "by": old["algorithm"], "method": method}
                yield row("chance", chance, np.nan, 1, at=old["context"], **keys)
            keys = {"set": name, "by": "Algorithm 5", "method": method}
            yield row("least chance", least, np.nan, 1, **keys)


# Columns that the paper says were never chosen for age.
UNRELATED = ("sex", "native-country")


def examples(given: Given) -> Iterator[Row]:
    """Tables 7 and 8 and A.8: contexts of age and race in adult, and what ε = 0.5 finds of them."""
    for data in given.opened(("adult",), category_set):
        names = list(data.schema)
        fits = fits_of(data, per_target=True)
        for target in ("age", "race"):
            for method in VARIANTS[1:]:
                exact = fits.exact(method).contexts_[target]
                place = (names.index(target),)
                runs = given.often(1, 10, 30)
                letter = LETTER_OF.get(method, method)
                models = [fits(letter, 0.5, 0, 3, place, contexts=True) for _ in range(runs)]
                found = [set(model.contexts_[target]) for model in models]
                keys = {"set": "adult", "by": target, "method": method}
                for other in names:
                    share = float(np.mean([other in one for one in found]))
                    if other in exact or share >= 0.2 or other in UNRELATED:
                        where = f"{other}, in the exact context" if other in exact else other
                        yield row("chosen", share, np.nan, runs, at=where, **keys)
                same = float(np.mean([one == set(exact) for one in found]))
                yield row("whole context", same, np.nan, runs, **keys)
                different = len({frozenset(one) for one in found})
                yield row("different contexts", different, np.nan, runs, **keys)
                yield spread("attributes in the context", [len(one) for one in found], **keys)
        yield from ranked_ages(given, fits, names.index("age"))


def ranked_ages(given: Given, fits: Fits, place: int) -> Iterator[Row]:
    """Yield whether noise leaves the order of the distances between ages, the last test of A.8."""
    for method in VARIANTS[1:]:
        exact = above_diagonal(fits.exact(method), "age")
        letter = LETTER_OF.get(method, method)
        models = [fits(letter, 0.5, 0, 3, (place,)) for _ in range(given.often(1, 10, 30))]
        swaps = [discordant(above_diagonal(model, "age"), exact) for model in models]
        keys = {"set": "adult", "by": "age", "method": method}
        yield spread("order of distances kept", [swap == 0 for swap in swaps], **keys)
        yield row("most swaps of distances", max(swaps), np.nan, len(swaps), **keys)


def above_diagonal(model: Any, target: str) -> np.ndarray:
    """Return the distances between the values of an attribute, each pair once."""
    distances = model.metric_[target].distances()
    return np.asarray(distances[np.triu_indices(len(distances), 1)])


def discordant(found: np.ndarray, exact: np.ndarray) -> int:
    """Return how many swaps of neighbours bring one order into the other."""
    return sum(
        (found[i] - found[j]) * (exact[i] - exact[j]) < 0
        for i, j in combinations(range(len(exact)), 2)
    )
