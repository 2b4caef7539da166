"""More budget keeps helping: clips and steps of the cells follow the signal."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.cluster import KMeans

from privclust import PrivateKMeans
from privclust.clustering.fitted import UNSEEN_NOISE
from privclust.clustering.refine import (
    Sketch,
    _best_clip,
    _resettle,
    shrink_means,
)
from privclust.data.points.view import PointsView
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
    even = Sketch(np.array([[-1.0, 0], [1, 0]]), np.ones(2), 0.0, 0.0)
    np.testing.assert_allclose(even.squared_bias(centres, radii, 1.0), 0, atol=1e-12)
    uneven = Sketch(np.array([[-0.25, 0], [1, 0]]), np.array([4.0, 1]), 0.0, 0.0)
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


# Centres without rows, far rows, and clips that no cell explains.


def test_a_centre_without_rows_goes_where_cells_that_noise_cannot_make_up_gain_most():
    clumps = np.array([[0.0, 0], [0.1, 0], [0.5, 0]])
    rng = np.random.default_rng(0)
    real = np.repeat(clumps, 30, axis=0) + rng.normal(0, 0.01, (90, 2))
    cells = np.concatenate([real, [[-1, -1]]])
    weights = np.append(np.full(90, 100.0), 12.0)  # the last is noise: below 3.2 errors
    sketch = Sketch(cells, weights, 1e-4, 5.0)
    centres = np.array([[0.05, 0], [0.5, 0], [-1.0, -1.0]])
    sizes = np.array([6000.0, 3000, -4])
    moved = _resettle(centres, sizes, 20.0, sketch)
    np.testing.assert_array_equal(moved[:2], centres[:2])
    assert np.abs(moved[2, 1]) < 0.05
    assert -0.05 < moved[2, 0] < 0.15  # at one of the two clumps that share a centre
    # It stays where it has rows, where noise is large beside a cluster, and if it is the only one.
    for changed in ((sizes + np.array([0, 0, 400]), 20.0), (sizes, 2000.0)):
        np.testing.assert_array_equal(_resettle(centres, *changed, sketch), centres)
    np.testing.assert_array_equal(_resettle(centres[2:], sizes[2:], 20.0, sketch), centres[2:])


def thrown(monkeypatch, n_columns, epsilon):
    """Return the cells of the first round of a fit, in the box of the bounds."""
    seen = []
    ask = PointsView.ask_clusters

    def noted(self, name, frame, centres, radius, **paid):
        if name == "cells, round 1":
            seen.append(centres / self.domain.box_in_unit_ball()[1] + frame.origin)
        return ask(self, name, frame, centres, radius, **paid)

    monkeypatch.setattr(PointsView, "ask_clusters", noted)
    rows = np.random.default_rng(0).normal(0, 0.3, (20_000, n_columns)).clip(-1, 1)
    PrivateKMeans(8, epsilon=epsilon, bounds=(-1, 1), method="cells", random_state=0).fit(rows)
    return seen[0]


@pytest.mark.parametrize(("n_columns", "epsilon", "ends"), [(5, 20, 10), (5, 0.3, 0), (3, 20, 0)])
def test_cells_stand_at_both_ends_of_many_columns_where_there_are_enough(
    monkeypatch, n_columns, epsilon, ends
):
    cells = thrown(monkeypatch, n_columns, epsilon)
    far = [cell for cell in cells if np.isclose(np.abs(cell).max(), 1, atol=0.05)]
    alone = [cell for cell in far if (np.abs(cell) < 0.05).sum() == n_columns - 1]
    assert len(alone) == ends


def test_a_clip_reaches_as_far_as_its_noise_is_negligible():
    near = Sketch(np.zeros((2, 2)), np.ones(2), 1e-6, 0.0)
    clips = [_best_clip(near, np.zeros((1, 2)), 1e-4, noise, 0.02) for noise in (1e-1, 1e-6, 1e-12)]
    assert clips[0] == pytest.approx(0.02)
    assert clips[1] == pytest.approx(np.sqrt(UNSEEN_NOISE * 1e-4 / 1e-6))
    assert clips[2] == 2.0


def test_a_clip_reaches_to_rows_that_the_cells_show():
    uneven = Sketch(np.array([[-0.25, 0], [1, 0]]), np.array([4.0, 1]), 1e-6, 0.0)
    assert _best_clip(uneven, np.zeros((1, 2)), 0.25, 1e-3, 0.3) > 0.7
    assert _best_clip(uneven, np.zeros((1, 2)), 0.25, 1.0, 0.3) < 0.4
