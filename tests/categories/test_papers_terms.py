"""The published variants in their own terms: budgets by target, σ, and clusters in their metric."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from privclust import Budget, Categories, Schema
from privclust.categories.learn import MetricTables
from privclust.categories.shrinkage import clip_tables
from privclust.data.public import Noisy
from privclust.data.table.public import NoisyTables, PairLayout
from privclust.exceptions import ParameterError
from privclust.papers.dilca.private import merge_estimates
from support.variants import categorical_kmeans, dilca

PUBLISHED = ("baseline", "mean-su", "max-relevance", "max-dependency")
SCHEMA = Schema({name: Categories([0, 1, 2]) for name in "abcd"})


def rows(n_rows=600, seed=0):
    """Four attributes that follow one hidden class of three."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 3, n_rows)
    same = rng.random((n_rows, 4)) < 0.85
    return np.where(same, classes[:, None], rng.integers(0, 3, (n_rows, 4))), classes


ROWS, CLASSES = rows()


@pytest.mark.parametrize("method", ["mean-su", "max-relevance", "max-dependency"])
def test_a_budget_for_each_target_is_charged_for_all_of_them(method):
    model = dilca(epsilon=1, schema=SCHEMA, method=method, budget_per_target=True).fit(ROWS)
    assert model.privacy_.epsilon == 4
    assert model.privacy_.spent.pure == 4
    assert model.plan(600).budget.epsilon == 4


def test_a_budget_for_each_target_counts_the_targets_that_are_named():
    model = dilca(
        epsilon=0.5,
        schema=SCHEMA,
        method="max-relevance",
        targets=["a", "c"],
        budget_per_target=True,
    ).fit(ROWS)
    assert model.privacy_.spent.pure == 1


def test_with_delta_the_rho_of_each_target_adds_up():
    one = Budget(1, 1e-6)
    model = dilca(
        epsilon=1, delta=1e-6, schema=SCHEMA, method="max-relevance", budget_per_target=True
    ).fit(ROWS)
    assert model.privacy_.spent.rho <= 4 * one.amount
    assert model.privacy_.spent.rho > 4 * one.amount * (1 - Fraction(1, 10**9))
    assert 1 < model.privacy_.epsilon < 4


def test_what_measures_once_for_all_targets_costs_the_same_either_way():
    model = dilca(epsilon=1, schema=SCHEMA, method="baseline", budget_per_target=True).fit(ROWS)
    assert model.privacy_.spent.pure == 1


def test_the_cells_of_a_target_are_as_noisy_as_if_it_were_alone():
    options = {"epsilon": 1, "schema": SCHEMA, "method": "max-relevance"}
    alone = dilca(targets=["a"], **options).fit(ROWS)
    together = dilca(budget_per_target=True, **options).fit(ROWS)
    assert together.cell_error_ == pytest.approx(alone.cell_error_, rel=1e-6)


def test_targets_that_nobody_counted_are_refused_before_the_data_are_opened():
    model = dilca(schema=Categories([0, 1, 2]), method="max-relevance", budget_per_target=True)
    with pytest.raises(ParameterError, match="name them"):
        model.fit(ROWS)


def test_a_smaller_sigma_lets_more_attributes_into_a_context():
    few, many = (
        dilca(epsilon=1e5, schema=SCHEMA, method="mean-su", sigma=sigma).fit(ROWS)
        for sigma in (1.05, 0.2)
    )
    assert max(map(len, few.contexts_.values())) < 3
    assert {*map(len, many.contexts_.values())} == {3}


@pytest.mark.parametrize("method", PUBLISHED)
def test_clusters_are_found_in_the_metric_of_every_published_variant(method):
    model = categorical_kmeans(3, epsilon=40, schema=SCHEMA, method=method, random_state=0).fit(
        ROWS
    )
    assert adjusted_rand_score(CLASSES, model.predict(ROWS)) > 0.6
    assert model.privacy_.spent.pure == 40


def test_tables_of_single_targets_are_joined_into_those_of_all():
    layouts = [PairLayout((2, 2, 2), ((0, 1),)), PairLayout((2, 2, 2), ((0, 1), (1, 2)))]
    cells = [np.array([4.0, 0, 0, 4]), np.array([6.0, 2, 0, 0, 1, 1, 3, 3])]
    estimates = {
        target: clip_tables(NoisyTables(layout, values, 1.0, 1.0))
        for target, (layout, values) in enumerate(zip(layouts, cells, strict=True))
    }
    joined = merge_estimates(MetricTables({}, estimates, 1.0, Noisy(np.array([100.0]), 1.0)))
    assert joined.layout.pairs == ((0, 1), (1, 2))
    assert joined.counts.tolist() == [5, 1, 0, 2, 1, 1, 3, 3]
    assert joined.n_rows == 8
    assert joined.margins[:2].tolist() == [6, 2]
