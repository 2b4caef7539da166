"""``PrivateKMeans``: its parameters, and which algorithm it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from privclust.budget import Budget, Share
from privclust.clustering.auto import ask_auto, ask_with_chosen_k
from privclust.clustering.cautious import cautious
from privclust.clustering.cells import Method, ask_cells
from privclust.clustering.estimator import PLANNED, KMeansEstimator
from privclust.clustering.grid import grid
from privclust.clustering.lloyd import ask_lloyd
from privclust.clustering.result import KMeansResult
from privclust.clustering.task import AUTO, KMEANS
from privclust.data.points.door import PointRows
from privclust.data.points.view import PointsView
from privclust.exceptions import ParameterError
from privclust.fitting import Run
from privclust.ledger.ledger import Ledger
from privclust.privacy.meter import Meter
from privclust.schema.schema import Schema
from privclust.unit import Unit

# What a method was called before, and what to write now.
_FORMER = {"subcluster": "cells"}
_METHODS: dict[str, Method] = {
    "auto": ask_auto,
    "cells": ask_cells,
    "cautious": cautious,
    "grid": grid,
    "lloyd": ask_lloyd,
}


class PrivateKMeans(KMeansEstimator):
    """k-means clustering whose centres and sizes may be published.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        The number of clusters. ``"auto"`` spends the budget on a summary of the rows, from which
        the number is chosen and the centres are taken; if no number stands out, a warning says so.
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
    method : {"auto", "cells", "cautious", "grid", "lloyd"}, default="auto"
        ``"cells"`` counts many small cells first and clusters them; ``"cautious"`` starts around
        the mean and moves only as far as the noise can be trusted; ``"grid"`` counts the cells of a
        grid along the widest columns, at most three; ``"lloyd"`` is the noisy Lloyd iteration of
        the literature. ``"auto"`` runs ``"cells"``, unless the noisy number of rows is small: then
        it runs ``"grid"`` if there are few columns, unless a probe for 5 % of the budget shows the
        rows crowded in a small part of the bounds, and ``"cautious"`` if there are more. Such a
        grid has less noise without δ, so ``"auto"`` then spends ε alone, which keeps the promise;
        not with a ledger, a budget of ρ, or ``profile_share``.
        ``"subcluster"`` is the former word for ``"cells"``; it warns and will go.
    metric : {"auto", "mismatch", "dilca"}, default="auto"
        How categories are compared. With ``"mismatch"`` any two different ones are equally far
        apart; with ``"dilca"`` half of the budget is spent on learning from the other columns how
        far apart they are, as in :class:`PrivateDilca`, and the distances are released too. Rows
        are then clustered along a few axes, which cost nothing more. ``"auto"`` learns this if all
        columns are categories and δ is zero, because mismatches would then be lost in the noise.
    profile_share : float or None, default=None
        The share of the budget, such as 0.1, that pays for histograms: one for every numeric column
        in every cluster.
    scale : {"declared", "measured"}, default="declared"
        What makes numbers alike. ``"declared"``: their declared widths, by public facts alone.
        ``"measured"`` spends 6 % of the budget on finding a range that the rows of each number
        fill, and counts in deviations; it helps where bounds are loose, and costs where they are
        good.
    rescale : bool or None, default=None
        Measure distances in units of the declared width of each column. This replaces a scaler,
        which would leak. ``None`` means True with a schema that has no ball, and False with bounds.
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
    cluster_centers_error_ : ndarray of shape (n_clusters, n_features) or None
        Standard errors of their coordinates: of the noise, and of what ``"cells"``,
        ``"cautious"`` and ``"grid"`` know that they leave out; None with a learned metric.
    n_clusters_ : int
        The number of clusters.
    method_ : str
        The algorithm that ran: ``"cells"``, ``"cautious"``, ``"grid"``, ``"lloyd"`` or
        ``"summary"``.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Noisy numbers of rows nearest to each centre; they can be negative.
    cluster_sizes_error_ : ndarray of shape (n_clusters,)
        The standard error of each of them.
    profile_counts_ : ndarray of shape (n_clusters, n_numbers, 10)
        Noisy histograms of the numeric columns in each cluster; only with ``profile_share``.
    profile_counts_error_ : ndarray of shape (n_clusters, n_numbers, 10)
        The standard errors of their counts.
    profile_edges_ : ndarray of shape (n_numbers, 11)
        The edges of their cells, in the units of the data.
    metric_ : CategoricalMetric
        The distances between categories; only with a learned metric. ``metric_["city"]`` has those
        of a column, as ``distances()``, and the columns that they were learned from, as
        ``context``.
    cell_error_ : float
        The standard error of the noise on a cell of the tables that it was learned from.
    privacy_ : PrivacyStatement
        What is promised, and which questions were asked.
    schema_ : Schema
        The schema used; with ``scale="measured"`` it has the measured ranges and weights.
    warnings_ : tuple of str
        The warnings of the fit: that noise hides the clusters, or that their number is not clear.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if the data had names.

    Notes
    -----
    Labels of the training rows and their inertia are exact statements about private rows. They are
    not kept: ``fit_predict`` and ``score`` return them to the holder of the rows. No inertia is
    released either: the noisy sums of squares that a fit asks for belong to centres that have moved
    since, and one more question would make the centres less accurate.
    :meth:`PrivateSummary.inertia` is paid for by the last question of a summary, and comes with an
    error.

    Examples
    --------
    >>> from privclust import PrivateKMeans
    >>> model = PrivateKMeans(3, epsilon=1.0, bounds=(0, 8))
    >>> model.fit([[0.0, 1.0], [7.0, 5.0], [4.0, 4.0]]).cluster_centers_.shape
    (3, 2)
    """

    _parameters: ClassVar[Any] = KMEANS.variants[0].parameters

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = 8,
        *,
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
        schema: Schema | None = None,
        bounds: tuple[Any, Any] | None = None,
        unit: Unit | str = "add-remove-row",
        method: Literal["auto", "cells", "cautious", "grid", "lloyd"] = "auto",
        metric: Literal["auto", "mismatch", "dilca"] = "auto",
        profile_share: float | None = None,
        scale: Literal["declared", "measured"] = "declared",
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
        self.scale = scale
        self.rescale = rescale
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def _run(self, charged: bool | None = None) -> Run:
        """Return what a fit starts from; without a ledger, which adds up ρ, ε may be spent pure."""
        run = super()._run(charged)
        return replace(run, meter=Meter(run.budget, or_pure=not run.charged))

    def _check_before_charge(self, door: PointRows, public: Any = None) -> None:
        super()._check_before_charge(door, public)
        if self._metric(door.schema) == "dilca":
            from privclust.clustering.learned_metric import check_metric_can_be_learned

            if self.profile_share is not None:
                raise ParameterError(
                    'profile_share pays for histograms of clusters by metric="mismatch", which '
                    'metric="dilca" does not make; drop one of them.'
                )
            check_metric_can_be_learned(door)

    def _ask(self, door: PointRows, run: Run, public: Any = None) -> KMeansResult:
        if self._metric(door.schema) != "dilca":
            return super()._ask(door, run, public)
        from privclust.clustering.learned_metric import ask_by_learned_metric

        def ask(view: PointsView, share: Share) -> KMeansResult:
            return self._ask_clusters(view, share, run.public_rng)

        return ask_by_learned_metric(door, run, self._n_clusters_or(PLANNED), ask)

    def _ask_clusters(
        self, view: PointsView, share: Share, rng: np.random.Generator
    ) -> KMeansResult:
        if self.n_clusters == AUTO:
            schema = self._declared_schema() if view.domain.has_shares else None
            return ask_with_chosen_k(view, share, rng, schema)
        method = _METHODS[_FORMER.get(self.method, self.method)]
        return method(view, share, int(self.n_clusters), rng)

    def _check_combinations(self) -> None:
        super()._check_combinations()
        if self.n_clusters == AUTO and self.method != "auto":
            raise ParameterError(
                f"The method {self.method!r} needs a number of clusters; give one, or leave "
                "method='auto'."
            )
        if self.method in _FORMER:
            self._warn(
                f"method={self.method!r} is now method={_FORMER[self.method]!r}, and the old "
                "name will be removed in version 0.4; write the new one, or use "
                "PrivateZoneKMeans for the "
                "published algorithm.",
                DeprecationWarning,
            )

    def _options(self) -> dict[str, Any]:
        return self._scale_and_metric()
