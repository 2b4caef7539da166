"""``PrivateSourceTargetMedoids``: its parameters, and what it asks and keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from privclust.budget import Budget, Share
from privclust.data.sites.door import SourceRows
from privclust.data.sites.metrics import METRICS, MetricName
from privclust.data.sites.view import SitesView
from privclust.estimator import PrivateEstimator, Run
from privclust.exceptions import ParameterError, SourceWarning
from privclust.ledger import Ledger
from privclust.parameters import check_declared_once, either, fraction, one_of, whole
from privclust.plan import Plan, rehearse
from privclust.schema import Schema
from privclust.source_target.medoids import ChosenCentres
from privclust.source_target.nas import nas
from privclust.source_target.nna import nna
from privclust.source_target.placement import CoordinateCells, DistanceCells
from privclust.source_target.plan import DISTANCE, random_targets, synthetic
from privclust.source_target.publishing import published
from privclust.source_target.result import SourceTargetResult
from privclust.source_target.rings import rings
from privclust.source_target.sanitised import ReleasedSource, Sanitised
from privclust.source_target.solution import Existing, solve
from privclust.source_target.targets import PublicTargets, declared_schema
from privclust.unit import Unit, unit_from

__all__ = ["PrivateSourceTargetMedoids"]

_NO_SOURCE = (
    "No source was given, so the whole budget is spent without one; pass source=, or use "
    "privclust.reference.SourceTargetMedoids for public centres alone."
)


class PrivateSourceTargetMedoids(ChosenCentres, PrivateEstimator):
    """Choose new centres among public candidates beside private existing ones.

    Parameters
    ----------
    n_centers : int, default=8
        The number of new centres.
    epsilon : float, default=1.0
        The privacy loss allowed. Smaller is more private and less accurate.
    delta : float, default=0
        Zero for pure ε; a tiny number such as 1e-6 spends the budget in zCDP.
    budget : Budget or None, default=None
        In place of ``epsilon`` and ``delta``, such as ``Budget.of_rho(0.1, 1e-6)``.
    method : {"rings", "nna", "nas"}, default="rings"
        ``"rings"`` counts sources in cells of distance shells around the targets; ``"nna"``
        counts and averages those nearest to each site of a coreset; ``"nas"`` averages the nearest
        sources of each site.
    metric : {"euclidean", "manhattan", "cosine", "haversine", "precomputed"}, default="euclidean"
        ``"haversine"`` takes latitude and longitude in degrees and measures kilometres;
        ``"precomputed"`` takes tables of distances to the targets.
    schema : Schema or None, default=None
        Public bounds of the columns of the source. Without, bounds are drawn around the targets.
    bounds : tuple of (low, high) or None, default=None
        The short form of a schema.
    unit : Unit or str, default="add-remove-row"
        Whose presence is hidden; see :mod:`privclust.unit`.
    n_projected : int or None, default=None
        Project all points to this many random dimensions first.
    coreset_radius : float, default=0.05
        How far a target may lie from the coreset of ``"nna"`` and ``"nas"``, in diameters of the
        targets.
    n_nearest : int, default=150
        The number of sources that each site of ``"nas"`` averages.
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
    released_source_ : ReleasedSource
        The sanitised source.
    served_by_source_ : ndarray of shape (n_targets,)
        How likely each target has an existing centre at least as near as the new ones.
    privacy_ : PrivacyStatement
        What was promised and what was asked.
    schema_ : Schema
        The bounds used.
    warnings_ : tuple of str
        What the fit warned of.
    n_features_in_ : int
        Number of columns of the targets; of precomputed distances, of candidates.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they have any.

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

    _kind = "source_target"
    _checks: ClassVar[Any] = {
        "n_centers": whole(),
        "method": one_of("rings", "nna", "nas"),
        "metric": one_of(*METRICS),
        "n_projected": either(None, whole()),
        "coreset_radius": fraction(),
        "n_nearest": whole(),
    }

    def __init__(
        self,
        n_centers: int = 8,
        *,
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
        method: Literal["rings", "nna", "nas"] = "rings",
        metric: MetricName = "euclidean",
        schema: Schema | None = None,
        bounds: tuple[Any, Any] | None = None,
        unit: Unit | str = "add-remove-row",
        n_projected: int | None = None,
        coreset_radius: float = 0.05,
        n_nearest: int = 150,
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.n_centers = n_centers
        self.epsilon = epsilon
        self.delta = delta
        self.budget = budget
        self.method = method
        self.metric = metric
        self.schema = schema
        self.bounds = bounds
        self.unit = unit
        self.n_projected = n_projected
        self.coreset_radius = coreset_radius
        self.n_nearest = n_nearest
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

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
            Where new centres may stand; at targets that have a weight if not given.
        forbidden, forced : sequence of int
            Numbers of candidates that must not, or must, be chosen.
        """
        self._check_parameters()
        run = self._run()
        public = PublicTargets.of(
            target,
            metric=self.metric,
            candidates=candidates,
            weights=sample_weight,
            forbidden=forbidden,
            forced=forced,
            projection=self.n_projected,
            rng=run.choices,
        )
        public.check_centres(self.n_centers)
        if source is None:
            self._warn(_NO_SOURCE, SourceWarning)
        self._fit(source, run=run, public=public)
        return self

    def plan(
        self, n_rows: int = 1000, n_features: int | None = None, *, target: Any = None
    ) -> Plan:
        """Rehearse the fit with synthetic sources; no private row is read and nothing is spent.

        Parameters
        ----------
        n_rows : int, default=1000
            About how many sources there are, from public knowledge.
        n_features : int or None
            The number of columns, if there are neither targets nor a schema.
        target : array-like of shape (n_targets, n_features) or None
            The public targets; 500 random ones within the declared bounds if not given.
        """
        self._check_parameters()
        whole()("n_rows", n_rows)
        if target is None:
            target = random_targets(self.schema, self.bounds, n_features)
        public = PublicTargets.of(target, metric=self.metric)
        public.check_centres(self.n_centers)
        return rehearse(
            self,
            lambda seed: synthetic(public, target, int(self.n_centers), int(n_rows), seed),
            n_rows=int(n_rows),
            measure=DISTANCE,
        )

    # The way of a fit.
    def _open(self, X: Any, public: Any = None) -> SourceRows:
        schema = declared_schema(public, self.schema, self.bounds)
        return SourceRows(X, schema, unit_from(self.unit))

    def _ask(self, data: SourceRows, run: Run, public: Any = None) -> SourceTargetResult:
        view = data.private(public.space, run.meter, run.seed)
        released = self._sanitised(view, run.budget.whole, public, run.choices)
        base = public.metric.lengths(released.base)
        return SourceTargetResult(released, solve(public, Existing(base), int(self.n_centers)))

    def _sanitised(
        self, view: SitesView, budget: Share, public: PublicTargets, rng: np.random.Generator
    ) -> Sanitised:
        radius = 2 * self.coreset_radius  # the parameter is in diameters of the targets
        if self.method == "nna":
            return nna(view, budget, radius)
        if self.method == "nas":
            return nas(view, budget, radius, int(self.n_nearest))
        if not public.metric.has_coordinates:
            table = public.table.astype(np.float32)
            return rings(view, budget, DistanceCells(public.space, table), rng)
        return rings(view, budget, CoordinateCells(public.space), rng)

    def _keep(self, data: SourceRows, result: SourceTargetResult, public: Any = None) -> None:
        """Keep released values and public ones; nothing else."""
        self.schema_ = data.schema
        self._keep_choice(public, result.found)
        self.cost_estimate_ = result.found.cost
        self.released_source_ = ReleasedSource.of(result.released, public.space)
        self.served_by_source_ = result.found.served
        self._targets = public.table

    def _published(self) -> dict[str, Any]:
        return published(self)

    def _check_together(self) -> None:
        if not METRICS[self.metric].has_coordinates and self.method != "rings":
            raise ParameterError(
                f"The method {self.method!r} averages coordinates, which precomputed distances do "
                'not have; use method="rings".'
            )
        check_declared_once(self.schema, self.bounds)
