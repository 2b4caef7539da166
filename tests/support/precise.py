"""Real functions to more than a hundred digits, by other ways than those of the library."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction

PRECISE = Context(prec=130)
TINY = Fraction(1, 10**110)  # more than any error of these functions


def decimal(value: Fraction | int) -> Decimal:
    value = Fraction(value)
    return PRECISE.divide(Decimal(value.numerator), Decimal(value.denominator))


def log(value: Fraction | int) -> Fraction:
    return Fraction(PRECISE.ln(decimal(value)))


def exp(value: Fraction | int) -> Fraction:
    return Fraction(PRECISE.exp(decimal(value)))


def root(value: Fraction | int) -> Fraction:
    return Fraction(PRECISE.sqrt(decimal(value)))


def circle(turn: Fraction | int) -> tuple[Fraction, Fraction]:
    """Return the cosine and the sine of 2π times ``turn``."""
    with localcontext(PRECISE):
        angle, sums, step = 2 * decimal(PI) * decimal(turn), [Decimal(0), Decimal(0)], 0
        term = Decimal(1)
        while abs(term) > Decimal("1e-129"):
            sums[step % 2] += term * (-1) ** (step // 2)
            step += 1
            term = term * angle / step
    return Fraction(sums[0]), Fraction(sums[1])


def _pi() -> Fraction:
    """Return π by the arithmetic-geometric mean of Gauss and Legendre."""
    with localcontext(PRECISE):
        a, b, t, p = Decimal(1), 1 / Decimal(2).sqrt(), Decimal("0.25"), Decimal(1)
        for _ in range(8):
            middle = (a + b) / 2
            b, t, p = (a * b).sqrt(), t - p * (a - middle) ** 2, 2 * p
            a = middle
        return Fraction((a + b) ** 2 / (4 * t))


PI = _pi()
