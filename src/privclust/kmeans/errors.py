"""Errors of the noise: how far it alone moves the noisy mean of a cluster. Post-processing."""

from __future__ import annotations

import numpy as np

from privclust._typing import Floats
from privclust.data.points.public import ClusterAnswer

__all__ = ["of_means", "unknown"]


def of_means(answer: ClusterAnswer, moves: Floats, least: float, hidden: Floats | float) -> Floats:
    """Return the standard errors of centres that were moved by noisy mean offsets.

    Noise of a sum moves its centre; noise of a count stretches or shortens the move.

    Parameters
    ----------
    answer : ClusterAnswer
        Counts and offsets of the last step.
    moves : ndarray of shape (n_clusters, n_features)
        The mean offsets made of them.
    least : float
        Clusters with a count of this or below are hidden by noise.
    hidden : ndarray of shape (n_features,) or float
        The error of such clusters, and the largest of the others.
    """
    counts, sums = answer.counts, answer.offsets
    sizes = np.maximum(counts.value, 1)[:, None]
    errors = np.hypot(sums.standard_error, moves * counts.standard_error) / sizes
    return np.where(counts.value[:, None] > least, np.minimum(errors, hidden), hidden)


def unknown(n_clusters: int, low: Floats, high: Floats) -> Floats:
    """Return the errors of centres of which nothing is known but the bounds."""
    return np.tile((high - low) / 2, (n_clusters, 1))
