"""``PrivateSummary``: the budget is spent once, and ``Summary`` answers every later question free.

A fitted :class:`privclust.PrivateSummary` answers the same, by the same functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from privclust._typing import Floats
from privclust.budget import Budget, Share
from privclust.clustering.answers import SummaryAnswers
from privclust.clustering.columns import loose_notes, shares_notes
from privclust.clustering.estimator import RowsEstimator
from privclust.clustering.histograms import (
    ask_cluster_histograms,
    check_numbers,
    keep_profiles,
    kept_profiles,
    split_for_histograms,
)
from privclust.clustering.missing import ask_missing, split_for_missing
from privclust.clustering.plan import INERTIA, SampleErrors, synthetic_summary_rows
from privclust.clustering.release import (
    arrays_from_cells,
    scaling_parameters,
)
from privclust.clustering.result import SummaryResult
from privclust.clustering.summarise import Overview, ask_summary
from privclust.clustering.task import SUMMARISE
from privclust.data.points.door import PointRows, region_of
from privclust.data.points.view import PointsView
from privclust.data.public import Noisy
from privclust.estimator import PrivateEstimator
from privclust.fitting import Run
from privclust.ledger.ledger import Ledger
from privclust.notes import Note, signal_of
from privclust.opening.rows import PublicFacts
from privclust.parameters import WHOLE
from privclust.plan import Plan, Rehearsal, plan_for_target
from privclust.release.release import Release
from privclust.schema.schema import Schema
from privclust.unit import Unit
from privclust.unit.rows import RowUnit

_MISSED = Note(
    "far-rows-missed",
    "Some rows seem to lie farther from the cells than distances were clipped to, so that the "
    "inertia is too small; compare numbers of clusters by it, and raise epsilon or declare closer "
    "bounds before you quote it.",
)


class PrivateSummary(SummaryAnswers, RowsEstimator):
    """A private summary of rows, from which centres for every k can be computed at no further cost.

    The budget is spent once, on cells that each have a noisy count and a noisy position. Centres
    and sizes for any number of clusters, the choice of that number, profiles and synthetic rows are
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
        ones are equally far apart; with ``"dilca"`` half of the budget is spent on learning from
        the other columns how far apart they are. Either way numbers and shares are released, and
        later answers count mismatches. ``"auto"`` learns where all columns are categories and δ is
        zero.
    profile_share : float or None, default=None
        The share of the budget, such as 0.1, that pays for histograms: one for every numeric column
        in every cluster, for as many clusters as :meth:`choose_k` suggests.
    missing_share : float, default=0.02
        The share of the budget that counts missing values for which a rule stands, in columns with
        ``missing=`` a constant or ``"omit"``; 0, or no such column, asks nothing.
    scale : {"declared", "measured"}, default="declared"
        What makes numbers alike. ``"declared"``: their declared widths, by public facts alone.
        ``"measured"`` spends 6 % of the budget on finding a range that the rows of each number
        fill, and counts in deviations; it helps where bounds are loose, and costs where they are
        good.
    synthetic : bool or float, default=False
        Whether tables are asked for besides the cells, so that :meth:`sample` draws rows whose
        columns spread and go together as those of the data do. A number such as 0.4 is the share
        of the budget for all tables; with True it follows from the number of rows.
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
        About how many rows each of them represents.
    counts_error_ : float
        The standard error of a count.
    cells_error_ : ndarray of shape (n_cells, n_features)
        The standard errors of the positions of the cells, from noise alone.
    profile_counts_ : ndarray of shape (n_clusters, n_numbers, 10)
        Noisy histograms of the numeric columns in each cluster; only with ``profile_share``.
    profile_counts_error_ : ndarray of shape (n_clusters, n_numbers, 10)
        The standard errors of their counts.
    profile_edges_ : ndarray of shape (n_numbers, 11)
        The edges of their cells, in the units of the data.
    tables_ : Tables or None
        The noisy counts that synthetic rows are made of; None without ``synthetic``.
    missing_counts_ : dict of str to float
        About how many values a rule stood for in each column; only where ``missing_share`` paid.
    missing_counts_error_ : float
        The standard error of each of these numbers.
    privacy_ : PrivacyStatement
        What is promised, and which questions were asked.
    schema_ : Schema
        The schema used; with ``scale="measured"`` it has the measured ranges and weights.
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
    _parameters: ClassVar[Any] = SUMMARISE.variants[0].parameters

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
        missing_share: float = 0.02,
        scale: Literal["declared", "measured"] = "declared",
        synthetic: bool | float = False,
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
        self.missing_share = missing_share
        self.scale = scale
        self.synthetic = synthetic
        self.rescale = rescale
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def release(self) -> Release:
        """Return the summary in the form to publish: the release that the ledger recorded."""
        return PrivateEstimator.release(self)

    def plan(
        self,
        n_rows: int | None = 10_000,
        n_features: int | None = None,
        n_clusters: int = 8,
        *,
        target: Any = None,
    ) -> Plan:
        """Rehearse the fit on synthetic rows; no data are touched and nothing is spent.

        Parameters
        ----------
        n_rows : int or None, default=10_000
            About how many rows the data have, from public knowledge; at most 100 000 are generated.
            ``None`` with a target asks how many it takes.
        n_features : int or None
            The number of columns, if neither the schema nor the bounds determine it.
        n_clusters : int, default=8
            The number of clusters for which the error is given.
        target : float, str or None, default=None
            The error that is wanted, such as ``1.05`` or ``"inertia 1.05"``. The plan is then that
            of the smallest ε that reaches it, or of the fewest rows.
        """
        WHOLE.check("n_clusters", n_clusters)

        if target is not None:
            return plan_for_target(
                self, target, n_rows, n_features=n_features, n_clusters=n_clusters
            )
        errors = SampleErrors(self._budget())

        def clumps(schema: Schema, count: int, unit: RowUnit, seed: int) -> Rehearsal:
            made = synthetic_summary_rows(schema, int(n_clusters), count, unit, seed)
            return errors.seen(made)

        planned = self._plan_facts(n_rows, n_features)
        plan = planned.with_profiles(planned.rehearse(clumps, INERTIA), int(n_clusters))
        return replace(plan, notes=(*plan.notes, *errors.in_words()))

    # The steps of a fit.
    def _ask(self, door: PointRows, run: Run, public: Any = None) -> SummaryResult:
        budget, rest = split_for_missing(run.budget.whole, door.schema, self.missing_share)
        budget, for_profiles = split_for_histograms(budget, self.profile_share)
        working, budget = self._ask_working(door, run, budget)
        door = door.within(working.schema, gap=working.gap) if self._measures else door
        view = door.private(run.meter, run.seed)
        result = self._ask_cells_and_tables(door, run, view, budget)
        if self._measures:
            result = replace(result, working=working, notes=(*working.notes, *result.notes))
        if for_profiles is not None:

            def seen_by(schema: Schema) -> PointsView:
                seen = door.within(schema, gap=working.gap)
                return seen.private(run.meter, run.another_seed())

            about = result, door.schema, working.gap
            asked = ask_cluster_histograms(view, for_profiles, *about, seen_by)
            result = replace(result, profiles=asked)
        missed = (_MISSED,) if result.misses_far_rows else ()
        counted = ask_missing(door, run, rest)
        return replace(result, missing=counted, notes=(*result.notes, *missed))

    def _ask_cells_and_tables(
        self, door: PointRows, run: Run, view: PointsView, budget: Share
    ) -> SummaryResult:
        if self.synthetic is False:
            return self._ask_summary(door, run, view, budget)
        from privclust.clustering.ask_tables import ask_with_tables

        share = None if self.synthetic is True else float(self.synthetic)

        def ask_cells(part: Share, known: Overview | None) -> SummaryResult:
            return self._ask_summary(door, run, view, part, known)

        return ask_with_tables(door, run, budget, ask_cells, share)

    def _ask_summary(
        self,
        door: PointRows,
        run: Run,
        view: PointsView,
        budget: Share,
        known: Overview | None = None,
    ) -> SummaryResult:
        if self._metric(door.schema) != "dilca":
            return ask_summary(view, budget, run.public_rng, known)
        from privclust.clustering.learned_metric import ask_summary_by_learned_metric

        return ask_summary_by_learned_metric(door, run, view, budget)

    def _metric(self, schema: Schema) -> str:
        """Return how categories are compared; tables learn by themselves what goes together."""
        if self.metric == "auto" and self.synthetic:
            return "mismatch"
        return super()._metric(schema)

    def _check_before_charge(self, door: PointRows, public: Any = None) -> None:
        super()._check_before_charge(door, public)
        if self.profile_share is not None:
            check_numbers(door.schema)

    def _keep(self, facts: PublicFacts, result: SummaryResult, public: Any = None) -> None:
        self.schema_, self._scaled = self._used_schema(facts.schema, result.working)
        domain = region_of(self.schema_, **self._scaled)
        self._remember_columns(facts.names, facts.n_columns)
        places = domain.in_data_units(result.cells.cells)
        cells = result.cells.rescale(domain.radius)
        self.cells_, self.counts_ = places, cells.counts
        self.counts_error_ = cells.counts_error
        self.cells_error_ = np.sqrt(cells.noise) * domain.scales
        self._cells = cells
        self.tables_ = result.tables
        profiles = result.profiles
        keep_profiles(self, None if profiles is None else profiles.counts)
        self._profile_centers = None if profiles is None else profiles.centers

    def _noisy_number(self, result: SummaryResult) -> Noisy:
        return Noisy(np.array([result.cells.n_rows]), result.cells.n_rows_error)

    def _common_notes(self, unit: Unit, budget: Budget, result: SummaryResult) -> Iterator[Note]:
        """Yield also whether the cells fill a small part of the bounds."""
        yield from super()._common_notes(unit, budget, result)
        if signal_of(result.notes) == "seen":
            yield from shares_notes(self.schema_, self.cells_, self.counts_, self.cells_error_)
        if signal_of(result.notes) == "seen" and self.schema_.ball is None:
            yield from loose_notes(self.schema_, self.cells_, self.counts_)

    def _centres_and_sizes(self, result: SummaryResult) -> tuple[Floats, Noisy]:
        """Return the mean of the cells: where rows crowd at a bound, noise moves cells off it."""
        mean = self.counts_ @ self.cells_ / self.counts_.sum()
        return mean[None], self._noisy_number(result)

    def _release_fields(self) -> dict[str, Any]:
        return {
            "arrays": arrays_from_cells(self._cells, self.cells_)
            | self._profile_fields()
            | ({} if self.tables_ is None else self.tables_.arrays()),
            "schema": self.schema_,
            "parameters": {**scaling_parameters(**self._scaled), **self._scale_and_metric()},
        }

    def _profile_fields(self) -> dict[str, Any]:
        arrays = kept_profiles(self)
        return arrays | {"profile_centers": self._profile_centers} if arrays else {}
