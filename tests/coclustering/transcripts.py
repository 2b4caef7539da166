"""What an attacker who sees every noisy answer can tell: views that weigh the evidence.

The guarantee covers all answers of a fit, not only what an estimator keeps of them. A transcript
adds up, over all answers, the logarithm of how much likelier each is on the right matrix of a pair
than on the left one, if the noise is what it is claimed to be.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import log_softmax

from privclust.data.matrix import kernels
from privclust.data.matrix.view import _ROW_STEPS, Groups, MatrixView, ProfilesView, _whole_weights
from privclust.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential
from privclust.privacy.meter import Meter
from privclust.privacy.noise import ExactNoise, SeededBits


class HalvedNoise(ExactNoise):
    """A flawed source: it draws from every distribution at half its scale."""

    def laplace(self, scale, count):
        return super().laplace(scale / 2, count)

    def gaussian(self, variance, count):
        return super().gaussian(variance / 4, count)

    def exponential_rows(self, scores, scale):
        return super().exponential_rows(scores, scale / 2)


NOISES = {"full": ExactNoise, "halved": HalvedNoise}


def noise_of(kind):
    """Return a new source, seeded, so that a verdict is the same in every run of the tests."""
    return NOISES[kind](SeededBits(20))


def as_counts(matrix):
    """Return a matrix as the door would hand it on."""
    if sparse.issparse(matrix):
        return matrix
    return sparse.csr_array(np.asarray(matrix, dtype=np.int64))


class MatrixTranscript(MatrixView):
    """A view of one matrix of a pair that weighs the evidence of each answer."""

    def __init__(self, pair, side, unit, budget, noise):
        self._pair = [as_counts(matrix) for matrix in pair]
        super().__init__(self._pair[side], unit, Meter(budget), noise)
        self.evidence = 0.0

    def row_table(self, name, column_groups, share):
        noisy = super().row_table(name, column_groups, share)
        groups = column_groups.labels, column_groups.count
        return self._weighed(noisy, share, [kernels.row_sums(m, *groups) for m in self._pair])

    def column_table(self, name, row_groups, share):
        noisy = super().column_table(name, row_groups, share)
        groups = row_groups.labels, row_groups.count
        return self._weighed(noisy, share, [kernels.column_sums(m, *groups) for m in self._pair])

    def block_table(self, name, row_groups, column_groups, share):
        noisy = super().block_table(name, row_groups, column_groups, share)
        labels = row_groups.labels, column_groups.labels
        shape = row_groups.count, column_groups.count
        exact = [kernels.block_sums(m, *labels, shape) for m in self._pair]
        return self._weighed(noisy, share, exact)

    def _weighed(self, noisy, share, exact):
        noise, seen = self._table("", share).noise, np.rint(noisy.value / self._step)
        self.evidence += log_ratio(noise, seen, *exact)
        return noisy

    def _choose(self, name, weights, share, *, by_rows):
        chosen = super()._choose(name, weights, share, by_rows=by_rows)
        whole = _whole_weights(weights)
        scale = (
            self._levels * max(1, int(whole.max())) / float(Exponential.within(share, 1).epsilon)
        )
        for sign, matrix in zip((-1, 1), self._pair, strict=True):
            scores = (matrix if by_rows else matrix.T) @ whole
            logs = log_softmax(scores / scale, axis=1)
            self.evidence += sign * logs[np.arange(len(logs)), chosen.labels].sum()
        return chosen


class ProfilesTranscript(ProfilesView):
    """The same for whole rows: the right matrix has one row more."""

    def __init__(self, pair, side, unit, budget, noise):
        self._pair = [as_counts(matrix) for matrix in pair]
        super().__init__(self._pair[side], Meter(budget), noise)
        self.evidence = 0.0

    def profile_sums(self, name, prototypes, share):
        noisy = super().profile_sums(name, prototypes, share)
        exact = []
        for matrix in self._pair:
            rows = kernels.rooted_rows(matrix, _ROW_STEPS)
            nearest = Groups((rows @ prototypes.T).argmax(axis=1), len(prototypes))
            exact.append(kernels.column_sums(rows, nearest.labels, nearest.count))
        noise = DiscreteGaussian.within(share, _ROW_STEPS**2)
        self.evidence += log_ratio(noise, np.rint(noisy.value * _ROW_STEPS), *exact)
        return noisy


def log_ratio(noise, seen, left, right):
    """Return the logarithm of how much likelier an answer is on the right."""
    if isinstance(noise, DiscreteLaplace):
        return float((np.abs(seen - left) - np.abs(seen - right)).sum() / noise.scale)
    gaps = ((seen - left) ** 2 - (seen - right) ** 2).astype(float)
    return float(gaps.sum() / (2 * float(noise.variance)))
