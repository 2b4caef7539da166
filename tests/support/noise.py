"""Sources of noise that tests put in the place of the true one.

Each replaces every distribution that a source offers: a question that selects must find the same
flaw as one that adds. ``test_support`` compares them with :class:`NoiseSource`.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import numpy as np

from privclust.audit.transcripts import MECHANISMS
from privclust.privacy.mechanisms import DiscreteGaussian
from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise


class NoNoise:
    """A source that adds nothing and picks the best."""

    private = False

    def laplace(self, scale, count):
        return np.zeros(count, np.int64)

    def gaussian(self, variance, count):
        return np.zeros(count, np.int64)

    def ball(self, scale, count, dimension):
        return np.zeros((count, dimension), np.int64)

    def exponential_rows(self, scores, scale):
        return scores.argmax(axis=1)

    def permute_and_flip_rows(self, scores, scale):
        return scores.argmax(axis=1)

    def top_k_rows(self, scores, scale, k):
        return np.argsort(-scores, axis=1, kind="stable")[:, :k]


class HalvedNoise(ExactNoise):
    """The planted flaw: every distribution at half the scale that was paid for."""

    def laplace(self, scale, count):
        return super().laplace(scale / 2, count)

    def gaussian(self, variance, count):
        return super().gaussian(variance / 4, count)

    def ball(self, scale, count, dimension):
        return super().ball(scale / 2, count, dimension)

    def exponential_rows(self, scores, scale):
        return super().exponential_rows(scores, scale / 2)

    def permute_and_flip_rows(self, scores, scale):
        return super().permute_and_flip_rows(scores, scale / 2)

    def top_k_rows(self, scores, scale, k):
        return super().top_k_rows(scores, scale / 2, k)


NOISES = {"full": ExactNoise, "halved": HalvedNoise}


def seeded_noise(seed, *, halved=False):
    """Return a source whose seed decides the test."""
    return NOISES["halved" if halved else "full"](SeededBits(seed))


@contextmanager
def halved_sensitivities():
    """The other planted flaw: every question is thought to change by half of what it does."""

    def method(kind):
        original = kind.within
        part = 4 if kind is DiscreteGaussian else 2  # a Gaussian's sensitivity is a square

        def within(cls, share, sensitivity, *more):
            return original(share, sensitivity / part, *more)

        return classmethod(within)

    with ExitStack() as stack:
        for kind in MECHANISMS:
            stack.enter_context(patch.object(kind, "within", method(kind)))
        yield
