"""The exact side of the samplers: questions about real numbers, settled by as many bits as needed.

A variate is a function of uniform numbers in [0, 1) of which the first words are known. Interval
arithmetic encloses it; while the enclosure leaves the question open, one more word of each number
is drawn. Each answer is therefore the one that infinite precision would give. Proof:
``proofs/float-filter.md``, section "The exact side".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import TypeVar

from privclust.privacy.noise.bits import Bits
from privclust.privacy.noise.interval import Interval

Made = TypeVar("Made")
Answer = TypeVar("Answer")


class LazyUniform:
    """A uniform number in [0, 1), of which the first ``length`` bits are known."""

    def __init__(self, numerator: int, length: int, bits: Bits) -> None:
        self._numerator, self._length, self._bits = numerator, length, bits

    def refine(self) -> None:
        """Reveal the next word."""
        self._numerator = (self._numerator << 64) | int(self._bits.words(1)[0])
        self._length += 64

    @property
    def places(self) -> int:
        """Binary places at which rounding widens an enclosure by far less than the unknown bits."""
        return self._length + 64

    def interval(self) -> Interval:
        """Enclose the number."""
        return Interval.uniform(self._numerator, self._length)


Variate = Callable[[LazyUniform], Interval]


def exponential(uniform: LazyUniform) -> Interval:
    """Enclose the standard exponential variate -ln U."""
    return uniform.interval().minus_log(uniform.places)


def gumbel(uniform: LazyUniform) -> Interval:
    """Enclose the standard Gumbel variate -ln(-ln U)."""
    return exponential(uniform).minus_log(uniform.places)


def settle(
    uniforms: Sequence[LazyUniform],
    make: Callable[[], Made],
    decide: Callable[[Made], Answer | None],
) -> Answer:
    """Refine the numbers until what ``make`` encloses with their known bits is decided."""
    while (answer := decide(make())) is None:
        for uniform in uniforms:
            uniform.refine()
    return answer


def exact_floor(scale: Fraction, uniform: LazyUniform) -> int:
    """Return the floor of ``scale`` times the exponential variate."""
    return settle([uniform], lambda: exponential(uniform).affine(0, scale), Interval.floor)


def exceeds(uniform: LazyUniform, threshold: Fraction) -> bool:
    """Return whether the exponential variate is above ``threshold``."""
    return not settle([uniform], lambda: exponential(uniform), Interval.exactly(threshold).above)


def certain_order(
    gaps: Sequence[int], scale: Fraction, variate: Variate, uniforms: Sequence[LazyUniform], k: int
) -> list[int]:
    """Return the indices of the ``k`` largest of ``gap + scale * variate``, the largest first.

    The numbers are distinct with probability one. Only those that may be next are refined.
    """

    def enclose(index: int) -> Interval:
        return variate(uniforms[index]).affine(gaps[index], scale)

    left = {index: enclose(index) for index in range(len(gaps))}
    order: list[int] = []
    while len(order) < k:
        least = max(bounds.low for bounds in left.values())
        leading = [index for index, bounds in left.items() if bounds.high >= least]
        if len(leading) == 1:
            order += leading
            del left[leading[0]]
            continue
        for index in leading:
            uniforms[index].refine()
            left[index] = enclose(index)
    return order


def exact_selection(gaps: Sequence[int], scale: Fraction, uniform: LazyUniform) -> int:
    """Invert the distribution function of P(j) ∝ exp(gaps[j] / scale) at ``uniform``."""

    def position_and_sums() -> tuple[Interval, list[Interval]]:
        places = uniform.places
        weights = (Interval.exactly(gap / scale).exp(places) for gap in gaps)
        # Sums of integers are faster than sums of fractions.
        sums = [*accumulate(weight.affine(0, 1 << places).whole() for weight in weights)]
        return uniform.interval() * sums[-1], sums

    return settle([uniform], position_and_sums, _first_above)


def _first_above(found: tuple[Interval, list[Interval]]) -> int | None:
    """Return the index of the first rising sum above a position, or ``None`` if undecided."""
    position, sums = found
    for index, total in enumerate(sums[:-1]):
        above = total.above(position)
        if above is not False:
            return index if above else None
    return len(sums) - 1
