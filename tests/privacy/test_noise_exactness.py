"""The float path and the exact path of every sampler give the same outcome on the same words."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from itertools import accumulate, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust.privacy.noise import lazy
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from privclust.privacy.noise.interval import Interval
from privclust.privacy.noise.lazy import (
    LazyUniform,
    certain_order,
    exact_floor,
    exact_selection,
    exceeds,
    exponential,
    gumbel,
)
from support import precise
from support.bits import SameBits

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
        (lambda noise: noise.laplace(Fraction(20), DRAWS), "exact_floor"),
        (lambda noise: noise.gaussian(Fraction(400), DRAWS), "exceeds"),
        (
            lambda noise: noise.exponential_rows(ROWS, Fraction(3)),
            "exact_selection",
        ),
        (
            lambda noise: noise.permute_and_flip_rows(ROWS, Fraction(3)),
            "certain_order",
        ),
        (
            lambda noise: noise.top_k_rows(ROWS, Fraction(3), 2),
            "certain_order",
        ),
    ],
)
def test_a_blown_error_budget_sends_a_large_share_to_the_exact_side(draw, decision, monkeypatch):
    calls = []
    original = getattr(lazy, decision)

    def counted(*arguments):
        calls.append(1)
        return original(*arguments)

    monkeypatch.setattr(lazy, decision, counted)
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
    assert exact_floor(Fraction(1), lazy_uniform(*below)) == 1
    assert exact_floor(Fraction(1), lazy_uniform(*above)) == 0


def test_a_word_of_zeros_is_refined_until_the_variate_is_known():
    expected = -math.log(5) + 192 * math.log(2)
    assert exact_floor(Fraction(1), lazy_uniform(0, 0, 5)) == math.floor(expected)


def test_a_word_of_ones_keeps_the_variate_at_or_above_zero():
    variate = exponential(lazy_uniform(2**64 - 1))
    assert 0 <= variate.low < variate.high < Fraction(1, 2**63)
    assert gumbel(lazy_uniform(2**64 - 1)).high == math.inf


def test_exceeds_decides_a_threshold_next_to_the_variate():
    variate = exponential(lazy_uniform(2**60, 0, 0, 0))
    middle = (variate.low + variate.high) / 2
    assert not exceeds(lazy_uniform(2**60, 2**64 - 1, 2**64 - 1), middle)
    assert exceeds(lazy_uniform(2**60, 0, 0), middle)


def test_an_order_of_equal_first_words_is_settled_by_the_next():
    for variate, order in ((exponential, [1, 2, 0]), (gumbel, [0, 2, 1])):
        uniforms = [lazy_uniform(12345, later) for later in (9, 5, 7)]
        # A smaller uniform is a larger exponential, and a smaller Gumbel variate.
        assert certain_order([0, 0, 0], Fraction(1), variate, uniforms, 3) == order


def test_only_what_may_come_next_is_refined():
    close, far = [ScriptedBits(later) for later in (1, 9)], ScriptedBits()
    uniforms = [LazyUniform(2**40, 64, bits) for bits in (*close, far)]
    assert certain_order([0, 0, -(10**6)], Fraction(1), exponential, uniforms, 3) == [0, 1, 2]


def test_selection_is_settled_by_later_words_at_a_boundary():
    # Two equal scores: the boundary is at one half, where the first word says nothing.
    assert exact_selection([0, 0], Fraction(1), lazy_uniform(2**63 - 1, 2**63, 0)) == 0
    assert exact_selection([0, 0], Fraction(1), lazy_uniform(2**63, 0, 1)) == 1


@given(st.integers(0, 2**64 - 1))
def test_bounds_enclose_the_variate_and_shrink(word):
    uniform = lazy_uniform(word, 2**63, 2**63)
    wide, wide_gumbel = exponential(uniform), gumbel(uniform)
    uniform.refine()
    narrow, narrow_gumbel = exponential(uniform), gumbel(uniform)
    assert wide.low <= narrow.low < narrow.high <= wide.high
    assert wide_gumbel.low <= narrow_gumbel.low < narrow_gumbel.high <= wide_gumbel.high


# The exact side against functions of a hundred digits, at words next to a boundary: the words after
# the first are all zeros or all ones, so that the uniform number is known without end.
def endless(word: int, length: int, *, ones: bool) -> tuple[LazyUniform, Fraction]:
    """Return a uniform number that ends in zeros or in ones, lazily and as a fraction."""
    bits = SameBits(2**64 - 1 if ones else 0)
    return LazyUniform(word, length, bits), Fraction(word + ones, 2**length)


def words_around(boundary: Fraction, length: int) -> list[int]:
    """Return the words next to a boundary of the uniform number, and others farther away."""
    at = math.floor(boundary * 2**length)
    steps = (0, 1, 2, 3, 100, 2**20)
    near = [at + sign * step for step in steps for sign in (-1, 1)]
    return [word for word in near if 0 < word < 2**length - 1]


both_ends = pytest.mark.parametrize("ones", [False, True], ids=["zeros", "ones"])
both_lengths = pytest.mark.parametrize("length", [32, 64])


@both_ends
@both_lengths
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(10, 3), Fraction(2**40, 7)])
def test_floors_are_those_of_a_hundred_digits(scale, length, ones):
    for multiple in (1, 2, 7, math.floor(scale * 3)):
        for word in words_around(precise.exp(-multiple / scale), length):
            uniform, number = endless(word, length, ones=ones)
            assert exact_floor(scale, uniform) == math.floor(-scale * precise.log(number))


@both_ends
@both_lengths
@pytest.mark.parametrize("threshold", [Fraction(1, 3), Fraction(1), Fraction(200, 13)])
def test_thresholds_are_exceeded_as_a_hundred_digits_say(threshold, length, ones):
    for word in words_around(precise.exp(-threshold), length):
        uniform, number = endless(word, length, ones=ones)
        assert exceeds(uniform, threshold) == (-precise.log(number) > threshold)


@both_ends
@both_lengths
@pytest.mark.parametrize("scale", [Fraction(2), Fraction(10, 3)])
def test_selections_are_those_of_a_hundred_digits(scale, length, ones):
    gaps = [-3, 0, -1, -(10**9), -7]
    weights = [precise.exp(gap / scale) if gap > -(10**6) else Fraction(0) for gap in gaps]
    sums = [*accumulate(weights)]
    for boundary in sums[:-1]:
        for word in words_around(boundary / sums[-1], length):
            uniform, number = endless(word, length, ones=ones)
            expected = sum(total <= number * sums[-1] for total in sums[:-1])
            assert exact_selection(gaps, scale, uniform) == expected


@both_ends
@both_lengths
@pytest.mark.parametrize(
    ("variate", "true", "inverse"),
    [
        (exponential, lambda u: -precise.log(u), lambda e: precise.exp(-e)),
        (gumbel, lambda u: -precise.log(-precise.log(u)), lambda g: precise.exp(-precise.exp(-g))),
    ],
    ids=["exponential", "Gumbel"],
)
def test_orders_are_those_of_a_hundred_digits(variate, true, inverse, length, ones):
    """The second number stands next to where it would be as large as the first."""
    gaps, scale, first = [-2, 0, -40], Fraction(10, 3), 2 ** (length - 2) + 12345
    _, number = endless(first, length, ones=ones)
    boundary = inverse((gaps[0] - gaps[1]) / scale + true(number))
    for word in words_around(boundary, length):
        made = [endless(each, length, ones=ones) for each in (first, word, 2 ** (length - 1))]
        noisy = [gap + scale * true(u) for gap, (_, u) in zip(gaps, made, strict=True)]
        expected = sorted(range(3), key=lambda column: -noisy[column])
        uniforms = [uniform for uniform, _ in made]
        assert certain_order(gaps, scale, variate, uniforms, 3) == expected


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), min_size=1, max_size=4), st.data())
def test_a_selection_is_open_while_any_numbers_inside_would_select_another(parts, data):
    weights = [Interval(low, low + width) for low, width in parts]
    sums = [*accumulate(weights)]
    low = data.draw(st.integers(0, 8))
    position = Interval(low, low + data.draw(st.integers(0, 3)))
    picked = {
        sum(total <= at for total in totals[:-1])
        for at in range(position.low, position.high + 1)
        for totals in product(*(range(total.low, total.high + 1) for total in sums))
        if all(left <= right for left, right in pairwise(totals))
    }
    found = lazy._first_above((position, sums))
    assert found is None or picked == {found}
    assert (
        found is not None
        or len(picked) > 1
        or any({total.low, total.high} & {position.low, position.high} for total in sums)
    )


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
    assert exact_selection([0, -(10**15)], Fraction(1, 10), lazy_uniform(2**40, 3)) == 0
