"""More budget keeps helping: clips and steps of the cells follow the signal."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.cluster import KMeans

from privclust import PrivateKMeans
from privclust.clustering.refine import Sketch, shrink_means
from privclust.data.public import Noisy
from privclust.papers.metrics import inertia


def skewed(n_rows=20_000):
    """Return rows with long tails to one side, and one in two hundred far off."""
    rng = np.random.default_rng(0)
    rows = rng.exponential(0.06, (n_rows, 5)) + 0.2 * rng.integers(3, size=(n_rows, 1))
    rows[: n_rows // 200, 3] = 1.0
    return np.clip(rows, 0, 1)


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_with_much_signal_nothing_is_left_for_lloyd(delta):
    rows = skewed()
    model = PrivateKMeans(4, epsilon=100, delta=delta, bounds=(0, 1), random_state=0).fit(rows)
    further = KMeans(4, init=model.cluster_centers_, n_init=1).fit(rows).inertia_
    assert inertia(rows, model.cluster_centers_) < 1.005 * further


def test_steps_grow_in_number_with_the_budget_and_each_pays_more_than_the_last():
    rows = skewed()
    models = [
        PrivateKMeans(4, epsilon=e, delta=1e-6, bounds=(0, 1), random_state=0).fit(rows)
        for e in (0.5, 50)
    ]
    few, many = (_steps(model) for model in models)
    assert len(few) <= len(many) == 6
    costs = [float(cost) for cost in many]
    assert all(later > 1.5 * cost for cost, later in pairwise(costs))


def _steps(model):
    return [
        charge.loss.rho
        for charge in model.privacy_.queries
        if charge.query.startswith("step") and charge.query.endswith("offsets")
    ]


def test_only_what_is_lopsided_is_biased_by_a_clip():
    centres, radii = np.zeros((1, 2)), np.array([0.1, 0.5, 2.0])
    even = Sketch(np.array([[-1.0, 0], [1, 0]]), np.ones(2), 0.0)
    np.testing.assert_allclose(even.squared_bias(centres, radii, 1.0), 0, atol=1e-12)
    uneven = Sketch(np.array([[-0.25, 0], [1, 0]]), np.array([4.0, 1]), 0.0)
    bias = uneven.squared_bias(centres, radii, 1.0)
    # By hand, at 0.5: of the far row half is lost, among five.
    np.testing.assert_allclose(bias[1:], [0.1**2, 0], atol=1e-12)
    assert bias[0] < bias[1]  # clipped to the same length, four to one outweigh it again


@pytest.mark.parametrize(("dimension", "taken"), [(1, 1), (2, 2), (3, 2), (7, 5)])
def test_noise_is_taken_off_moves_in_any_number_of_columns(dimension, taken):
    sums = Noisy(np.full((1, dimension), 10.0), 2.0)
    kept = 1 - taken * 4 / (100 * dimension)
    moves = shrink_means(sums, np.array([20.0]), 1.0, 10.0)
    np.testing.assert_allclose(moves, np.full((1, dimension), kept / 2))
