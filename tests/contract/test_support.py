"""The tests' own tools are complete: no distribution, mechanism or estimator escapes them."""

from __future__ import annotations

import inspect
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import privclust
from privclust.budget import Budget
from privclust.estimator import PrivateEstimator
from privclust.papers import dilca, rivals, targets, tau, zones
from privclust.privacy import mechanisms
from privclust.privacy.noise import NoiseSource
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from support.distributions import permute_and_flip_probabilities
from support.estimators import ESTIMATORS
from support.noise import HalvedNoise, NoNoise, halved_sensitivities, seeded_noise
from support.transcripts import (
    DISTRIBUTIONS,
    MECHANISMS,
    allowed_change,
    log_weight,
    loss_of,
    recorded_draws,
)

OFFERED = {name for name, value in vars(NoiseSource).items() if inspect.isfunction(value)} - {
    "__init__", "__subclasshook__", "_no_init_or_replace_init"
}  # fmt: skip
SCORES = np.array([[0, 3, 1, 2], [5, 5, 4, 0]])
MADE = {kind: kind.within(Budget(1, 1e-6).whole if kind is mechanisms.DiscreteGaussian
        else Budget(1).whole, Fraction(2), *([2] if kind is mechanisms.NoisyTopK else []))
        for kind in MECHANISMS}  # fmt: skip


def test_every_distribution_is_replaced_by_every_double():
    assert set(DISTRIBUTIONS) == OFFERED
    for double in (NoNoise, HalvedNoise):
        assert vars(double).keys() >= OFFERED


def test_every_mechanism_is_watched():
    offered = {
        kind for kind in vars(mechanisms).values()
        if inspect.isclass(kind) and hasattr(kind, "draw")
    }  # fmt: skip
    assert set(MECHANISMS) == offered


@pytest.mark.parametrize("kind", MECHANISMS)
def test_halved_noise_is_what_a_mechanism_of_half_the_scale_would_draw(kind):
    with recorded_draws() as draws:
        MADE[kind].draw(SCORES, HalvedNoise(SeededBits(5)))
    (draw,) = draws
    assert draw.mechanism == MADE[kind] != draw.drawn
    np.testing.assert_array_equal(draw.answer, draw.drawn.draw(SCORES, ExactNoise(SeededBits(5))))
    part = 4 if kind is mechanisms.DiscreteGaussian else 2
    assert draw.drawn.loss.rho in (draw.mechanism.loss.rho * part, draw.mechanism.loss.rho * 4)


@pytest.mark.parametrize("kind", MECHANISMS)
def test_a_draw_is_recorded_with_the_noise_that_was_drawn(kind):
    with recorded_draws() as draws:
        answer = MADE[kind].draw(SCORES, seeded_noise(3))
    assert draws[0].drawn == draws[0].mechanism == MADE[kind]
    np.testing.assert_array_equal(draws[0].exact, SCORES)
    np.testing.assert_array_equal(draws[0].answer, answer)


@pytest.mark.parametrize("kind", MECHANISMS)
def test_methods_are_put_back_after_a_recording(kind):
    before = kind.draw, ExactNoise.laplace
    with recorded_draws(), recorded_draws():
        assert (kind.draw, ExactNoise.laplace) != before
    assert (kind.draw, ExactNoise.laplace) == before


@pytest.mark.parametrize("kind", MECHANISMS)
def test_exact_values_that_differ_by_the_sensitivity_lose_what_the_mechanism_costs(kind):
    other = SCORES.copy()
    other[0, 1] += 2
    if kind is mechanisms.DiscreteGaussian:
        other[0, 1] -= 1
        other[0, 2] += 1  # the sensitivity is of the square
    assert loss_of(MADE[kind], SCORES, other) == MADE[kind].loss
    assert allowed_change(MADE[kind]) == 2


@pytest.mark.parametrize("kind", MECHANISMS)
def test_a_halved_sensitivity_is_half_of_what_was_asked_for(kind):
    share = Budget(1, 1e-6).whole if kind is mechanisms.DiscreteGaussian else Budget(1).whole
    more = [2] if kind is mechanisms.NoisyTopK else []
    with halved_sensitivities():
        made = kind.within(share, Fraction(2), *more)
    part = 4 if kind is mechanisms.DiscreteGaussian else 2
    assert allowed_change(made) == Fraction(2, part)


def test_the_weights_of_picks_are_their_chances():
    row = SCORES[:1]
    exponential, flipping = (MADE[k] for k in (mechanisms.Exponential, mechanisms.PermuteAndFlip))
    chances = [np.exp(log_weight(exponential, np.array([pick]), row)) for pick in range(4)]
    assert sum(chances) == pytest.approx(1)
    chances = [np.exp(log_weight(flipping, np.array([pick]), row)) for pick in range(4)]
    np.testing.assert_allclose(
        chances, permute_and_flip_probabilities(row[0], float(flipping.scale))
    )
    top = MADE[mechanisms.NoisyTopK]
    ordered = [(i, j) for i in range(4) for j in range(4) if i != j]
    weights = [np.exp(log_weight(top, np.array([picks]), row)) for picks in ordered]
    assert sum(weights) == pytest.approx(1)


def test_every_private_estimator_has_its_record():
    offered = {
        kind
        for module in (privclust, dilca, rivals, targets, tau, zones)
        for name in module.__all__
        if inspect.isclass(kind := getattr(module, name)) and issubclass(kind, PrivateEstimator)
    }
    assert {record.kind for record in ESTIMATORS} == offered


@pytest.mark.parametrize("record", ESTIMATORS, ids=lambda record: record.name)
def test_a_record_makes_what_it_says(record):
    assert isinstance(record.make(), record.kind)
    assert record.fitted().privacy_.private
    assert not record.seeded().privacy_.private
    pair = record.neighbours(record.data())
    assert type(pair.left) is type(pair.right)


def test_every_helper_of_the_tests_says_what_belongs_in_it():
    for path in (Path(__file__).parents[1] / "support").glob("*.py"):
        assert path.read_text().startswith('"""'), path.name
