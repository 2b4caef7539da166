"""``PrivateSourceTargetMedoids``: its parameters, and what it asks and keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

from numpy.typing import ArrayLike

from privclust.budget import Budget
from privclust.data.sites.metrics import MetricName
from privclust.estimator import Run
from privclust.exceptions import SourceWarning
from privclust.ledger import Ledger
from privclust.schema import Schema
from privclust.source_target.base import SourceTargetEstimator
from privclust.source_target.targets import PublicTargets
from privclust.unit import Unit

__all__ = ["PrivateSourceTargetMedoids"]

_NO_SOURCE = (
    "No source was given, so the whole budget is spent without one; pass source=, or use "
    "privclust.reference.SourceTargetMedoids for public centres alone."
)


class PrivateSourceTargetMedoids(SourceTargetEstimator):
    """Choose new centres among public candidates beside private existing ones.

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
    method : {"rings", "nna", "nas"}, default="rings"
        ``"rings"`` counts sources in cells of distance shells around the targets; ``"nna"``
        counts and averages those nearest to each site of a coreset; ``"nas"`` averages the nearest
        sources of each site.
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
    coreset_radius : float, default=0.05
        How far a target may lie from the coreset of ``"nna"`` and ``"nas"``, in diameters of the
        targets.
    coreset : {"auto", "halving", "net"} or None, default="auto"
        How that coreset is made: cells halved at medians, a greedy net, or none at all, which takes
        every target as a site. ``"auto"`` takes the one with fewer sites for ``"nas"``, whose noise
        grows with them, and the finer one for ``"nna"``.
    n_nearest : int, default=150
        t, the number of sources that each site of ``"nas"`` averages.
    spread_share : float or None, default=None
        The share of the budget of ``"nas"`` that pays for Δ_t(S), the mean distance of sites to
        their t nearest sources, on which its utility depends.
    counts_share : float, default=0.7
        The share of the budget of ``"nna"`` that pays for counts; sums of sources get the rest.
    false_cells : float, default=0.05
        How many empty cells of ``"nna"`` may be mistaken for occupied ones on average: the paper's
        γ, for all cells together.
    pull : bool, default=True
        Whether ``"nna"`` pulls averages that noise moved out of their cells back to the border.
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
    source_spread_, source_spread_error_ : float
        Noisy Δ_t(S) and its standard error, if ``spread_share`` is set.
    served_by_source_ : ndarray of shape (n_targets,)
        How likely it is that each target has an existing centre at least as near as the new ones.
    privacy_ : PrivacyStatement
        What is promised, and which questions were asked.
    schema_ : Schema
        The bounds used.
    warnings_ : tuple of str
        The warnings of the fit.
    n_features_in_ : int
        Number of columns of the targets; of precomputed distances, of candidates.
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
        coreset: Literal["auto", "halving", "net"] | None = "auto",
        n_nearest: int = 150,
        spread_share: float | None = None,
        counts_share: float = 0.7,
        false_cells: float = 0.05,
        pull: bool = True,
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.n_centers = n_centers
        self.epsilon, self.delta, self.budget = epsilon, delta, budget
        self.method = method
        self.metric = metric
        self.schema, self.bounds = schema, bounds
        self.unit = unit
        self.n_projected = n_projected
        self.coreset_radius = coreset_radius
        self.coreset = coreset
        self.n_nearest = n_nearest
        self.spread_share = spread_share
        self.counts_share = counts_share
        self.false_cells = false_cells
        self.pull = pull
        self.random_state = random_state
        self.ledger, self.dataset = ledger, dataset

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
            target, metric=self.metric, projection=self.n_projected, rng=run.choices, **declared
        )
        public.check_centres(self.n_centers)
        if source is None:
            self._warn(_NO_SOURCE, SourceWarning)
        self._fit(source, run=run, public=public)
