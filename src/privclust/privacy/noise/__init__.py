"""Sources of noise: the interface, our exact samplers, and the bits beneath them.

Only ``privclust.privacy.mechanisms`` draws from here; an import contract enforces it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from privclust._typing import Integers
from privclust.privacy.noise.bits import Bits, SeededBits, SystemBits
from privclust.privacy.noise.exact import ExactNoise

__all__ = ["Bits", "ExactNoise", "Integers", "NoiseSource", "SeededBits", "SystemBits"]


class NoiseSource(Protocol):
    """What a mechanism needs: integer noise and selections with rational scales.

    :class:`ExactNoise` documents each distribution.
    """

    @property
    def private(self) -> bool:
        """Whether the noise is unpredictable, so that it protects people."""

    def laplace(self, scale: Fraction, count: int) -> Integers:
        """Draw discrete Laplace noise."""

    def gaussian(self, variance: Fraction, count: int) -> Integers:
        """Draw discrete Gaussian noise."""

    def ball(self, scale: Fraction, count: int, dimension: int) -> Integers:
        """Draw vectors with density ∝ exp(-‖x‖ / scale), rounded to integers."""

    def exponential_rows(self, scores: Integers, scale: Fraction) -> Integers:
        """Run the exponential mechanism on each row of scores."""

    def permute_and_flip_rows(self, scores: Integers, scale: Fraction) -> Integers:
        """Run permute-and-flip on each row of scores."""

    def top_k_rows(self, scores: Integers, scale: Fraction, k: int) -> Integers:
        """Run the exponential mechanism ``k`` times on each row, without replacement."""
