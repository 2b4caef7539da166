"""A summary by a learned metric: ordinary cells, and a metric that the same budget pays for."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from privclust import Box, Categories, PrivateSummary, Schema
from privclust.clustering.answers import Summary
from privclust.exceptions import ParameterError
from privclust.papers.metrics import inertia
from privclust.schema.coordinates import CATEGORY_GAP, Coordinates

RNG = np.random.default_rng(4)
KINDS = RNG.integers(3, size=3000)
SCHEMA = Schema(
    {"age": Box(0, 100), **{name: Categories(list("abc")) for name in ("one", "two", "three")}}
)
ROWS = pd.DataFrame(
    {"age": np.clip(np.array([20, 50, 80])[KINDS] + RNG.normal(0, 5, 3000), 0, 100)}
)
for _name in ("one", "two", "three"):
    _codes = np.where(RNG.random(3000) < 0.9, KINDS, RNG.integers(3, size=3000))
    ROWS[_name] = np.array(list("abc"))[_codes]


@pytest.fixture(scope="module")
def model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PrivateSummary(epsilon=20, schema=SCHEMA, metric="dilca", random_state=0).fit(ROWS)


@pytest.mark.parametrize(
    ("delta", "columns", "metric"),
    [(0, 4, "mismatch"), (0, 3, "dilca"), (1e-6, 3, "mismatch"), (0, 1, "mismatch")],
)
def test_it_is_learned_for_categories_alone_in_pure_epsilon(delta, columns, metric):
    names = SCHEMA.names[-columns:]
    summary = PrivateSummary(
        epsilon=20, delta=delta, schema=SCHEMA.only(names), random_state=0
    ).fit(ROWS[[*names]])
    assert summary.release().parameters["metric"] == metric


def test_its_clusters_are_the_kinds_of_rows(model):
    labels = model.kmeans(3).predict(ROWS)
    table = pd.crosstab(KINDS, labels).to_numpy()
    assert table.max(axis=1).sum() > 0.95 * len(ROWS)
    ages = np.sort(model.centers(3)[:, 0])
    np.testing.assert_allclose(ages, [20, 50, 80], atol=10)


def test_its_cells_are_numbers_and_shares(model):
    shares = model.cells_[:, 1:].reshape(-1, 3, 3)
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=2), 1)
    assert model.cells_error_.shape == model.cells_.shape
    assert (model.cells_error_ >= 0).all()


def test_the_metric_is_paid_for_from_the_same_budget_and_named(model):
    assert model.privacy_.spent.pure <= 20
    assert model.privacy_.spent.pure == pytest.approx(20)
    assert model.release().parameters["metric"] == "dilca"
    assert model.privacy_.queries[-1].query == "spread within cells: square"


def test_its_inertia_is_about_that_of_the_rows_by_mismatches(model):
    centers, columns = model.centers(3), Coordinates(SCHEMA)
    names = ROWS.columns[1:]
    hot = [ROWS[name].to_numpy()[:, None] == np.array(list("abc")) for name in names]
    points = np.column_stack([ROWS["age"], *hot]) / columns.scales(True, CATEGORY_GAP)
    exact = inertia(points, centers / columns.scales(True, CATEGORY_GAP))
    assert model.inertia(3) == pytest.approx(exact, rel=0.25)


def test_the_published_summary_answers_the_same(model):
    again = Summary(model.release())
    np.testing.assert_allclose(again.centers(3), model.centers(3))
    assert again.sample(10, random_state=0).num_rows == 10


def test_mismatches_are_counted_unless_a_metric_is_asked_for():
    fits = (
        PrivateSummary(schema=SCHEMA, metric=way, random_state=0).fit(ROWS)
        for way in ("auto", "mismatch")
    )
    one, other = (fit.release() for fit in fits)
    assert one.parameters["metric"] == other.parameters["metric"] == "mismatch"
    np.testing.assert_array_equal(one.arrays["cells"], other.arrays["cells"])


def test_numbers_alone_have_no_metric_to_learn():
    model = PrivateSummary(bounds=(0, 1), metric="dilca")
    with pytest.raises(ParameterError, match="the schema declares none"):
        model.fit(np.zeros((5, 2)))
