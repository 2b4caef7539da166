"""Selections: mechanisms that pick one of several candidates by its score."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from privclust._typing import Integers
from privclust.budget import Share
from privclust.privacy.additive import amount_in, check_positive
from privclust.privacy.loss import Loss
from privclust.privacy.noise import NoiseSource

__all__ = ["Exponential", "NoisyTopK", "PermuteAndFlip"]


@dataclass(frozen=True)
class _Selection:
    """What the mechanisms that pick a column of each row of scores have in common.

    The loss is that of one row. Where neighbours differ in a single row, as for disjoint groups of
    people, it is the loss of the whole draw; otherwise the query multiplies it.

    Attributes
    ----------
    epsilon : Fraction
        The pure loss of one pick.
    score_range : Fraction
        The largest difference, over neighbours, between the changes of two scores of one row. For
        scores that each change by at most Δ it is 2Δ; if they all change in the same direction, as
        counts do when a row is added, it is Δ.
    """

    epsilon: Fraction
    score_range: Fraction

    def __post_init__(self) -> None:
        check_positive(epsilon=self.epsilon, score_range=self.score_range)

    @property
    def scale(self) -> Fraction:
        """The scale that scores are divided by."""
        return self.score_range / self.epsilon


@dataclass(frozen=True)
class Exponential(_Selection):
    """The exponential mechanism: picks column j with probability ∝ exp(ε score_j / score_range).

    Why this is private: the log-probabilities of two columns change by amounts that differ by at
    most ε, which is the bounded-range property (Dong, Durfee, Rogers 2020). It implies ε-DP and
    ε²/8-zCDP (Cesar, Rogers 2021).
    """

    title: ClassVar[str] = "exponential mechanism"

    @classmethod
    def within(cls, share: Share, score_range: Fraction) -> Exponential:
        """Return the sharpest mechanism whose loss fits the share, in either currency."""
        return cls(_bounded_range_epsilon(share), score_range)

    @property
    def loss(self) -> Loss:
        """The privacy loss of one pick."""
        return Loss.of_bounded_range(self.epsilon)

    def draw(self, exact: Integers, noise: NoiseSource) -> Integers:
        """Return the column picked in each row."""
        return noise.exponential_rows(exact, self.scale)


@dataclass(frozen=True)
class PermuteAndFlip(_Selection):
    """Permute-and-flip: picks the best column after exponential noise of scale score_range / ε.

    Why this is private: given the noise of the other columns, column j wins if its own noise
    exceeds a threshold, which neighbours move by at most score_range; the tail of the exponential
    distribution then changes by a factor of at most exp(ε). It is never worse than the exponential
    mechanism of the same pure ε (McKenna, Sheldon 2020). Its range is up to 2ε, so that it costs
    ε²/2 in ρ, four times as much.
    """

    title: ClassVar[str] = "permute-and-flip"

    @classmethod
    def within(cls, share: Share, score_range: Fraction) -> PermuteAndFlip:
        """Return the sharpest mechanism whose loss fits a share of pure ε."""
        return cls(amount_in(share, "pure"), score_range)

    @property
    def loss(self) -> Loss:
        """The privacy loss of one pick."""
        return Loss.of_pure(self.epsilon)

    def draw(self, exact: Integers, noise: NoiseSource) -> Integers:
        """Return the column picked in each row."""
        return noise.permute_and_flip_rows(exact, self.scale)


@dataclass(frozen=True)
class NoisyTopK(_Selection):
    """The ``k`` best columns, best first, by the exponential mechanism without replacement.

    ``epsilon`` is the loss of each of the k picks. Why this is private: adding Gumbel noise once
    and taking the k largest has the distribution of k exponential mechanisms in turn (Durfee,
    Rogers 2019), and their losses compose.
    """

    title: ClassVar[str] = "noisy top k"
    k: int

    @classmethod
    def within(cls, share: Share, score_range: Fraction, k: int) -> NoisyTopK:
        """Return the sharpest mechanism whose loss fits the share, in either currency."""
        return cls(_bounded_range_epsilon(share.split([1] * k)[0]), score_range, k)

    @property
    def loss(self) -> Loss:
        """The privacy loss of all k picks."""
        return Loss.of_bounded_range(self.epsilon).times(self.k)

    def draw(self, exact: Integers, noise: NoiseSource) -> Integers:
        """Return the columns picked in each row, best first."""
        return noise.top_k_rows(exact, self.scale, self.k)


def _bounded_range_epsilon(share: Share) -> Fraction:
    """Return the largest ε of a bounded-range mechanism within the share, rounded down."""
    if share.currency == "pure":
        return share.amount
    # ρ = ε²/8, so ε = √(8ρ); the integer square root of 8ρ 2^128 rounds down to 64 binary places.
    return Fraction(math.isqrt(math.floor(8 * share.amount * 2**128)), 2**64)
