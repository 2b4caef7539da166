"""Exact, vectorised samplers of discrete noise and of private selection.

Each draw is first decided in floating point together with a bound on the error of that decision, by
``float_filter.py``. Where the bound leaves the outcome open (about one draw in 10^8) the same
random words go to the exact side in ``lazy.py``. So the outcome is always that of infinite
precision, at the speed of NumPy. Proofs: ``proofs/float-filter.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats, Integers
from privclust.privacy.noise import float_filter, lazy
from privclust.privacy.noise.ball import exact_vector, filter_vectors, words_needed
from privclust.privacy.noise.bits import Bits, SystemBits
from privclust.privacy.noise.float_filter import Words
from privclust.privacy.noise.lazy import LazyUniform, Variate

# Relative error allowed for in every elementary result: 2^-48 is 32 units of float64 rounding. The
# most that a result needs are the 27 of an angle, see proofs/ball-laplace.md.
FILTER_ERROR = 2.0**-48

# With larger scales a draw could leave the range in which float64 holds integers exactly.
MAX_SCALE = 2**46

# Below this a float cannot represent the scale.
MIN_SCALE = Fraction(1, 2**1000)

# Draws handled at a time: small enough for the cache, large enough to hide Python's overhead.
_CHUNK = 1 << 15

# The system's bits cost more than the arithmetic on them. Half words leave more draws open, about
# 2^-32 for each outcome that a draw is distinguished from; up to this many outcomes they pay.
_HALF_WORD_OUTCOMES = 1 << 12


class _Law(NamedTuple):
    """A variate made of one uniform number: in floats with their errors, and enclosed exactly."""

    filtered: Callable[[Words, float], tuple[Floats, Floats]]
    certain: Variate


EXPONENTIAL = _Law(float_filter.exponentials, lazy.exponential)
GUMBEL = _Law(float_filter.gumbels, lazy.gumbel)


@dataclass(frozen=True)
class ExactNoise:
    """A noise source whose draws follow their distributions exactly.

    Parameters
    ----------
    bits : Bits
        Where the random words come from.
    filter_error : float
        The relative error that the float filter allows for. A larger value sends more draws to the
        exact side and changes no outcome; only tests have a reason to set it.
    """

    bits: Bits = field(default_factory=SystemBits)
    filter_error: float = FILTER_ERROR

    @property
    def private(self) -> bool:
        """Whether the bits behind the noise are unpredictable."""
        return self.bits.private

    def laplace(self, scale: Fraction, count: int) -> Integers:
        """Draw integers with P(k) ∝ exp(-abs(k) / scale)."""
        _check_scale(scale)
        return _in_chunks(count, lambda wanted: self._laplace_batch(scale, wanted))

    def gaussian(self, variance: Fraction, count: int) -> Integers:
        """Draw integers with P(k) ∝ exp(-k² / (2 variance))."""
        if variance <= 0:
            raise ValueError("The variance of noise must be above zero.")
        if variance < MIN_SCALE:
            raise ValueError("A noise variance below 2^-1000 hides nothing; use a smaller epsilon.")
        proposal = Fraction(math.isqrt(math.floor(variance)) + 1)
        _check_scale(proposal)
        return _in_chunks(count, lambda wanted: self._gaussian_batch(variance, proposal, wanted))

    def ball(self, scale: Fraction, count: int, dimension: int) -> Integers:
        """Draw ``count`` vectors with density ∝ exp(-‖x‖ / scale), rounded to integers."""
        _check_scale(scale)
        _check_scale(scale * dimension)
        height = max(1, _CHUNK // dimension)
        sizes = [min(height, count - start) for start in range(0, count, height)]
        parts = [self._ball_batch(scale, size, dimension) for size in sizes]
        return np.concatenate(parts) if parts else np.empty((0, dimension), np.int64)

    def exponential_rows(self, scores: Integers, scale: Fraction) -> Integers:
        """Pick one column of each row with P(j) ∝ exp(score_j / scale)."""
        return _by_rows(scores, scale, lambda gaps: self._exponential_rows(gaps, scale))

    def permute_and_flip_rows(self, scores: Integers, scale: Fraction) -> Integers:
        """Pick in each row the largest score after adding exponential noise of the given scale.

        This has the distribution of the permute-and-flip mechanism.
        """
        return _by_rows(scores, scale, lambda gaps: self._noisy_order(gaps, scale, EXPONENTIAL, 1))[
            :, 0
        ]

    def top_k_rows(self, scores: Integers, scale: Fraction, k: int) -> Integers:
        """Pick the ``k`` largest scores of each row, best first, after adding Gumbel noise.

        This has the distribution of ``k`` draws of :meth:`exponential_rows` in turn, each without
        the columns picked before.
        """
        if not 1 <= k <= scores.shape[1]:
            raise ValueError(f"k must be between 1 and the {scores.shape[1]} candidates, got {k}.")
        return _by_rows(scores, scale, lambda gaps: self._noisy_order(gaps, scale, GUMBEL, k))

    # Discrete Laplace: a random sign on a geometric variate, without the negative zero.
    def _laplace_batch(self, scale: Fraction, wanted: int) -> Integers:
        kept_share = (1 + math.exp(-1 / float(scale))) / 2
        count = int(wanted / kept_share * 1.02) + 16
        magnitudes = self._geometric(scale, count)
        negative = self._coins(count)
        kept = ~(negative & (magnitudes == 0))
        draws: Integers = np.where(negative, -magnitudes, magnitudes)[kept]
        return draws[:wanted]

    def _geometric(self, scale: Fraction, count: int) -> Integers:
        """Draw integers with P(k or more) = exp(-k / scale): the floor of an exponential."""
        words = self._words(count, outcomes=scale)
        variates = float_filter.exponentials(words, self.filter_error)
        floors, sure = float_filter.floors(*float_filter.scale_with_error(scale, *variates))
        for index in np.flatnonzero(~sure):
            floors[index] = lazy.exact_floor(scale, self._lazy(words[index]))
        return floors

    def _coins(self, count: int) -> NDArray[np.bool_]:
        words = self.bits.words(-(-count // 64))
        return np.unpackbits(words.view(np.uint8), count=count).view(np.bool_)

    # Discrete Gaussian: a discrete Laplace draw y of scale t is kept with probability
    # exp(-(abs(y) - variance/t)² / (2 variance)) (Canonne, Kamath, Steinke 2020).
    def _gaussian_batch(self, variance: Fraction, proposal: Fraction, wanted: int) -> Integers:
        proposals = self._laplace_batch(proposal, int(wanted * 1.4) + 16)
        words = self._words(len(proposals), outcomes=2)
        arrivals = float_filter.exponentials(words, self.filter_error)
        margin, error = float_filter.acceptance_margins(
            proposals, variance, proposal, *arrivals, self.filter_error
        )
        accepted = margin > 0
        for index in np.flatnonzero(~(np.abs(margin) > error)):
            exact_distance = abs(int(proposals[index])) - variance / proposal
            exact_penalty = exact_distance**2 / (2 * variance)
            accepted[index] = lazy.exceeds(self._lazy(words[index]), exact_penalty)
        return proposals[accepted][:wanted]

    def _ball_batch(self, scale: Fraction, count: int, dimension: int) -> Integers:
        per_vector = words_needed(dimension)
        words = self.bits.words(count * per_vector).reshape(count, per_vector)
        straight = dimension + (per_vector - dimension) // 2
        variates, errors = float_filter.exponentials(words[:, :straight], self.filter_error)
        turns: Floats = words[:, straight:].astype(np.float64) * 2.0**-64
        value, error = filter_vectors(
            float(scale), dimension, variates, errors, turns, self.filter_error
        )
        vectors, sure = float_filter.floors(value + 0.5, error)
        for row in np.flatnonzero(~sure.all(axis=1)):
            vectors[row] = exact_vector(scale, dimension, words[row], self.bits)
        return vectors

    def _exponential_rows(self, gaps: Integers, scale: Fraction) -> Integers:
        """Invert the distribution function of each row at one uniform number."""
        words = self._words(len(gaps), outcomes=gaps.shape[1])
        picked, sure = float_filter.selections(gaps, scale, words, self.filter_error)
        for row in np.flatnonzero(~sure):
            picked[row] = lazy.exact_selection(gaps[row].tolist(), scale, self._lazy(words[row]))
        return picked

    def _noisy_order(self, gaps: Integers, scale: Fraction, law: _Law, k: int) -> Integers:
        """Return the columns of the ``k`` largest gaps in each row after noise of this law."""
        words = self._words(gaps.size, outcomes=gaps.shape[1]).reshape(gaps.shape)
        variates = law.filtered(words, self.filter_error)
        noisy = float_filter.shift_with_error(gaps, scale, *variates, self.filter_error)
        picked, sure = float_filter.certain_rankings(*noisy, k)
        for row in np.flatnonzero(~sure):
            uniforms = [self._lazy(word) for word in words[row]]
            picked[row] = lazy.certain_order(gaps[row].tolist(), scale, law.certain, uniforms, k)
        return picked

    def _words(self, count: int, outcomes: int | Fraction) -> Words:
        """Return the first words of ``count`` uniform numbers."""
        if outcomes > _HALF_WORD_OUTCOMES:
            return self.bits.words(count)
        return self.bits.words(-(-count // 2)).view(np.uint32)[:count]

    def _lazy(self, word: np.uint32 | np.uint64) -> LazyUniform:
        return LazyUniform(int(word), 8 * word.itemsize, self.bits)


def _check_scale(scale: Fraction) -> None:
    if scale <= 0:
        raise ValueError("The scale of noise must be above zero.")
    if scale < MIN_SCALE:
        raise ValueError("A noise scale below 2^-1000 hides nothing; use a smaller epsilon.")
    if scale > MAX_SCALE:
        raise ValueError(
            f"A noise scale of {float(scale):.3g} grid steps is beyond 2^46; "
            "use a coarser grid or a larger epsilon."
        )


def _in_chunks(count: int, batch: Callable[[int], Integers]) -> Integers:
    """Fill ``count`` places from batches, which may return fewer draws than asked for."""
    draws = np.empty(count, np.int64)
    filled = 0
    while filled < count:
        part = batch(min(_CHUNK, count - filled))
        draws[filled : filled + len(part)] = part
        filled += len(part)
    return draws


def _by_rows(scores: Integers, scale: Fraction, pick: Callable[[Integers], Integers]) -> Integers:
    """Apply ``pick`` to blocks of rows, given as gaps to the row's best score."""
    _check_scale(scale)
    if scores.ndim != 2 or scores.shape[1] == 0 or scores.dtype != np.int64:
        raise ValueError("Scores must be a table of int64 with at least one column.")
    if len(scores) and (scores.min() < -(2**52) or scores.max() > 2**52):
        raise ValueError("Scores must lie between -2^52 and 2^52.")
    height = max(1, _CHUNK // scores.shape[1])
    parts = [
        pick(block - block.max(axis=1, keepdims=True))
        for block in (scores[start : start + height] for start in range(0, len(scores), height))
    ]
    return np.concatenate(parts) if parts else pick(scores)
