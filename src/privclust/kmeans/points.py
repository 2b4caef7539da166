"""``PointsEstimator``: what the private estimators that see rows as points share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from sklearn.utils import Tags

from privclust.data.points.door import PointRows, Region, region_of
from privclust.data.view import Noisy
from privclust.estimator import PrivateEstimator
from privclust.exceptions import PublicFactWarning
from privclust.kmeans.plan import INERTIA, MOST_REHEARSED, rehearsable
from privclust.kmeans.profiles import PROFILE_ARRAYS, profile_arrays, share_in_words
from privclust.opening.rows import Opened, open_points
from privclust.parameters import check_declared_once, either, flag, whole
from privclust.plan import Plan, Synthetic, beside_no_delta, rehearse
from privclust.schema import Schema
from privclust.unit import RowUnit, Unit, row_unit, unit_from

__all__ = ["PointsEstimator"]


class PointsEstimator(PrivateEstimator):
    """A private estimator of rows of numbers and categories, with a schema or bounds."""

    _checks: ClassVar[Any] = {"rescale": either(None, flag())}

    schema: Any
    bounds: tuple[Any, Any] | None
    unit: Unit | str
    rescale: bool | None
    metric: str = "mismatch"  # not all of them have it, nor the next
    profile_share: float | None = None
    schema_: Schema

    def _rehearsed(
        self,
        n_rows: int,
        n_features: int | None,
        synthetic: Callable[[Schema, int, RowUnit, int], Synthetic],
    ) -> Plan:
        """Rehearse the fit on synthetic rows, made from a schema, their number, unit and seed."""
        self._check_parameters()
        whole()("n_rows", n_rows)
        either(None, whole())("n_features", n_features)
        declared = Schema.of(self.schema, bounds=self.bounds, n_columns=n_features)
        schema, rescale = rehearsable(declared), self._rescales(declared)
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
        return beside_no_delta(plan, planned(epsilon=budget.epsilon, delta=0, budget=None))

    # Paid profiles, for those that have the parameter.
    def _with_profiles(self, plan: Plan, n_clusters: int, n_features: int | None) -> Plan:
        """Return a plan that says how good the histograms will be, if they are paid for."""
        if self.profile_share is None:
            return plan
        schema = Schema.of(self.schema, bounds=self.bounds, n_columns=n_features)
        shape = plan.n_rows, n_clusters, len(schema.numeric)
        told = share_in_words(plan.budget, row_unit(self.unit), *shape, float(self.profile_share))
        return replace(plan, notes=(*plan.notes, told))

    def _keep_profiles(self, profiles: Noisy | None) -> None:
        """Keep histograms, or forget those of an earlier fit."""
        for name in PROFILE_ARRAYS:
            self.__dict__.pop(f"{name}_", None)
        if profiles is not None:
            for name, array in profile_arrays(profiles, self.schema_).items():
                setattr(self, f"{name}_", array)

    def _published_profiles(self) -> dict[str, Any]:
        if self.profile_share is None:
            return {}
        return {name: getattr(self, f"{name}_") for name in PROFILE_ARRAYS}

    def _check_together(self) -> None:
        check_declared_once(self.schema, self.bounds)

    def _open(self, X: Any, public: Any = None) -> Opened:
        schema = self._declared()
        if schema is not None:  # one that cannot be used is refused before anything is opened
            self._region(schema)
        return open_points(X, schema=schema, bounds=self.bounds, unit=unit_from(self.unit))

    def _door(self, opened: Opened) -> PointRows:
        return PointRows(opened, rescale=self._rescales(opened.schema))

    def _region(self, schema: Schema) -> Region:
        """Return where the rows of a schema lie, as the door sees them."""
        return region_of(schema, rescale=self._rescales(schema))

    def _look_ahead(self, door: PointRows, public: Any = None) -> None:
        uneven = door.schema.uneven_widths()
        if uneven is not None and not self._rescales(door.schema):
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

    def _declared(self) -> Schema | None:
        return None if self.schema is None else Schema.of(self.schema)

    def _rescales(self, schema: Schema) -> bool:
        """Tell whether distances are measured in units of the declared widths."""
        if self.rescale is not None:
            return bool(self.rescale)
        return self.schema is not None and schema.ball is None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
