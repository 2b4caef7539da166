"""The exact side of the samplers: real numbers whose bits are revealed until a question is settled.

A variate is a function of a uniform number U in [0, 1) of which the first words are known. Decimal
arithmetic encloses the variate between two rational bounds; while the bounds leave the question
open, one more word is drawn. Each answer is therefore the one that infinite precision would give.
Proof: ``proofs/float-filter.md``, section "The exact side".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Protocol

from privclust.privacy.noise.bits import Bits

__all__ = [
    "LazyExponential",
    "LazyGumbel",
    "LazyReal",
    "LazyUniform",
    "Shifted",
    "certain_floor",
    "certain_maximum",
    "certain_selection",
    "exceeds",
]

Bound = Fraction | float  # a float only as an infinity


def _context(digits: int) -> Context:
    """Return a context that neither overflows nor underflows nor traps at ``digits`` digits."""
    return Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])


class LazyUniform:
    """A uniform number in [0, 1), known to lie in [numerator, numerator + 1) / 2^length."""

    def __init__(self, numerator: int, length: int, bits: Bits) -> None:
        self.numerator = numerator
        self.length = length
        self._bits = bits

    def refine(self) -> None:
        """Reveal the next word."""
        self.numerator = (self.numerator << 64) | int(self._bits.words(1)[0])
        self.length += 64

    @property
    def digits(self) -> int:
        """Decimal digits that leave rounding errors far below the width of the enclosure."""
        return math.ceil(self.length * math.log10(2)) + 20


class LazyReal(Protocol):
    """A real number enclosed between bounds that can be narrowed at will."""

    def bounds(self) -> tuple[Bound, Bound]:
        """Return numbers at most, and at least, as large as the real number."""

    def refine(self) -> None:
        """Narrow the bounds."""


class _OfUniform:
    """A function of a uniform number, narrowed as the number is."""

    def __init__(self, uniform: LazyUniform) -> None:
        self._uniform = uniform
        self.refine = uniform.refine


class LazyExponential(_OfUniform):
    """The standard exponential variate -ln U of a uniform U."""

    def bounds(self) -> tuple[Bound, Bound]:
        """Enclose -ln U."""
        known = self._uniform
        low = _minus_log(Fraction(known.numerator + 1, 2**known.length), known.digits)[0]
        if known.numerator == 0:
            return max(Fraction(0), low), math.inf
        high = _minus_log(Fraction(known.numerator, 2**known.length), known.digits)[1]
        return max(Fraction(0), low), high


class LazyGumbel(_OfUniform):
    """The standard Gumbel variate -ln(-ln U) of a uniform U."""

    def bounds(self) -> tuple[Bound, Bound]:
        """Enclose -ln(-ln U)."""
        low, high = LazyExponential(self._uniform).bounds()
        digits = self._uniform.digits
        lower = _minus_log(high, digits)[0] if isinstance(high, Fraction) else -math.inf
        upper = _minus_log(low, digits)[1] if isinstance(low, Fraction) and low > 0 else math.inf
        return lower, upper


class Shifted:
    """``offset + scale * real`` for exact rationals ``offset`` and ``scale``."""

    def __init__(self, offset: int, scale: Fraction, real: LazyReal) -> None:
        self._offset, self._scale, self._real = offset, scale, real
        self.refine = real.refine

    def bounds(self) -> tuple[Bound, Bound]:
        """Enclose the shifted and scaled number."""
        low, high = self._real.bounds()
        return self._move(low), self._move(high)

    def _move(self, bound: Bound) -> Bound:
        return self._offset + self._scale * bound if isinstance(bound, Fraction) else bound


def certain_floor(real: LazyReal) -> int:
    """Return the floor of ``real``."""
    while True:
        low, high = real.bounds()
        if isinstance(low, Fraction) and isinstance(high, Fraction):
            floor = math.floor(low)
            if floor == math.floor(high):
                return floor
        real.refine()


def exceeds(real: LazyReal, threshold: Fraction) -> bool:
    """Tell whether ``real`` is above ``threshold``."""
    while True:
        low, high = real.bounds()
        if low > threshold:
            return True
        if high < threshold:
            return False
        real.refine()


def certain_maximum(reals: Sequence[LazyReal]) -> int:
    """Return the index of the largest of ``reals``, which are distinct with probability one."""
    candidates = list(range(len(reals)))
    while True:
        bounds = {index: reals[index].bounds() for index in candidates}
        floor = max(low for low, _ in bounds.values())
        candidates = [index for index in candidates if bounds[index][1] >= floor]
        if len(candidates) == 1:
            return candidates[0]
        for index in candidates:
            reals[index].refine()


def certain_selection(scores: Sequence[int], scale: Fraction, uniform: LazyUniform) -> int:
    """Invert the distribution function of P(j) ∝ exp(scores[j] / scale) at ``uniform``."""
    while True:
        answer = _try_selection(scores, scale, uniform)
        if answer is not None:
            return answer
        uniform.refine()


def _try_selection(scores: Sequence[int], scale: Fraction, uniform: LazyUniform) -> int | None:
    """Return the selected index, or ``None`` while the known bits of ``uniform`` leave it open."""
    digits = uniform.digits + len(str(len(scores)))
    context, best = _context(digits), max(scores)
    total, sums = Decimal(0), []
    for score in scores:
        total = context.add(total, _weight(Fraction(score - best) / scale, context))
        sums.append(total)
    # Each weight and each addition is off by less than 10^(5 - digits), relative to a total of at
    # least one.
    width = Fraction(len(scores), 10 ** (digits - 6)) * Fraction(total)
    position = Fraction(uniform.numerator, 2**uniform.length) * Fraction(total)
    step = Fraction(total) / 2**uniform.length
    for index, threshold in enumerate(sums[:-1]):
        if position + step + width < Fraction(threshold):
            return index
        if position - width <= Fraction(threshold):
            return None
    return len(scores) - 1


def _weight(exponent: Fraction, context: Context) -> Decimal:
    """Return exp(exponent) for an exponent of at most zero, to the precision of ``context``."""
    if exponent < -3 * context.prec:  # below 10^(-1.3 prec), within the error allowed for
        return Decimal(0)
    return context.exp(context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator)))


def _minus_log(value: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Enclose -ln(value) for a positive rational."""
    context = _context(digits)
    ratio = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    log = Fraction(context.ln(ratio))
    slack = (1 + abs(log)) / 10 ** (digits - 3)
    return -log - slack, -log + slack
