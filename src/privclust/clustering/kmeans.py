"""``PrivateKMeans``, and what every private estimator that sees rows as points shares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from privclust._typing import Floats
from privclust.budget import Budget, Share
from privclust.clustering.auto import ask_auto, ask_with_chosen_k
from privclust.clustering.cautious import cautious
from privclust.clustering.cells import Method, ask_cells
from privclust.clustering.choose_k import DEFAULT_RANGE
from privclust.clustering.grid import grid
from privclust.clustering.histograms import (
    PROFILE_ARRAYS,
    ask_histograms,
    check_numbers,
    histogram_note,
    profile_arrays,
    split_for_histograms,
)
from privclust.clustering.lloyd import ask_lloyd
from privclust.clustering.plan import INERTIA, MOST_REHEARSED, synthetic_rows, with_plain_numbers
from privclust.clustering.predicting import PointLabels
from privclust.clustering.release import metric_arrays
from privclust.clustering.result import KMeansResult
from privclust.clustering.task import AUTO, KMEANS, N_CLUSTERS, RESCALE
from privclust.data.points.door import PointRows, Region, region_of
from privclust.data.points.view import PointsView
from privclust.data.public import Noisy
from privclust.estimator import PrivateEstimator
from privclust.exceptions import ParameterError, PublicFactWarning
from privclust.fitting import Run
from privclust.ledger.ledger import Ledger
from privclust.opening.rows import Opened, PublicFacts, open_points
from privclust.parameters import WHOLE, check_clusters, check_declared_once
from privclust.plan import Plan, Rehearsal, note_pure_alternative, rehearse
from privclust.privacy.meter import Meter
from privclust.release.facts import Library, center_table
from privclust.schema.coordinates import Coordinates
from privclust.schema.schema import Schema
from privclust.unit import Unit, row_unit, unit_from
from privclust.unit.rows import RowUnit


class RowsEstimator(PrivateEstimator):
    """A private estimator of rows of numbers and categories, with a schema or bounds."""

    _parameters: ClassVar[Any] = (RESCALE,)

    schema: Any
    bounds: tuple[Any, Any] | None
    unit: Unit | str
    rescale: bool | None
    metric: str = "mismatch"  # not all of them have it, nor the next
    profile_share: float | None = None
    schema_: Schema

    def _plan_by_rehearsal(
        self,
        n_rows: int,
        n_features: int | None,
        synthetic: Callable[[Schema, int, RowUnit, int], Rehearsal],
    ) -> Plan:
        """Rehearse the fit on synthetic rows, made from a schema, their number, unit and seed."""
        self._check_parameters()
        WHOLE.check("n_rows", n_rows)
        WHOLE.check("n_features", n_features, also=(None,))
        declared = Schema.of(self.schema, bounds=self.bounds, n_columns=n_features)
        schema, rescale = with_plain_numbers(declared), self._is_rescaled(declared)
        region_of(schema, rescale=rescale)  # a schema that cannot be used is told first
        unit = row_unit(self.unit)
        known = {"schema": schema, "bounds": None, "rescale": rescale}

        def planned(**budget: Any) -> Plan:
            rehearsed = min(int(n_rows), MOST_REHEARSED)
            return rehearse(
                self,
                lambda seed: synthetic(schema, rehearsed, unit, seed),
                n_rows=int(n_rows),
                measure=INERTIA,
                known={**known, **budget},
            )

        plan, budget = planned(), self._budget()
        if not budget.delta or budget.stated_as_rho:
            return plan
        return note_pure_alternative(plan, planned(epsilon=budget.epsilon, delta=0, budget=None))

    # Paid profiles, for those that have the parameter.
    def _with_profiles(self, plan: Plan, n_clusters: int, n_features: int | None) -> Plan:
        """Return a plan that says how good the histograms will be, if they are paid for."""
        if self.profile_share is None:
            return plan
        schema = Schema.of(self.schema, bounds=self.bounds, n_columns=n_features)
        shape = plan.n_rows, n_clusters, len(schema.numeric)
        told = histogram_note(plan.budget, row_unit(self.unit), *shape, float(self.profile_share))
        return replace(plan, notes=(*plan.notes, told))

    def _keep_profiles(self, profiles: Noisy | None) -> None:
        """Keep histograms, or forget those of an earlier fit."""
        for name in PROFILE_ARRAYS:
            self.__dict__.pop(f"{name}_", None)
        if profiles is not None:
            for name, array in profile_arrays(profiles, self.schema_).items():
                setattr(self, f"{name}_", array)

    def _profile_fields(self) -> dict[str, Any]:
        if self.profile_share is None:
            return {}
        return {name: getattr(self, f"{name}_") for name in PROFILE_ARRAYS}

    def _check_combinations(self) -> None:
        check_declared_once(self.schema, self.bounds)

    def _open(self, X: Any, public: Any = None) -> Opened:
        schema = self._declared_schema()
        if schema is not None:  # one that cannot be used is refused before anything is opened
            self._region(schema)
        return open_points(X, schema=schema, bounds=self.bounds, unit=unit_from(self.unit))

    def _door(self, opened: Opened) -> PointRows:
        return PointRows(opened, rescale=self._is_rescaled(opened.schema))

    def _region(self, schema: Schema) -> Region:
        """Return where the rows of a schema lie, as the door sees them."""
        return region_of(schema, rescale=self._is_rescaled(schema))

    def _check_before_charge(self, door: PointRows, public: Any = None) -> None:
        uneven = door.schema.uneven_widths()
        if uneven is not None and not self._is_rescaled(door.schema):
            self._warn(
                f"The declared width of {uneven[1]!r} is more than ten times that of "
                f"{uneven[0]!r}, so it alone decides the distances; pass rescale=True.",
                PublicFactWarning,
            )

    def _metric(self, schema: Schema) -> str:
        """Return how categories are compared; in pure ε mismatches are often lost in the noise."""
        if self.metric != "auto":
            return self.metric
        pure = self._budget().currency == "pure"
        return "dilca" if pure and len(schema) > 1 and not schema.numeric else "mismatch"

    def _declared_schema(self) -> Schema | None:
        return None if self.schema is None else Schema.of(self.schema)

    def _is_rescaled(self, schema: Schema) -> bool:
        """Tell whether distances are measured in units of the declared widths."""
        if self.rescale is not None:
            return bool(self.rescale)
        return self.schema is not None and schema.ball is None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


PLANNED = 8  # clumps that a plan rehearses on, if the number is to be chosen


class KMeansEstimator(PointLabels, RowsEstimator):
    """What the k-means estimators share; a subclass has the parameters and the algorithm."""

    _kind = "kmeans"
    _parameters: ClassVar[Any] = (replace(N_CLUSTERS, also=()), RESCALE)

    n_clusters: Any

    def centers_table(self, library: Library = "pandas") -> Any:
        """Return the centres as a data frame: numbers, and a share for each category.

        Parameters
        ----------
        library : {"pandas", "polars", "arrow"}, default="pandas"
        """
        check_is_fitted(self)
        return center_table(self.schema_, self.cluster_centers_, library)

    def plan(self, n_rows: int = 10_000, n_features: int | None = None) -> Plan:
        """Rehearse the fit on synthetic rows; no data are touched and nothing is spent.

        Parameters
        ----------
        n_rows : int, default=10_000
            About how many rows the data have, from public knowledge; at most 100 000 are generated.
        n_features : int or None
            The number of columns, if neither the schema nor the bounds determine it.

        Notes
        -----
        With ``n_clusters="auto"`` the rows are in 8 clumps, and the error is the inertia of the
        clusters that are found over that of ordinary k-means with 8.
        """

        def clumps(schema: Schema, count: int, unit: RowUnit, seed: int) -> Rehearsal:
            return synthetic_rows(schema, self._n_clusters_or(PLANNED), count, unit, seed)

        plan = self._plan_by_rehearsal(n_rows, n_features, clumps)
        return self._with_profiles(plan, self._n_clusters_or(PLANNED), n_features)

    # The way of a fit.
    def _check_before_charge(self, door: PointRows, public: Any = None) -> None:
        check_clusters(self._n_clusters_or(max(DEFAULT_RANGE)), door.domain.dimension)
        if self.profile_share is not None:
            check_numbers(door.schema)
        super()._check_before_charge(door, public)

    def _n_clusters_or(self, otherwise: int) -> int:
        """Return the number of clusters, or another one if it is to be chosen."""
        return otherwise if self.n_clusters == AUTO else int(self.n_clusters)

    def _ask(self, door: PointRows, run: Run, public: Any = None) -> KMeansResult:
        view = door.private(run.meter, run.seed)
        share, for_profiles = split_for_histograms(run.budget.whole, self.profile_share)
        result = self._ask_clusters(view, share, run.public_rng)
        if for_profiles is None:
            return result
        asked = ask_histograms(view, for_profiles, result.centres, door.schema)
        return replace(result, profiles=asked)

    def _ask_clusters(
        self, view: PointsView, share: Share, rng: np.random.Generator
    ) -> KMeansResult:
        """Run the algorithm of the subclass."""
        raise NotImplementedError

    def _keep(self, facts: PublicFacts, result: KMeansResult, public: Any = None) -> None:
        self._remember_columns(facts.names, facts.n_columns)
        self.schema_, self._rescaled = facts.schema, self._is_rescaled(facts.schema)
        self._learned = result.learned
        self.cluster_centers_error_: Floats | None = None
        if result.learned is None:
            region = self._region(facts.schema)
            self.cluster_centers_ = region.released(result.centres)
            self.cluster_centers_error_ = self._error_of_noise(region, result)
        else:
            self.cluster_centers_ = result.learned.table
        self.cluster_sizes_ = result.sizes.value
        self.cluster_sizes_error_ = np.full(len(result.sizes.value), result.sizes.standard_error)
        self.method_, self._verdict = result.method, result.verdict
        self.n_clusters_ = len(result.centres)
        self._n_features_out = len(result.centres)
        self._keep_profiles(result.profiles)

    def _noisy_number(self, result: KMeansResult) -> Noisy:
        return result.sizes

    def _centres_and_sizes(self, result: KMeansResult) -> tuple[Floats, Noisy]:
        return self.cluster_centers_, result.sizes

    def _error_of_noise(self, region: Region, result: KMeansResult) -> Floats | None:
        """Return the errors of the centres in the units of the data, within the bounds."""
        if result.centres_error is None:
            return None
        coordinates = Coordinates(self.schema_)
        errors = result.centres_error * (region.radius * region.scales)
        return np.minimum(errors, (coordinates.high - coordinates.low) / 2)

    def _release_fields(self) -> dict[str, Any]:
        n_clusters = len(self.cluster_centers_)
        arrays = {} if self._learned is None else metric_arrays(self._learned)
        if self.cluster_centers_error_ is not None:
            arrays["cluster_centers_error"] = self.cluster_centers_error_
        return {
            "arrays": arrays
            | {
                "cluster_centers": self.cluster_centers_,
                "cluster_sizes": self.cluster_sizes_,
                "cluster_sizes_error": self.cluster_sizes_error_,
                **self._profile_fields(),
            },
            "schema": self.schema_,
            "parameters": {
                "n_clusters": n_clusters,
                "method": self.method_,
                **self._options(),
                "rescale": self._rescaled,
                **({"verdict": self._verdict} if self._verdict else {}),
            },
        }

    def _options(self) -> dict[str, Any]:
        """Return further parameters of the algorithm, for the release."""
        return {}


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
        it runs ``"grid"`` if there are few columns, unless a look for 5 % of the budget shows the
        rows crowded in a small part of the bounds, and ``"cautious"`` if there are more. Such a
        grid has less noise without δ, so ``"auto"`` then spends ε alone, which keeps the promise;
        not with a ledger, a budget of ρ, or ``profile_share``.
        ``"subcluster"`` is the former word for ``"cells"``; it warns and will go.
    metric : {"auto", "mismatch", "dilca"}, default="auto"
        How categories are compared. With ``"mismatch"`` any two different ones are one apart; with
        ``"dilca"`` half of the budget is spent on learning from the other columns how far apart
        they are. ``"auto"`` learns this if all columns are categories and δ is zero, because
        mismatches would then be lost in the noise.
    profile_share : float or None, default=None
        The share of the budget, such as 0.1, that pays for histograms: one for every numeric column
        in every cluster.
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
    privacy_ : PrivacyStatement
        What is promised, and which questions were asked.
    schema_ : Schema
        The schema used.
    warnings_ : tuple of str
        The warnings of the fit: that noise hides the clusters, or that their number is not clear.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if the data had names.

    Notes
    -----
    Labels of the training rows and their inertia are exact statements about private rows. They are
    not kept: ``fit_predict`` and ``score`` return them to whoever holds the rows. No inertia is
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
        return {"metric": self._metric(self.schema_)} if self.schema_.categorical else {}
