"""Every sampler follows its distribution: the true scale fits, five per cent more does not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privclust import opendp as opendp_noise
from privclust.opendp import OpenDPNoise
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from support.distributions import (
    agreement_p_value,
    counts_p_value,
    exponential_probabilities,
    fit_p_value,
    gaussian_cells,
    laplace_cells,
    permute_and_flip_probabilities,
    top_k_probabilities,
)

DRAWS = 300_000
FITS = 1e-3  # the seeds are fixed, so this cannot fail by chance later
FAILS = 1e-9
WRONG = Fraction(105, 100)
SCORES = np.array([0, 3, 4, 7, 9], np.int64)
ROWS = np.broadcast_to(SCORES, (DRAWS, len(SCORES))).copy()


def seeded(seed: int = 1) -> ExactNoise:
    return ExactNoise(SeededBits(seed))


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(15, 2), Fraction(5000)])
def test_laplace_follows_its_scale_and_no_other(scale):
    cells = laplace_cells(float(scale))
    assert fit_p_value(seeded().laplace(scale, DRAWS), *cells) > FITS
    assert fit_p_value(seeded().laplace(scale * WRONG, DRAWS), *cells) < FAILS


@pytest.mark.parametrize(
    "variance", [Fraction(1, 5), Fraction(1, 2), Fraction(4), Fraction(1001, 10), Fraction(10**7)]
)
def test_gaussian_follows_its_scale_and_no_other(variance):
    cells = gaussian_cells(float(variance))
    assert fit_p_value(seeded().gaussian(variance, DRAWS), *cells) > FITS
    assert fit_p_value(seeded().gaussian(variance * WRONG**2, DRAWS), *cells) < FAILS


@pytest.mark.parametrize("scale", [Fraction(2), Fraction(7, 2)])
def test_exponential_rows_follow_their_scale_and_no_other(scale):
    expected = exponential_probabilities(SCORES, float(scale))
    assert selection_p_value(seeded().exponential_rows(ROWS, scale), expected) > FITS
    assert selection_p_value(seeded().exponential_rows(ROWS, scale * WRONG), expected) < FAILS


@pytest.mark.parametrize("scale", [Fraction(2), Fraction(7, 2)])
def test_permute_and_flip_rows_follow_their_scale_and_no_other(scale):
    expected = permute_and_flip_probabilities(SCORES, float(scale))
    assert expected.sum() == pytest.approx(1)
    assert selection_p_value(seeded().permute_and_flip_rows(ROWS, scale), expected) > FITS
    assert selection_p_value(seeded().permute_and_flip_rows(ROWS, scale * WRONG), expected) < FAILS


@pytest.mark.parametrize(("scale", "k"), [(Fraction(2), 2), (Fraction(7, 2), 3), (Fraction(2), 5)])
def test_top_k_rows_follow_their_scale_and_no_other(scale, k):
    expected = top_k_probabilities(SCORES, float(scale), k)
    assert orders_p_value(seeded().top_k_rows(ROWS, scale, k), expected) > FITS
    assert orders_p_value(seeded().top_k_rows(ROWS, scale * WRONG, k), expected) < FAILS


def selection_p_value(picked: np.ndarray, expected: np.ndarray) -> float:
    return counts_p_value(np.bincount(picked, minlength=len(expected)), expected)


def orders_p_value(picked: np.ndarray, expected: dict[tuple[int, ...], float]) -> float:
    places = len(SCORES) ** np.arange(picked.shape[1])
    codes = np.bincount(picked @ places, minlength=len(SCORES) ** picked.shape[1])
    counts = np.array([codes[np.array(order) @ places] for order in expected])
    assert counts.sum() == len(picked)
    return counts_p_value(counts, np.array(list(expected.values())))


def test_draws_are_independent_of_their_neighbours():
    draws = seeded().gaussian(Fraction(100), DRAWS).astype(float)
    for lag in (1, 2, 64, 32_768):
        correlation = np.corrcoef(draws[:-lag], draws[lag:])[0, 1]
        assert abs(correlation) < 5 / np.sqrt(DRAWS)


# OpenDP takes no seed, so its tests draw afresh each time: a chance failure has probability 1e-6.
CHANCE = 1e-6
# Its selections are slow, so they are fewer, and told from ours only at a scale as wrong as this.
THEIRS, FAR = 20_000, WRONG**5


@pytest.mark.parametrize("scale", [Fraction(3, 2), Fraction(40)])
def test_laplace_agrees_with_opendp(scale):
    theirs = OpenDPNoise().laplace(scale, 30_000)
    assert agreement_p_value(seeded().laplace(scale, DRAWS), theirs) > CHANCE
    assert agreement_p_value(seeded().laplace(scale * WRONG**2, DRAWS), theirs) < CHANCE


@pytest.mark.parametrize("variance", [Fraction(5, 2), Fraction(1600)])
def test_gaussian_agrees_with_opendp(variance):
    theirs = OpenDPNoise().gaussian(variance, 30_000)
    assert agreement_p_value(seeded().gaussian(variance, DRAWS), theirs) > CHANCE
    assert agreement_p_value(seeded().gaussian(variance * WRONG**4, DRAWS), theirs) < CHANCE


@pytest.mark.parametrize("method", ["exponential_rows", "permute_and_flip_rows"])
def test_selection_agrees_with_opendp(method):
    scale = Fraction(3)
    theirs = getattr(OpenDPNoise(), method)(ROWS[:THEIRS], scale)
    assert agreement_p_value(getattr(seeded(), method)(ROWS, scale), theirs) > CHANCE
    assert agreement_p_value(getattr(seeded(), method)(ROWS, scale * FAR), theirs) < CHANCE


def test_top_k_agrees_with_opendp():
    scale, places = Fraction(3), np.array([len(SCORES), 1])
    theirs = OpenDPNoise().top_k_rows(ROWS[:THEIRS], scale, 2) @ places
    assert agreement_p_value(seeded().top_k_rows(ROWS, scale, 2) @ places, theirs) > CHANCE
    wrong = seeded().top_k_rows(ROWS, scale * FAR, 2) @ places
    assert agreement_p_value(wrong, theirs) < CHANCE


@pytest.mark.parametrize("scale", [Fraction(1, 10), Fraction(1, 3), Fraction(10, 3), Fraction(5)])
def test_opendp_is_asked_for_no_less_noise_than_the_mechanism_wants(scale, monkeypatch):
    """Its scales are floats; the nearest float may be too small."""
    assert Fraction(opendp_noise._above(scale)) >= scale
    asked = []
    noise = OpenDPNoise()
    for name, blank in (("make_laplace", np.zeros(1)), ("make_gaussian", np.zeros(1))):
        monkeypatch.setattr(
            noise._opendp.m,
            name,
            lambda domain, metric, given, blank=blank: asked.append(given) or (lambda _: blank),
        )
    noise.laplace(scale, 1)
    noise.gaussian(scale, 1)
    noise.ball(scale, 1, 1)
    assert Fraction(asked[0]) >= scale
    assert Fraction(asked[1]) ** 2 >= scale
    assert Fraction(asked[2]) >= scale
