"""What noisy counts say about the true ones: post-processing of released histograms.

Most bins of a histogram are empty and a few are full. How many are full is itself learned from the
noisy counts: the distribution of true counts that explains them best is found by expectation and
maximisation (empirical Bayes), and gives each bin the chances of its true count.

Such a fit explains the largest noise by true counts. So no bin is trusted more than the expected
share of false ones among the bins with as large a count allows (Benjamini and Hochberg 1995), and a
group of bins none of which stands out from what noise alone would cause is empty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats, Integers

__all__ = ["CountPosterior", "count_posterior", "false_shares"]


_STEPS = 200
_SMALL_COUNTS, _LARGER_COUNTS = 12, 30
# One imagined empty bin: a histogram of few bins should not explain its noise by true counts.
_EMPTY_BINS = 1.0
# Below this chance of being occupied a bin is taken for empty. Chances that are small one by one
# would otherwise add up over hundreds of bins and cover everything a little.
_OCCUPIED = 0.5


@dataclass(frozen=True)
class CountPosterior:
    """The chances of the true counts.

    Attributes
    ----------
    counts : ndarray of shape (n_counts,)
        Possible true counts, rising from 0.
    chances : ndarray of shape (n_bins, n_counts)
        The chance of each, for each bin.
    """

    counts: Floats
    chances: Floats

    def doubted(self, doubts: Floats, most: float = 1.0) -> CountPosterior:
        """Return the same with each bin at least as likely empty as its doubt says.

        All of them are empty if the doubt of even the clearest one is above ``most``.
        """
        empty = np.maximum(self.chances[:, 0], doubts)
        if doubts.min(initial=1) > most:
            empty[:] = 1
        full = self.chances[:, 1:].sum(axis=1)
        left = np.where(full > 0, (1 - empty) / np.where(full > 0, full, 1), 0)
        changed = self.chances * left[:, None]
        changed[:, 0] = 1 - changed[:, 1:].sum(axis=1)
        return CountPosterior(self.counts, changed)

    @property
    def occupied(self) -> NDArray[np.bool_]:
        """Which bins surely enough hold a row."""
        return np.asarray(1 - self.chances[:, 0] >= _OCCUPIED)

    def draws(self, count: int, rng: np.random.Generator) -> Integers:
        """Return possible true counts of all bins, of shape (count, n_bins).

        Bins that are not surely occupied get none. Draws are stratified: a chance of one in
        ``count`` comes up once, not once on average.
        """
        n_bins = len(self.chances)
        order = rng.permuted(np.tile(np.arange(count), (n_bins, 1)), axis=1)
        thresholds = (order + rng.random((n_bins, count))) / count
        below = self.chances.cumsum(axis=1)
        picked = np.array([(below < column[:, None]).sum(axis=1) for column in thresholds.T])
        drawn = self.counts[np.minimum(picked, len(self.counts) - 1)]
        return np.where(self.occupied, drawn, 0).astype(np.int64)


def count_posterior(
    noisy: Floats, standard_error: float, log_density: Callable[[Floats], Floats]
) -> CountPosterior:
    """Return the chances of true counts behind noisy ones.

    Parameters
    ----------
    noisy : ndarray of shape (n_bins,)
    standard_error : float
        Of the noise.
    log_density : callable
        The log-density of the noise, up to a constant.
    """
    highest = max(float(noisy.max(initial=0)) + 2 * standard_error, _SMALL_COUNTS + 1.0)
    larger = np.round(np.geomspace(_SMALL_COUNTS, highest, _LARGER_COUNTS))
    counts = np.unique(np.concatenate([np.arange(_SMALL_COUNTS), larger]))
    logs = log_density(noisy[:, None] - counts)
    likelihoods = np.exp(logs - logs.max(axis=1, keepdims=True))
    prior = np.full(len(counts), 0.5 / (len(counts) - 1))
    prior[0] = 0.5
    chances = likelihoods
    for _ in range(_STEPS):
        chances = likelihoods * prior
        chances /= chances.sum(axis=1, keepdims=True)
        prior = chances.sum(axis=0)
        prior[0] += _EMPTY_BINS
        prior /= prior.sum()
    return CountPosterior(counts, chances)


def false_shares(tails: Floats) -> Floats:
    """Return the share of empty bins to expect among those with as large a count as each one.

    Parameters
    ----------
    tails : ndarray of shape (n_bins,)
        The chance that noise alone is as large as the noisy count of each bin.
    """
    order = np.argsort(tails)
    expected = tails[order] * len(tails) / np.arange(1, len(tails) + 1)
    shares = np.empty(len(tails))
    shares[order] = np.minimum.accumulate(expected[::-1])[::-1]
    return np.minimum(shares, 1)
