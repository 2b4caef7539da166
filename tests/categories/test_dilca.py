"""DILCA without and with privacy: equation (1), the rules of contexts, coordinates, budgets."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier

from privclust import Budget, Categories, Person, Schema
from privclust.categories.context import Association, choose_context
from privclust.papers.dilca.published import Dilca
from privclust.privacy.mechanisms import Exponential
from support.survey import SCHEMA, survey
from support.variants import categorical_kmeans, dilca

ROWS = survey()
METHODS = ["pairs", "tree", "baseline", "mean-su", "max-relevance", "max-dependency"]
RULES = ["mean-su", "relevant-non-redundant", "max-relevance", "max-dependency"]


def brute_distance(rows, target, context, first, second):
    """Equation (1), word by word."""
    total, columns = 0.0, 0
    for other in context:
        for _, group in rows.groupby(other):
            shares = group[target].value_counts(normalize=True)
            total += (shares.get(first, 0) - shares.get(second, 0)) ** 2
            columns += 1
    return np.sqrt(total / columns)


def brute_entropy(rows, names):
    shares = rows.groupby(list(names)).size() / len(rows)
    return float(-(shares * np.log2(shares)).sum())


@pytest.mark.parametrize("rule", RULES)
def test_distances_without_privacy_are_those_of_equation_one(rule):
    model = Dilca(rule, context_size=2).fit(ROWS)
    matrix = model.distance_matrix("city")
    for (i, first), (j, second) in combinations(enumerate("ABCD"), 2):
        expected = brute_distance(ROWS, "city", model.contexts_["city"], first, second)
        assert matrix[i, j] == pytest.approx(expected, abs=1e-9)


def test_max_dependency_chooses_the_best_set_of_all():
    model = Dilca("max-dependency", context_size=2).fit(ROWS)
    for target in ROWS:
        others = [name for name in ROWS if name != target]
        best = max(
            combinations(others, 2),
            key=lambda c: brute_entropy(ROWS, c) - brute_entropy(ROWS, (*c, target)),
        )
        assert set(model.contexts_[target]) == set(best)


def test_mean_su_takes_what_is_above_sigma_times_the_mean():
    assert Dilca("mean-su").fit(ROWS).contexts_["city"] == ("income", "car")
    assert Dilca("mean-su", sigma=1.8).fit(ROWS).contexts_["city"] == ("income",)


def test_relevant_non_redundant_drops_what_a_better_attribute_tells():
    context = Dilca("relevant-non-redundant").fit(ROWS).contexts_["city"]
    assert "income" in context
    assert "car" not in context


@pytest.mark.parametrize(("of_third", "context"), [(0.25, (1, 2, 3)), (0.4, (1, 2))])
def test_an_attribute_is_redundant_if_any_kept_one_tells_as_much_of_it(of_third, context):
    uncertainty = np.zeros((4, 4))  # of a target and three candidates, best first
    uncertainty[0, 1:] = 0.5, 0.4, 0.3
    uncertainty[1, 2:] = 0.1, 0.1
    uncertainty[2, 3] = of_third
    uncertainty += uncertainty.T
    pairs = Association(uncertainty, uncertainty, ~np.eye(4, dtype=bool))
    assert choose_context("relevant-non-redundant", 0, pairs, 3) == context


def test_the_running_example_has_its_published_probabilities():
    """Section 3.2.2: ε = 1 and the published sensitivity; 80 rows fit all four numbers."""
    scores = np.array([-1.58, -1.49, -0.93, -0.96])
    sensitivity = 2 / 80 * (1 / np.log(2) + np.log2(80))
    # The classical form: two scores may move apart by twice the sensitivity of each.
    mechanism = Exponential(Budget(1).epsilon, 2 * Budget(round(sensitivity, 9)).epsilon)
    weights = np.exp(scores / float(mechanism.scale))
    np.testing.assert_allclose(weights / weights.sum(), [0.08, 0.10, 0.43, 0.39], atol=0.005)


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("method", METHODS)
def test_a_large_budget_finds_the_metric_without_privacy(method, delta):
    rules = {"pairs": "max-relevance", "tree": "max-relevance"}
    rules["baseline"] = "relevant-non-redundant"
    exact = Dilca(rules.get(method, method), context_size=2, schema=SCHEMA).fit(ROWS)
    model = dilca(
        epsilon=5000, delta=delta, schema=SCHEMA, method=method, context_size=2, random_state=0
    ).fit(ROWS)
    found = model.distance_matrix("city")
    right = exact.distance_matrix("city")
    assert model.contexts_["city"] == exact.contexts_["city"]
    np.testing.assert_allclose(found, right, atol=0.03)


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("unit", ["add-remove-row", "replace-row"])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_spends_its_budget_and_no_more(method, unit, delta):
    budget = Budget(2, delta)
    model = dilca(
        epsilon=2, delta=delta, schema=SCHEMA, method=method, unit=unit, context_size=2
    ).fit(ROWS)
    assert budget.covers(model.privacy_.spent)
    spent = model.privacy_.spent.rho if delta else model.privacy_.spent.pure
    assert spent > budget.amount * 99 / 100


def test_targets_get_the_whole_budget():
    model = dilca(schema=SCHEMA, method="max-relevance", targets=["city"]).fit(ROWS)
    assert list(model.contexts_) == ["city"]
    assert len(model.privacy_.queries) == 3
    with pytest.raises(KeyError, match="choose one of"):
        model.distance_matrix("car")


def test_distances_of_coordinates_are_sums_over_attributes():
    model = dilca(schema=SCHEMA).fit(ROWS)
    some = ROWS.head(30)
    square = np.zeros((30, 30))
    for name in some:
        matrix = model.distance_matrix(name, as_frame=True)
        labels = some[name].astype(str)
        square += matrix.loc[labels, labels].to_numpy() ** 2
    np.testing.assert_allclose(model.pairwise_distances(some), np.sqrt(square), atol=1e-6)
    points = model.transform(some)
    np.testing.assert_allclose(cdist(points, points[:5]), np.sqrt(square[:, :5]), atol=1e-6)
    assert len(model.get_feature_names_out()) == points.shape[1]


def test_ordinal_distances_respect_the_order():
    model = Dilca("max-relevance", ordinal=["income"]).fit(ROWS)
    matrix = model.distance_matrix("income")
    assert matrix[0, 1] <= matrix[0, 2]
    assert matrix[1, 2] <= matrix[0, 2]


def test_scikit_learn_takes_the_coordinates():
    model = dilca(epsilon=20, schema=SCHEMA, random_state=0).fit(ROWS)
    points, rich = model.transform(ROWS), ROWS["city"].isin(["C", "D"])
    knn = KNeighborsClassifier(5).fit(points[:3000], rich[:3000])
    assert knn.score(points[3000:], rich[3000:]) > 0.9
    labels = AgglomerativeClustering(2).fit_predict(points[:500])
    assert len(np.unique(labels)) == 2


def test_clusters_are_found_within_one_budget():
    model = categorical_kmeans(2, epsilon=2, schema=SCHEMA, random_state=0)
    labels = model.fit_predict(ROWS)
    rich = (ROWS["income"] == 2).astype(int)
    assert adjusted_rand_score(rich, labels) > 0.5
    assert Budget(2).covers(model.privacy_.spent)
    assert model.cluster_sizes_.sum() == pytest.approx(len(ROWS), rel=0.2)
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_metric_and_clusters_divide_the_whole_budget(share):
    """A half for each would hide which of them takes what."""
    options = {"method": "baseline", "metric_share": share}
    model = categorical_kmeans(2, schema=SCHEMA, random_state=0, **options)
    model.fit(ROWS[:100])
    queries = model.privacy_.queries
    of_metric = [q.query for q in queries].index("number of rows")
    assert float(sum(q.loss.pure for q in queries[:of_metric])) == pytest.approx(share)
    assert float(sum(q.loss.pure for q in queries)) == pytest.approx(1)


def test_all_rows_of_a_person_are_hidden():
    rows = ROWS.assign(id=np.arange(len(ROWS)) // 2)
    unit = Person("id", 2)
    model = categorical_kmeans(2, epsilon=5, schema=SCHEMA, unit=unit).fit(rows)
    assert "person" in model.privacy_.protects
    assert len(model.predict(rows)) == len(rows)
    one = dilca(epsilon=0.1, schema=SCHEMA, method="pairs").fit(ROWS)
    two = dilca(epsilon=0.1, schema=SCHEMA, method="pairs", unit=unit).fit(rows)
    assert two.cell_error_ == pytest.approx(2 * one.cell_error_, rel=0.01)


def test_seeded_fits_repeat_and_say_that_they_are_not_private():
    fits = [dilca(schema=SCHEMA, random_state=7).fit(ROWS) for _ in range(2)]
    assert np.array_equal(*(fit.distance_matrix("city") for fit in fits))
    assert "NOT PRIVATE" in repr(fits[0])
    unseeded = [dilca(schema=SCHEMA).fit(ROWS).transform(ROWS[:1]).sum() for _ in "ab"]
    assert unseeded[0] != unseeded[1]


def test_the_reference_says_that_it_is_not_private():
    assert "NOT PRIVATE" in repr(Dilca())


def test_coordinates_come_as_a_named_frame_on_request():
    model = dilca(schema=SCHEMA).set_output(transform="pandas").fit(ROWS)
    frame = model.transform(ROWS[:5])
    assert list(frame.columns) == list(model.get_feature_names_out())


def test_estimators_clone_and_keep_no_rows():
    model = categorical_kmeans(2, schema=SCHEMA).fit(ROWS)
    clone(model)
    kept = {name: value for name, value in vars(model).items() if name.endswith("_")}
    arrays = [value for value in kept.values() if isinstance(value, np.ndarray)]
    assert all(
        len(ROWS) not in array.shape for array in [*arrays, *model.release().arrays.values()]
    )


def test_the_plan_touches_no_data_and_warns_of_useless_noise():
    good = dilca(epsilon=1, schema=SCHEMA).plan(100_000)
    assert "is enough" in good.advice
    assert len(good.queries) == 3
    poor = dilca(epsilon=0.01, schema=SCHEMA, method="pairs").plan(100)
    assert "mostly noise" in poor.advice
    assert poor.to_dict()["error_ratio"] > 20


@pytest.mark.system
def test_an_attribute_with_ten_thousand_values_is_learned():
    sizes = {"big": 10_000, "x": 3, "y": 2}
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, size, 2000) for size in sizes.values()])
    schema = Schema({name: Categories(list(range(size))) for name, size in sizes.items()})
    model = dilca(epsilon=1, schema=schema).fit(rows)
    assert model.metric_["big"].coordinates.shape[0] == 10_000
    assert model.transform(rows[:50]).shape[0] == 50


def test_a_fit_whose_noise_leaves_no_row_still_ends():
    """Every noisy count of this seed is below zero: nothing is known, and nothing may fail."""
    schema = Schema({name: Categories(list("abc")) for name in "xyz"})
    rows = pd.DataFrame([list("abc")] * 2, columns=list("xyz"))
    model = dilca(schema=schema, method="mean-su", epsilon=0.001, random_state=112)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows)
    assert np.isfinite(model.pairwise_distances(rows)).all()
