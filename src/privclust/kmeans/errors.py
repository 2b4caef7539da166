"""Errors of the noise: how far it alone moves the noisy mean of a cluster. Post-processing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats
from privclust.data.points.public import ClusterAnswer
from privclust.kmeans.weighted import nearest_of

__all__ = ["Sketch", "of_means", "unknown"]


@dataclass(frozen=True)
class Sketch:
    """What noisy answers show about where the rows are: cells, with about how many rows each.

    ``blur`` is the mean square distance of rows to their cell.
    """

    cells: Floats
    weights: Floats
    blur: float

    def left_out(self, centres: Floats, radius: float) -> Floats:
        """Return how far one step with clipped offsets leaves centres from the mean of their rows.

        The step is made on the cells. It falls short where rows are clipped, and where they are
        nearer to another centre once all have moved.

        Parameters
        ----------
        centres : ndarray of shape (n_clusters, n_features)
            The centres before the step.
        radius : float
            What offsets are clipped to.
        """
        offsets = self.cells - centres[nearest_of(self.cells, centres)]
        lengths = np.sqrt((offsets**2).sum(axis=1) + self.blur)
        kept = np.minimum(1, radius / np.maximum(lengths, 1e-300))
        moved = centres + self._means(kept[:, None] * offsets, centres)
        rest = self._means(self.cells - moved[nearest_of(self.cells, moved)], moved)
        return np.abs(rest)

    def _means(self, offsets: Floats, centres: Floats) -> Floats:
        """Return the weighted mean of the offsets of the cells nearest to each centre, or zero."""
        members = np.equal.outer(np.arange(len(centres)), nearest_of(self.cells, centres))
        shares = members * self.weights
        return np.asarray(shares @ offsets / np.maximum(shares.sum(axis=1), 1e-300)[:, None])


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
    """Return the errors of centres about which nothing is known but the bounds."""
    return np.tile((high - low) / 2, (n_clusters, 1))
