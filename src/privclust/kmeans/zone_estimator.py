"""``PrivateZoneKMeans``: its parameters; the algorithm is in ``zones``."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from privclust.budget import Budget, Share
from privclust.data.points.view import PointsView
from privclust.kmeans.base import KMeansEstimator
from privclust.kmeans.result import KMeansResult
from privclust.kmeans.zones import zoned
from privclust.ledger import Ledger
from privclust.parameters import whole
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
    n_candidates : int, default=4
        The number of candidates for sub-clusters in each zone, besides its middle.
    n_steps : int, default=3
        The number of iterations before the last noisy step.
    epsilon : float, default=1.0
        The privacy loss allowed. Smaller is more private and less accurate.
    delta : float, default=0
        Zero for pure ε; a tiny number such as 1e-6 buys more accuracy for the same ε.
    budget : Budget or None, default=None
        In place of ``epsilon`` and ``delta``, such as ``Budget.of_rho(0.1, 1e-6)``.
    schema : Schema or None
        Public bounds of every column.
    bounds : tuple of (low, high) or None
        The short form of a schema: bounds for all columns, or one per column.
    unit : Unit or str, default="add-remove-row"
        Whose presence is hidden; see :mod:`privclust.unit`.
    rescale : bool or None, default=None
        Measure distances in units of the declared width of each column; ``None`` is True with a
        schema and False with bounds.
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
    cluster_centers_error_ : ndarray of shape (n_clusters, n_features)
        Standard errors of the noise alone of their coordinates.
    n_clusters_ : int
        The number of clusters.
    method_ : str
        ``"zones"``.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Noisy numbers of rows nearest to each centre; they may be negative.
    cluster_sizes_error_ : ndarray of shape (n_clusters,)
        The standard error of each of them.
    privacy_ : PrivacyStatement
        What was promised and what was asked.
    schema_ : Schema
        The schema used.
    warnings_ : tuple of str
        What the fit warned of: that noise hides the clusters.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if the data had names.

    Examples
    --------
    >>> from privclust.published import PrivateZoneKMeans
    >>> model = PrivateZoneKMeans(3, epsilon=1.0, bounds=(0, 8))
    >>> model.fit([[0.0, 1.0], [7.0, 5.0], [4.0, 4.0]]).cluster_centers_.shape
    (3, 2)
    """

    _checks: ClassVar[Any] = {
        **KMeansEstimator._checks,
        "n_candidates": whole(),
        "n_steps": whole(),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_candidates: int = 4,
        n_steps: int = 3,
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
        schema: Schema | None = None,
        bounds: tuple[Any, Any] | None = None,
        unit: Unit | str = "add-remove-row",
        rescale: bool | None = None,
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_candidates = n_candidates
        self.n_steps = n_steps
        self.epsilon = epsilon
        self.delta = delta
        self.budget = budget
        self.schema = schema
        self.bounds = bounds
        self.unit = unit
        self.rescale = rescale
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def _cluster(self, view: PointsView, share: Share, rng: np.random.Generator) -> KMeansResult:
        steps = {"n_candidates": int(self.n_candidates), "n_steps": int(self.n_steps)}
        return zoned(view, share, int(self.n_clusters), rng, **steps)

    def _options(self) -> dict[str, Any]:
        return {"n_candidates": int(self.n_candidates), "n_steps": int(self.n_steps)}
