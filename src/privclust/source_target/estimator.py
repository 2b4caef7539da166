"""``PrivateSourceTargetMedoids``: public targets, private sources, and centres chosen for both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from privclust.budget import Budget, Share
from privclust.data.public import Noisy
from privclust.data.sites.distances import METRICS, MetricName
from privclust.data.sites.view import SitesView, SourceRows
from privclust.estimator import PrivateEstimator
from privclust.exceptions import SourceWarning
from privclust.fitting import Run
from privclust.ledger.ledger import Ledger
from privclust.notes import Note
from privclust.opening.rows import Opened, PublicFacts, open_sources
from privclust.parameters import WHOLE, check_declared_once
from privclust.plan import Plan, rehearse
from privclust.schema.schema import Schema
from privclust.source_target.centres import ChosenCentres
from privclust.source_target.noisy_source import NoisySource, ReleasedSource
from privclust.source_target.placement import CoordinateCells, DistanceCells
from privclust.source_target.plan import DISTANCE, random_targets, synthetic
from privclust.source_target.public_targets import PublicTargets, source_schema
from privclust.source_target.rings import ask_rings
from privclust.source_target.solution import ExistingService, Solution, mean_distance, solve
from privclust.source_target.task import SOURCE_TARGET
from privclust.unit import Unit, unit_from

# What a source-target fit returns: the sanitised source and the solution under it.


@dataclass(frozen=True)
class SourceTargetResult:
    """Released values only: the noisy source, and the centres chosen for it."""

    released: NoisySource
    found: Solution
    cost_bound: float | None  # what the true cost exceeds with a small chance only

    @property
    def notes(self) -> tuple[Note, ...]:
        """Warnings from the noisy source."""
        return self.released.notes


# What a source-target fit publishes: which values, under which names.

# The map of the report shows at most this many targets; more would only make the page heavy.
_MOST_ON_MAP = 4000


def release_fields(model: SourceTargetEstimator) -> dict[str, Any]:
    """Return the arrays, schema and parameters of the release of a fitted model."""
    source = model.released_source_
    arrays = {
        "centers": model.centers_,
        "medoid_indices": model.medoid_indices_,
        "order": model.order_,
        "source_positions": source.positions,
    }
    # Without any source above the noise, targets that no centre serves have no finite cost.
    if np.isfinite(model.order_costs_[1:]).all():
        arrays["order_costs"] = model.order_costs_[1:]
    if np.isfinite(source.counts).all():
        arrays["source_counts"] = source.counts
        arrays["source_counts_error"] = np.full(len(source.counts), source.count_error)
    if len(source.nearest) and np.isfinite(source.nearest).all():
        arrays["source_shells"] = np.column_stack([source.nearest, source.farthest])
    targets = model._targets
    if targets.shape[1] <= 2 and METRICS[model.metric].has_coordinates:
        shown = np.unique(np.linspace(0, len(targets) - 1, _MOST_ON_MAP).astype(np.intp))
        arrays["targets"] = targets[shown]
        arrays["served_by_source"] = model.served_by_source_[shown]
    known = {"source_spread": getattr(model, "source_spread_", None)}
    known["cost_bound"] = model.cost_bound_
    projected = None if model.n_projected is None else int(model.n_projected)
    return {
        "arrays": arrays,
        "schema": model.schema_,
        "parameters": {
            "n_centers": int(model.n_centers),
            "method": model.method,
            "metric": model.metric,
            "n_targets": len(model.served_by_source_),
            "cost_estimate": float(model.cost_estimate_),
            "served_estimate": float(model.served_by_source_.sum()),
            "n_projected": projected,
            **{name: value for name, value in known.items() if value is not None},
        },
    }


_NO_SOURCE = (
    "No source was given, so the whole budget is spent without one; pass source=, or use "
    "privclust.papers.targets.SourceTargetMedoids for public centres alone."
)


class SourceTargetEstimator(ChosenCentres, PrivateEstimator):
    """The template of a source-target fit; a subclass defines how it asks for the source."""

    _kind = "source_target"
    _parameters: ClassVar[Any] = SOURCE_TARGET.variants[0].parameters

    n_centers: int
    method: str
    metric: MetricName
    schema: Schema | None
    bounds: tuple[Any, Any] | None
    unit: Unit | str
    n_projected: int | None

    def plan(
        self, n_rows: int = 1000, n_features: int | None = None, *, target: Any = None
    ) -> Plan:
        """Rehearse the fit with synthetic sources; no private row is read and nothing is spent.

        Parameters
        ----------
        n_rows : int, default=1000
            About how many sources there are, from public knowledge; at most 100 000 are generated.
        n_features : int or None
            The number of columns, if there are neither targets nor a schema.
        target : array-like of shape (n_targets, n_features) or None
            The public targets; by default 500 random ones within the declared bounds.
        """
        self._check_parameters()
        WHOLE.check("n_rows", n_rows)
        if target is None:
            target = random_targets(self.schema, self.bounds, n_features)
        public = PublicTargets.of(target, metric=self.metric)
        public.check_centres(self.n_centers)
        unit = unit_from(self.unit)
        return rehearse(
            self,
            lambda seed: synthetic(public, target, int(self.n_centers), int(n_rows), seed, unit),
            n_rows=int(n_rows),
            measure=DISTANCE,
        )

    def fit(
        self,
        target: Any,
        y: object = None,
        *,
        source: Any = None,
        sample_weight: ArrayLike | None = None,
        candidates: Any = None,
        forbidden: Sequence[int] = (),
        forced: Sequence[int] = (),
    ) -> Self:
        """Choose the centres.

        Parameters
        ----------
        target : array-like of shape (n_targets, n_features)
            Whom to serve; public.
        y : ignored
        source : array, data frame, Arrow data or path of a CSV or Parquet file
            The private existing centres, in the columns of the target. ``None`` is a source
            without rows: it is asked and charged for like any other.
        sample_weight : array-like of shape (n_targets,) or None
            How much each target counts; public.
        candidates : array-like of shape (n_candidates, n_features) or None
            Where new centres may be placed; if not given, at the targets that have a weight.
        forbidden, forced : sequence of int
            Numbers of candidates that must not, or must, be chosen.
        """
        self._check_parameters()
        self._choose(
            self._run(),
            target,
            source,
            candidates=candidates,
            weights=sample_weight,
            forbidden=forbidden,
            forced=forced,
        )
        return self

    def _rehearse(self, run: Run, *data: Any) -> None:
        target, source = data
        self._choose(run, target, source)

    def _choose(self, run: Run, target: Any, source: Any, **declared: Any) -> None:
        """Choose the centres in a run; ``declared`` is what else is public."""
        public = PublicTargets.of(
            target, metric=self.metric, projection=self.n_projected, rng=run.public_rng, **declared
        )
        public.check_centres(self.n_centers)
        if source is None:
            self._warn(_NO_SOURCE, SourceWarning)
        self._fit(source, run=run, public=public)

    # The steps of a fit.
    def _open(self, X: Any, public: Any = None) -> Opened:
        schema = source_schema(public, self.schema, self.bounds)
        return open_sources(X, schema, unit_from(self.unit))

    def _door(self, opened: Opened) -> SourceRows:
        return SourceRows(opened)

    def _ask(self, door: SourceRows, run: Run, public: Any = None) -> SourceTargetResult:
        view = door.private(public.space, run.meter, run.seed)
        released = self._ask_source(view, run.budget.whole, public, run.public_rng)
        judges = released.judges
        existing = ExistingService(
            public.metric.lengths(released.base),
            None if judges is None else public.metric.lengths(judges),
        )
        found = solve(public, existing, int(self.n_centers))
        bound = None
        if released.bounds is not None:
            sure = ExistingService(public.metric.lengths(released.bounds)[None])
            bound = mean_distance(public, sure, found.chosen)
        return SourceTargetResult(released, found, bound)

    def _ask_source(
        self, view: SitesView, share: Share, public: PublicTargets, rng: np.random.Generator
    ) -> NoisySource:
        """Ask for the noisy source."""
        raise NotImplementedError

    def _keep(self, facts: PublicFacts, result: SourceTargetResult, public: Any = None) -> None:
        """Keep only released and public values."""
        self.schema_ = facts.schema
        self._keep_choice(public, result.found)
        self.cost_estimate_ = result.found.cost
        self.cost_bound_ = result.cost_bound
        self.released_source_ = ReleasedSource.of(result.released, public.space)
        self.served_by_source_ = result.found.served
        spread = result.released.spread
        for name in ("source_spread_", "source_spread_error_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if spread is not None:
            self.source_spread_ = float(public.metric.lengths(spread.value)[0])
            self.source_spread_error_ = float(spread.standard_error)
        self._targets = public.table

    def _noisy_number(self, result: SourceTargetResult) -> Noisy:
        return result.released.number

    def _release_fields(self) -> dict[str, Any]:
        return release_fields(self)

    def _check_combinations(self) -> None:
        check_declared_once(self.schema, self.bounds)


class PrivateSourceTargetMedoids(SourceTargetEstimator):
    """Choose new centres among public candidates, given private existing ones.

    Sources are counted in cells of distance shells around the targets. The published methods are
    :class:`privclust.papers.targets.PrivateNearestMedoids`.

    Parameters
    ----------
    n_centers : int, default=8
        The number of new centres.
    epsilon : float, default=1.0
        The privacy loss allowed. Smaller is more private and less accurate.
    delta : float, default=0
        Zero for pure ε; with a tiny number such as 1e-6 the budget is spent in zCDP.
    budget : Budget or None, default=None
        Given instead of ``epsilon`` and ``delta``; for example ``Budget.of_rho(0.1, 1e-6)``.
    metric : {"euclidean", "manhattan", "cosine", "haversine", "precomputed"}, default="euclidean"
        ``"haversine"`` takes latitude and longitude in degrees and measures kilometres;
        ``"precomputed"`` takes tables of distances to the targets.
    schema : Schema or None, default=None
        Public bounds of the columns of the source. If not given, they are drawn around the targets.
    bounds : tuple of (low, high) or None, default=None
        Shorthand for a schema.
    unit : Unit or str, default="add-remove-row"
        Whose presence is hidden; see :mod:`privclust.unit`.
    n_projected : int or None, default=None
        Project all points to this many random dimensions first.
    random_state : int or None, default=None
        ``None`` for private noise. A number makes the fit reproducible and NOT PRIVATE.
    ledger : Ledger or None, default=None
        Where the fit is charged before any row is read.
    dataset : str or None, default=None
        The name of the data set in the ledger.

    Attributes
    ----------
    medoid_indices_ : ndarray of shape (n_centers,)
        Numbers of the chosen candidates.
    centers_ : ndarray of shape (n_centers, n_features)
        The candidates themselves.
    labels_ : ndarray of shape (n_targets,)
        The number of the nearest new centre of each target; targets and centres are public.
    order_ : ndarray of shape (n_centers,)
        The greedy order; its first k are a choice of k centres, for any k at no further cost.
    order_costs_ : ndarray of shape (n_centers + 1,)
        Estimated cost of its first 0, 1, 2, ..., under the sanitised source.
    cost_estimate_ : float
        Estimated mean distance of targets to the nearest centre or source.
    cost_bound_ : float or None
        What the true mean distance exceeds in at most one fit of twenty, whatever the sources are:
        by counts that noise hardly reaches in an empty cell. Precomputed distances must obey the
        triangle inequality. See :mod:`privclust.source_target.certificate`.
    released_source_ : ReleasedSource
        The sanitised source.
    served_by_source_ : ndarray of shape (n_targets,)
        How likely it is that each target has an existing centre at least as near as the new ones.
    privacy_ : PrivacyStatement
        What is promised, and which questions were asked.
    schema_ : Schema
        The bounds used.
    warnings_ : tuple of str
        The warnings of the fit.
    n_features_in_ : int
        Number of columns of the targets; for precomputed distances, of candidates.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they have any.

    References
    ----------
    Schnapp, Sabato, "Differentially Private Source-Target Clustering" (TMLR 2025).

    Notes
    -----
    Targets, candidates, weights and metric are public; only the source is protected. The true cost
    is an exact statement about the source and is neither used nor kept.

    Examples
    --------
    >>> towns = [[x / 10, y / 10] for x in range(20) for y in range(20)]
    >>> existing = [[0.3, 0.4]] * 300
    >>> model = PrivateSourceTargetMedoids(2, epsilon=2.0).fit(towns, source=existing)
    >>> model.centers_.shape
    (2, 2)
    """

    method = "rings"

    def __init__(
        self,
        n_centers: int = 8,
        *,
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
        metric: MetricName = "euclidean",
        schema: Schema | None = None,
        bounds: tuple[Any, Any] | None = None,
        unit: Unit | str = "add-remove-row",
        n_projected: int | None = None,
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.n_centers = n_centers
        self.epsilon, self.delta, self.budget = epsilon, delta, budget
        self.metric = metric
        self.schema, self.bounds = schema, bounds
        self.unit = unit
        self.n_projected = n_projected
        self.random_state = random_state
        self.ledger, self.dataset = ledger, dataset

    def _ask_source(
        self, view: SitesView, share: Share, public: PublicTargets, rng: np.random.Generator
    ) -> NoisySource:
        if public.metric.has_coordinates:
            return ask_rings(view, share, CoordinateCells(public.space), rng)
        table = public.table.astype(np.float32)
        return ask_rings(view, share, DistanceCells(public.space, table), rng)
