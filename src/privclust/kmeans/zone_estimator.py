"""``PrivateZoneKMeans``: its parameters; the algorithm is in ``zones.py``."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from privclust.budget import Budget, Share
from privclust.data.points.view import PointsView
from privclust.exceptions import ParameterError
from privclust.kmeans.base import KMeansEstimator
from privclust.kmeans.result import KMeansResult
from privclust.kmeans.zones import LARGEST_LAST_SHARE, ZoneMoves, ask_zone_clusters
from privclust.ledger import Ledger
from privclust.parameters import either, fraction, whole
from privclust.schema import Schema
from privclust.unit import Unit

__all__ = ["PrivateZoneKMeans"]


class PrivateZoneKMeans(KMeansEstimator):
    """k-means with convergent zones, after Joshi and Thakkar (2022), private.

    The published algorithm is not private; here every look at the data is a question answered with
    noise. In each step a centre moves to a privately chosen point of its convergent zone, the ball
    around the noisy Lloyd point that reaches to the old centre. This is the paper's idea made
    private, for comparison; :class:`privclust.PrivateKMeans` is more accurate and the one to use.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    n_candidates : int, default=4
        The number of points of each zone, besides its middle, that a centre may move to, or that
        cut the zone into cells.
    internal_k : int or None, default=None
        The number of sub-clusters in a zone, as in the paper: the cells of the zone are counted
        with noise, and a sub-cluster of them is drawn. None moves the centre to one of the points,
        picked privately, which has less noise and finds no sub-clusters.
    n_steps : int, default=3
        The number of iterations before the last noisy step.
    choice_share : float, default=0.2
        The share of an iteration that pays for the move within the zone: what the paper gives its
        exponential mechanism.
    last_share : float, default=0.3
        The share of the budget that pays for the last noisy step: what the paper spends on its
        final noise.
    epsilon : float, default=1.0
        The privacy loss allowed. Smaller is more private and less accurate.
    delta : float, default=0
        Zero for pure ε; a tiny number such as 1e-6 buys more accuracy for the same ε.
    budget : Budget or None, default=None
        Given instead of ``epsilon`` and ``delta``; for example ``Budget.of_rho(0.1, 1e-6)``.
    schema : Schema or None
        Public bounds of every column.
    bounds : tuple of (low, high) or None
        Shorthand for a schema: bounds that hold for all columns, or one value per column.
    unit : Unit or str, default="add-remove-row"
        Whose presence is hidden; see :mod:`privclust.unit`.
    rescale : bool or None, default=None
        Measure distances in units of the declared width of each column; ``None`` means True with a
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
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Noisy numbers of rows nearest to each centre; they can be negative.
    cluster_sizes_error_ : ndarray of shape (n_clusters,)
        The standard error of each of them.
    cluster_centers_error_ : ndarray of shape (n_clusters, n_features)
        Standard errors of their coordinates, from noise alone.
    n_clusters_ : int
        The number of clusters.
    method_ : str
        ``"zones"``.
    privacy_ : PrivacyStatement
        What is promised, and which questions were asked.
    schema_ : Schema
        The schema used.
    warnings_ : tuple of str
        The warnings of the fit: that noise hides the clusters.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if the data had names.

    References
    ----------
    Joshi, Thakkar, "k-Means SubClustering: A Differentially Private Algorithm with Improved
    Clustering Quality" (2022), after Lu, Shen (2020).

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
        "internal_k": either(None, whole()),
        "choice_share": fraction(),
        "last_share": fraction(),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_candidates: int = 4,
        internal_k: int | None = None,
        n_steps: int = 3,
        choice_share: float = 0.2,
        last_share: float = 0.3,
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
        self.internal_k = internal_k
        self.n_steps = n_steps
        self.choice_share = choice_share
        self.last_share = last_share
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

    def _ask_clusters(
        self, view: PointsView, share: Share, rng: np.random.Generator
    ) -> KMeansResult:
        internal_k = None if self.internal_k is None else int(self.internal_k)
        moves = ZoneMoves(int(self.n_candidates), internal_k, self.choice_share)
        return ask_zone_clusters(
            view,
            share,
            int(self.n_clusters),
            rng,
            moves=moves,
            n_steps=int(self.n_steps),
            last_share=self.last_share,
        )

    def _check_together(self) -> None:
        super()._check_together()
        if self.last_share >= LARGEST_LAST_SHARE:
            raise ParameterError(
                f"last_share must be below {LARGEST_LAST_SHARE}, for sizes have the rest; lower it."
            )

    def _options(self) -> dict[str, Any]:
        return {
            "n_candidates": int(self.n_candidates),
            "internal_k": None if self.internal_k is None else int(self.internal_k),
            "n_steps": int(self.n_steps),
        }
