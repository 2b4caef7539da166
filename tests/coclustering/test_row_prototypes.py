"""Whole rows: shrunk columns, prototypes on the way, and the rule that says how many."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from privclust.coclustering import row_method as profiles
from privclust.coclustering import row_method as prototypes
from privclust.coclustering.estimator import PrivateCoclustering
from privclust.coclustering.groups import merge_clusters
from privclust.coclustering.row_method import (
    affordable_rounds,
    combine_totals,
    distinguishing_profiles,
    first_prototypes,
    next_prototypes,
    normalise,
    shrink_profiles,
    signal_length,
)
from privclust.data.public import Noisy

WIDTH, ERROR = 800, 2.0
FREQUENT = np.arange(WIDTH) < 200
TOTALS = Noisy(np.where(FREQUENT, 4000.0, 100.0), 4.0)


def noise(*shape, seed=0):
    return np.random.default_rng(seed).normal(0, ERROR, shape)


def deviations():
    """Return four lines that differ by 50 standard errors in frequent columns, and else not."""
    signs = np.random.default_rng(1).permuted(np.tile([[-1], [-1], [1], [1]], WIDTH), axis=0)
    found = np.where(FREQUENT, 50 * ERROR * signs, 0.0) + noise(4, WIDTH)
    return Noisy(found - found.mean(axis=0), ERROR)


def test_columns_rich_in_signal_are_left_alone():
    given = deviations()
    kept = shrink_profiles(given, TOTALS)[:, FREQUENT]
    np.testing.assert_allclose(kept, given.value[:, FREQUENT], rtol=0.002)


def test_columns_of_mere_noise_are_next_to_nothing():
    given = deviations()
    left = shrink_profiles(given, TOTALS)[:, ~FREQUENT]
    assert (left**2).sum() < 0.03 * (given.value[:, ~FREQUENT] ** 2).sum()


def test_noise_is_shrunk_alike_in_columns_of_like_totals():
    given = noise(4, 20) * np.repeat([1.0, 3.0], 10)
    given = Noisy(given - given.mean(axis=0), ERROR)
    totals = Noisy(np.repeat([100.0, 900.0], 10), 4.0)
    factors = shrink_profiles(given, totals) / given.value
    assert np.ptp(factors[:, :10]) < 1e-9
    assert np.ptp(factors[:, 10:]) < 1e-9
    assert factors[0, 0] < 0.5 < factors[0, -1] < 1


def test_columns_that_are_not_seen_say_nothing():
    totals = Noisy(np.where(FREQUENT, 4000.0, 5.0), 4.0)
    told = distinguishing_profiles(deviations(), totals)
    assert not told[:, ~FREQUENT].any()
    assert told[:, FREQUENT].all()


def test_what_all_rows_share_sets_no_line_apart():
    common = np.outer([3, 3, 3, 3], TOTALS.value)
    before = distinguishing_profiles(deviations(), TOTALS)
    after = distinguishing_profiles(Noisy(deviations().value + common, ERROR), TOTALS)
    np.testing.assert_allclose(after, before, atol=1e-8)
    np.testing.assert_allclose(first_prototypes(TOTALS, 5, np.random.default_rng(0)) @ TOTALS.value,
                               0, atol=1e-9)  # fmt: skip


def test_totals_of_several_answers_are_weighed_by_their_precision():
    all_ = combine_totals(Noisy(np.array([10.0]), 2.0), Noisy(np.array([[12.0], [8.0]]), 1.0))
    # Variances 4 and 1 + 1, so weights of one and two thirds.
    np.testing.assert_allclose(all_.value, [10 / 3 + 40 / 3])
    assert all_.standard_error == pytest.approx(np.sqrt(4 / 3))


def test_noise_adds_nothing_to_the_length_of_the_signal():
    lengths = [signal_length(Noisy(TOTALS.value + noise(WIDTH, seed=s), ERROR)) for s in range(20)]
    assert np.mean(lengths) == pytest.approx(np.linalg.norm(TOTALS.value), rel=1e-3)
    assert signal_length(Noisy(noise(WIDTH, seed=1), 2 * ERROR)) == 0


@pytest.mark.parametrize("unit_of_noise", [0.1, 7.0])
def test_rounds_follow_the_signal_in_units_of_the_noise(unit_of_noise):
    def rounds(signal):
        error = unit_of_noise / np.sqrt(profiles._ALL)
        length = np.sqrt((signal * 3**1.5 * unit_of_noise) ** 2 + 100 * error**2)
        return affordable_rounds(Noisy(np.full(100, length / 10), error), 3)

    assert [rounds(s) for s in (0, 11.9, 12.1, 69, 71, 1e6)] == [
        *[(1, 1, 1)] * 2,
        *[(1, 1, 1, 1)] * 2,
        *[(2, 2, 2, 1, 1, 1)] * 2,
    ]


def test_the_last_rounds_have_one_prototype_for_each_cluster():
    assert all(rounds[-1] == 1 and sorted(rounds)[::-1] == [*rounds] for rounds in profiles._ROUNDS)


def lines():
    """Return seven lines along three directions, the last light and across all of them."""
    clear = 20 * np.eye(4, WIDTH)[[0, 1, 2, 0, 1, 2]] + noise(6, WIDTH) / 20
    weights = np.array([30.0, 50, 40, 20, 30, 60, 0.5])
    return np.vstack([clear, np.eye(4, WIDTH)[3:] / 5]), weights


def test_lines_that_point_the_same_way_are_merged():
    groups = merge_clusters(*lines(), 3, np.random.default_rng(0), n_starts=10)
    assert (groups[:3] == groups[3:6]).all()
    assert len(set(groups[:3])) == 3


def test_merged_prototypes_are_the_means_of_what_they_merge():
    found = next_prototypes(*lines(), 3, np.random.default_rng(0))
    similar = found @ normalise(lines()[0][:3]).T
    assert np.allclose(np.linalg.norm(found, axis=1), 1)
    assert sorted(similar.argmax(axis=0)) == [0, 1, 2]
    assert similar.max(axis=0).min() > 0.9


def test_as_many_prototypes_as_lines_are_the_lines():
    given, weights = lines()
    found = next_prototypes(given[:6], weights[:6], 6, np.random.default_rng(0))
    np.testing.assert_allclose(found, normalise(given[:6]))


def planted(n_clusters, n_own, n_other, inside):
    """Return 1500 rows with columns of their cluster and columns of chance, and the clusters."""
    rng = np.random.default_rng(0)
    rows = np.arange(1500) % n_clusters
    own = np.where(np.repeat(np.eye(n_clusters), n_own, axis=1)[rows] > 0, inside, 0.02)
    return np.hstack([rng.poisson(own), rng.poisson(0.1, (1500, n_other))]), rows


def quality(made, epsilon):
    counts, rows = made
    sizes = [int(rows.max()) + 1] * 2
    fits = (
        PrivateCoclustering(*sizes, epsilon=epsilon, delta=1e-6, unit="row", random_state=seed)
        for seed in range(5)
    )
    return np.mean([adjusted_rand_score(rows, fit.fit_predict(counts)) for fit in fits])


@pytest.mark.filterwarnings("ignore")
def test_shrunk_columns_find_clusters_that_noise_blurs():
    made = planted(3, 20, 600, 0.6)
    with patch.object(prototypes, "shrink_profiles", lambda deviations, totals: deviations.value):
        without = quality(made, 2)
    assert quality(made, 2) > without + 0.1


@pytest.mark.filterwarnings("ignore")
def test_more_prototypes_on_the_way_find_clusters_that_a_bad_start_misses():
    made = planted(8, 10, 50, 0.6)
    with patch.object(profiles, "_ROUNDS", ((1,) * 6,) * 3):
        without = quality(made, 40)
    assert quality(made, 40) > without + 0.05
