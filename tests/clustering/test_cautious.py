"""Cautious steps go as far as noise lets one trust them, up to those of Lloyd's iteration."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from privclust import PrivateKMeans
from privclust.papers.metrics import inertia

RNG = np.random.default_rng(8)
CLUMPS = np.array([[0.2, 0.2, 0.3], [0.8, 0.3, 0.6], [0.3, 0.8, 0.7]])
ROWS = np.clip(CLUMPS[RNG.integers(3, size=200)] + RNG.normal(0, 0.06, (200, 3)), 0, 1)
SKEW = RNG.beta(1, 9, (200, 3))  # a mean far from the middle


def fitted(rows=ROWS, *, n_clusters=3, method="cautious", **changes):
    given = {"bounds": (0, 1), "random_state": 0} | changes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PrivateKMeans(n_clusters, method=method, **given).fit(rows)


def mean_inertia(rows=ROWS, n_seeds=4, **changes):
    fits = (fitted(rows, random_state=seed, **changes) for seed in range(n_seeds))
    return np.mean([inertia(rows, model.cluster_centers_) for model in fits])


def test_a_plentiful_budget_finds_the_clumps():
    found = fitted(epsilon=1e4).cluster_centers_
    assert np.linalg.norm(found[:, None] - CLUMPS, axis=2).min(axis=0).max() < 0.1


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_where_rows_are_few_it_beats_the_other_methods(delta):
    epsilon = 0.5
    cautious, cells, lloyd = (
        mean_inertia(method=way, epsilon=epsilon, delta=delta)
        for way in ("cautious", "cells", "lloyd")
    )
    assert cautious < min(cells, lloyd)


def test_without_signal_the_centres_stay_spread_around_the_middle():
    for seed in range(4):
        found = fitted(epsilon=0.01, random_state=seed).cluster_centers_
        assert (np.abs(found - 0.5) < 0.5).all()
        gaps = np.linalg.norm(found[:, None] - found, axis=2)[np.triu_indices(3, 1)]
        assert gaps.min() > 0.1


def test_the_mean_is_found_before_the_centres_are_thrown():
    apart = np.abs(fitted(SKEW, epsilon=2.0).cluster_centers_.mean(axis=0) - SKEW.mean(axis=0))
    assert apart.max() < 0.2


def test_more_budget_makes_more_steps_and_all_of_it_is_spent():
    def steps(epsilon):
        statement = fitted(epsilon=epsilon).privacy_
        assert statement.spent.pure == pytest.approx(epsilon)
        return sum(
            "step" in charge.query and "offsets" in charge.query for charge in statement.queries
        )

    assert steps(0.3) == 1
    assert 1 < steps(3.0) <= steps(1000.0) == 4


def test_centres_that_noise_could_have_swapped_are_warned_of():
    assert "Noise hides some of the clusters" in fitted(epsilon=0.1).warnings_[0]
    assert fitted(epsilon=1e4).warnings_ == ()


def test_centres_that_no_row_is_near_are_warned_of():
    corner = ROWS / 10  # of bounds that are ten times too wide
    told = fitted(corner, n_clusters=6, epsilon=30)
    assert (told.cluster_sizes_ < 2 * told.cluster_sizes_error_).any()
    assert "Some of the clusters may have no rows" in told.warnings_[0]


def test_errors_are_those_of_the_bounds_where_nothing_is_seen_and_fall_with_the_budget():
    nothing, little, much = (
        fitted(epsilon=e).cluster_centers_error_.mean() for e in (0.01, 0.5, 100)
    )
    assert 0.05 < little < nothing <= 0.5
    assert much < little / 5


def test_columns_of_other_widths_give_the_same_centres_in_their_own_units():
    wide = np.array([1.0, 10.0, 1000.0])
    plain, scaled = (
        fitted(ROWS * by, bounds=(np.zeros(3), by), rescale=True).cluster_centers_
        for by in (np.ones(3), wide)
    )
    np.testing.assert_allclose(scaled, plain * wide, rtol=1e-3, atol=1e-6)


def test_one_cluster_and_one_column_and_a_ball_are_taken():
    assert fitted(n_clusters=1, epsilon=50.0).cluster_centers_ == pytest.approx(
        ROWS.mean(axis=0)[None], abs=0.1
    )
    assert fitted(ROWS[:, :1], n_clusters=2).cluster_centers_.shape == (2, 1)
