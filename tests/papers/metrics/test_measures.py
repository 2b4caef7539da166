"""The papers' measures have known values where they can be worked out by hand."""

from __future__ import annotations

from itertools import combinations, product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from privclust.categories.metric import AttributeMetric, CategoricalMetric
from privclust.papers.metrics import (
    coclustering_tau,
    context_scores,
    cost_gap,
    distance_l1,
    distance_pearson,
    goodman_kruskal_tau,
    inertia,
    inertia_ratio,
    object_l1,
    object_pearson,
    share_of_gap,
    source_target_cost,
    source_target_curve,
)


def test_tau_is_the_share_of_the_error_that_is_saved():
    table = np.array([[4, 1], [1, 2], [0, 2]])
    p = table / table.sum()
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    saved_of_rows = (p**2 / columns).sum() - (rows**2).sum()
    saved_of_columns = (p**2 / rows[:, None]).sum() - (columns**2).sum()
    assert goodman_kruskal_tau(table, normalised=False) == pytest.approx(saved_of_rows)
    assert goodman_kruskal_tau(table) == pytest.approx(saved_of_rows / (1 - (rows**2).sum()))
    other = goodman_kruskal_tau(table, of="columns", normalised=False)
    assert other == pytest.approx(saved_of_columns)
    other = goodman_kruskal_tau(table, of="columns")
    assert other == pytest.approx(saved_of_columns / (1 - (columns**2).sum()))


def test_tau_of_clusters_adds_up_their_blocks():
    counts = np.array([[2, 0, 1], [1, 1, 0], [0, 3, 4]])
    rows, columns = [0, 0, 1], [0, 1, 1]
    assert coclustering_tau(counts, rows, columns) == goodman_kruskal_tau([[3, 2], [0, 7]])
    packed = sparse.csr_matrix(counts)
    assert coclustering_tau(packed, rows, [0, 1, -1]) == goodman_kruskal_tau([[3, 1], [0, 3]])


def test_inertia_is_exact_far_from_the_origin_and_over_many_parts():
    rng = np.random.default_rng(0)
    points, centres = rng.normal(size=(3000, 3)), rng.normal(size=(5, 3))
    brute = ((points[:, None] - centres) ** 2).sum(axis=2).min(axis=1).sum()
    assert inertia(points, centres) == pytest.approx(brute)
    assert inertia(points + 1e6, centres + 1e6) == pytest.approx(brute, rel=1e-6)
    assert inertia_ratio(points, centres, brute / 2) == pytest.approx(2)


def test_cost_gap_is_the_relative_difference_of_the_costs():
    rows = [[0.0], [2.0], [10.0], [14.0]]
    assert cost_gap(rows, [[0.0], [10.0]], [[1.0], [12.0]]) == 1.0
    assert cost_gap(rows, [[1.0], [12.0]], [[0.0], [10.0]]) == 0.5


def model(**coordinates):
    parts = {
        name: AttributeMetric(name, tuple("abcd"[: len(places)]), (), np.array(places, float))
        for name, places in coordinates.items()
    }
    return SimpleNamespace(
        metric_=CategoricalMetric(tuple(parts), parts), transform=lambda rows: np.array(rows)
    )


def test_distances_are_compared_without_diagonals_and_binary_attributes():
    exact = model(x=[[0], [1], [3]], y=[[0], [1]])
    scaled = model(x=[[0], [2], [6]], y=[[0], [5]])
    flat = model(x=[[0], [0], [0]], y=[[0], [1]])
    assert distance_pearson(scaled, exact) == pytest.approx(1)
    assert distance_pearson(flat, exact) == 0
    # Distances 1, 2, 3 against 2, 4, 6: 2 (1 + 2 + 3) over nine entries; 1 against 5: 8 over four.
    assert distance_l1(scaled, exact) == pytest.approx((12 / 9 + 8 / 4) / 2)
    assert distance_l1(exact, exact) == 0


def test_objects_are_compared_by_all_their_pairs():
    exact = SimpleNamespace(transform=lambda rows: np.array(rows, float))
    double = SimpleNamespace(transform=lambda rows: 2 * np.array(rows, float))
    rows = [[0.0], [1.0], [3.0]]
    assert object_pearson(double, exact, rows=rows) == pytest.approx(1)
    assert object_l1(double, exact, rows=rows) == pytest.approx(2)


def test_contexts_are_scored_by_what_they_share():
    right = {"a": ("b", "c"), "b": ("a", "c")}
    scores = context_scores({"a": ("b",), "b": ("a", "d", "c")}, right, n_attributes=4)
    assert scores.precision == pytest.approx((1 + 2 / 3) / 2)
    assert scores.recall == pytest.approx((1 / 2 + 1) / 2)
    assert scores.f == pytest.approx((2 / 3 + 4 / 5) / 2)
    assert context_scores(right, right, n_attributes=4).adjusted_f == 1


@pytest.mark.parametrize("sizes", [(2, 2), (1, 3)])
def test_a_random_context_scores_zero_on_average(sizes):
    # Two attributes of six: right contexts of one size, or of two sizes.
    others = {"a": "bcdef", "b": "acdef"}
    right = {name: tuple(others[name][:size]) for name, size in zip("ab", sizes, strict=True)}
    lengths = [2] if sizes == (2, 2) else range(1, 6)
    ways = [[c for n in lengths for c in combinations(others[name], n)] for name in "ab"]
    scores = [
        context_scores({"a": a, "b": b}, right, n_attributes=6).adjusted_f
        for a, b in product(*ways)
    ]
    assert np.mean(scores) == pytest.approx(0, abs=1e-12)


def test_source_target_cost_is_the_mean_way_to_the_nearest():
    source, target = [[0.0, 0.0]], np.array([[0.0, 1.0], [3.0, 4.0], [3.0, 5.0]])
    assert source_target_cost(source, target, [[3.0, 4.0]]) == pytest.approx((1 + 0 + 1) / 3)
    curve = source_target_curve(source, target, [1, 2, 0], [1, 2])
    assert curve == pytest.approx([2 / 3, 1 / 3])


def test_the_share_of_the_gap_runs_from_ignoring_to_knowing_the_source():
    alone, best = [[4.0, 3.0]], [[2.0, 2.0]]
    assert share_of_gap(alone, alone, best) == 0
    assert share_of_gap(best, alone, best) == 1
    assert share_of_gap([[5.0, 3.5]], alone, best) == -0.5
