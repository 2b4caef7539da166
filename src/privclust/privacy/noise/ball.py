"""Exact noise for vectors of bounded Euclidean length: density ∝ exp(-‖x‖ / scale), rounded.

A vector is a length, scale times the sum of ``dimension`` exponential variates, along a direction,
that of independent normal variates made in pairs from a radius and an angle. As in ``exact.py``, a
float filter settles nearly all draws and the exact side the rest. See ``proofs/ball-laplace.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats
from privclust.privacy.noise.bits import Bits
from privclust.privacy.noise.lazy import LazyExponential, LazyUniform

__all__ = ["certain_vector", "filtered_vectors", "words_needed"]

Interval = tuple[Fraction, Fraction]


def words_needed(dimension: int) -> int:
    """Return how many uniform numbers a vector is made of: its length, the radii, the angles."""
    return dimension + 2 * _pairs(dimension)


def _pairs(dimension: int) -> int:
    return -(-dimension // 2)


def _parts(dimension: int) -> tuple[slice, slice, slice]:
    first, second = dimension, dimension + _pairs(dimension)
    return slice(0, first), slice(first, second), slice(second, None)


def filtered_vectors(
    scale: float, dimension: int, variates: Floats, errors: Floats, turns: Floats, slack: float
) -> tuple[Floats, Floats]:
    """Return the vectors before rounding, and bounds on the errors of their coordinates.

    Parameters
    ----------
    scale : float
    dimension : int
    variates, errors : ndarray of shape (n_vectors, dimension + pairs)
        Exponential variates and bounds on their errors, for the lengths and the radii.
    turns : ndarray of shape (n_vectors, pairs)
        The angles, as uniform numbers in [0, 1) known to 2^-64.
    slack : float
        The relative error allowed for in each elementary result.
    """
    lengths, radii, _ = _parts(dimension)
    circle = np.stack([np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)], axis=-1)
    circle_error = slack + 2.0**-61
    radius, radius_error = variates[:, radii], errors[:, radii]
    share, share_error = radius.copy(), radius_error.copy()
    if dimension % 2:  # only the cosine of the last pair is used
        cosine = circle[:, -1, 0]
        share[:, -1] *= cosine**2
        share_error[:, -1] += share[:, -1] * slack + 3 * radius[:, -1] * circle_error
    total, total_error = _sum(share, share_error, slack)
    length, length_error = _sum(variates[:, lengths], errors[:, lengths], slack)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = radius_error / radius + (total_error / total + length_error / length)
        size = scale * length * np.sqrt(radius / total)
    vectors = (size[..., None] * circle).reshape(len(size), -1)[:, :dimension]
    bound = np.abs(vectors) * np.repeat(relative + slack, 2, axis=1)[:, :dimension]
    bound += np.repeat(size * (1 + relative) * circle_error, 2, axis=1)[:, :dimension]
    # The relative bounds hold up to one half; a NaN or more says that the floats know nothing.
    unknown = ~np.repeat(relative < 0.5, 2, axis=1)[:, :dimension]
    return np.where(unknown, 0, vectors), np.where(unknown, np.inf, bound)


def _sum(values: Floats, errors: Floats, slack: float) -> tuple[Floats, Floats]:
    """Add up each row; a sum of n floats is off by at most n/32 times the slack."""
    total = values.sum(axis=1, keepdims=True)
    rounding = slack * (1 + values.shape[1] / 32)
    return total, errors.sum(axis=1, keepdims=True) * (1 + rounding) + total * rounding


def certain_vector(
    scale: Fraction, dimension: int, words: NDArray[np.uint64], bits: Bits
) -> list[int]:
    """Return the rounded vector that the words, and further words if need be, determine."""
    uniforms = [LazyUniform(int(word), 64, bits) for word in words]
    while True:
        bounds = _coordinates(scale, dimension, uniforms)
        rounded = [
            None if bound is None else (_nearest(bound[0]), _nearest(bound[1])) for bound in bounds
        ]
        if all(ends is not None and ends[0] == ends[1] for ends in rounded):
            return [ends[0] for ends in rounded if ends is not None]
        for uniform in uniforms:
            uniform.refine()


def _nearest(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


def _coordinates(
    scale: Fraction, dimension: int, uniforms: list[LazyUniform]
) -> list[Interval | None]:
    """Enclose each coordinate, or return ``None`` for it where the known bits say nothing."""
    lengths, radii, angles = _parts(dimension)
    exponentials = [_finite(LazyExponential(uniform)) for uniform in uniforms[: angles.start]]
    if any(bounds is None for bounds in exponentials):
        return [None] * dimension
    known = [bounds for bounds in exponentials if bounds is not None]
    circle = [_circle(uniform) for uniform in uniforms[angles]]
    shares = list(known[radii])
    if dimension % 2:
        shares[-1] = _times(shares[-1], _square(circle[-1][0]))
    total, length = _add(shares), _add(known[lengths])
    if total[0] <= 0:
        return [None] * dimension
    precision = uniforms[0].length + 64
    coordinates: list[Interval | None] = []
    for radius, (cosine, sine) in zip(known[radii], circle, strict=True):
        size = _times(length, _root(radius[0] / total[1], radius[1] / total[0], precision))
        size = (scale * size[0], scale * size[1])
        coordinates += [_signed(size, cosine), _signed(size, sine)]
    return coordinates[:dimension]


def _finite(variate: LazyExponential) -> Interval | None:
    low, high = variate.bounds()
    return (low, high) if isinstance(low, Fraction) and isinstance(high, Fraction) else None


def _add(bounds: list[Interval]) -> Interval:
    return sum((low for low, _ in bounds), Fraction(0)), sum(
        (high for _, high in bounds), Fraction(0)
    )


def _times(left: Interval, right: Interval) -> Interval:
    """Multiply enclosures of numbers that are not negative."""
    return left[0] * right[0], left[1] * right[1]


def _signed(size: Interval, factor: Interval) -> Interval:
    """Multiply a size of at least zero by a number of either sign."""
    low = size[1] if factor[0] < 0 else size[0]
    high = size[0] if factor[1] < 0 else size[1]
    return low * factor[0], high * factor[1]


def _square(bounds: Interval) -> Interval:
    ends = (bounds[0] ** 2, bounds[1] ** 2)
    return (Fraction(0) if bounds[0] < 0 < bounds[1] else min(ends)), max(ends)


def _root(low: Fraction, high: Fraction, precision: int) -> Interval:
    """Enclose a square root with integer arithmetic, to ``precision`` binary places."""
    unit = 1 << precision
    below = math.isqrt(math.floor(low * unit * unit))
    above = math.isqrt(math.floor(high * unit * unit)) + 1
    return Fraction(below, unit), Fraction(above, unit)


def _circle(turn: LazyUniform) -> tuple[Interval, Interval]:
    """Enclose the cosine and the sine of 2π times the turn."""
    places = turn.length + 64
    angle = (2 * _pi(places) * turn.numerator) >> turn.length
    # Fewer than 2^17 units of rounding in the series, and 7 units of the last bit known.
    error = Fraction(1, 1 << (places - 17)) + Fraction(7, 1 << turn.length)
    cosine = Fraction(_series(angle, 1 << places, 1, places), 1 << places)
    sine = Fraction(_series(angle, angle, 2, places), 1 << places)
    return (cosine - error, cosine + error), (sine - error, sine + error)


def _series(angle: int, term: int, step: int, places: int) -> int:
    """Add up the Taylor series of a cosine (step 1) or sine (step 2) in fixed point."""
    square, total = (angle * angle) >> places, 0
    while term:
        total += term
        term = -((term * square) // (step * (step + 1)) >> places)
        step += 2
    return total


@lru_cache(maxsize=64)
def _pi(places: int) -> int:
    """Return π in fixed point, off by less than one unit (Machin's formula)."""
    guarded = places + 32

    def arc_tangent_of_inverse(number: int) -> int:
        power = total = (1 << guarded) // number
        square, divisor, sign = number * number, 3, -1
        while power:
            power //= square
            total += sign * (power // divisor)
            sign, divisor = -sign, divisor + 2
        return total

    return 4 * (4 * arc_tangent_of_inverse(5) - arc_tangent_of_inverse(239)) >> 32
