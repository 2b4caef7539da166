"""Cells in few columns: a scout says where rows are, where it can be paid for."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans

from privclust import PrivateKMeans
from privclust.papers.metrics import inertia


def rows_on_a_curve(n_rows: int, n_clusters: int) -> np.ndarray:
    """Return tight clusters along a sine, most of whose bounds are empty."""
    rng = np.random.default_rng(5)
    along = np.linspace(-0.95, 0.95, n_clusters)
    centres = np.column_stack([along, 0.6 * np.sin(6 * along)])
    rows = centres[rng.integers(n_clusters, size=n_rows)]
    return np.clip(rows + 0.004 * rng.standard_normal(rows.shape), -1, 1)


def ask_cells(n_clusters: int, rows: np.ndarray, **given: object) -> PrivateKMeans:
    given = {"epsilon": 1, "delta": 1e-6, "bounds": (-1, 1), "random_state": 0} | given
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PrivateKMeans(n_clusters, method="cells", **given).fit(rows)


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_clusters", "is_sent"),
    [
        pytest.param(20_000, 2, 12, True, id="two columns"),
        pytest.param(20_000, 4, 12, True, id="four columns"),
        pytest.param(20_000, 5, 12, False, id="five columns"),
        pytest.param(20_000, 2, 4, False, id="few clusters"),
        pytest.param(500, 2, 12, False, id="few rows"),
    ],
)
def test_a_scout_is_sent_in_few_columns_where_there_are_cells_enough(
    n_rows, n_columns, n_clusters, is_sent
):
    rows = np.random.default_rng(0).uniform(-1, 1, (n_rows, n_columns))
    asked = [charge.query for charge in ask_cells(n_clusters, rows).privacy_.queries]
    assert ("scout: counts" in asked) == is_sent
    assert ("cells, round 1: square" in asked) == is_sent


def test_the_whole_budget_is_spent_with_a_scout():
    model = ask_cells(12, np.random.default_rng(0).uniform(-1, 1, (20_000, 2)))
    promise = model.privacy_.paid_from
    assert promise.amount * 0.99 < model.privacy_.spent.rho <= promise.amount


def test_tight_clusters_along_a_curve_are_found():
    rows = rows_on_a_curve(30_000, 50)
    best = KMeans(50, n_init=3, random_state=0).fit(rows).inertia_
    found = [
        inertia(rows, ask_cells(50, rows, random_state=seed).cluster_centers_) / best
        for seed in range(3)
    ]
    assert np.median(found) < 1.5
