"""Independent columns have no distances and a warning; margins lose what noise adds to them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from privclust import Categories, PrivateDilca, PrivateKMeans, Schema
from privclust.categories.dependence import IndependentTables
from privclust.categories.pair_tables import (
    Margins,
    PairTableCells,
    _gains,
    number_of_rows,
    signal_probabilities,
)
from privclust.data.public import Noisy
from privclust.data.table.public import NoisyTables, PairLayout
from privclust.exceptions import LowSignalWarning

SIZES = 3, 5, 4, 3
NAMES = [f"x{i}" for i in range(len(SIZES))]
SCHEMA = Schema(
    {n: Categories([str(v) for v in range(k)]) for n, k in zip(NAMES, SIZES, strict=True)}
)
BUDGETS = [(1.0, 0), (1.0, 1e-6), (10.0, 0), (10.0, 1e-6)]


def factorial(times=20):
    """Every combination of values, equally often."""
    values = [[str(v) for v in range(k)] for k in SIZES]
    return pd.DataFrame(list(product(*values)) * times, columns=NAMES)


def dependent():
    """Columns that all follow the first."""
    rows = factorial()
    first = rows["x0"].astype(int)
    return rows.assign(**{n: (first % k).astype(str) for n, k in zip(NAMES, SIZES, strict=True)})


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_independent_columns_of_equally_common_values_have_no_distances(epsilon, delta):
    model = PrivateDilca(epsilon=epsilon, delta=delta, schema=SCHEMA, random_state=0)
    with pytest.warns(LowSignalWarning, match="seem to be independent"):
        model.fit(factorial())
    for name in NAMES:
        np.testing.assert_array_equal(model.metric_[name].distances(), 0)
    assert "seem to be independent" in model.release().parameters["warnings"][0]


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_dependent_columns_are_seen_without_a_warning(epsilon, delta):
    model = PrivateDilca(epsilon=epsilon, delta=delta, schema=SCHEMA, random_state=0)
    model.fit(dependent())
    assert model.warnings_ == ()
    assert model.metric_["x1"].distances().max() > 0.3


def test_what_noise_hides_is_not_called_independent():
    model = PrivateDilca(epsilon=0.01, schema=SCHEMA, random_state=0)
    with pytest.warns(LowSignalWarning, match="Noise hides how the columns depend"):
        model.fit(dependent())
    assert model.metric_["x1"].distances().max() > 0


def test_clusters_of_independent_columns_are_found_somehow_and_warned_of():
    model = PrivateKMeans(2, epsilon=8.0, schema=SCHEMA, metric="dilca", random_state=0)
    with pytest.warns(LowSignalWarning, match="seem to be independent"):
        labels = model.fit_predict(factorial())
    assert set(labels) <= {0, 1}


def test_made_up_tables_keep_their_margins_but_for_the_noise_of_these():
    cells = PairTableCells(PairLayout((2, 3), ((0, 1),)))
    counts = np.array([30.0, 70.0, 20.0, 30.0, 50.0])
    exact = IndependentTables(cells, Margins(counts, np.zeros(5)), 100.0)
    made_up = exact.residuals(np.zeros(6), np.random.default_rng(0))
    np.testing.assert_allclose(cells.row_sums(made_up), 0, atol=1e-9)
    np.testing.assert_allclose(cells.column_sums(made_up), 0, atol=1e-9)
    assert np.abs(made_up).max() > 0


def test_margins_are_trusted_as_far_as_they_stand_out_from_noise():
    sizes, variances = np.full(3, 4), np.full(3, 100.0)
    clear, drowned = (
        _gains(squares, variances, sizes, 1000.0) for squares in ([3e5] * 3, [300] * 3)
    )
    assert (clear > 0.99).all()
    np.testing.assert_array_equal(drowned, 0)


def test_margins_that_noise_hides_are_neither_believed_nor_called_equal():
    gains = _gains(np.full(3, 3e6), np.full(3, 1e6), np.full(3, 4), 1000.0)
    assert ((gains > 0) & (gains < 0.5)).all()


def test_the_number_of_rows_is_positive_whatever_noise_says():
    cells = PairTableCells(PairLayout((2, 2), ((0, 1),)))
    tables = NoisyTables(cells.layout, np.full(4, -500.0), 100.0, 300.0)
    found = number_of_rows(Noisy(np.full(4, -500.0), 100.0), tables, cells)
    assert 1 <= found < 100
    exact = NoisyTables(cells.layout, np.full(4, 250.0), 0.1, 0.3)
    assert number_of_rows(Noisy(np.full(4, 500.0), 0.1), exact, cells) == pytest.approx(1000)


def test_chances_add_up_and_follow_clear_measurements():
    levels = np.linspace(0, 1, 101)
    found = signal_probabilities(
        np.array([0.5, -3.0]), lambda at: np.full((2, len(at)), 0.01), levels, 0.1
    )
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert found[0].argmax() == 50
    assert found[1].argmax() <= 1
