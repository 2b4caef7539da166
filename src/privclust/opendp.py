"""OpenDP as a noise source behind the same interface, with the extra ``opendp``.

It is about a hundred times slower than our own samplers and takes its scales as floats, which are
rounded up here, so that noise is never smaller than asked for. It serves as a second opinion: tests
compare the two, and no fit draws from it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from privclust._typing import Integers
from privclust.exceptions import install_hint


class OpenDPNoise:
    """Noise drawn by OpenDP's library, from the operating system's bits."""

    private = True

    def __init__(self) -> None:
        try:
            import opendp.prelude as opendp
        except ImportError:
            raise ImportError(f"OpenDPNoise needs OpenDP; {install_hint('opendp')}.") from None
        opendp.enable_features("contrib")
        self._opendp: Any = opendp
        self._integers = opendp.vector_domain(opendp.atom_domain(T="i64"))

    def laplace(self, scale: Fraction, count: int) -> Integers:
        """Draw discrete Laplace noise."""
        metric = self._opendp.l1_distance(T="i64")
        add = self._opendp.m.make_laplace(self._integers, metric, _above(scale))
        return np.array(add([0] * count), np.int64)

    def gaussian(self, variance: Fraction, count: int) -> Integers:
        """Draw discrete Gaussian noise."""
        metric = self._opendp.l2_distance(T="i64")
        deviation = math.nextafter(math.sqrt(_above(variance)), math.inf)
        add = self._opendp.m.make_gaussian(self._integers, metric, deviation)
        return np.array(add([0] * count), np.int64)

    def ball(self, scale: Fraction, count: int, dimension: int) -> Integers:
        """Draw vectors of Laplace noise that protect as well as :meth:`ExactNoise.ball`.

        OpenDP has no noise for the Euclidean norm; a vector of Euclidean length r has a sum of
        absolute values of at most r √dimension, so Laplace noise larger by that factor will do.
        """
        root = Fraction(math.isqrt(dimension * 2**64 - 1) + 1, 2**32)  # rounded up
        return self.laplace(scale * root, count * dimension).reshape(count, dimension)

    def exponential_rows(self, scores: Integers, scale: Fraction) -> Integers:
        """Run the exponential mechanism on each row of scores."""
        return self.top_k_rows(scores, scale, 1)[:, 0]

    def permute_and_flip_rows(self, scores: Integers, scale: Fraction) -> Integers:
        """Run permute-and-flip on each row of scores."""
        pick = self._opendp.m.make_noisy_max(
            self._integers,
            self._opendp.linf_distance(T="i64"),
            self._opendp.max_divergence(),
            _above(scale),
        )
        return np.array([pick(row) for row in scores.tolist()], np.int64)

    def top_k_rows(self, scores: Integers, scale: Fraction, k: int) -> Integers:
        """Run the exponential mechanism ``k`` times on each row, without replacement."""
        pick = self._opendp.m.make_noisy_top_k(
            self._integers,
            self._opendp.linf_distance(T="i64"),
            self._opendp.zero_concentrated_divergence(),
            k,
            _above(scale),
        )
        return np.array([pick(row) for row in scores.tolist()], np.int64).reshape(len(scores), k)


def _above(value: Fraction) -> float:
    """Return the smallest float that is at least ``value``."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
