"""``PrivateSummary``: the budget is spent once, and ``Summary`` answers every later question free.

A fitted :class:`privclust.PrivateSummary` answers the same, by the same functions.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from privclust._typing import Floats
from privclust.budget import Budget, Share
from privclust.clustering.choose_k import DEFAULT_RANGE, Choice, choose_n_clusters
from privclust.clustering.columns import loose_notes
from privclust.clustering.estimator import RowsEstimator
from privclust.clustering.from_cells import sample_rows, sample_table
from privclust.clustering.histograms import (
    ask_cluster_histograms,
    check_numbers,
    split_for_histograms,
)
from privclust.clustering.plan import synthetic_summary_rows
from privclust.clustering.profiles import Profile, profiles_of
from privclust.clustering.release import (
    arrays_from_cells,
    cells_from_release,
    clusters_of,
    column_scales,
    kmeans_release,
    scaling_parameters,
)
from privclust.clustering.result import SummaryResult
from privclust.clustering.summarise import ask_summary
from privclust.clustering.task import SUMMARISE
from privclust.data.points.door import PointRows, region_of
from privclust.data.points.view import PointsView
from privclust.data.public import Noisy
from privclust.estimator import PrivateEstimator
from privclust.exceptions import LowSignalWarning, ParameterError, ReleaseError
from privclust.fitting import Run
from privclust.ledger.ledger import Ledger
from privclust.notes import Note, signal_of
from privclust.opening.rows import PublicFacts
from privclust.parameters import WHOLE, Whole, check_memory
from privclust.plan import Plan, Rehearsal
from privclust.release.facts import Library, center_table
from privclust.release.release import Release
from privclust.schema.coordinates import Coordinates
from privclust.schema.schema import Schema
from privclust.unit import Unit
from privclust.unit.rows import RowUnit

# ``Summary``: everything that a published summary answers, without the data and at no cost.

# The memory that drawing synthetic rows takes, in numbers for each number drawn.
_NUMBERS_PER_ENTRY = 4

_NO_SIGNAL = (
    "Noise hid the rows when this summary was made, so that synthetic rows tell nothing of them; "
    "summarise with a larger budget."
)


class SummaryAnswers:
    """What a summary answers at any time; errors are standard errors of the noise.

    Those of sizes also cover rows at the border of two clusters, and those of the inertia what
    noise adds to it. None covers that offsets were clipped.

    Clusters are numbered from the largest on, the same in every answer for one number of clusters.
    """

    def release(self) -> Release:
        """Return the summary as it is published."""
        raise NotImplementedError

    def centers(self, n_clusters: int) -> Floats:
        """Return k centres of the rows, of shape (n_clusters, n_features)."""
        arrays = self.kmeans(n_clusters).arrays
        return np.array(arrays["cluster_centers"])

    def centers_table(self, n_clusters: int, library: Library = "pandas") -> Any:
        """Return k centres as a data frame: numbers, and a share for each category.

        Parameters
        ----------
        n_clusters : int
        library : {"pandas", "polars", "arrow"}, default="pandas"
        """
        return center_table(self.release().schema, self.centers(n_clusters), library)

    def centers_error(self, n_clusters: int) -> Floats:
        """Return the errors of the coordinates of the centres, of the same shape."""
        return np.array(self.kmeans(n_clusters).arrays["cluster_centers_error"])

    def sizes(self, n_clusters: int) -> Floats:
        """Return unbiased noisy numbers of rows of the k clusters; they may be negative."""
        return np.array(self.kmeans(n_clusters).arrays["cluster_sizes"])

    def sizes_error(self, n_clusters: int) -> Floats:
        """Return the errors of the sizes."""
        return np.array(self.kmeans(n_clusters).arrays["cluster_sizes_error"])

    def inertia(self, n_clusters: int) -> float:
        """Return the approximate inertia of the rows with k centres."""
        return clusters_of(self.release(), n_clusters)[0].inertia

    def inertia_error(self, n_clusters: int) -> float:
        """Return the error of the inertia; it does not cover rows that were clipped."""
        return clusters_of(self.release(), n_clusters)[0].inertia_error

    def choose_k(self, candidates: Iterable[int] = DEFAULT_RANGE) -> Choice:
        """Choose the number of clusters: a number, 1, or no clear number, with the curve.

        Parameters
        ----------
        candidates : iterable of int, default=range(1, 17)
            The numbers to choose among; 1 is always one of them, and numbers that the cells
            cannot tell apart are left out.
        """
        release = self.release()
        choice = choose_n_clusters(cells_from_release(release), candidates, schema=release.schema)
        # Where noise hides the rows, cells were made up, and nothing is clear about them.
        return choice if release.signal == "seen" else replace(choice, n_clusters=None)

    def kmeans(self, n_clusters: int) -> Release:
        """Return a k-means release that names this summary, with the same privacy statement.

        Nothing more is spent: it is computed from what is released already.
        """
        return kmeans_release(self.release(), n_clusters)

    def profiles(self, n_clusters: int) -> list[Profile]:
        """Return what sets each of k clusters apart from all rows, beyond the noise.

        Histograms come with them if they were paid for and k is the suggested number of clusters.
        """
        release = self.release()
        coordinates, scales = Coordinates(release.schema), column_scales(release)
        clusters, _ = clusters_of(release, n_clusters)
        histograms = self.kmeans(n_clusters).arrays.get("profile_counts")
        widths = coordinates.high - coordinates.low
        return profiles_of(clusters, coordinates.names, scales, widths, release.schema, histograms)

    def sample(self, n_rows: int, random_state: int | None = None) -> Any:
        """Return synthetic rows, of shape (n_rows, n_features); an Arrow table of mixed ones.

        They resemble the rows as the cells do: marginals and covariances roughly, and nothing
        finer than a cell. Rows are cut off at the declared bounds. A warning says so if noise hid
        the rows from the summary.

        Parameters
        ----------
        n_rows : int
            How many; it has nothing to do with the number of private rows.
        random_state : int or None
            A number makes the rows reproducible; they are as private as the summary either way.
        """
        WHOLE.check("n_rows", n_rows)
        Whole(0).check("random_state", random_state, also=(None,))
        release = self.release()
        if release.signal != "seen":
            warnings.warn(_NO_SIGNAL, LowSignalWarning, stacklevel=2)
        needed = _NUMBERS_PER_ENTRY * 8.0 * int(n_rows) * release.arrays["cells"].shape[1]
        check_memory(needed, "ask for fewer rows at a time")
        rng = np.random.default_rng(random_state)
        cells, scales, schema = cells_from_release(release), column_scales(release), release.schema
        if schema.categorical:
            return sample_table(cells, schema, scales, int(n_rows), rng)
        rows, ball = sample_rows(cells, int(n_rows), rng) * scales, schema.ball
        if ball is not None:
            gaps = rows - np.array(ball.center)
            lengths = np.maximum(np.linalg.norm(gaps, axis=1, keepdims=True), 1e-300)
            rows = np.array(ball.center) + gaps * np.minimum(1, float(ball.radius) / lengths)
        return np.clip(rows, schema.low, schema.high)


class Summary(SummaryAnswers):
    """A published summary, which answers further questions without the data.

    Parameters
    ----------
    release : Release
        Of the kind "summary", such as ``Release.load("summary/")``.

    Examples
    --------
    >>> import numpy as np
    >>> from privclust import PrivateSummary
    >>> from privclust.clustering import Summary
    >>> rows = np.random.default_rng(0).uniform(0, 8, (5000, 2))
    >>> published = PrivateSummary(epsilon=1.0, bounds=(0, 8)).fit(rows).release()
    >>> Summary(published).centers(3).shape
    (3, 2)
    """

    def __init__(self, release: Release) -> None:
        if not isinstance(release, Release):
            raise ParameterError(
                f"A summary is read from a Release, got {type(release).__name__}; give "
                "Release.load(PATH)."
            )
        if release.kind != "summary":
            raise ReleaseError(
                f"A release of the kind {release.kind!r} is not a summary; give one of the kind "
                "'summary'."
            )
        self._release = release

    def release(self) -> Release:
        """Return the summary as it is published."""
        return self._release


_MISSED = Note(
    "far-rows-missed",
    "Some rows seem to lie farther from the cells than distances were clipped to, so that the "
    "inertia is too small; compare numbers of clusters by it, and raise epsilon or declare closer "
    "bounds before you quote it.",
)


class PrivateSummary(SummaryAnswers, RowsEstimator):
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
        ones are equally far apart; with ``"dilca"`` half of the budget is spent on learning from
        the other columns how far apart they are. Either way numbers and shares are released, and
        later answers count mismatches. ``"auto"`` learns where all columns are categories and δ is
        zero.
    profile_share : float or None, default=None
        The share of the budget, such as 0.1, that pays for histograms: one for every numeric column
        in every cluster, for as many clusters as :meth:`choose_k` suggests.
    scale : {"declared", "measured"}, default="declared"
        What makes numbers alike. ``"declared"``: their declared widths, by public facts alone.
        ``"measured"`` spends 6 % of the budget on finding a range that the rows of each number
        fill, and counts in deviations; it helps where bounds are loose, and costs where they are
        good.
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
        scale: Literal["declared", "measured"] = "declared",
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
        self.scale = scale
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
        WHOLE.check("n_clusters", n_clusters)

        def clumps(schema: Schema, count: int, unit: RowUnit, seed: int) -> Rehearsal:
            return synthetic_summary_rows(schema, int(n_clusters), count, unit, seed)

        plan = self._plan_by_rehearsal(n_rows, n_features, clumps)
        return self._with_profiles(plan, int(n_clusters), n_features)

    # The way of a fit.
    def _ask(self, door: PointRows, run: Run, public: Any = None) -> SummaryResult:
        budget, for_profiles = split_for_histograms(run.budget.whole, self.profile_share)
        working, budget = self._ask_working(door, run, budget)
        door = door.within(working.schema, gap=working.gap) if self._measures else door
        view = door.private(run.meter, run.seed)
        result = self._ask_summary(door, run, view, budget)
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
        return replace(result, notes=(*result.notes, *missed))

    def _ask_summary(
        self, door: PointRows, run: Run, view: PointsView, budget: Share
    ) -> SummaryResult:
        if self._metric(door.schema) != "dilca":
            return ask_summary(view, budget, run.public_rng)
        from privclust.clustering.learned_metric import ask_summary_by_learned_metric

        return ask_summary_by_learned_metric(door, run, view, budget)

    def _check_before_charge(self, door: PointRows, public: Any = None) -> None:
        super()._check_before_charge(door, public)
        if self._metric(door.schema) == "dilca":
            from privclust.clustering.learned_metric import check_metric_can_be_learned

            check_metric_can_be_learned(door)
        if self.profile_share is not None:
            check_numbers(door.schema)

    def _keep(self, facts: PublicFacts, result: SummaryResult, public: Any = None) -> None:
        self.schema_, self._scaled = self._used(facts.schema, result.working)
        domain = region_of(self.schema_, **self._scaled)
        self._remember_columns(facts.names, facts.n_columns)
        places = domain.released(result.cells.cells)
        cells = result.cells.scaled(domain.radius)
        self.cells_, self.counts_ = places, cells.counts
        self.counts_error_ = cells.counts_error
        self.cells_error_ = np.sqrt(cells.noise) * domain.scales
        self._cells = cells
        profiles = result.profiles
        self._keep_profiles(None if profiles is None else profiles.counts)
        self._profile_centers = None if profiles is None else profiles.centers

    def _noisy_number(self, result: SummaryResult) -> Noisy:
        return Noisy(np.array([result.cells.n_rows]), result.cells.n_rows_error)

    def _common_notes(self, unit: Unit, budget: Budget, result: SummaryResult) -> Iterator[Note]:
        """Yield also whether the cells fill a small part of the bounds."""
        yield from super()._common_notes(unit, budget, result)
        if signal_of(result.notes) == "seen" and self.schema_.ball is None:
            yield from loose_notes(self.schema_, self.cells_, self.counts_)

    def _centres_and_sizes(self, result: SummaryResult) -> tuple[Floats, Noisy]:
        """Return the mean of the cells: where rows crowd at a bound, noise moves cells off it."""
        mean = self.counts_ @ self.cells_ / self.counts_.sum()
        return mean[None], self._noisy_number(result)

    def _release_fields(self) -> dict[str, Any]:
        return {
            "arrays": arrays_from_cells(self._cells, self.cells_) | self._profile_fields(),
            "schema": self.schema_,
            "parameters": {**scaling_parameters(**self._scaled), **self._scale_and_metric()},
        }

    def _profile_fields(self) -> dict[str, Any]:
        arrays = super()._profile_fields()
        return arrays | {"profile_centers": self._profile_centers} if arrays else {}
