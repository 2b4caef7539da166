"""``PrivateZoneKMeans``: the scikit-learn shell around k-means with convergent zones."""

from __future__ import annotations

from typing import Any

import numpy as np

from privclust.budget import Share
from privclust.data.points.view import PointsView
from privclust.kmeans.base import KMeansEstimator
from privclust.kmeans.result import KMeansResult
from privclust.kmeans.zones import zoned
from privclust.ledger import Ledger
from privclust.schema import Schema
from privclust.unit import Unit

__all__ = ["PrivateZoneKMeans"]


class PrivateZoneKMeans(KMeansEstimator):
    """k-means with convergent zones and sub-clusters, after Joshi and Thakkar (2022), private.

    The published algorithm is not private; here every look at the data is a question with noise.
    In each step a centre moves to a private pick within its convergent zone, the ball around the
    noisy Lloyd point that reaches to the old centre. :class:`privclust.PrivateKMeans` is more
    accurate and the one to use; this is the paper's idea done honestly.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    internal_k : int, default=4
        The number of candidates for sub-clusters in each zone, besides its middle.
    n_steps : int, default=3
        The number of iterations before the last noisy step.
    epsilon : float, default=1.0
        The privacy loss allowed. Smaller is more private and less accurate.
    delta : float, default=0
        Zero for pure ε; a tiny number such as 1e-6 buys more accuracy for the same ε.
    schema : Schema or None
        Public bounds of every column.
    bounds : tuple of (low, high) or None
        The short form of a schema: bounds for all columns, or one per column.
    unit : Unit or str, default="add-remove-row"
        Whose presence is hidden; see :mod:`privclust.unit`.
    rescale : bool, default=False
        Measure distances in units of the declared width of each column.
    random_state : int or None, default=None
        ``None`` for private noise. A number makes the fit reproducible and NOT PRIVATE.
    ledger : Ledger or None, default=None
        Where the fit is charged before any row is read.
    dataset : str or None, default=None
        The name of the data set in the ledger.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Released centres, within the declared bounds.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Noisy numbers of rows nearest to each centre; they may be negative.
    cluster_sizes_error_ : float
        The standard error of each of them.
    privacy_ : PrivacyStatement
        What was promised and what was asked.
    schema_ : Schema
        The schema used.
    warnings_ : tuple of str
        What the fit warned of: that noise hides the clusters.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the data had names.

    Examples
    --------
    >>> from privclust.kmeans import PrivateZoneKMeans
    >>> model = PrivateZoneKMeans(3, epsilon=1.0, bounds=(0, 8))
    >>> model.fit([[0.0, 1.0], [7.0, 5.0], [4.0, 4.0]]).cluster_centers_.shape
    (3, 2)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        internal_k: int = 4,
        n_steps: int = 3,
        epsilon: Any = 1.0,
        delta: Any = 0,
        schema: Schema | None = None,
        bounds: tuple[Any, Any] | None = None,
        unit: Unit | str = "add-remove-row",
        rescale: bool = False,
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.internal_k = internal_k
        self.n_steps = n_steps
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.bounds = bounds
        self.unit = unit
        self.rescale = rescale
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def _cluster(self, view: PointsView, budget: Share, rng: np.random.Generator) -> KMeansResult:
        steps = {"internal_k": self.internal_k, "n_steps": self.n_steps}
        return zoned(view, budget, self.n_clusters, rng, **steps)

    def _method(self) -> dict[str, Any]:
        return {
            "method": "zones",
            "internal_k": int(self.internal_k),
            "n_steps": int(self.n_steps),
        }

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_whole("internal_k", "n_steps")
