"""What the categorical methods return: released values only."""

from __future__ import annotations

from dataclasses import dataclass

from privclust._typing import Floats
from privclust.categorical.metric import CategoricalMetric
from privclust.categorical.papers import Learned
from privclust.data.table.public import ValuePoints
from privclust.kmeans.result import KMeansResult
from privclust.notes import Note

__all__ = ["CategoricalClusters", "Learning"]


@dataclass(frozen=True)
class Learning:
    """A learned metric, what it was made from, and reasons not to trust it, if any."""

    metric: CategoricalMetric
    learned: Learned
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class CategoricalClusters:
    """A learned metric, the points that rows become under it, and the clusters of these points.

    Attributes
    ----------
    learning : Learning
    embedding : ValuePoints
        The points of the values; a row is the sum of those of its values.
    centres : ndarray of shape (n_clusters, n_axes)
    found : KMeansResult
        The same centres in the unit ball, with their sizes.
    """

    learning: Learning
    embedding: ValuePoints
    centres: Floats
    found: KMeansResult

    @property
    def notes(self) -> tuple[Note, ...]:
        """Reasons not to trust the metric or the clusters, if any."""
        return (*self.learning.notes, *self.found.notes)
