"""Mechanisms cost what their shares hold, and their exact output distributions bear it out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust.budget import Budget, Loss, Share
from privclust.privacy.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    NoisyTopK,
    PermuteAndFlip,
    choose_additive_noise,
    choose_selection,
)
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from support.distributions import (
    exponential_probabilities,
    gaussian_cells,
    laplace_cells,
    permute_and_flip_probabilities,
    top_k_probabilities,
)

PURE, CONCENTRATED = Budget("0.7").whole, Budget(1, 1e-6).whole
amounts = st.fractions(Fraction(1, 100), 10)
score_vectors = st.lists(st.integers(-15, 15), min_size=2, max_size=5)


@given(amounts, st.fractions(Fraction(1, 9), 99))
def test_a_mechanism_never_costs_more_than_its_share(amount, sensitivity):
    pure, concentrated = Share("pure", amount), Share("zcdp", amount)
    assert DiscreteLaplace.within(pure, sensitivity).loss.pure == amount
    assert DiscreteGaussian.within(concentrated, sensitivity).loss.rho == amount
    for share, spent in ((pure, "pure"), (concentrated, "rho")):
        for mechanism in (
            Exponential.within(share, sensitivity),
            NoisyTopK.within(share, sensitivity, 3),
            choose_selection(share, score_range=sensitivity),
        ):
            cost = getattr(mechanism.loss, spent)
            assert amount * (1 - Fraction(1, 10**15)) <= cost <= amount


def test_the_currency_chooses_the_mechanism():
    one = Fraction(1)
    pure = choose_additive_noise(PURE, l1_sensitivity=2 * one, squared_l2_sensitivity=one)
    assert pure == DiscreteLaplace(2 / PURE.amount, 2 * one)
    other = choose_additive_noise(CONCENTRATED, l1_sensitivity=2 * one, squared_l2_sensitivity=one)
    assert other == DiscreteGaussian(1 / (2 * CONCENTRATED.amount), one)
    assert isinstance(choose_selection(PURE, score_range=one), PermuteAndFlip)
    assert isinstance(choose_selection(CONCENTRATED, score_range=one), Exponential)


@pytest.mark.parametrize("make", [DiscreteLaplace.within, PermuteAndFlip.within])
def test_pure_mechanisms_refuse_the_other_currency(make):
    with pytest.raises(ValueError, match="paid for in pure"):
        make(CONCENTRATED, Fraction(1))


# The privacy argument itself, on exact probabilities: neighbours' answers never differ by more than
# the stated loss, and for the worst neighbours they come within a per mille of it.
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(20)])
def test_laplace_loss_is_the_largest_log_ratio(scale):
    _, probabilities = laplace_cells(float(scale))
    kept = probabilities > 1e-250
    ratios = np.abs(np.diff(np.log(probabilities[kept])))
    assert ratios.max() == pytest.approx(float(DiscreteLaplace(scale, Fraction(1)).loss.pure))


@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(3), Fraction(50)])
@pytest.mark.parametrize("order", [1.5, 2, 8, 40])
def test_gaussian_loss_bounds_every_renyi_divergence(variance, order):
    support, _ = gaussian_cells(float(variance) * 4)
    log_p = -(support**2) / (2 * float(variance))
    log_p -= np.logaddexp.reduce(log_p)
    shifted = np.roll(log_p, 1)[1:-1]
    log_p = log_p[1:-1]
    divergence = np.logaddexp.reduce(order * log_p + (1 - order) * shifted) / (order - 1)
    bound = order * float(DiscreteGaussian(variance, Fraction(1)).loss.rho)
    assert divergence <= bound * (1 + 1e-9)
    assert divergence >= bound * 0.9 or variance < 1


@given(score_vectors, st.data(), st.fractions(Fraction(1, 10), 4))
def test_selections_keep_their_promise_for_scores_that_move_both_ways(scores, data, epsilon):
    moves = data.draw(st.lists(st.integers(-2, 2), min_size=len(scores), max_size=len(scores)))
    left, right = np.array(scores), np.array(scores) + moves
    for mechanism, probabilities in (
        (Exponential(epsilon, Fraction(4)), exponential_probabilities),
        (PermuteAndFlip(epsilon, Fraction(4)), permute_and_flip_probabilities),
    ):
        assert worst_ratio(probabilities, left, right, mechanism.scale) <= float(epsilon) + 1e-9


@given(score_vectors, st.data(), st.fractions(Fraction(1, 10), 4))
def test_selections_need_half_the_noise_for_scores_that_move_one_way(scores, data, epsilon):
    moves = data.draw(st.lists(st.integers(0, 2), min_size=len(scores), max_size=len(scores)))
    left, right = np.array(scores), np.array(scores) + moves
    for mechanism, probabilities in (
        (Exponential(epsilon, Fraction(2)), exponential_probabilities),
        (PermuteAndFlip(epsilon, Fraction(2)), permute_and_flip_probabilities),
    ):
        assert worst_ratio(probabilities, left, right, mechanism.scale) <= float(epsilon) + 1e-9


@given(score_vectors, st.data(), st.fractions(Fraction(1, 10), 2))
def test_top_k_keeps_its_promise(scores, data, epsilon):
    moves = data.draw(st.lists(st.integers(0, 1), min_size=len(scores), max_size=len(scores)))
    mechanism = NoisyTopK(epsilon, Fraction(1), 2)
    left, right = np.array(scores), np.array(scores) + moves
    before, after = (
        np.array(list(top_k_probabilities(side, float(mechanism.scale), 2).values()))
        for side in (left, right)
    )
    assert np.abs(np.log(before) - np.log(after)).max() <= float(mechanism.loss.pure) + 1e-9


def test_the_promise_is_tight_and_would_break_with_less_noise():
    left, right, epsilon = np.array([0, 0]), np.array([1, -1]), 1.0
    tight = Exponential(Fraction(1), Fraction(2)).scale
    assert worst_ratio(exponential_probabilities, left * 40, left * 40 + right, tight) > 0.4
    halved = tight / 2
    far = np.array([0, 40])
    assert worst_ratio(exponential_probabilities, far, far + right, tight) == pytest.approx(epsilon)
    assert worst_ratio(exponential_probabilities, far, far + right, halved) > epsilon * 1.9
    assert worst_ratio(permute_and_flip_probabilities, far, far + right, tight) == pytest.approx(
        epsilon
    )


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(4)])
def test_permute_and_flip_has_no_bounded_range_and_costs_half_of_epsilon_squared(epsilon):
    loss = PermuteAndFlip(epsilon, Fraction(1)).loss
    assert loss == Loss(epsilon, epsilon**2 / 2)


def test_gaussian_noise_has_no_pure_loss():
    assert DiscreteGaussian(Fraction(100), Fraction(1)).loss == Loss(None, Fraction(1, 200))


@given(score_vectors, st.data(), st.floats(1.1, 30))
def test_the_exponential_mechanism_costs_an_eighth_of_epsilon_squared(scores, data, order):
    moves = data.draw(st.lists(st.integers(0, 1), min_size=len(scores), max_size=len(scores)))
    mechanism = Exponential(Fraction(3, 2), Fraction(1))
    p, q = (
        exponential_probabilities(np.array(side), float(mechanism.scale))
        for side in (scores, np.array(scores) + moves)
    )
    divergence = np.logaddexp.reduce(order * np.log(p) + (1 - order) * np.log(q)) / (order - 1)
    assert divergence <= order * float(mechanism.loss.rho) + 1e-9


def worst_ratio(probabilities, left, right, scale) -> float:
    p, q = (probabilities(side, float(scale)) for side in (left, right))
    return float(np.abs(np.log(p) - np.log(q)).max())


def test_draws_keep_the_shape_and_add_the_stated_noise():
    exact = np.arange(200_000).reshape(2, -1)
    noise = ExactNoise(SeededBits(5))
    for mechanism in (
        DiscreteLaplace(Fraction(30), Fraction(1)),
        DiscreteLaplace(Fraction(1, 2), Fraction(1)),
        DiscreteGaussian(Fraction(900), Fraction(1)),
    ):
        errors = mechanism.draw(exact, noise) - exact
        assert errors.shape == exact.shape
        assert errors.std() == pytest.approx(mechanism.standard_error(), rel=0.02)
        assert abs(errors.mean()) < 5 * mechanism.standard_error() / np.sqrt(exact.size)


def test_selections_return_the_best_column_when_privacy_is_cheap():
    scores = np.array([[0, 9, 1], [7, 0, 0]])
    lavish = Fraction(1000)
    assert Exponential(lavish, Fraction(1)).draw(scores, ExactNoise()).tolist() == [1, 0]
    assert PermuteAndFlip(lavish, Fraction(1)).draw(scores, ExactNoise()).tolist() == [1, 0]
    assert NoisyTopK(lavish, Fraction(1), 2).draw(scores[:1], ExactNoise()).tolist() == [[1, 2]]


@pytest.mark.parametrize("bad", [Fraction(0), Fraction(-1)])
def test_mechanisms_refuse_senseless_noise(bad):
    with pytest.raises(ValueError, match="above zero"):
        DiscreteLaplace(bad, Fraction(1))
    with pytest.raises(ValueError, match="above zero"):
        Exponential(Fraction(1), bad)


def test_mechanisms_refuse_floats():
    with pytest.raises(TypeError, match="exact number"):
        DiscreteLaplace(1.5, Fraction(1))
