"""What the categorical methods return: released values only."""

from __future__ import annotations

from dataclasses import dataclass

from privclust._typing import Floats
from privclust.categorical.context import Context
from privclust.categorical.metric import CategoricalMetric
from privclust.categorical.shrinkage import Estimate
from privclust.data.table.public import ValuePoints
from privclust.data.view import Noisy
from privclust.kmeans.result import KMeansResult
from privclust.notes import Note

__all__ = ["CategoricalClusters", "Learned", "Learning", "Options"]


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


@dataclass(frozen=True)
class Options:
    """Choices that the methods share.

    Attributes
    ----------
    targets : tuple of int
        The attributes that get a distance.
    context_size : int
        k, the number of attributes in a context, where the rule fixes it.
    selection_share : float
        h, the share of the budget of a target that its context may cost.
    rule : str
        The rule that chooses contexts where that costs nothing.
    sigma : float
        The factor on the mean in the rule ``mean-su``.
    """

    targets: tuple[int, ...]
    context_size: int = 3
    selection_share: float = 0.3
    rule: str = "max-relevance"
    sigma: float = 1.0


@dataclass(frozen=True)
class Learned:
    """What a method learned: for each target its context, and the tables to compare values with.

    Attributes
    ----------
    contexts : dict of int to tuple of int
    estimates : dict of int to Estimate
        By target; several targets may share one.
    cell_error : float
        The standard error of the noise on a cell of the tables.
    n_rows : Noisy
        The noisy number of rows.
    notes : tuple of Note
        Reasons not to trust the tables, if any.
    """

    contexts: dict[int, Context]
    estimates: dict[int, Estimate]
    cell_error: float
    n_rows: Noisy
    notes: tuple[Note, ...] = ()
