"""What noisy counts are taken to say: chances that hold what they promise, and tails of noise."""

import numpy as np
import pytest

from privclust.budget import Budget
from privclust.privacy.noise import ExactNoise, SeededBits
from privclust.source_target.posterior import count_posterior, false_shares
from source_target.source_doubles import view_of

TABLES = 100
BUDGETS = [Budget(1), Budget("0.1"), Budget(1, 1e-6)]


def noise_of(budget, size, seed=0):
    view, share = view_of(np.empty((0, 2)), budget, noise=ExactNoise(SeededBits(seed)))
    exact = np.zeros(size, np.int64)
    drawn = view._counting_noise(share).draw(exact, view._noise).astype(float)
    return view, share, drawn


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_tails_of_the_noise_are_its_frequencies(budget):
    view, share, drawn = noise_of(budget, 100_000)
    error = view.count_error(share)
    for value in np.rint(error * np.array([-2.0, -0.5, 0.0, 0.3, 1.0, 3.0])):
        tail = float(view.count_tail(share, np.array([value]))[0])
        assert tail == pytest.approx((drawn >= value).mean(), abs=0.006)


def test_shares_of_false_bins_are_those_of_benjamini_and_hochberg():
    tails = np.array([0.9, 0.001, 0.02, 0.5])
    np.testing.assert_allclose(false_shares(tails), [0.9, 0.004, 0.04, 2 / 3])


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_noise_alone_seldom_makes_bins_seem_occupied(budget):
    view, share, drawn = noise_of(budget, TABLES * 100, seed=1)
    shown = 0
    for noisy in drawn.reshape(TABLES, 100):
        found = count_posterior(
            noisy, view.count_error(share), lambda gaps: view.count_log_density(share, gaps)
        )
        found = found.doubted(false_shares(view.count_tail(share, noisy)), 0.05)
        np.testing.assert_allclose(found.chances.sum(axis=1), 1)
        shown += found.occupied.any()
    assert shown / TABLES < 0.05 + 4 * np.sqrt(0.05 * 0.95 / TABLES)  # 5 % are meant


def test_occupied_bins_are_believed_and_the_others_are_not():
    view, share, drawn = noise_of(Budget(1), 300)
    exact = np.where(np.arange(300) < 60, 25, 0)
    noisy = exact + drawn
    found = count_posterior(
        noisy, view.count_error(share), lambda gaps: view.count_log_density(share, gaps)
    ).doubted(false_shares(view.count_tail(share, noisy)), 0.05)
    assert found.occupied[:60].mean() > 0.95
    assert found.occupied[60:].mean() < 0.03
    drawn_counts = found.draw(np.random.default_rng(0))
    assert drawn_counts[:60].sum() == pytest.approx(60 * 25, rel=0.1)
