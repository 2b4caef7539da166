"""``PrivateKMeans`` and ``PrivateZoneKMeans``: their parameters, and which algorithm they run."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from privclust.budget import Budget, Share
from privclust.data.points.door import PointRows
from privclust.data.points.view import PointsView
from privclust.estimator import Run
from privclust.exceptions import ParameterError
from privclust.kmeans.base import KMeansEstimator
from privclust.kmeans.cells import by_cells
from privclust.kmeans.lloyd import lloyd
from privclust.kmeans.result import KMeansResult
from privclust.kmeans.zones import zoned
from privclust.ledger import Ledger
from privclust.parameters import either, fraction, one_of, whole
from privclust.schema import Schema
from privclust.unit import Unit

__all__ = ["PrivateKMeans", "PrivateZoneKMeans"]

_METHODS = {"auto": by_cells, "cells": by_cells, "lloyd": lloyd}


class PrivateKMeans(KMeansEstimator):
    """k-means clustering whose centres and sizes may be published.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
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
    method : {"auto", "cells", "lloyd"}, default="auto"
        ``"cells"`` counts many small cells first and clusters them; ``"lloyd"`` is the noisy
        Lloyd iteration of the literature. ``"auto"`` is ``"cells"``.
    metric : {"auto", "mismatch", "dilca"}, default="auto"
        How categories are compared: two different ones are one apart, or as far as the other
        columns tell them apart, which half of the budget is spent to learn. ``"auto"`` learns
        where all columns are categories and δ is zero, for mismatches are then lost in the noise.
    profile_share : float or None, default=None
        A share of the budget, such as 0.1, for a histogram of each number of each cluster.
    rescale : bool or None, default=None
        Measure distances in units of the declared width of each column, instead of with a scaler,
        which would leak. ``None`` is True with a schema that has no ball, and False with bounds.
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
    cluster_sizes_error_ : ndarray of shape (n_clusters,)
        The standard error of each of them.
    profile_counts_ : ndarray of shape (n_clusters, n_numbers, 10)
        Noisy histograms of the numbers of each cluster, with ``profile_share`` only.
    profile_counts_error_ : ndarray of shape (n_clusters, n_numbers, 10)
        The standard errors of their counts.
    profile_edges_ : ndarray of shape (n_numbers, 11)
        The edges of their cells, in the units of the data.
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

    Notes
    -----
    Labels of the training rows and their inertia are exact statements about private rows. They are
    not kept: ``fit_predict`` and ``score`` return them to whoever holds the rows.

    Examples
    --------
    >>> from privclust import PrivateKMeans
    >>> model = PrivateKMeans(3, epsilon=1.0, bounds=(0, 8))
    >>> model.fit([[0.0, 1.0], [7.0, 5.0], [4.0, 4.0]]).cluster_centers_.shape
    (3, 2)
    """

    _checks: ClassVar[Any] = {
        **KMeansEstimator._checks,
        "method": one_of(*_METHODS),
        "metric": one_of("auto", "mismatch", "dilca"),
        "profile_share": either(None, fraction()),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
        schema: Schema | None = None,
        bounds: tuple[Any, Any] | None = None,
        unit: Unit | str = "add-remove-row",
        method: Literal["auto", "cells", "lloyd"] = "auto",
        metric: Literal["auto", "mismatch", "dilca"] = "auto",
        profile_share: float | None = None,
        rescale: bool | None = None,
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.budget = budget
        self.schema = schema
        self.bounds = bounds
        self.unit = unit
        self.method = method
        self.metric = metric
        self.profile_share = profile_share
        self.rescale = rescale
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def _look_ahead(self, data: PointRows, public: Any = None) -> None:
        super()._look_ahead(data, public)
        if self._metric(data.schema) == "dilca":
            from privclust.kmeans.learned import check_learnable

            if self.profile_share is not None:
                raise ParameterError(
                    'profile_share pays for histograms of clusters by metric="mismatch", which '
                    'metric="dilca" does not make; drop one of them.'
                )
            check_learnable(data)

    def _found(self, data: PointRows, run: Run) -> KMeansResult:
        if self._metric(data.schema) != "dilca":
            return super()._found(data, run)
        from privclust.kmeans.learned import by_learned_metric

        def cluster(view: PointsView, share: Share) -> KMeansResult:
            return self._cluster(view, share, run.choices)

        return by_learned_metric(data, run, int(self.n_clusters), cluster)

    def _cluster(self, view: PointsView, share: Share, rng: np.random.Generator) -> KMeansResult:
        return _METHODS[self.method](view, share, int(self.n_clusters), rng)

    def _metric(self, schema: Schema) -> str:
        """Return how categories are compared."""
        if self.metric != "auto":
            return self.metric
        pure = self._budget().currency == "pure"
        return "dilca" if pure and len(schema) > 1 and not schema.numeric else "mismatch"

    def _method(self) -> dict[str, Any]:
        method: dict[str, Any] = {"method": self.method}
        if self.schema_.categorical:
            method["metric"] = self._metric(self.schema_)
        return method


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

    def _method(self) -> dict[str, Any]:
        return {
            "method": "zones",
            "n_candidates": int(self.n_candidates),
            "n_steps": int(self.n_steps),
        }
