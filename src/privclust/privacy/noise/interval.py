"""Enclosures of real numbers, whose every operation rounds outwards.

An interval contains the number that it stands for, and what is computed from intervals contains
what exact arithmetic would compute from those numbers. So the error of a result is the width of its
interval, and no term of it can be left out. ``places``: roughly how many binary places an operation
rounds to; it decides how wide the result is, never whether it is right.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache

Rational = int | Fraction
Bound = Rational | float  # a float only as an infinity


@dataclass(frozen=True, slots=True)
class Interval:
    """Every real number from ``low`` to ``high``; the ends are exact, or infinite."""

    low: Bound
    high: Bound

    def __post_init__(self) -> None:
        if not self.low <= self.high:  # nor if one of them is a NaN
            raise ArithmeticError("No number lies between the ends of this interval.")

    @classmethod
    def uniform(cls, numerator: int, length: int) -> Interval:
        """Return the interval of a number of which ``length`` binary digits are known."""
        return cls(Fraction(numerator, 1 << length), Fraction(numerator + 1, 1 << length))

    @classmethod
    def exactly(cls, number: Rational) -> Interval:
        """Return the interval of one number."""
        return cls(number, number)

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Interval) -> Interval:
        return Interval(self.low - other.high, self.high - other.low)

    def __mul__(self, other: Interval) -> Interval:
        a, b, c, d = self.low, self.high, other.low, other.high
        if a >= 0 and c >= 0:  # the code below gives the same, in twice the time
            return Interval(a * c, b * d)
        ends = (a * c, a * d, b * c, b * d)
        return Interval(min(ends), max(ends))

    def over(self, other: Interval) -> Interval:
        """Divide by numbers above zero."""
        return self * Interval(Fraction(1) / other.high, Fraction(1) / other.low)

    def affine(self, offset: Rational, scale: Rational) -> Interval:
        """Return ``offset + scale * number`` for a scale above zero."""
        return Interval(offset + scale * self.low, offset + scale * self.high)

    def whole(self, divisor: int = 1) -> Interval:
        """Divide by an integer above zero, and round to integers."""
        return Interval(self.low // divisor, -(-self.high // divisor))

    def minus_log(self, places: int) -> Interval:
        """Return minus the logarithm of numbers of at least zero."""
        least, largest = self.low, self.high
        return Interval(
            -_bound(Context.ln, largest, places, up=True) if largest < math.inf else -math.inf,
            -_bound(Context.ln, least, places, up=False) if least > 0 else math.inf,
        )

    def exp(self, places: int) -> Interval:
        """Return the exponential; below e^-places it is between zero and 2^-places."""
        tiny = Fraction(1, 1 << places)
        return Interval(
            _bound(Context.exp, self.low, places, up=False) if self.low >= -places else 0,
            _bound(Context.exp, self.high, places, up=True) if self.high >= -places else tiny,
        )

    def root(self, places: int) -> Interval:
        """Return the square root of numbers of at least zero."""
        squares = self.affine(0, 1 << 2 * places).whole()
        roots = math.isqrt(int(squares.low)), math.isqrt(int(squares.high)) + 1
        return Interval(*(Fraction(root, 1 << places) for root in roots))

    def circle(self, places: int) -> tuple[Interval, Interval]:
        """Return the cosine and the sine of 2π times numbers between zero and one.

        They are computed at the middle. Elsewhere they differ by at most 2π times the distance.
        """
        middle, distance = Fraction(self.low + self.high) / 2, Fraction(self.high - self.low) / 2
        quarters = math.floor(4 * middle)
        cosine, sine = _circle_at(pi(places).affine(0, 2 * middle - Fraction(quarters, 2)), places)
        for _ in range(quarters):
            cosine, sine = Interval.exactly(0) - sine, cosine
        around, unit = _twice(pi(places).affine(0, distance).whole()), Fraction(1, 1 << places)
        return (cosine + around).affine(0, unit), (sine + around).affine(0, unit)

    def floor(self) -> int | None:
        """Return the largest integer below, or ``None`` if that depends on the number."""
        if self.low == -math.inf or self.high == math.inf:
            return None
        floor = math.floor(self.low)
        return floor if floor == math.floor(self.high) else None

    def above(self, other: Interval) -> bool | None:
        """Return whether the number is above another, or ``None`` if undecided."""
        if self.low > other.high:
            return True
        return False if self.high < other.low else None


EVERYTHING = Interval(-math.inf, math.inf)


# The series are added up in units of 2^-places, so that all ends are integers.
@lru_cache(maxsize=64)
def pi(places: int) -> Interval:
    """Return π in such units, by Machin's formula 4 (4 arctan 1/5 - arctan 1/239)."""
    fifth, small = (_inverse_tangent(number, places) for number in (5, 239))
    return (fifth.affine(0, 4) - small).affine(0, 4)


def _inverse_tangent(number: int, places: int) -> Interval:
    """Return the arc tangent of 1/number."""
    power, sums, step = Interval.exactly(1 << places).whole(number), [Interval.exactly(0)] * 2, 0
    while power.high > 1:
        sums[step % 2] += power.whole(2 * step + 1)
        power, step = power.whole(number**2), step + 1
    return sums[0] - sums[1] + _twice(power)


def _circle_at(angle: Interval, places: int) -> tuple[Interval, Interval]:
    """Return the cosine and the sine of an angle of at least zero, by their Taylor series."""
    unit = 1 << places
    angle, term = Interval(max(0, angle.low // 1), angle.whole().high), Interval.exactly(unit)
    sums, step = [Interval.exactly(0)] * 4, 0
    # A term angle^step / step! below 1 has 2 angle <= step + 1, for step! <= ((step + 1) / 2)^step.
    # So each of those after it is at most half of the one before.
    while term.high > 1:
        sums[step % 4] += term
        step += 1
        term = (term * angle).whole(step * unit)
    return sums[0] - sums[2] + _twice(term), sums[1] - sums[3] + _twice(term)


def _twice(number: Interval) -> Interval:
    """Return the interval within twice a number of zero. A sum in which each term is at most half
    of the one before lies within twice its first.
    """
    return Interval(-2 * number.high, 2 * number.high)


def _bound(
    function: Callable[[Context, Decimal], Decimal], value: Bound, places: int, *, up: bool
) -> Fraction:
    """Bound an increasing function from one side: ``Context.ln`` or ``Context.exp``.

    The quotient is rounded to that side. ``decimal`` rounds the function of it to the nearest
    number, whatever the context says, so the next number on that side is beyond the true value.
    """
    side, ratio = _context(places, up=up), Fraction(value)
    quotient = side.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    nearest = function(side, quotient)
    if not nearest:  # the logarithm of 1, exactly; the number next to zero is no practical fraction
        return Fraction(0)
    return Fraction(side.next_plus(nearest) if up else side.next_minus(nearest))


@lru_cache(maxsize=64)
def _context(places: int, *, up: bool) -> Context:
    """Return a context with enough digits that never overflows, underflows or traps."""
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    return Context(-(-places // 3), rounding, MIN_EMIN, MAX_EMAX, traps=[])
