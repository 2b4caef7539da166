"""Sub-clusters of a zone: private counts of its cells, and what is made of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from privclust.data.papers.kernels import on_grid, zone_counts
from privclust.exceptions import ParameterError
from privclust.papers.zones.private import PrivateZoneKMeans, ZoneMoves, draw_sub_clusters
from privclust.papers.zones.published import KMeansGuarantee, SubclusterGuarantee
from support.zone_runs import BUDGETS, random_zones, steps_of

ROWS, _ = make_blobs(600, centers=[[2, 2], [6, 6], [2, 6]], cluster_std=0.4, random_state=0)


@pytest.mark.parametrize("seed", range(10))
def test_one_row_more_is_in_one_cell_of_one_zone_at_most(seed):
    rng = np.random.default_rng(seed)
    zones = on_grid(random_zones(rng))
    rows = rng.integers(-(2**20), 2**20, (20, 2)).astype(float)
    for extra in rows[:10]:
        change = zone_counts(np.vstack([rows[10:], extra]), zones) - zone_counts(rows[10:], zones)
        assert change.sum() == np.abs(change).sum() <= 1


def test_a_sub_cluster_is_drawn_in_proportion_to_its_size():
    cells = np.array([[[0.0, 0], [0, 0.1], [5, 5], [5, 5.1]]])
    counts = np.array([[20.0, 10, 60, -5]])
    rng = np.random.default_rng(0)
    drawn = np.array([draw_sub_clusters(cells, counts, 2, rng)[0] for _ in range(400)])
    low = drawn[:, 0] < 1
    assert low.mean() == pytest.approx(1 / 3, abs=0.12)
    assert {*map(tuple, drawn[~low].round(3))} == {(5.0, 5.0)}


def test_a_zone_without_counts_keeps_its_middle():
    cells = np.array([[[1.0, 1], [2, 2]]])
    found = draw_sub_clusters(cells, np.array([[-3.0, 0]]), 2, np.random.default_rng(0))
    assert found.tolist() == [[1, 1]]


@pytest.mark.parametrize("currency", BUDGETS)
@pytest.mark.parametrize("internal_k", [1, 3])
def test_middles_of_sub_clusters_lie_nearer_to_the_private_lloyd_point(currency, internal_k):
    rows = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    _, steps = steps_of(rows, BUDGETS[currency], 3, ZoneMoves(6, internal_k), 1)
    for step in steps:
        after, before = (
            np.linalg.norm(points - step.lloyd, axis=1) for points in (step.after, step.before)
        )
        assert (after <= 0.5 * before + 1e-9).all()


def test_sub_clusters_find_clusters_and_spend_the_budget():
    model = PrivateZoneKMeans(
        3, internal_k=2, n_candidates=6, epsilon=20, bounds=(0, 8), random_state=0
    ).fit(ROWS)
    assert model.privacy_.spent.pure == 20
    assert sum("cells of zones" in query.query for query in model.privacy_.queries) == 3
    assert len(model.cluster_centers_) == 3


@pytest.mark.parametrize("share", [0.1, 0.6])
def test_the_two_budgets_can_be_set(share):
    model = PrivateZoneKMeans(
        2, epsilon=1, bounds=(0, 8), last_share=share, choice_share=share, n_steps=1
    ).fit(ROWS)
    assert model.privacy_.spent.pure == 1
    picks = [query for query in model.privacy_.queries if "candidate" in query.query]
    assert float(picks[0].loss.pure) == pytest.approx((0.97 - share) * share)


def test_a_last_step_that_leaves_nothing_is_refused():
    with pytest.raises(ParameterError, match="last_share"):
        PrivateZoneKMeans(2, bounds=(0, 8), last_share=0.98).fit(ROWS)


@pytest.mark.filterwarnings("ignore::privclust.exceptions.NotPrivateWarning")
@pytest.mark.parametrize("algorithm", [KMeansGuarantee, SubclusterGuarantee])
def test_the_published_algorithms_tell_how_they_converged(algorithm):
    model = algorithm(3, n_iter=300, random_state=0).fit(ROWS)
    assert model.n_iter_ == len(model.zone_radii_) == len(model.cost_history_) - 1
    assert model.converged_ == (model.n_iter_ < 300)
    assert model.cost_history_[-1] < model.cost_history_[0]


@pytest.mark.filterwarnings("ignore::privclust.exceptions.NotPrivateWarning")
def test_the_published_algorithms_take_two_budgets_and_a_scale():
    exact = SubclusterGuarantee(
        3, draw_epsilon=1e9, noise_epsilon=1e9, draw_scale=1.0, random_state=0
    ).fit(ROWS)
    noisy = SubclusterGuarantee(
        3, draw_epsilon=1e9, noise_epsilon=1e-3, draw_scale=1.0, random_state=0
    ).fit(ROWS)
    assert exact.cost_history_ == noisy.cost_history_
    assert np.abs(exact.cluster_centers_ - noisy.cluster_centers_).max() > 1
