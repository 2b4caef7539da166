"""Every operation on intervals encloses the true result, and is told from one that does not round.

Few places make every rounding coarse, so that an end on the wrong side is seen at once.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from privclust.privacy.noise.interval import EVERYTHING, Interval, _circle_at, pi
from support import precise
from support.precise import TINY

PLACES = [1, 2, 3, 5, 8, 13, 60, 128, 192]
fractions = st.fractions(-5, 5, max_denominator=50)


@st.composite
def intervals(draw, numbers=fractions):
    ends = sorted((draw(numbers), draw(numbers)))
    return Interval(*ends)


positive = intervals(st.fractions(Fraction(1, 50), 5, max_denominator=50))


def inside(interval: Interval) -> list[Fraction]:
    """Return the ends and some numbers between them."""
    low, high = Fraction(interval.low), Fraction(interval.high)
    return [low + Fraction(part, 4) * (high - low) for part in range(5)]


def assert_encloses(interval: Interval, truths: list[Fraction]) -> None:
    assert all(isinstance(end, int | Fraction) for end in (interval.low, interval.high))
    for truth in truths:
        assert interval.low <= truth + TINY
        assert truth - TINY <= interval.high


def some_numbers(least: int, most: int) -> list[Fraction]:
    """Return simple fractions between two integers, and others of 64 binary places."""
    chance = random.Random(1)
    fine = [Fraction(chance.randrange(least << 64, most << 64), 1 << 64) for _ in range(20)]
    simple = [Fraction(part, 6) for part in range(6 * least, 6 * most + 1)]
    return [*simple, *fine]


@given(intervals(), intervals())
@example(Interval(Fraction(1), Fraction(2)), Interval(Fraction(3), Fraction(5)))
def test_sums_differences_and_products_are_those_of_all_numbers_inside(one, other):
    pairs = [*product(inside(one), inside(other))]
    for result, truths in (
        (one + other, [x + y for x, y in pairs]),
        (one - other, [x - y for x, y in pairs]),
        (one * other, [x * y for x, y in pairs]),
    ):
        assert (result.low, result.high) == (min(truths), max(truths))


@given(intervals(), positive)
def test_quotients_are_those_of_all_numbers_inside(one, other):
    truths = [x / y for x, y in product(inside(one), inside(other))]
    result = one.over(other)
    assert (result.low, result.high) == (min(truths), max(truths))


@given(intervals(), fractions, st.fractions(Fraction(1, 9), 9))
def test_a_scaled_and_shifted_number_keeps_its_ends(one, offset, scale):
    result = one.affine(offset, scale)
    assert (result.low, result.high) == (offset + scale * one.low, offset + scale * one.high)


def test_what_is_infinite_stays_so():
    assert EVERYTHING.affine(-3, Fraction(1, 2**1000)) == EVERYTHING
    assert Interval(Fraction(1), math.inf).affine(5, Fraction(2)) == Interval(Fraction(7), math.inf)


@pytest.mark.parametrize(("low", "high"), [(1, 0), (math.nan, 1), (0, math.nan)])
def test_an_interval_without_numbers_is_an_error(low, high):
    with pytest.raises(ArithmeticError, match="No number"):
        Interval(low, high)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda one: one.affine(0, -1),
        lambda one: one.over(Interval(Fraction(-1), Fraction(1))),
        lambda one: one * EVERYTHING,
        lambda one: EVERYTHING.whole(),
    ],
)
def test_what_the_arithmetic_does_not_cover_is_an_error(wrong):
    with pytest.raises(ArithmeticError):
        wrong(Interval(Fraction(0), Fraction(1)))


@pytest.mark.parametrize("length", [1, 2, 32, 64])
def test_the_unknown_bits_of_a_uniform_number_are_in_its_interval(length):
    for numerator in {0, 1, 2**length - 1}:
        interval = Interval.uniform(numerator, length)
        # All bits that may follow are zeros, or all are ones.
        assert interval.low == Fraction(numerator, 2**length)
        assert interval.high == Fraction((numerator << 64) + 2**64 - 1, 2 ** (length + 64)) + (
            Fraction(1, 2 ** (length + 64))
        )


@given(intervals(), st.integers(1, 9))
def test_whole_ends_are_the_nearest_on_the_outer_side(one, divisor):
    result = one.whole(divisor)
    assert result.low == math.floor(one.low / divisor)
    assert result.high == math.ceil(one.high / divisor)


@pytest.mark.parametrize("places", PLACES)
def test_logarithms_are_enclosed(places):
    for number in some_numbers(0, 3):
        if number > 0:
            result = Interval.exactly(number).minus_log(places)
            assert_encloses(result, [-precise.log(number)])
            size = abs(precise.log(number)) + 1
            assert result.high - result.low <= 12 * 10 * size / 2**places
    wide = Interval(Fraction(1, 3), Fraction(4, 3))
    assert_encloses(wide.minus_log(places), [-precise.log(number) for number in inside(wide)])


@pytest.mark.parametrize("places", [32, 96, 128])
def test_logarithms_next_to_one_are_enclosed_and_of_the_right_sign(places):
    for numerator in (2**64 - 1, 2**64 - 2, 2**64 + 1):
        number = Fraction(numerator, 2**64)
        result = Interval.exactly(number).minus_log(places)
        assert_encloses(result, [-precise.log(number)])
        assert (result.low >= 0) if number < 1 else (result.high <= 0)
    assert Interval.exactly(1).minus_log(places) == Interval.exactly(0)
    assert Interval.exactly(Fraction(1)).minus_log(places) == Interval.exactly(0)


def test_the_logarithm_of_what_may_be_zero_or_infinite_is_so():
    assert Interval(0, Fraction(1)).minus_log(64) == Interval(0, math.inf)
    assert Interval(Fraction(1), math.inf).minus_log(64) == Interval(-math.inf, 0)


@pytest.mark.parametrize("places", PLACES)
def test_exponentials_are_enclosed(places):
    for number in some_numbers(-5, 1):
        result = Interval.exactly(number).exp(places)
        assert_encloses(result, [precise.exp(number)])
        assert result.high - result.low <= 12 * 10 * precise.exp(number) / 2**places + Fraction(
            1, 2**places
        )
    wide = Interval(Fraction(-7, 3), Fraction(1, 3))
    assert_encloses(wide.exp(places), [precise.exp(number) for number in inside(wide)])


@pytest.mark.parametrize("places", [8, 64, 128])
def test_tiny_exponentials_are_somewhere_above_zero(places):
    for number in (Fraction(-places), -places - Fraction(1, 3), Fraction(-2 * places)):
        result = Interval.exactly(number).exp(places)
        assert_encloses(result, [precise.exp(number)])
        assert result.high <= Fraction(1, 2**places)
    assert Interval.exactly(Fraction(-(10**30))).exp(places).high > 0


@pytest.mark.parametrize("places", PLACES)
def test_roots_are_enclosed(places):
    for number in some_numbers(0, 3):
        result = Interval.exactly(number).root(places)
        assert_encloses(result, [precise.root(number)])
        assert result.high - result.low <= Fraction(2, 2**places)
    wide = Interval(Fraction(1, 3), Fraction(4, 3))
    assert_encloses(wide.root(places), [precise.root(number) for number in inside(wide)])


@pytest.mark.parametrize("places", [*range(1, 40), 128, 192])
def test_pi_is_enclosed(places):
    result = pi(places)
    assert_encloses(result, [precise.PI * 2**places])
    assert result.high - result.low < 40 * places + 200


@pytest.mark.parametrize("places", PLACES)
def test_cosines_and_sines_are_enclosed(places):
    for turn in some_numbers(0, 1):
        for result, truth in zip(
            Interval.exactly(turn).circle(places), precise.circle(turn), strict=True
        ):
            assert_encloses(result, [truth])
            assert places < 60 or result.high - result.low < Fraction(1, 2 ** (places - 16))


@pytest.mark.parametrize("places", range(1, 9))
def test_the_series_are_enclosed_however_early_they_end(places):
    for angle in range(3 << places):
        turn = Fraction(angle, 2**places) / (2 * precise.PI)
        for result, truth in zip(
            _circle_at(Interval.exactly(angle), places), precise.circle(turn), strict=True
        ):
            assert_encloses(result.affine(0, Fraction(1, 2**places)), [truth])


def test_an_angle_is_at_least_zero_however_coarsely_it_is_known():
    for places in (1, 5, 9):
        wide = Interval(-5 << places, 1 << places)
        assert _circle_at(wide, places) == _circle_at(Interval(0, 1 << places), places)


@pytest.mark.parametrize("width", [Fraction(1, 3), Fraction(1, 10), Fraction(1, 2**32)])
def test_cosines_and_sines_of_all_numbers_inside_are_enclosed(width):
    for start in some_numbers(0, 1):
        turns = Interval(start * (1 - width), start * (1 - width) + width)
        truths = zip(*(precise.circle(turn) for turn in inside(turns)), strict=True)
        for result, values in zip(turns.circle(128), truths, strict=True):
            assert_encloses(result, list(values))
            assert result.high - result.low < 7 * width  # 2π, and a little rounding


@given(intervals())
def test_a_floor_is_told_exactly_if_it_is_that_of_all_numbers_inside(one):
    floors = {math.floor(end) for end in (one.low, one.high)}
    assert one.floor() == (floors.pop() if len(floors) == 1 else None)
    assert Interval(one.low, math.inf).floor() is None
    assert Interval(-math.inf, one.high).floor() is None


@given(intervals(), intervals())
def test_one_is_above_another_exactly_if_all_numbers_inside_are(one, other):
    above = {x > y for x, y in product(inside(one), inside(other))}
    touching = one.low == other.high or one.high == other.low
    assert one.above(other) == (above.pop() if len(above) == 1 and not touching else None)
