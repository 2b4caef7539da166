"""The mechanisms: noise that is added, selections, and which of them a share of a budget buys.

A mechanism is a frozen record of its noise and of the sensitivity it was made for. ``draw`` answers
once; ``loss`` is the privacy loss of that answer, about data sets that are neighbours in the sense
in which the sensitivity was derived. A mechanism knows nothing of rows: the query that makes it
states the neighbours and the sensitivity. Proofs: one page each in ``proofs/``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias

import numpy as np

from privclust._typing import Integers
from privclust.budget import Loss, Share
from privclust.privacy.noise import NoiseSource

# Noise that is added to exact integers: to each number by itself, or to whole vectors.


@dataclass(frozen=True)
class DiscreteLaplace:
    """Independent discrete Laplace noise on each coordinate of an integer vector.

    Why this is private: neighbours change the vector by at most ``l1_sensitivity`` in the sum of
    absolute values, so the probability of any answer changes by a factor of at most
    exp(l1_sensitivity / scale).
    """

    title: ClassVar[str] = "discrete Laplace noise"
    scale: Fraction
    l1_sensitivity: Fraction

    def __post_init__(self) -> None:
        check_positive(scale=self.scale, l1_sensitivity=self.l1_sensitivity)

    @classmethod
    def within(cls, share: Share, l1_sensitivity: Fraction) -> DiscreteLaplace:
        """Return the mechanism with the least noise whose loss fits a share of pure ε."""
        return cls(l1_sensitivity / amount_of_share(share, "pure"), l1_sensitivity)

    @property
    def loss(self) -> Loss:
        """The privacy loss of one draw."""
        return Loss.of_pure(self.l1_sensitivity / self.scale)

    def standard_error(self, dimension: int = 1) -> float:
        """Return the standard deviation of each coordinate, whatever the dimension."""
        # 2 p / (1 - p)² with p = exp(-1/scale), written so that a large scale loses no digits. It
        # stays above 1e-66, so that algorithms may divide by its square and its fourth power.
        return 1 / (math.sqrt(2) * math.sinh(min(1 / (2 * float(self.scale)), 150.0)))

    def largest_among(self, count: int) -> float:
        """Return roughly the largest noise to expect among ``count`` coordinates."""
        return float(self.scale) * math.log(max(count, 2))

    def draw(self, exact: Integers, noise: NoiseSource) -> Integers:
        """Return the exact integers plus noise."""
        return exact + noise.laplace(self.scale, exact.size).reshape(exact.shape)


@dataclass(frozen=True)
class DiscreteGaussian:
    """Independent discrete Gaussian noise on each coordinate of an integer vector.

    Why this is private: neighbours change the vector by at most the square root of
    ``squared_l2_sensitivity`` in Euclidean norm, so the Rényi divergence of order α between the
    answers is at most α squared_l2_sensitivity / (2 variance) (Canonne, Kamath, Steinke 2020).
    """

    title: ClassVar[str] = "discrete Gaussian noise"
    variance: Fraction
    squared_l2_sensitivity: Fraction

    def __post_init__(self) -> None:
        check_positive(variance=self.variance, squared_l2_sensitivity=self.squared_l2_sensitivity)

    @classmethod
    def within(cls, share: Share, squared_l2_sensitivity: Fraction) -> DiscreteGaussian:
        """Return the mechanism with the least noise whose loss fits a share of zCDP ρ."""
        variance = squared_l2_sensitivity / (2 * amount_of_share(share, "zcdp"))
        return cls(variance, squared_l2_sensitivity)

    @property
    def loss(self) -> Loss:
        """The privacy loss of one draw."""
        return Loss(None, self.squared_l2_sensitivity / (2 * self.variance))

    def standard_error(self, dimension: int = 1) -> float:
        """Return a bound on the standard deviation of each coordinate, tight from variance 1."""
        return math.sqrt(self.variance)

    def largest_among(self, count: int) -> float:
        """Return roughly the largest noise to expect among ``count`` coordinates."""
        return self.standard_error() * math.sqrt(2 * math.log(max(count, 2)))

    def draw(self, exact: Integers, noise: NoiseSource) -> Integers:
        """Return the exact integers plus noise."""
        return exact + noise.gaussian(self.variance, exact.size).reshape(exact.shape)


@dataclass(frozen=True)
class BallLaplace:
    """Noise of density ∝ exp(-‖x‖₂ / scale) on every row of a table of integer vectors.

    Why this is private: neighbours change the rows by vectors whose Euclidean lengths add up to at
    most ``length_sensitivity``, so the density of the noisy table changes by a factor of at most
    exp(length_sensitivity / scale); rounding the noise to integers only processes the result.
    """

    title: ClassVar[str] = "ball Laplace noise"
    scale: Fraction
    length_sensitivity: Fraction

    def __post_init__(self) -> None:
        check_positive(scale=self.scale, length_sensitivity=self.length_sensitivity)

    @classmethod
    def within(cls, share: Share, length_sensitivity: Fraction) -> BallLaplace:
        """Return the mechanism with the least noise whose loss fits a share of pure ε."""
        return cls(length_sensitivity / amount_of_share(share, "pure"), length_sensitivity)

    @property
    def loss(self) -> Loss:
        """The privacy loss of one draw."""
        return Loss.of_pure(self.length_sensitivity / self.scale)

    def standard_error(self, dimension: int = 1) -> float:
        """Return the standard deviation of each coordinate, up to the rounding."""
        return float(self.scale) * math.sqrt(dimension + 1)

    def draw(self, exact: Integers, noise: NoiseSource) -> Integers:
        """Return the exact vectors plus noise."""
        return exact + noise.ball(self.scale, *exact.shape)


def amount_of_share(share: Share, currency: str) -> Fraction:
    """Return the amount of a share, which must be of this currency."""
    if share.currency != currency:
        raise ValueError(f"This mechanism is paid for in {currency}, not in {share.currency}.")
    return share.amount


def check_positive(**amounts: Fraction) -> None:
    """Refuse parameters of a mechanism that are not exact numbers above zero."""
    for name, amount in amounts.items():
        if not isinstance(amount, (Fraction, int, np.integer)):
            raise TypeError(f"{name} must be an exact number, got {type(amount).__name__}.")
        if amount <= 0:
            raise ValueError(f"{name} must be above zero, got {amount}.")


# Selections: mechanisms that pick one of several candidates by its score.


@dataclass(frozen=True)
class _Selection:
    """What the mechanisms that pick a column of each row of scores have in common.

    The loss is that of one row. Where neighbours differ in a single row, as for disjoint groups of
    people, it is the loss of the whole draw; otherwise the query multiplies it.
    """

    epsilon: Fraction  # the pure loss of one pick
    # The largest difference, over neighbours, between the changes of two scores of one row. For
    # scores that each change by at most Δ it is 2Δ; if they all change in the same direction, as
    # counts do when a row is added, it is Δ.
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
        return cls(amount_of_share(share, "pure"), score_range)

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


# The mechanisms: what turns an exact answer into one that may leave, and what that costs.

AdditiveNoise: TypeAlias = BallLaplace | DiscreteGaussian | DiscreteLaplace
Selection: TypeAlias = Exponential | NoisyTopK | PermuteAndFlip


def choose_additive_noise(
    share: Share, *, l1_sensitivity: Fraction, squared_l2_sensitivity: Fraction
) -> DiscreteLaplace | DiscreteGaussian:
    """Return the noise for an integer vector that suits the currency of ``share``."""
    if share.currency == "pure":
        return DiscreteLaplace.within(share, l1_sensitivity)
    return DiscreteGaussian.within(share, squared_l2_sensitivity)


def choose_selection(share: Share, *, score_range: Fraction) -> PermuteAndFlip | Exponential:
    """Return the selection that suits the currency of ``share``."""
    if share.currency == "pure":
        return PermuteAndFlip.within(share, score_range)
    return Exponential.within(share, score_range)
