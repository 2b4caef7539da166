"""What the private estimators that see rows as points share, and those with k centres."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from privclust._typing import Floats
from privclust.budget import Budget, Share
from privclust.clustering.choose_k import DEFAULT_RANGE
from privclust.clustering.columns import (
    column_notes,
    loose_notes,
    separation_shares,
    share_sentences,
)
from privclust.clustering.histograms import (
    PROFILE_ARRAYS,
    ask_histograms,
    check_numbers,
    histogram_note,
    profile_arrays,
    split_for_histograms,
)
from privclust.clustering.measuring import MEASURING, Working, ask_working_range, check_measurable
from privclust.clustering.plan import INERTIA, MOST_REHEARSED, synthetic_rows, with_plain_numbers
from privclust.clustering.predicting import PointLabels
from privclust.clustering.refine import is_worse_than_one
from privclust.clustering.release import cluster_arrays, metric_arrays, scaling_parameters
from privclust.clustering.result import KMeansResult
from privclust.clustering.task import AUTO, N_CLUSTERS, RESCALE
from privclust.data.points.door import PointRows, Region, region_of
from privclust.data.points.view import PointsView
from privclust.data.public import Noisy
from privclust.estimator import PrivateEstimator
from privclust.exceptions import ParameterError, PublicFactWarning
from privclust.fitting import Run
from privclust.notes import Note, signal_of
from privclust.opening.rows import Opened, PublicFacts, open_points
from privclust.parameters import WHOLE, check_clusters, check_declared_once
from privclust.plan import (
    Measure,
    Plan,
    Rehearsal,
    note_pure_alternative,
    plan_for_target,
    rehearse,
)
from privclust.release.facts import Library, center_table
from privclust.schema.coordinates import Coordinates, category_gap
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
    metric: str = "mismatch"  # only some subclasses define these two
    profile_share: float | None = None
    scale: str = "declared"
    schema_: Schema

    def _plan_by_rehearsal(
        self,
        n_rows: int | None,
        n_features: int | None,
        synthetic: Callable[[Schema, int, RowUnit, int], Rehearsal],
        measure: Measure = INERTIA,
    ) -> Plan:
        """Rehearse the fit on synthetic rows, made from a schema, their number, unit and seed."""
        self._check_parameters()
        if n_rows is None:
            raise ParameterError("n_rows must be given unless there is a target; give it.")
        WHOLE.check("n_rows", n_rows)
        WHOLE.check("n_features", n_features, also=(None,))
        declared = Schema.of(self.schema, bounds=self.bounds, n_columns=n_features)
        self._check_scale(declared)
        schema, scaling = with_plain_numbers(declared), self._scaling(declared)
        region_of(schema, **scaling)  # an unusable schema is reported first
        unit = row_unit(self.unit)
        known = {"schema": schema, "bounds": None, "rescale": scaling["rescale"]}

        def plan_within(**budget: Any) -> Plan:
            rehearsed = min(int(n_rows), MOST_REHEARSED)
            return rehearse(
                self,
                lambda seed: synthetic(schema, rehearsed, unit, seed),
                n_rows=int(n_rows),
                measure=measure,
                known={**known, **budget},
            )

        plan, budget = plan_within(), self._budget()
        plan = replace(
            plan,
            notes=(*plan.notes, *share_sentences(declared, **scaling, measured=self._measures)),
        )
        if not budget.delta or budget.stated_as_rho:
            return plan
        return note_pure_alternative(
            plan, plan_within(epsilon=budget.epsilon, delta=0, budget=None)
        )

    # Paid profiles, for those that have the parameter.
    def _with_profiles(self, plan: Plan, n_clusters: int, n_features: int | None) -> Plan:
        """Return a plan that says how good the histograms will be, if they are paid for."""
        if self.profile_share is None:
            return plan
        schema = Schema.of(self.schema, bounds=self.bounds, n_columns=n_features)
        shape = plan.n_rows, n_clusters, len(schema.numeric)
        note = histogram_note(plan.budget, row_unit(self.unit), *shape, float(self.profile_share))
        return replace(plan, notes=(*plan.notes, note))

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

    # Measured spreads, likewise.
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
        if schema is not None:  # one that cannot be used is refused before anything is opened
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

    def _used_schema(
        self, schema: Schema, working: Working | None
    ) -> tuple[Schema, dict[str, Any]]:
        """Return the schema that a fit used, and how much its columns count."""
        if working is None:
            return schema, self._scaling(schema)
        return working.schema, {"rescale": True, "gap": working.gap}

    def _check_scale(self, schema: Schema) -> None:
        if self._measures:
            check_measurable(schema, self.rescale, self._metric(schema))

    def _check_before_charge(self, door: PointRows, public: Any = None) -> None:
        self._check_scale(door.schema)
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

    def _scaling(self, schema: Schema) -> dict[str, Any]:
        """Return how much columns count, from public facts alone; see ``Coordinates.scales``."""
        rescale = self._is_rescaled(schema)
        return {"rescale": rescale, "gap": category_gap(schema, rescale)}

    def _is_rescaled(self, schema: Schema) -> bool:
        """Return whether distances are measured in units of the declared widths."""
        if self.rescale is not None:
            return bool(self.rescale)
        if self._measures:
            return True
        return self.schema is not None and schema.ball is None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


PLANNED = 8  # clumps that a plan rehearses on, if the number is to be chosen
_ONE_CENTRE = Note(
    "one-centre-as-good",
    "By its own noisy numbers a single centre may be as near to the rows as these, whose errors "
    "outweigh their distances from each other; raise epsilon, ask for fewer clusters, or declare "
    "bounds that fit the rows more closely.",
)


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

    def plan(
        self, n_rows: int | None = 10_000, n_features: int | None = None, *, target: Any = None
    ) -> Plan:
        """Rehearse the fit on synthetic rows; no data are touched and nothing is spent.

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

        Notes
        -----
        With ``n_clusters="auto"`` the rows are in 8 clumps, and the error is the inertia of the
        clusters that are found over that of ordinary k-means with 8.
        """

        def clumps(schema: Schema, count: int, unit: RowUnit, seed: int) -> Rehearsal:
            return synthetic_rows(schema, self._n_clusters_or(PLANNED), count, unit, seed)

        if target is not None:
            return plan_for_target(self, target, n_rows, n_features=n_features)
        plan = self._plan_by_rehearsal(n_rows, n_features, clumps)
        return self._with_profiles(plan, self._n_clusters_or(PLANNED), n_features)

    # The steps of a fit.
    def _check_before_charge(self, door: PointRows, public: Any = None) -> None:
        check_clusters(self._n_clusters_or(max(DEFAULT_RANGE)), door.domain.dimension)
        if self.profile_share is not None:
            check_numbers(door.schema)
        super()._check_before_charge(door, public)

    def _n_clusters_or(self, otherwise: int) -> int:
        """Return the number of clusters, or another one if it is to be chosen."""
        return otherwise if self.n_clusters == AUTO else int(self.n_clusters)

    def _ask(self, door: PointRows, run: Run, public: Any = None) -> KMeansResult:
        share, for_profiles = split_for_histograms(run.budget.whole, self.profile_share)
        working, share = self._ask_working(door, run, share)
        within = door.within(working.schema, gap=working.gap) if self._measures else door
        view = within.private(run.meter, run.seed)
        result = _with_doubt(self._ask_clusters(view, share, run.public_rng))
        if self._measures:
            result = replace(result, working=working, notes=(*working.notes, *result.notes))
        if for_profiles is None:
            return result
        asked = ask_histograms(view, for_profiles, result.centres, working.schema)
        return replace(result, profiles=asked)

    def _ask_clusters(
        self, view: PointsView, share: Share, rng: np.random.Generator
    ) -> KMeansResult:
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
            self.cluster_centers_error_ = self._error_of_noise(region, result)
        else:
            self.cluster_centers_ = result.learned.table
            self.metric_, self.cell_error_ = result.learned.metric, result.learned.cell_error
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

    def _common_notes(self, unit: Unit, budget: Budget, result: KMeansResult) -> Iterator[Note]:
        """Yield also what centres that saw the rows say of their columns."""
        yield from super()._common_notes(unit, budget, result)
        if result.learned is not None or signal_of(result.notes) != "seen":
            return
        schema, centers, sizes = self.schema_, self.cluster_centers_, self.cluster_sizes_
        coordinates = Coordinates(schema)
        scales = coordinates.scales(**self._scaled)
        yield from column_notes(separation_shares(coordinates, scales, centers, sizes))
        # Clusters of categories need not differ in the numbers.
        if not schema.categorical and schema.ball is None:
            sure = np.where(sizes > 2 * self.cluster_sizes_error_, sizes, 0)
            yield from loose_notes(schema, centers, sure)

    def _error_of_noise(self, region: Region, result: KMeansResult) -> Floats | None:
        """Return the errors of the centres in the units of the data, within the bounds."""
        if result.centres_error is None:
            return None
        coordinates = Coordinates(self.schema_)
        errors = result.centres_error * (region.radius * region.scales)
        return np.minimum(errors, (coordinates.high - coordinates.low) / 2)

    def _release_fields(self) -> dict[str, Any]:
        n_clusters = len(self.cluster_centers_)
        arrays = {} if self._learned is None else metric_arrays(self._learned, self.schema_)
        centres = self.cluster_centers_, self.cluster_centers_error_
        sizes = self.cluster_sizes_, self.cluster_sizes_error_
        return {
            "arrays": arrays | cluster_arrays(*centres, *sizes) | self._profile_fields(),
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


def _with_doubt(result: KMeansResult) -> KMeansResult:
    """Return the result with one more note if its centres are no better than one would be."""
    errors = result.centres_error
    doubted = errors is not None and is_worse_than_one(result.centres, errors, result.sizes.value)
    if not doubted or signal_of(result.notes) != "seen":
        return result
    return replace(result, notes=(*result.notes, _ONE_CENTRE))
