"""What noisy counts are taken to say: chances that hold what they promise, and tails of noise."""

import numpy as np
import pytest

from privclust.budget import Budget
from privclust.distributions import log_density, tail
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from privclust.source_target.rings import (
    CountPosterior,
    _inflate,
    count_posterior,
    false_positive_shares,
)
from source_target.source_doubles import view_of

TABLES = 100
BUDGETS = [Budget(1), Budget("0.1"), Budget(1, 1e-6)]


def noise_of(budget, size, seed=0):
    view, share = view_of(np.empty((0, 2)), budget, noise=ExactNoise(SeededBits(seed)))
    exact = np.zeros(size, np.int64)
    drawn = view.count_noise(share).draw(exact, view._noise).astype(float)
    return view, share, drawn


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_tails_of_the_noise_are_its_frequencies(budget):
    view, share, drawn = noise_of(budget, 100_000)
    error = view.count_error(share)
    for value in np.rint(error * np.array([-2.0, -0.5, 0.0, 0.3, 1.0, 3.0])):
        beyond = float(tail(view.count_noise(share), np.array([value]))[0])
        assert beyond == pytest.approx((drawn >= value).mean(), abs=0.006)


def test_shares_of_false_bins_are_those_of_benjamini_and_hochberg():
    tails = np.array([0.9, 0.001, 0.02, 0.5])
    np.testing.assert_allclose(false_positive_shares(tails), [0.9, 0.004, 0.04, 2 / 3])


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_noise_alone_seldom_makes_bins_seem_occupied(budget):
    view, share, drawn = noise_of(budget, TABLES * 100, seed=1)
    shown = 0
    for noisy in drawn.reshape(TABLES, 100):
        found = count_posterior(
            noisy, view.count_error(share), lambda gaps: log_density(view.count_noise(share), gaps)
        )
        found = found.with_min_doubt(
            false_positive_shares(tail(view.count_noise(share), noisy)), 0.05
        )
        np.testing.assert_allclose(found.chances.sum(axis=1), 1)
        shown += found.occupied.any()
    assert shown / TABLES < 0.05 + 4 * np.sqrt(0.05 * 0.95 / TABLES)  # 5 % are meant


def test_occupied_bins_are_believed_and_the_others_are_not():
    view, share, drawn = noise_of(Budget(1), 300)
    exact = np.where(np.arange(300) < 60, 25, 0)
    noisy = exact + drawn
    found = count_posterior(
        noisy, view.count_error(share), lambda gaps: log_density(view.count_noise(share), gaps)
    ).with_min_doubt(false_positive_shares(tail(view.count_noise(share), noisy)), 0.05)
    assert found.occupied[:60].mean() > 0.95
    assert found.occupied[60:].mean() < 0.03
    drawn_counts = found.draws(1, np.random.default_rng(0))[0]
    assert drawn_counts[:60].sum() == pytest.approx(60 * 25, rel=0.1)


def test_a_chance_of_one_in_sixteen_comes_up_once_in_sixteen_draws():
    chances = np.tile([1 / 16, 15 / 16], (50, 1))
    drawn = CountPosterior(np.array([0.0, 3.0]), chances).draws(16, np.random.default_rng(0))
    np.testing.assert_array_equal((drawn == 0).sum(axis=0), 1)


@pytest.mark.parametrize("false", [0.0, 1e-3, 0.04, 1.0])
def test_bins_are_doubted_more_than_their_chance_of_being_false(false):
    assert _inflate(np.array([false]))[0] >= false


def test_a_single_bin_that_may_be_false_is_empty_in_some_draws():
    # Among 300 bins, one that noise alone fills in one histogram of a hundred.
    doubts = _inflate(np.array([0.01]))
    sure = CountPosterior(np.array([0.0, 5.0]), np.array([[0.0, 1.0]]))
    drawn = sure.with_min_doubt(doubts).draws(16, np.random.default_rng(0))
    assert 1 <= (drawn == 0).sum() <= 2
