"""Where random bits come from: the operating system, or a seed for tests.

Samplers read whole 64-bit words. A source keeps no secret state of its own unless it is seeded, so
a private source can be forked, pickled, copied and shared between threads without ever repeating a
word.
"""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Bits(Protocol):
    """A source of independent uniform 64-bit words."""

    @property
    def private(self) -> bool:
        """Whether nobody can predict the words, so that noise made of them protects people."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` fresh words."""


class SystemBits:
    """Words from the operating system's cryptographic generator.

    It has no state, so there is nothing that a fork, a pickle or a deep copy could duplicate, and
    the generator behind it is safe to call from many threads.
    """

    private = True

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` fresh words."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)

    def __repr__(self) -> str:
        return "SystemBits()"


class SeededBits:
    """Reproducible words for tests and teaching; anyone who knows the seed can remove the noise."""

    private = False

    def __init__(self, seed: int | np.random.SeedSequence) -> None:
        self._generator = np.random.Generator(np.random.Philox(seed))
        self._seed = seed

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next ``count`` words of the seed's sequence."""
        return self._generator.integers(0, 2**64, count, dtype=np.uint64)

    def __repr__(self) -> str:
        return f"SeededBits({self._seed!r})  # NOT PRIVATE"
