"""Noise that is added to exact integers: on every number by itself, or on whole vectors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from privclust._typing import Integers
from privclust.budget import Share
from privclust.privacy.loss import Loss
from privclust.privacy.noise import NoiseSource

__all__ = ["BallLaplace", "DiscreteGaussian", "DiscreteLaplace", "amount_in", "check_positive"]


@dataclass(frozen=True)
class DiscreteLaplace:
    """Independent discrete Laplace noise on every coordinate of an integer vector.

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
        return cls(l1_sensitivity / amount_in(share, "pure"), l1_sensitivity)

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
        """Return roughly the largest noise to expect among this many coordinates."""
        return float(self.scale) * math.log(max(count, 2))

    def draw(self, exact: Integers, noise: NoiseSource) -> Integers:
        """Return the exact integers plus noise."""
        return exact + noise.laplace(self.scale, exact.size).reshape(exact.shape)


@dataclass(frozen=True)
class DiscreteGaussian:
    """Independent discrete Gaussian noise on every coordinate of an integer vector.

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
        variance = squared_l2_sensitivity / (2 * amount_in(share, "zcdp"))
        return cls(variance, squared_l2_sensitivity)

    @property
    def loss(self) -> Loss:
        """The privacy loss of one draw."""
        return Loss(None, self.squared_l2_sensitivity / (2 * self.variance))

    def standard_error(self, dimension: int = 1) -> float:
        """Return a bound on the standard deviation of each coordinate, tight from variance 1."""
        return math.sqrt(self.variance)

    def largest_among(self, count: int) -> float:
        """Return roughly the largest noise to expect among this many coordinates."""
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
        return cls(length_sensitivity / amount_in(share, "pure"), length_sensitivity)

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


def amount_in(share: Share, currency: str) -> Fraction:
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
