"""The float filter: real numbers in floats, each with a bound on its error, and what they settle.

A function returns either values with bounds on their absolute errors, or decisions with a mask of
those that hold for every number within the bounds. A bound is infinite where the float value says
nothing; the value itself stays finite, so that no comparison meets a NaN. ``slack`` is the relative
error allowed for in each elementary result. The bounds are derived in ``proofs/float-filter.md``.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats, Integers, Mask

Words = NDArray[np.uint32] | NDArray[np.uint64]


def exponentials(words: Words, slack: float) -> tuple[Floats, Floats]:
    """Return -ln U for each U in [word, word + 1) / 2^length."""
    known = words.astype(np.float64)
    with np.errstate(divide="ignore"):
        error = 1 / known  # from the bits not yet known
    value = -np.log(np.maximum(known, 1) * 2.0 ** (-8 * words.itemsize))
    error += slack * (1 + np.abs(value))
    return value, error


def gumbels(words: Words, slack: float) -> tuple[Floats, Floats]:
    """Return -ln(-ln U) for each U in [word, word + 1) / 2^length."""
    arrival, width = exponentials(words, slack)
    sure = width < arrival
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(sure, width / (arrival - width), np.inf)
    value = -np.log(np.where(sure, arrival, 1))
    error += slack * (1 + np.abs(value))
    return value, error


def scale_with_error(scale: Fraction, value: Floats, error: Floats) -> tuple[Floats, Floats]:
    """Return ``scale * value`` and its error; the slack in ``error`` covers the rounding here."""
    factor = float(scale)
    return factor * value, factor * error


def shift_with_error(
    gaps: Integers, scale: Fraction, value: Floats, error: Floats, slack: float
) -> tuple[Floats, Floats]:
    """Return ``gaps + scale * value`` and its error."""
    value, error = scale_with_error(scale, value, error)
    error += slack * np.abs(gaps)
    return gaps + value, error


def acceptance_margins(
    drawn: Integers, variance: Fraction, scale: Fraction, value: Floats, error: Floats, slack: float
) -> tuple[Floats, Floats]:
    """Return how far each value exceeds the penalty of a draw of the discrete Gaussian."""
    distance = np.abs(drawn) - float(variance / scale)
    penalty = distance * distance / (2 * float(variance))
    return value - penalty, error + slack * penalty


def floors(value: Floats, error: Floats) -> tuple[Integers, Mask]:
    """Return the floor of each number, zero where uncertain, and a mask of the certain ones."""
    low, high = np.floor(value - error), np.floor(value + error)
    sure = low == high
    return np.where(sure, low, 0).astype(np.int64), sure


def selections(
    gaps: Integers, scale: Fraction, words: Words, slack: float
) -> tuple[Integers, Mask]:
    """Invert the distribution function of P(j) ∝ exp(gap_j / scale), one word for each row."""
    sums = np.cumsum(np.exp(gaps / float(scale)), axis=1)
    unit = 2.0 ** (-8 * words.itemsize)
    position = (words * unit * sums[:, -1])[:, None]
    inner = sums[:, :-1]
    picked: Integers = np.count_nonzero(inner < position, axis=1)
    error = sums[:, -1:] * (slack * (gaps.shape[1] + 1) + unit)
    return picked, (np.abs(inner - position) > error).all(axis=1)


def certain_rankings(value: Floats, error: Floats, k: int) -> tuple[Integers, Mask]:
    """Return the columns of the ``k`` largest numbers of each row, and a mask of certain rows."""
    best = value.argmax(axis=1)[:, None] if k == 1 else np.argsort(-value, axis=1)[:, :k]
    order: Integers = best.astype(np.int64, copy=False)
    at = order + np.arange(0, value.size, value.shape[1])[:, None]
    floor, ceiling = value.take(at) - error.take(at), value + error
    # Each of the k must beat the next, and the last must beat all the others.
    beaten = np.empty_like(floor)
    beaten[:, :-1] = ceiling.take(at[:, 1:])
    ceiling.put(at, -np.inf)
    beaten[:, -1] = ceiling.max(axis=1)
    sure: Mask = np.all(floor > beaten, axis=1)
    return order, sure
