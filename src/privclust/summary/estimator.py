"""``PrivateSummary``: the budget is spent once, and every later question is free."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from privclust._typing import Floats
from privclust.budget import Budget, Share
from privclust.data.points.door import PointRows
from privclust.data.points.view import PointsView
from privclust.data.view import Noisy
from privclust.estimator import PrivateEstimator, Run
from privclust.kmeans.points import PointsEstimator
from privclust.kmeans.profiles import check_numbers, divided
from privclust.ledger import Ledger
from privclust.notes import Note
from privclust.opening.rows import PublicFacts
from privclust.parameters import either, fraction, one_of, whole
from privclust.plan import Plan, Synthetic
from privclust.release import Release
from privclust.schema import Schema
from privclust.summary.answers import SummaryAnswers
from privclust.summary.plan import synthetic
from privclust.summary.profiling import ask_cluster_histograms
from privclust.summary.release import arrays_of
from privclust.summary.result import SummaryResult
from privclust.summary.summarising import ask_summary
from privclust.unit import RowUnit, Unit

__all__ = ["PrivateSummary"]

_MISSED = Note(
    "far-rows-missed",
    "Some rows seem to lie farther from the cells than distances were clipped to, so that the "
    "inertia is too small; compare numbers of clusters by it, and raise epsilon or declare closer "
    "bounds before you quote it.",
)


class PrivateSummary(SummaryAnswers, PointsEstimator):
    """A private summary of rows, from which centres for every k can be computed at no further cost.

    The budget is spent once, on cells that each have a noisy count and a noisy place. Centres and
    sizes for any number of clusters, the choice of that number, profiles and synthetic rows are
    computed from the released cells, as often as you like.

    Parameters
    ----------
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
    metric : {"auto", "mismatch", "dilca"}, default="auto"
        How categories are compared while the cells are found. With ``"mismatch"`` any two different
        ones are one apart; with ``"dilca"`` half of the budget is spent on learning from the other
        columns how far apart they are. Either way numbers and shares are released, and later
        answers count mismatches. ``"auto"`` learns where all columns are categories and δ is zero.
    profile_share : float or None, default=None
        The share of the budget, such as 0.1, that pays for histograms: one for every numeric column
        in every cluster, for as many clusters as :meth:`choose_k` suggests.
    rescale : bool or None, default=None
        Measure distances in units of the declared width of each column; ``None`` means True with a
        schema that has no ball, and False with bounds.
    random_state : int or None, default=None
        ``None`` for private noise. A number makes the fit reproducible and NOT PRIVATE.
    ledger : Ledger or None, default=None
        Where the fit is charged before any row is read.
    dataset : str or None, default=None
        The name of the data set in the ledger.

    Attributes
    ----------
    cells_ : ndarray of shape (n_cells, n_features)
        Released cells, within the declared bounds.
    counts_ : ndarray of shape (n_cells,)
        About how many rows each of them stands for.
    counts_error_ : float
        The standard error of a count.
    cells_error_ : ndarray of shape (n_cells, n_features)
        The standard errors of the places of the cells, from noise alone.
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
        The warnings of the fit: that noise hides the rows, or that the inertia misses some.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if the data had names.

    Examples
    --------
    >>> import numpy as np
    >>> from privclust import PrivateSummary
    >>> rows = np.random.default_rng(0).normal([[2, 2], [6, 6]] * 5000, 0.3)
    >>> summary = PrivateSummary(epsilon=1.0, bounds=(0, 8)).fit(rows)
    >>> summary.centers(2).shape, summary.centers(5).shape
    ((2, 2), (5, 2))
    """

    _kind = "summary"
    _checks: ClassVar[Any] = {
        **PointsEstimator._checks,
        "metric": one_of("auto", "mismatch", "dilca"),
        "profile_share": either(None, fraction()),
    }

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
        schema: Any = None,
        bounds: tuple[Any, Any] | None = None,
        unit: Unit | str = "add-remove-row",
        metric: Literal["auto", "mismatch", "dilca"] = "auto",
        profile_share: float | None = None,
        rescale: bool | None = None,
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.budget = budget
        self.schema = schema
        self.bounds = bounds
        self.unit = unit
        self.metric = metric
        self.profile_share = profile_share
        self.rescale = rescale
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def release(self) -> Release:
        """Return the summary in the form to publish: the release that the ledger recorded."""
        return PrivateEstimator.release(self)

    def plan(
        self, n_rows: int = 10_000, n_features: int | None = None, n_clusters: int = 8
    ) -> Plan:
        """Rehearse the fit on synthetic rows; no data are touched and nothing is spent.

        Parameters
        ----------
        n_rows : int, default=10_000
            About how many rows the data have, from public knowledge; at most 100 000 are generated.
        n_features : int or None
            The number of columns, if neither the schema nor the bounds determine it.
        n_clusters : int, default=8
            The number of clusters for which the error is given.
        """
        whole()("n_clusters", n_clusters)

        def clumps(schema: Schema, count: int, unit: RowUnit, seed: int) -> Synthetic:
            return synthetic(schema, int(n_clusters), count, unit, seed)

        plan = self._rehearsed(n_rows, n_features, clumps)
        return self._with_profiles(plan, int(n_clusters), n_features)

    # The way of a fit.
    def _ask(self, door: PointRows, run: Run, public: Any = None) -> SummaryResult:
        view = door.private(run.meter, run.seed)
        budget, for_profiles = divided(run.budget.whole, self.profile_share)
        result = self._ask_summary(door, run, view, budget)
        if for_profiles is not None:
            result = replace(
                result, profiles=ask_cluster_histograms(view, for_profiles, result, door)
            )
        missed = (_MISSED,) if result.misses_far_rows else ()
        return replace(result, notes=(*result.notes, *missed))

    def _ask_summary(
        self, door: PointRows, run: Run, view: PointsView, budget: Share
    ) -> SummaryResult:
        if self._metric(door.schema) != "dilca":
            return ask_summary(view, budget, run.choices)
        from privclust.summary.learned import ask_summary_by_learned_metric

        return ask_summary_by_learned_metric(door, run, view, budget)

    def _look_ahead(self, door: PointRows, public: Any = None) -> None:
        super()._look_ahead(door, public)
        if self._metric(door.schema) == "dilca":
            from privclust.kmeans.learned import check_learnable

            check_learnable(door)
        if self.profile_share is not None:
            check_numbers(door.schema)

    def _keep(self, facts: PublicFacts, result: SummaryResult, public: Any = None) -> None:
        domain = self._region(facts.schema)
        self._remember_columns(facts.names, facts.n_columns)
        self.schema_ = facts.schema
        places = domain.released(result.cells.cells)
        cells = result.cells.scaled(domain.radius)
        self.cells_, self.counts_ = places, cells.counts
        self.counts_error_ = cells.counts_error
        self.cells_error_ = np.sqrt(cells.noise) * domain.scales
        self._cells, self._rescaled = cells, self._rescales(facts.schema)
        profiles = result.profiles
        self._keep_profiles(None if profiles is None else profiles.counts)
        self._profile_centers = None if profiles is None else profiles.centers

    def _noisy_number(self, result: SummaryResult) -> Noisy:
        return Noisy(np.array([result.cells.n_rows]), result.cells.n_rows_error)

    def _centres_and_sizes(self, result: SummaryResult) -> tuple[Floats, Noisy]:
        """Return the mean of the cells: where rows crowd at a bound, noise moves cells off it."""
        mean = self.counts_ @ self.cells_ / self.counts_.sum()
        return mean[None], self._noisy_number(result)

    def _published(self) -> dict[str, Any]:
        return {
            "arrays": arrays_of(self._cells, self.cells_) | self._published_profiles(),
            "schema": self.schema_,
            "parameters": {"rescale": self._rescaled, **self._options()},
        }

    def _options(self) -> dict[str, Any]:
        """Return the metric for the release, where there is something to compare by it."""
        return {"metric": self._metric(self.schema_)} if self.schema_.categorical else {}

    def _published_profiles(self) -> dict[str, Any]:
        arrays = super()._published_profiles()
        return arrays | {"profile_centers": self._profile_centers} if arrays else {}
