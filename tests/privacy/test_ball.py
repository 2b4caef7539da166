"""Vectors of ball noise follow their law, on both paths, and no other."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from privclust.budget import Budget
from privclust.opendp import OpenDPNoise
from privclust.privacy.mechanisms import BallLaplace
from privclust.privacy.noise.ball import _coordinates, exact_vector, words_needed
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from privclust.privacy.noise.lazy import LazyUniform
from support import precise
from support.bits import SameBits
from support.distributions import counts_p_value

WRONG = Fraction(105, 100)
FITS, FAILS = 1e-3, 1e-9
DRAWS = 200_000


def seeded(filter_error: float | None = None) -> ExactNoise:
    bits = SeededBits(11)
    return ExactNoise(bits) if filter_error is None else ExactNoise(bits, filter_error)


@given(
    st.integers(1, 9),
    st.fractions(Fraction(1, 9), 10**6) | st.integers(1, 2**40).map(Fraction),
    st.sampled_from([1e-9, 1e-3, 1.0]),
)
def test_both_paths_give_the_same_vector(dimension, scale, blown):
    filtered = seeded().ball(scale, 8, dimension)
    assert filtered.tolist() == seeded(blown).ball(scale, 8, dimension).tolist()


def precise_vector(scale: Fraction, dimension: int, uniforms: list[Fraction]) -> list[Fraction]:
    """Return the vector of these uniform numbers to a hundred digits."""
    pairs = -(-dimension // 2)
    variates = [-precise.log(uniform) for uniform in uniforms[: dimension + pairs]]
    circle = [precise.circle(uniform) for uniform in uniforms[dimension + pairs :]]
    radii = variates[dimension:]
    normal = [
        precise.root(radius) * part
        for radius, both in zip(radii, circle, strict=True)
        for part in both
    ][:dimension]
    size = precise.root(sum(part**2 for part in normal))
    return [scale * sum(variates[:dimension]) * part / size for part in normal]


@pytest.mark.parametrize("later", [0, 2**64 - 1], ids=["zeros", "ones"])
@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 7])
def test_vectors_of_the_exact_side_are_those_of_a_hundred_digits(dimension, later):
    """The words after the first are all zeros or all ones, so that the numbers have an end."""
    bits = SameBits(later)
    scale, rng = Fraction(2**40, 3), np.random.default_rng(dimension)
    for words in rng.integers(1, 2**64 - 1, (20, words_needed(dimension)), dtype=np.uint64):
        uniforms = [Fraction(int(word) + (later > 0), 2**64) for word in words]
        truths = precise_vector(scale, dimension, uniforms)
        expected = [math.floor(truth + Fraction(1, 2)) for truth in truths]
        assert exact_vector(scale, dimension, words, bits) == expected
        lazy = [LazyUniform(int(word), 64, bits) for word in words]
        for coordinate, truth in zip(_coordinates(scale, dimension, lazy), truths, strict=True):
            assert coordinate.low <= truth <= coordinate.high


def test_a_vector_waits_for_words_that_say_something():
    """A radius of which nothing is known, and a quarter turn whose cosine may be zero."""
    for turn, rounded in ((2**62, -1), (2**62 - 1, 1)):  # of a length of ln 2
        words = np.array([2**63, 0, turn], np.uint64)
        assert exact_vector(Fraction(1), 1, words, SameBits(2**60)) == [rounded]


def plane_probabilities(scale: float, width: int) -> np.ndarray:
    """Integrate the density over the unit squares around the integer points."""
    fine = 40
    steps = (np.arange(fine) + 0.5) / fine - 0.5
    axis = (np.arange(-width, width + 1)[:, None] + steps).ravel()
    density = np.exp(-np.hypot(axis[:, None], axis[None, :]) / scale)
    cells = density.reshape(2 * width + 1, fine, 2 * width + 1, fine).sum(axis=(1, 3))
    return (cells / (fine**2 * 2 * math.pi * scale**2)).ravel()


def test_rounded_vectors_in_the_plane_have_the_integrated_probabilities():
    scale, width = Fraction(3, 2), 40
    expected = plane_probabilities(float(scale), width)
    assert expected.sum() == pytest.approx(1, abs=1e-6)
    assert plane_p_value(seeded().ball(scale, DRAWS, 2), expected, width) > FITS
    assert plane_p_value(seeded().ball(scale * WRONG, DRAWS, 2), expected, width) < FAILS


def plane_p_value(vectors: np.ndarray, expected: np.ndarray, width: int) -> float:
    assert np.abs(vectors).max() <= width
    codes = (vectors[:, 0] + width) * (2 * width + 1) + vectors[:, 1] + width
    return counts_p_value(np.bincount(codes, minlength=len(expected)), expected)


@pytest.mark.parametrize("dimension", [1, 2, 3, 8, 33])
def test_lengths_follow_the_gamma_law_of_their_scale(dimension):
    scale = Fraction(10**7)
    for factor, fits in ((1, True), (WRONG, False)):
        vectors = seeded().ball(scale * factor, 50_000, dimension) / float(scale)
        p_value = stats.kstest(np.linalg.norm(vectors, axis=1), "gamma", (dimension,)).pvalue
        assert (p_value > FITS) if fits else (p_value < FAILS)


@pytest.mark.parametrize("dimension", [2, 3, 8, 33])
def test_directions_are_uniform(dimension):
    """A squared coordinate of a uniform direction is beta distributed, with a random sign."""
    vectors = seeded().ball(Fraction(10**7), 30_000, dimension).astype(float)
    directions = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for column in (0, 1, dimension - 1):
        law = (0.5, (dimension - 1) / 2)
        assert stats.kstest(directions[:, column] ** 2, "beta", law).pvalue > 1e-4
        positives = int((directions[:, column] > 0).sum())
        assert stats.binomtest(positives, len(directions)).pvalue > 1e-4
    correlation = np.corrcoef(directions.T)
    assert np.abs(correlation - np.eye(dimension)).max() < 5 / math.sqrt(len(directions))


def test_numpy_circle_functions_are_within_the_error_that_the_proof_assumes():
    generator = np.random.default_rng(0)
    words = generator.integers(0, 2**64, 3000, dtype=np.uint64)
    turns = words.astype(float) * 2.0**-64
    for word, cosine, sine in zip(
        words, np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns), strict=True
    ):
        true_cosine, true_sine = precise.circle(Fraction(int(word), 2**64))
        assert abs(cosine - float(true_cosine)) < 27 * 2.0**-53
        assert abs(sine - float(true_sine)) < 27 * 2.0**-53


def test_the_mechanism_costs_its_share_and_adds_the_stated_noise():
    share = Budget("0.3").whole
    mechanism = BallLaplace.within(share, Fraction(1000))
    assert mechanism.loss.pure == share.amount
    exact = np.arange(12_000).reshape(-1, 6)
    errors = mechanism.draw(exact, seeded()) - exact
    assert errors.std() == pytest.approx(mechanism.standard_error(6), rel=0.03)


def test_opendp_offers_vectors_that_protect_as_well():
    vectors = OpenDPNoise().ball(Fraction(100), 4000, 4)
    assert vectors.shape == (4000, 4)
    assert vectors.std() == pytest.approx(100 * math.sqrt(2 * 4), rel=0.1)
