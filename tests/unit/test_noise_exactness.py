"""The float path and the exact path of every sampler give the same outcome on the same words."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust.privacy.noise import ExactNoise, SeededBits, exact, lazy
from privclust.privacy.noise.lazy import (
    LazyExponential,
    LazyGumbel,
    LazyUniform,
    Shifted,
    certain_floor,
    certain_maximum,
    certain_selection,
    exceeds,
)

seeds = st.integers(0, 2**32)
scales = st.one_of(
    st.fractions(Fraction(1, 50), Fraction(50), max_denominator=10**6),
    st.integers(1, 10**9).map(Fraction),
    st.sampled_from([Fraction(1, 10**9), Fraction(2**45), Fraction(10**20 + 1, 10**19)]),
)
score_tables = st.lists(
    st.lists(st.integers(-(2**52), 2**52) | st.integers(-20, 20), min_size=4, max_size=4),
    min_size=1,
    max_size=12,
)


def both_paths(seed: int, blown_error: float) -> tuple[ExactNoise, ExactNoise]:
    return ExactNoise(SeededBits(seed)), ExactNoise(SeededBits(seed), filter_error=blown_error)


@given(seeds, scales, st.sampled_from([1e-9, 1e-3, 1.0]))
def test_laplace_is_the_same_on_both_paths(seed, scale, blown):
    filtered, exact_ = both_paths(seed, blown)
    assert filtered.laplace(scale, 40).tolist() == exact_.laplace(scale, 40).tolist()


@given(seeds, scales, st.sampled_from([1e-9, 1e-3, 1.0]))
def test_gaussian_is_the_same_on_both_paths(seed, scale, blown):
    filtered, exact_ = both_paths(seed, blown)
    variance = scale**2
    assert filtered.gaussian(variance, 40).tolist() == exact_.gaussian(variance, 40).tolist()


@given(seeds, scales, score_tables, st.sampled_from([1e-9, 1e-3, 1.0]))
def test_selections_are_the_same_on_both_paths(seed, scale, table, blown):
    scores = np.array(table, np.int64)
    for method, extra in (
        ("exponential_rows", ()),
        ("permute_and_flip_rows", ()),
        ("top_k_rows", (2,)),
        ("top_k_rows", (4,)),
    ):
        answers = [
            getattr(noise, method)(scores, scale, *extra).tolist()
            for noise in both_paths(seed, blown)
        ]
        assert answers[0] == answers[1]


DRAWS = 400
ROWS = np.tile(np.arange(5), (DRAWS, 1))


@pytest.mark.parametrize(
    ("draw", "decision"),
    [
        (lambda noise: noise.laplace(Fraction(20), DRAWS), "certain_floor"),
        (lambda noise: noise.gaussian(Fraction(400), DRAWS), "exceeds"),
        (
            lambda noise: noise.exponential_rows(ROWS, Fraction(3)),
            "certain_selection",
        ),
        (
            lambda noise: noise.permute_and_flip_rows(ROWS, Fraction(3)),
            "certain_maximum",
        ),
        (
            lambda noise: noise.top_k_rows(ROWS, Fraction(3), 2),
            "certain_maximum",
        ),
    ],
)
def test_a_blown_error_budget_sends_a_large_share_to_the_exact_side(draw, decision, monkeypatch):
    calls = []
    original = getattr(exact, decision)

    def counted(*arguments):
        calls.append(1)
        return original(*arguments)

    monkeypatch.setattr(exact, decision, counted)
    draw(ExactNoise(SeededBits(0)))
    assert len(calls) == 0  # one draw in 10^8 or so
    draw(ExactNoise(SeededBits(0), filter_error=0.05))
    assert len(calls) > DRAWS / 10


class ScriptedBits:
    """Words given in advance, so that a test can pose the hardest questions."""

    private = False

    def __init__(self, *words: int) -> None:
        self.script = list(words)

    def words(self, count: int) -> np.ndarray:
        taken, self.script = self.script[:count], self.script[count:]
        return np.array(taken, np.uint64)


def lazy_uniform(*words: int) -> LazyUniform:
    bits = ScriptedBits(*words)
    return LazyUniform(int(bits.words(1)[0]), 64, bits)


def test_refinement_settles_a_floor_that_the_first_word_leaves_open():
    # The word next to exp(-1): the floor of the variate is 0 or 1 by the bits after it.
    context = Context(prec=100)
    digits = int(context.multiply(Decimal(2**200), context.exp(Decimal(-1))))
    words = [(digits >> shift) & (2**64 - 1) for shift in (136, 72, 8)]
    below, above = [*words[:2], words[2] - 1, 0], [*words[:2], words[2] + 1, 0]
    assert certain_floor(Shifted(0, Fraction(1), LazyExponential(lazy_uniform(*below)))) == 1
    assert certain_floor(Shifted(0, Fraction(1), LazyExponential(lazy_uniform(*above)))) == 0


def test_a_word_of_zeros_is_refined_until_the_variate_is_known():
    variate = LazyExponential(lazy_uniform(0, 0, 5))
    expected = -math.log(5) + 192 * math.log(2)
    assert certain_floor(Shifted(0, Fraction(1), variate)) == math.floor(expected)


def test_a_word_of_ones_keeps_the_variate_at_or_above_zero():
    low, high = LazyExponential(lazy_uniform(2**64 - 1)).bounds()
    assert 0 <= low < high < Fraction(1, 2**63)
    assert LazyGumbel(lazy_uniform(2**64 - 1)).bounds()[1] == math.inf


def test_exceeds_decides_a_threshold_next_to_the_variate():
    low, high = LazyExponential(lazy_uniform(2**60, 0, 0, 0)).bounds()
    middle = (low + high) / 2
    variate = lazy_uniform(2**60, 2**64 - 1, 2**64 - 1)
    assert not exceeds(LazyExponential(variate), middle)
    assert exceeds(LazyExponential(lazy_uniform(2**60, 0, 0)), middle)


def test_maximum_of_equal_first_words_is_settled_by_the_next():
    first = LazyExponential(lazy_uniform(12345, 9))
    second = LazyExponential(lazy_uniform(12345, 7))  # a smaller uniform is a larger exponential
    assert certain_maximum([first, second]) == 1


def test_selection_is_settled_by_later_words_at_a_boundary():
    # Two equal scores: the boundary is at one half, where the first word says nothing.
    assert certain_selection([0, 0], Fraction(1), lazy_uniform(2**63 - 1, 2**63, 0)) == 0
    assert certain_selection([0, 0], Fraction(1), lazy_uniform(2**63, 0, 1)) == 1


@given(st.integers(0, 2**64 - 1))
def test_bounds_enclose_the_variate_and_shrink(word):
    uniform = lazy_uniform(word, 2**63, 2**63)
    variate, gumbel = LazyExponential(uniform), LazyGumbel(uniform)
    wide, wide_gumbel = variate.bounds(), gumbel.bounds()
    uniform.refine()
    narrow, narrow_gumbel = variate.bounds(), gumbel.bounds()
    assert wide[0] <= narrow[0] < narrow[1] <= wide[1]
    assert wide_gumbel[0] <= narrow_gumbel[0] < narrow_gumbel[1] <= wide_gumbel[1]


def test_float_functions_are_within_the_error_that_the_proof_assumes():
    """NumPy's log and exp are within 4 units in the last place; the filter allows for 32."""
    generator = np.random.default_rng(3)
    near_one = 1 - generator.random(3000) * 2.0 ** -generator.integers(1, 53, 3000)
    anywhere = generator.random(3000) * 2.0 ** -generator.integers(0, 64, 3000)
    points = np.concatenate([near_one, anywhere])
    points = points[(points > 0) & (points < 1)]
    context = Context(prec=50)
    logs = [Decimal(float(point)).ln(context) for point in points]
    assert worst_ulps(np.log(points), logs) <= 4
    exponents = -generator.random(5000) * 2.0 ** generator.integers(-30, 9, 5000)
    powers = [Decimal(float(exponent)).exp(context) for exponent in exponents]
    assert worst_ulps(np.exp(exponents), powers) <= 4


def worst_ulps(values: np.ndarray, exact_values: list[Decimal]) -> float:
    return max(
        float(abs(Decimal(float(value)) - true)) / math.ulp(float(true))
        for value, true in zip(values, exact_values, strict=True)
    )


@pytest.mark.parametrize(
    ("ask", "complaint"),
    [
        (lambda noise: noise.laplace(Fraction(0), 1), "above zero"),
        (lambda noise: noise.laplace(Fraction(2**46 + 1), 1), "coarser grid"),
        (lambda noise: noise.laplace(Fraction(1, 2**1001), 1), "smaller epsilon"),
        (lambda noise: noise.gaussian(Fraction(0), 1), "above zero"),
        (lambda noise: noise.gaussian(Fraction(2**93), 1), "coarser grid"),
        (lambda noise: noise.gaussian(Fraction(1, 2**1001), 1), "smaller epsilon"),
        (lambda noise: noise.exponential_rows(np.zeros((2, 0), np.int64), Fraction(1)), "column"),
        (lambda noise: noise.exponential_rows(np.zeros((2, 2)), Fraction(1)), "int64"),
        (
            lambda noise: noise.exponential_rows(np.full((1, 2), 2**53), Fraction(1)),
            "between",
        ),
        (lambda noise: noise.top_k_rows(np.zeros((2, 3), np.int64), Fraction(1), 4), "between 1"),
    ],
)
def test_impossible_requests_are_refused_in_one_sentence(ask, complaint):
    with pytest.raises(ValueError, match=complaint):
        ask(ExactNoise())


def test_nothing_is_drawn_for_no_rows():
    noise = ExactNoise()
    assert noise.laplace(Fraction(1), 0).shape == (0,)
    assert noise.exponential_rows(np.zeros((0, 3), np.int64), Fraction(1)).shape == (0,)
    assert noise.top_k_rows(np.zeros((0, 3), np.int64), Fraction(1), 2).shape == (0, 2)


def test_tiny_weights_do_not_stop_the_exact_side():
    assert lazy.certain_selection([0, -(10**15)], Fraction(1, 10), lazy_uniform(2**40, 3)) == 0
