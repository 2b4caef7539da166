"""The intervals behind an audit have the coverage they state, computed exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from privclust.audit.events import epsilon_bound, probability_above, probability_below

TRIALS = 40
COUNTS = np.arange(TRIALS + 1)


@given(st.floats(0.001, 0.999), st.sampled_from([0.001, 0.025, 0.2]))
def test_each_bound_is_wrong_at_most_as_often_as_allowed(probability, error):
    chances = stats.binom.pmf(COUNTS, TRIALS, probability)
    too_high = probability_below(COUNTS, TRIALS, error) > probability
    too_low = probability_above(COUNTS, TRIALS, error) < probability
    assert chances[too_high].sum() <= error * (1 + 1e-9)
    assert chances[too_low].sum() <= error * (1 + 1e-9)


@pytest.mark.parametrize("error", [0.001, 0.025, 0.2])
def test_the_allowed_error_is_used_up_where_counts_permit(error):
    # Just below the bound of a count, that count and all larger ones are wrong: together `error`.
    bounds = probability_below(COUNTS[1:], TRIALS, error)
    wrong = stats.binom.sf(COUNTS[1:] - 1, TRIALS, bounds)
    np.testing.assert_allclose(wrong, error, rtol=1e-9)


def test_bounds_agree_with_scipy():
    for hits in (0, 1, 17, 39, 40):
        interval = stats.binomtest(hits, TRIALS).proportion_ci(0.9, method="exact")
        assert probability_below(hits, TRIALS, 0.05) == pytest.approx(interval.low)
        assert probability_above(hits, TRIALS, 0.05) == pytest.approx(interval.high)


def test_nothing_seen_leaves_zero_and_everything_seen_leaves_one():
    assert probability_below(0, TRIALS, 0.05) == 0
    assert probability_above(TRIALS, TRIALS, 0.05) == 1
    # With no hit, (1 - q)^n = error gives the upper bound in closed form.
    assert probability_above(0, TRIALS, 0.05) == pytest.approx(1 - 0.05 ** (1 / TRIALS))


def test_epsilon_bound_is_the_logarithm_of_the_two_bounds_with_half_the_error_each():
    p = float(probability_below(800, 1000, 0.025))
    q = float(probability_above(100, 1000, 0.025))
    assert epsilon_bound(800, 100, 1000, 0.05) == pytest.approx(math.log(p / q))
    assert epsilon_bound(800, 100, 1000, 0.05, delta=0.1) == pytest.approx(math.log((p - 0.1) / q))


def test_a_probability_within_delta_says_nothing():
    assert epsilon_bound(5, 0, 1000, 0.05, delta=0.1) == -math.inf


@pytest.mark.parametrize("epsilon", [0.0, 1.0])
@pytest.mark.parametrize("error", [0.05, 0.2])
def test_epsilon_bound_exceeds_the_truth_at_most_as_often_as_allowed(epsilon, error):
    q = 0.2
    p = q * math.exp(epsilon)
    bounds = epsilon_bound(COUNTS[:, np.newaxis], COUNTS[np.newaxis, :], TRIALS, error)
    chances = np.outer(stats.binom.pmf(COUNTS, TRIALS, p), stats.binom.pmf(COUNTS, TRIALS, q))
    assert chances[bounds > epsilon].sum() <= error
