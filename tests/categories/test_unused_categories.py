"""Categories that no row has: they must not set the values of other attributes apart."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from privclust import Categories, PrivateDilca, Schema
from privclust.categories.metric import attribute_metric
from privclust.categories.shrinkage import Estimate
from privclust.data.table.public import PairLayout

NAMES = ("a", "b", "c")
USED = tuple("0123")


def answers(n_rows=3000):
    """Three columns of four values each, which agree in about two of three rows."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(4, size=n_rows)
    columns = (
        np.where(rng.random(n_rows) < 0.7, kinds, rng.integers(4, size=n_rows)) for _ in NAMES
    )
    return pd.DataFrame(dict(zip(NAMES, columns, strict=True))).astype(str)


LISTED = Schema({name: Categories(USED) for name in NAMES})
IN_CASE = Schema({name: Categories(USED, missing="category", unknown="other") for name in NAMES})


def mean_distance(schema, delta):
    """Return the mean distance of the used values, over attributes and two fits."""
    found = []
    for seed in range(2):
        model = PrivateDilca(delta=delta, schema=schema, random_state=seed)
        model.fit(answers())
        for name in NAMES:
            distances = model.metric_[name].distances()[: len(USED), : len(USED)]
            found.append(distances[np.triu_indices(len(USED), 1)].mean())
    return np.mean(found)


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_distances_are_as_large_as_without_categories_for_missing_and_other_values_that_no_row_has(
    delta,
):
    assert mean_distance(IN_CASE, delta) == pytest.approx(mean_distance(LISTED, delta), rel=0.1)


def table_of(last_margin, error):
    """A target of two values; the context has two common values and a third with few rows."""
    counts = np.array([80.0, 30.0, last_margin, 20.0, 70.0, 0.0])
    margins = np.array([110.0 + last_margin, 90.0, 100.0, 100.0, last_margin])
    layout, nothing = PairLayout((2, 3), ((0, 1),)), np.zeros(1)
    known = layout, 200.0 + last_margin, margins, counts, np.zeros(6), nothing
    return Estimate(*known, margin_variances=np.full(5, error**2))


def distance(estimate, n_listed):
    metric = attribute_metric(estimate, 0, (1,), ("y", "x"), ("p", "q"), n_listed=(2, n_listed))
    return metric.distances()[0, 1]


def test_a_category_for_missing_values_that_may_be_noise_is_left_out_of_contexts():
    assert table_of(3.0, 5.0).distinct_values(1).tolist() == [True, True, False]
    gaps = np.array([0.8 - 0.2, 0.3 - 0.7])
    assert distance(table_of(3.0, 5.0), 2) == pytest.approx(np.sqrt((gaps**2).mean()), rel=0.01)


@pytest.mark.parametrize(("rows", "n_listed"), [(3.0, 3), (30.0, 2)], ids=["listed", "clear"])
def test_a_context_value_that_is_listed_or_clearly_there_counts_as_much_as_any(rows, n_listed):
    gaps = np.array([0.8 - 0.2, 0.3 - 0.7, 1.0])
    found = distance(table_of(rows, 5.0), n_listed)
    assert found == pytest.approx(np.sqrt((gaps**2).mean()), rel=0.01)


def test_exact_margins_keep_every_value_and_those_of_noise_alone_do_too():
    assert table_of(0.0, 0.0).distinct_values(1).all()
    assert table_of(3.0, 500.0).distinct_values(1).all()
