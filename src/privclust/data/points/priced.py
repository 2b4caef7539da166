"""What the noise of questions about points is, from public facts alone; no row is read here.

A sensitivity is what one row can change, times what the unit makes of it; see ``proofs/points.md``.
"""

from __future__ import annotations

import numpy as np

from privclust.budget import Share
from privclust.data.points.kernels import (
    DIAGONAL_WEIGHT,
    MOMENT_STEPS,
    PAIR_WEIGHT,
    SQUARE_LEVELS,
    ClusterSums,
)
from privclust.data.points.public import Projection
from privclust.data.view import Question, RowView
from privclust.privacy.mechanisms import AdditiveNoise, additive_noise, vector_noise

__all__ = ["PricedPoints"]


class PricedPoints(RowView):
    """The noise that a share buys for each question; ``PointsView`` asks them."""

    # The noise that a share would buy, for planning; no row is read.
    def count_error(self, share: Share) -> float:
        """Return the standard error of a count."""
        return self._counts("", share).standard_error

    def offset_error(self, share: Share, clip: float, dimension: int) -> float:
        """Return the standard error of each coordinate of a sum of clipped offsets."""
        frame = Projection(np.zeros(dimension))
        around = ClusterSums(frame, np.zeros((1, dimension)), clip)
        return self._offsets("", share, around).standard_error

    def square_error(self, share: Share, clip: float) -> float:
        """Return the standard error of a sum of squared distances of at most ``clip``."""
        frame = Projection(np.zeros(1))
        return self._square("", share, ClusterSums(frame, np.zeros((1, 1)), clip)).standard_error

    def moment_error(self, share: Share, radius: float, dimension: int) -> float:
        """Return the standard error of the off-diagonal entries of second moments."""
        entries = dimension * (dimension + 1) // 2
        error = self._moment_noise(share).standard_error(entries)
        return error * (radius / MOMENT_STEPS) ** 2 / PAIR_WEIGHT

    # Sensitivities: what one row can change, times what the unit makes of it.
    def _counts(self, name: str, share: Share, of: str = "counts") -> Question:
        noise = self._counting_noise(share)
        return Question(name, noise, ClusterSums.counts_term, asks=self.asks[of])

    def _offsets(self, name: str, share: Share, around: ClusterSums) -> Question:
        noise = vector_noise(share, length_sensitivity=self._unit.change(around.length))
        term, dimension, words = around.offsets_term, around.frame.dimension, self.asks["offsets"]
        return Question(name, noise, term, around.grid.step, dimension, asks=words)

    def _square(self, name: str, share: Share, around: ClusterSums) -> Question:
        changed = self._unit.change_within(SQUARE_LEVELS)
        noise = additive_noise(share, l1_sensitivity=changed, squared_l2_sensitivity=changed**2)
        step = (around.length * around.grid.step) ** 2 / SQUARE_LEVELS
        return Question(name, noise, ClusterSums.square_term, step, asks=self.asks["square"])

    def _moment_noise(self, share: Share) -> AdditiveNoise:
        longest = DIAGONAL_WEIGHT * MOMENT_STEPS**2
        return vector_noise(share, length_sensitivity=self._unit.change(longest))
