"""Exact noise for vectors of bounded Euclidean length: density ∝ exp(-‖x‖ / scale), rounded.

A vector is a length, scale times the sum of ``dimension`` exponential variates, along a direction,
that of independent normal variates made in pairs from a radius and an angle. As in ``exact.py``, a
float filter settles nearly all draws and the exact side the rest. See ``proofs/ball-laplace.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats
from privclust.privacy.noise.bits import Bits
from privclust.privacy.noise.interval import EVERYTHING, Interval
from privclust.privacy.noise.lazy import LazyUniform, exponential, settle

_ZERO = Interval.exactly(0)


def words_needed(dimension: int) -> int:
    """Return how many uniform numbers make up a vector: for its length, the radii, the angles."""
    return dimension + 2 * _pairs(dimension)


def _pairs(dimension: int) -> int:
    return -(-dimension // 2)


def _parts(dimension: int) -> tuple[slice, slice, slice]:
    first, second = dimension, dimension + _pairs(dimension)
    return slice(0, first), slice(first, second), slice(second, None)


def filter_vectors(
    scale: float, dimension: int, variates: Floats, errors: Floats, turns: Floats, slack: float
) -> tuple[Floats, Floats]:
    """Return the vectors before rounding, and bounds on the errors of their coordinates.

    ``variates``, ``errors``: (n_vectors, dimension + pairs), exponential variates and bounds on
    their errors, for the lengths and the radii. ``turns``: (n_vectors, pairs), the angles, as
    uniform numbers in [0, 1) known to 2^-64. ``slack``: the relative error allowed for in each
    elementary result.
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
    # The relative bounds hold up to one half; more, or a NaN, means that the floats settle nothing.
    unknown = ~np.repeat(relative < 0.5, 2, axis=1)[:, :dimension]
    return np.where(unknown, 0, vectors), np.where(unknown, np.inf, bound)


def _sum(values: Floats, errors: Floats, slack: float) -> tuple[Floats, Floats]:
    """Add up each row; a sum of n floats is off by at most n/32 times the slack."""
    total = values.sum(axis=1, keepdims=True)
    rounding = slack * (1 + values.shape[1] / 32)
    return total, errors.sum(axis=1, keepdims=True) * (1 + rounding) + total * rounding


def exact_vector(
    scale: Fraction, dimension: int, words: NDArray[np.uint64], bits: Bits
) -> list[int]:
    """Return the rounded vector that the words, and further words if need be, determine."""
    uniforms = [LazyUniform(int(word), 64, bits) for word in words]
    return settle(uniforms, lambda: _coordinates(scale, dimension, uniforms), _round)


def _round(coordinates: list[Interval]) -> list[int] | None:
    """Return the nearest integers, or ``None`` if one of them is not settled."""
    nearest = [coordinate.affine(Fraction(1, 2), 1).floor() for coordinate in coordinates]
    certain = [integer for integer in nearest if integer is not None]
    return certain if len(certain) == len(nearest) else None


def _coordinates(scale: Fraction, dimension: int, uniforms: list[LazyUniform]) -> list[Interval]:
    """Enclose each coordinate."""
    lengths, radii, angles = _parts(dimension)
    variates = [exponential(uniform) for uniform in uniforms[: angles.start]]
    if any(variate.high == math.inf for variate in variates):
        return [EVERYTHING] * dimension
    places = uniforms[0].places
    circle = [uniform.interval().circle(places) for uniform in uniforms[angles]]
    shares = variates[radii]
    if dimension % 2:  # only the cosine of the last pair is used
        shares[-1] *= circle[-1][0] * circle[-1][0]
    total, length = sum(shares, _ZERO), sum(variates[lengths], _ZERO)
    if total.low <= 0:
        return [EVERYTHING] * dimension
    coordinates = []
    for radius, (cosine, sine) in zip(variates[radii], circle, strict=True):
        size = (length * radius.over(total).root(places)).affine(0, scale)
        coordinates += [size * cosine, size * sine]
    return coordinates[:dimension]
