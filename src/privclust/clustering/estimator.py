"""``PrivateKMeans``: its parameters, which algorithm it runs, and what it shares with its kin.

From the general to the special: estimators of rows, estimators with k centres, ``PrivateKMeans``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import Tags

from privclust._typing import Floats
from privclust.budget import Budget, Share
from privclust.clustering import histograms
from privclust.clustering.auto import ask_auto, ask_with_chosen_k
from privclust.clustering.cautious import cautious
from privclust.clustering.cells import Method, ask_cells
from privclust.clustering.choose_k import DEFAULT_RANGE
from privclust.clustering.columns import centre_notes, shares_notes, uneven_sentence
from privclust.clustering.grid import grid
from privclust.clustering.lloyd import ask_lloyd
from privclust.clustering.measuring import MEASURING, Working, ask_working_range, check_measurable
from privclust.clustering.missing import ask_missing, split_for_missing
from privclust.clustering.plan import INERTIA, Planned, synthetic_rows
from privclust.clustering.predicting import PointLabels
from privclust.clustering.refine import errors_in_data_units, with_doubt
from privclust.clustering.release import cluster_arrays, metric_arrays, scaling_parameters
from privclust.clustering.remedies import advice
from privclust.clustering.result import KMeansResult
from privclust.clustering.task import AUTO, DEFAULT_CLUSTERS, KMEANS, N_CLUSTERS, RESCALE
from privclust.data.points.door import PointRows, Region, region_of
from privclust.data.points.view import PointsView
from privclust.data.public import Noisy
from privclust.estimator import PrivateEstimator
from privclust.exceptions import ParameterError, PublicFactWarning
from privclust.fitting import Run
from privclust.ledger.ledger import Ledger
from privclust.notes import Note, signal_of
from privclust.opening.rows import Opened, PublicFacts, open_points
from privclust.parameters import WHOLE, check_clusters, check_declared_once
from privclust.plan import Plan, Rehearsal, plan_for_target
from privclust.privacy.meter import Meter
from privclust.schema.coordinates import category_gap
from privclust.schema.schema import Schema
from privclust.unit import Unit, unit_from
from privclust.unit.rows import RowUnit


class RowsEstimator(PrivateEstimator):
    """A private estimator of rows of numbers and categories, with a schema or bounds."""

    _parameters: ClassVar[Any] = (RESCALE,)
    schema: Any
    bounds: tuple[Any, Any] | None
    unit: Unit | str
    rescale: bool | None
    metric: str = "mismatch"  # only some subclasses define what follows
    profile_share: float | None = None
    missing_share: float = 0
    scale: str = "declared"
    schema_: Schema

    def _plan_facts(self, n_rows: int | None, n_features: int | None) -> Planned:
        """Return the public facts of a plan, checked."""
        self._check_parameters()
        if n_rows is None:
            raise ParameterError("n_rows must be given unless there is a target; give it.")
        WHOLE.check("n_rows", n_rows)
        WHOLE.check("n_features", n_features, also=(None,))
        declared = Schema.of(self.schema, bounds=self.bounds, n_columns=n_features)
        self._check_scale(declared)
        facts = declared, int(n_rows), self._scaling(declared), self._measures
        return Planned(self, self._budget(), *facts)

    @property
    def _measures(self) -> bool:
        return self.scale == "measured"

    def _ask_working(self, door: PointRows, run: Run, budget: Share) -> tuple[Working, Share]:
        """Ask how widely numbers spread, if that is wanted; return what is left of the budget."""
        gap = self._scaling(door.schema)["gap"]
        if not self._measures:
            return Working(door.schema, gap), budget
        share = budget.take(MEASURING)
        view = door.private(run.meter, run.another_seed())
        return ask_working_range(view, share, door.schema, gap), budget.remainder(share)

    def _check_combinations(self) -> None:
        check_declared_once(self.schema, self.bounds)

    def _open(self, X: Any, public: Any = None) -> Opened:
        schema = self._declared_schema()
        if schema is not None:  # refused before anything is opened
            self._check_scale(schema)
            self._region(schema)
        return open_points(X, schema=schema, bounds=self.bounds, unit=unit_from(self.unit))

    def _door(self, opened: Opened) -> PointRows:
        return PointRows(opened, **self._scaling(opened.schema))

    def _region(self, schema: Schema, scaling: dict[str, Any] | None = None) -> Region:
        """Return where the rows of a schema lie, as the door sees them."""
        return region_of(schema, **(scaling or self._scaling(schema)))

    def _scale_and_metric(self) -> dict[str, Any]:
        """Return both for a release, unless they are the defaults."""
        metric = {"metric": self._metric(self.schema_)} if self.schema_.categorical else {}
        return metric | ({"scale": self.scale} if self._measures else {})

    def _used_schema(self, schema: Schema, working: Working | None) -> tuple[Schema, Any]:
        """Return the schema that a fit used, and how much its columns count."""
        return (schema, self._scaling(schema)) if working is None else working.used

    def _check_scale(self, schema: Schema) -> None:
        if self._measures:
            check_measurable(schema, self.rescale, self._metric(schema))

    def _check_before_charge(self, door: PointRows, public: Any = None) -> None:
        self._check_scale(door.schema)
        uneven = None if self._is_rescaled(door.schema) else uneven_sentence(door.schema)
        if uneven is not None:
            self._warn(uneven, PublicFactWarning)
        if self._metric(door.schema) == "dilca":
            from privclust.clustering.learned_metric import check_metric_can_be_learned

            check_metric_can_be_learned(door)

    def _metric(self, schema: Schema) -> str:
        """Return how categories are compared; in pure ε mismatches are often lost in the noise."""
        if self.metric != "auto":
            return self.metric
        pure = self._budget().currency == "pure"
        return "dilca" if pure and len(schema) > 1 and not schema.numeric else "mismatch"

    def _declared_schema(self) -> Schema | None:
        return None if self.schema is None else Schema.of(self.schema)

    def _scaling(self, schema: Schema) -> dict[str, Any]:
        """Return how much columns count, from public facts alone; see ``Coordinates.scales``."""
        rescale = self._is_rescaled(schema)
        return {"rescale": rescale, "gap": category_gap(schema, rescale)}

    def _is_rescaled(self, schema: Schema) -> bool:
        """Return whether distances are measured in units of the declared widths."""
        if self.rescale is not None:
            return bool(self.rescale)
        return self._measures or (self.schema is not None and schema.ball is None)

    def _advice(self) -> Iterator[str]:
        return advice(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class KMeansEstimator(PointLabels, RowsEstimator):
    """What the k-means estimators share; a subclass has the parameters and the algorithm."""

    _kind = "kmeans"
    _parameters: ClassVar[Any] = (replace(N_CLUSTERS, also=()), RESCALE)
    n_clusters: Any

    def plan(
        self, n_rows: int | None = 10_000, n_features: int | None = None, *, target: Any = None
    ) -> Plan:
        """Rehearse the fit on synthetic rows; no data are touched and nothing is spent.

        With ``n_clusters="auto"`` they are in 8 clumps, and ordinary k-means with 8 is the measure.

        Parameters
        ----------
        n_rows : int or None, default=10_000
            About how many rows the data have, from public knowledge; at most 100 000 are generated.
            ``None`` with a target asks how many it takes.
        n_features : int or None
            The number of columns, if neither the schema nor the bounds determine it.
        target : float, str or None, default=None
            The error that is wanted: ``1.05`` or ``"inertia 1.05"`` for an inertia 1.05 times that
            without privacy, ``"size 50"`` for sizes of clusters within ± 50 rows. The plan is
            then that of the smallest ε that reaches it, or of the fewest rows.
        """

        def clumps(schema: Schema, count: int, unit: RowUnit, seed: int) -> Rehearsal:
            return synthetic_rows(schema, self._n_clusters_or(DEFAULT_CLUSTERS), count, unit, seed)

        if target is not None:
            return plan_for_target(self, target, n_rows, n_features=n_features)
        planned, k = self._plan_facts(n_rows, n_features), self._n_clusters_or(DEFAULT_CLUSTERS)
        plan = planned.with_profiles(planned.rehearse(clumps, INERTIA), k)
        assumed = () if self.n_clusters else (f"No number of clusters is given; {k} are assumed.",)
        return replace(plan, notes=(*assumed, *plan.notes))

    # The steps of a fit.
    def _check_before_charge(self, door: PointRows, public: Any = None) -> None:
        check_clusters(self._n_clusters_or(max(DEFAULT_RANGE)), door.domain.dimension)
        if self.profile_share is not None:
            histograms.check_numbers(door.schema, self._metric(door.schema))
        super()._check_before_charge(door, public)

    def _n_clusters_or(self, otherwise: int) -> int:
        """Return the number of clusters, or another one if it is to be chosen."""
        given = DEFAULT_CLUSTERS if self.n_clusters is None else self.n_clusters
        return otherwise if given == AUTO else int(given)

    def _ask(self, door: PointRows, run: Run, public: Any = None) -> KMeansResult:
        share, rest = split_for_missing(run.budget.whole, door.schema, self.missing_share)
        result = self._ask_within(door, run, share)
        return replace(result, missing=ask_missing(door, run, rest))

    def _ask_within(self, door: PointRows, run: Run, share: Share) -> KMeansResult:
        share, for_profiles = histograms.split_for_histograms(share, self.profile_share)
        working, share = self._ask_working(door, run, share)
        within = door.within(working.schema, gap=working.gap) if self._measures else door
        view = within.private(run.meter, run.seed)
        result = with_doubt(self._ask_clusters(view, share, run.public_rng))
        if self._measures:
            result = replace(result, working=working, notes=(*working.notes, *result.notes))
        if for_profiles is None:
            return result
        asked = histograms.ask_histograms(view, for_profiles, result.centres, working.schema)
        return replace(result, profiles=asked)

    def _ask_clusters(self, view: PointsView, share: Share, rng: Any) -> KMeansResult:
        """Run the algorithm of the subclass."""
        raise NotImplementedError

    def _keep(self, facts: PublicFacts, result: KMeansResult, public: Any = None) -> None:
        self._remember_columns(facts.names, facts.n_columns)
        self.schema_, self._scaled = self._used_schema(facts.schema, result.working)
        self._learned = result.learned
        for name in ("metric_", "cell_error_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        self.cluster_centers_error_: Floats | None = None
        if result.learned is None:
            region = self._region(self.schema_, self._scaled)
            self.cluster_centers_ = region.in_data_units(result.centres)
            self.cluster_centers_error_ = errors_in_data_units(result, region, self.schema_)
        else:
            self.cluster_centers_ = result.learned.table
            self.metric_, self.cell_error_ = result.learned.metric, result.learned.cell_error
        self.cluster_sizes_ = result.sizes.value
        self.cluster_sizes_error_ = np.full(len(result.sizes.value), result.sizes.standard_error)
        self.method_, self._verdict = result.method, result.verdict
        self.n_clusters_ = len(result.centres)
        self._n_features_out = len(result.centres)
        histograms.keep_profiles(self, result.profiles)

    def _noisy_number(self, result: KMeansResult) -> Noisy:
        return result.sizes

    def _centres_and_sizes(self, result: KMeansResult) -> tuple[Floats, Noisy]:
        return self.cluster_centers_, result.sizes

    def _common_notes(self, unit: Unit, budget: Budget, result: KMeansResult) -> Iterator[Note]:
        """Yield also what centres that saw the rows say of their columns."""
        yield from super()._common_notes(unit, budget, result)
        if signal_of(result.notes) != "seen":
            return
        centers, sizes = self.cluster_centers_, self.cluster_sizes_
        yield from shares_notes(self.schema_, centers, sizes, self.cluster_centers_error_)
        if result.learned is None:
            about = centers, sizes, self.cluster_sizes_error_
            yield from centre_notes(self.schema_, self._scaled, *about)

    def _release_fields(self) -> dict[str, Any]:
        n_clusters = len(self.cluster_centers_)
        arrays = {} if self._learned is None else metric_arrays(self._learned, self.schema_)
        centres = self.cluster_centers_, self.cluster_centers_error_
        sizes = self.cluster_sizes_, self.cluster_sizes_error_
        return {
            "arrays": arrays | cluster_arrays(*centres, *sizes) | histograms.kept_profiles(self),
            "schema": self.schema_,
            "parameters": {
                "n_clusters": n_clusters,
                "method": self.method_,
                **self._options(),
                **scaling_parameters(**self._scaled),
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
    n_clusters : int, "auto" or None, default=None
        The number of clusters. ``"auto"`` spends the budget on a summary of the rows, from which
        the number is chosen and the centres are taken; if no number stands out, a warning says so.
        ``None`` takes 8, and a warning says so.
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
        ``"cells"`` clusters noisy counts of many small cells; ``"cautious"`` starts at the mean and
        moves only as far as the noise can be trusted; ``"grid"`` counts the cells of a grid along
        the widest columns, at most three; ``"lloyd"`` is the literature's noisy iteration.
        ``"auto"`` runs ``"cells"``, or, for few rows, ``"grid"`` in few columns and ``"cautious"``
        in more. A grid has less noise in pure ε, so ``"auto"`` then spends ε alone, which keeps the
        promise; not with a ledger or a budget of ρ.
        ``"subcluster"`` is the former word for ``"cells"``; it warns and will go.
    metric : {"auto", "mismatch", "dilca"}, default="auto"
        How categories are compared. With ``"mismatch"`` any two different ones are equally far
        apart; with ``"dilca"`` half of the budget is spent on learning from the other columns how
        far apart they are, as in :class:`PrivateDilca`, and the distances are released too.
        ``"auto"`` learns this if all columns are categories and δ is zero, because mismatches would
        then be lost in the noise.
    profile_share : float or None, default=None
        The share of the budget, such as 0.1, that pays for histograms: one for every numeric column
        in every cluster.
    missing_share : float, default=0.02
        The share of the budget that counts missing values for which a rule stands, in columns with
        ``missing=`` a constant or ``"omit"``; 0, or no such column, asks nothing.
    scale : {"declared", "measured"}, default="declared"
        What makes numbers alike. ``"declared"``: their declared widths, by public facts alone.
        ``"measured"`` spends 6 % of the budget on finding a range that the rows of each number
        fill, and counts in deviations; it helps where bounds are loose.
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
    cluster_sizes_, cluster_sizes_error_ : ndarray of shape (n_clusters,)
        Noisy numbers of rows nearest to each centre, which can be negative, and their errors.
    profile_counts_, profile_counts_error_ : ndarray of shape (n_clusters, n_numbers, 10)
        Noisy histograms of the numeric columns in each cluster; only with ``profile_share``.
    profile_edges_ : ndarray of shape (n_numbers, 11)
        The edges of their cells, in the units of the data.
    metric_ : CategoricalMetric
        The distances between categories; only with a learned metric. ``metric_["city"]`` has those
        of a column, as ``distances()``, and the columns that they were learned from, as
        ``context``.
    cell_error_ : float
        The standard error of the noise on a cell of the tables that it was learned from.
    missing_counts_ : dict of str to float
        About how many values a rule stood for in each column; only where ``missing_share`` paid.
    missing_counts_error_ : float
        The standard error of each of these numbers.
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
    not kept: ``fit_predict`` and ``score`` return them to the holder of the rows. A released
    inertia, with its error, is in :meth:`PrivateSummary.inertia`.

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
        n_clusters: int | Literal["auto"] | None = None,
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
        missing_share: float = 0.02,
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
        self.missing_share = missing_share
        self.scale = scale
        self.rescale = rescale
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def _run(self, charged: bool | None = None) -> Run:
        """Return what a fit starts from; without a ledger, which adds up ρ, ε may be spent pure."""
        run = super()._run(charged)
        return replace(run, meter=Meter(run.budget, or_pure=not run.charged))

    def _ask_within(self, door: PointRows, run: Run, share: Share) -> KMeansResult:
        if self._metric(door.schema) != "dilca":
            return super()._ask_within(door, run, share)
        from privclust.clustering.learned_metric import ask_by_learned_metric

        def ask(view: PointsView, part: Share) -> KMeansResult:
            return self._ask_clusters(view, part, run.public_rng)

        return ask_by_learned_metric(door, run, share, self._n_clusters_or(DEFAULT_CLUSTERS), ask)

    def _ask_clusters(
        self, view: PointsView, share: Share, rng: np.random.Generator
    ) -> KMeansResult:
        if self.n_clusters == AUTO:
            schema = self._declared_schema() if view.domain.has_shares else None
            return ask_with_chosen_k(view, share, rng, schema)
        method = _METHODS[_FORMER.get(self.method, self.method)]
        return method(view, share, self._n_clusters_or(DEFAULT_CLUSTERS), rng)

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
                "PrivateZoneKMeans for the published algorithm.",
                DeprecationWarning,
            )

    def _warn_of_doubts(self) -> None:
        super()._warn_of_doubts()
        if self.n_clusters is None:
            self._warn(
                f"No number of clusters was given, so {DEFAULT_CLUSTERS} were sought; give one, or "
                "'auto' to have it chosen.",
                PublicFactWarning,
            )

    def _options(self) -> dict[str, Any]:
        return self._scale_and_metric()
