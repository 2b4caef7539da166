"""``PrivateSourceTargetMedoids``: the scikit-learn shell around the private methods."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from privclust.budget import Share
from privclust.data.sites.view import SitesView, SourceRows
from privclust.estimator import PrivateEstimator
from privclust.exceptions import SourceWarning
from privclust.ledger import Ledger
from privclust.plan import Plan
from privclust.privacy.meter import Meter
from privclust.privacy.statement import PrivacyStatement
from privclust.release import Release
from privclust.schema import Schema
from privclust.source_target.distances import metric_lengths
from privclust.source_target.medoids import ChosenCentres, column_names
from privclust.source_target.nas import nas
from privclust.source_target.nna import nna
from privclust.source_target.placement import CoordinateCells, DistanceCells
from privclust.source_target.plan import rehearsed
from privclust.source_target.publishing import source_target_release
from privclust.source_target.rings import rings
from privclust.source_target.sanitised import ReleasedSource, Sanitised
from privclust.source_target.solution import Existing, Solution, solve
from privclust.source_target.targets import PublicTargets, declared_schema
from privclust.unit import Unit, unit_from

__all__ = ["PrivateSourceTargetMedoids"]

Floats = NDArray[np.float64]

_METHODS = ("rings", "nna", "nas")
_NO_SOURCE = (
    "No source was given, so the whole budget was spent on none; pass source=, or use "
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
    projection : int or None, default=None
        Project all points to so many random dimensions first.
    coreset : float, default=0.05
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
    private_source_ : ReleasedSource
        The sanitised source.
    served_by_source_ : ndarray of shape (n_targets,)
        How likely each target has an existing centre at least as near as the new ones.
    privacy_ : PrivacyStatement
        What was promised and what was asked.
    schema_ : Schema
        The bounds used.
    warnings_ : tuple of str
        What the fit warned of.

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

    def __init__(
        self,
        n_centers: int = 8,
        *,
        epsilon: Any = 1.0,
        delta: Any = 0,
        method: Literal["rings", "nna", "nas"] = "rings",
        metric: Literal[
            "euclidean", "manhattan", "cosine", "haversine", "precomputed"
        ] = "euclidean",
        schema: Schema | None = None,
        bounds: tuple[Any, Any] | None = None,
        unit: Unit | str = "add-remove-row",
        projection: int | None = None,
        coreset: float = 0.05,
        n_nearest: int = 150,
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.n_centers = n_centers
        self.epsilon = epsilon
        self.delta = delta
        self.method = method
        self.metric = metric
        self.schema = schema
        self.bounds = bounds
        self.unit = unit
        self.projection = projection
        self.coreset = coreset
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
        seed, rng = self._seeds()
        public = PublicTargets.check(
            target,
            metric=self.metric,
            candidates=candidates,
            weights=sample_weight,
            forbidden=forbidden,
            forced=forced,
            projection=self.projection,
            rng=rng,
        )
        n_centers, names = public.check_centres(self.n_centers), column_names(target)
        schema = declared_schema(public, self.schema, self.bounds, names)
        budget, unit = self._budget(), unit_from(self.unit)
        with SourceRows(source, schema, unit) as rows:
            receipt = self._reserve(budget, unit)
            meter = Meter(budget)
            view = rows.private(public.space, meter, seed)
            released = self._sanitised(view, budget.whole, public, rng)
        base = metric_lengths(released.base, public.metric)
        found = solve(public, Existing(base), n_centers)
        self.schema_ = schema
        self._keep_choice(names, public, found)
        self._keep(public, released, found)
        if source is None:
            self.warnings_ += (_NO_SOURCE,)
        for message in self.warnings_:
            warnings.warn(message, SourceWarning, stacklevel=2)
        self.privacy_ = PrivacyStatement.from_meter(
            meter, unit=unit, private=seed is None, receipt=receipt
        )
        self._settle()
        return self

    def plan(self, target: Any, n_sources: int = 1000) -> Plan:
        """Rehearse the fit with synthetic sources; no private row is read and nothing is spent.

        Parameters
        ----------
        target : array-like of shape (n_targets, n_features)
            The public targets.
        n_sources : int, default=1000
            About how many sources there are, from public knowledge.
        """
        self._check_parameters()
        return rehearsed(self, target, int(n_sources))

    def release(self) -> Release:
        """Return what may be published: centres, costs, the sanitised source, the statement."""
        check_is_fitted(self)
        return source_target_release(self)

    def _sanitised(
        self, view: SitesView, budget: Share, public: PublicTargets, rng: np.random.Generator
    ) -> Sanitised:
        reach = 2 * self.coreset  # the parameter is in diameters of the targets
        if self.method == "nna":
            return nna(view, budget, reach)
        if self.method == "nas":
            return nas(view, budget, reach, int(self.n_nearest))
        if public.metric == "precomputed":
            table = public.table.astype(np.float32)
            return rings(view, budget, DistanceCells(public.space, table), rng)
        return rings(view, budget, CoordinateCells(public.space), rng)

    def _keep(self, public: PublicTargets, released: Sanitised, found: Solution) -> None:
        """Keep released values and public ones; nothing else."""
        self.cost_estimate_ = found.cost
        self.private_source_ = ReleasedSource.of(released, public.space)
        self.served_by_source_ = found.served
        self.warnings_ = released.warnings
        self._targets = public.table

    def _check_parameters(self) -> None:
        if self.method not in _METHODS:
            raise ValueError(f"method must be one of {', '.join(_METHODS)}, got {self.method!r}.")
        if self.metric == "precomputed" and self.method != "rings":
            raise ValueError(
                f"The method {self.method!r} averages coordinates, which precomputed distances do "
                'not have; use method="rings".'
            )
        if not 0 < self.coreset < 1:
            raise ValueError(f"coreset must lie between 0 and 1, got {self.coreset!r}.")
        whole = isinstance(self.n_nearest, (int, np.integer)) and not isinstance(
            self.n_nearest, bool
        )
        if not whole or self.n_nearest < 1:
            raise ValueError(
                f"n_nearest must be a whole number of at least 1, got {self.n_nearest!r}."
            )
        self._budget()
