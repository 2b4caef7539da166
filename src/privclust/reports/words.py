"""Numbers of a privacy promise for readers of a report; never rounded in favour of the release."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

from privclust.budget import round_up

# Elementary functions are computed with this many digits, of which few are shown.
_DIGITS = Context(prec=40, traps=[])
_MANY = 14  # the exponent of e above which only the order of magnitude is shown: a million


def exact_decimal(value: Fraction | float) -> Decimal:
    """Return a number to forty digits."""
    exact = Fraction(value)
    return _DIGITS.divide(Decimal(exact.numerator), Decimal(exact.denominator))


def power(exponent: Fraction | float) -> Decimal:
    """Return e^exponent to forty digits."""
    return _DIGITS.exp(exact_decimal(exponent))


def factor(exponent: Fraction | float) -> str:
    """Return e^exponent, rounded up; large ones in round numbers."""
    if exponent > _MANY:
        return f"10^{math.ceil(_DIGITS.divide(exact_decimal(exponent), _DIGITS.ln(Decimal(10))))}"
    value = power(exponent)
    if value >= 100:
        return f"{math.ceil(value):,}"
    return format(_digits(value, 4 if value < Decimal("1.2") else 3, ROUND_CEILING), "f")


def chance(bound: Decimal) -> str:
    """Return a bound on a small chance with three digits, rounded up."""
    kept = _digits(bound, 3, ROUND_CEILING)
    return format(kept, "f") if kept > Decimal("1e-7") else f"{float(kept):g}"


def one_in(bound: Decimal) -> str:
    """Return a bound on a small chance as one in how many, rounded down to three digits."""
    return f"{int(_digits(_DIGITS.divide(Decimal(1), bound), 3, ROUND_FLOOR)):,}"


def least(share: Decimal) -> str:
    """Return a probability that is the least possible, rounded down."""
    return percent(share, ROUND_FLOOR)


def most(share: Decimal) -> str:
    """Return a probability that is the most possible, rounded up."""
    return percent(share, ROUND_CEILING)


def percent(share: Decimal | float, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a probability for a reader, never rounded to certainty."""
    value = 100 * Decimal(share)
    if 0 < value < Decimal("0.001"):
        return "less than 0.001 %"
    if value > Decimal("99.999"):
        return "more than 99.999 %"
    digits = 2
    if value > 99:  # enough digits to distinguish it from 100
        digits = 2 - (100 - value).adjusted()
    return f"{_digits(value, digits, rounding):f} %"


def decimal(amount: Fraction) -> str:
    """Return an exact amount as a short decimal, rounded up."""
    return f"{float(round_up(amount, 4)):.4g}"


def _digits(value: Decimal, digits: int, rounding: str) -> Decimal:
    """Return a number with ``digits`` digits, without trailing zeros."""
    kept = Context(prec=digits, rounding=rounding).plus(value)
    return kept.normalize(Context(prec=digits))
