"""Plans of k-means and of summaries: clumps of synthetic rows to rehearse on without data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from privclust._typing import Floats, Indices
from privclust.budget import Budget
from privclust.clustering.columns import share_sentences
from privclust.clustering.from_cells import most_clusters
from privclust.clustering.histograms import histogram_note
from privclust.clustering.missing import with_missing_sentence
from privclust.clustering.release import cells_from_release, column_scales, synthetic_model
from privclust.clustering.weighted_kmeans import squares
from privclust.data.points.door import region_of
from privclust.parameters import check_clusters
from privclust.plan import Measure, Plan, Rehearsal, note_pure_alternative, rehearse
from privclust.schema.coordinates import Coordinates
from privclust.schema.facts import Bins, Box, Fact
from privclust.schema.schema import Schema
from privclust.unit import row_unit
from privclust.unit.rows import RowUnit

INERTIA = Measure("inertia")
MOST_REHEARSED = 100_000

# A clump fills about this share of the space that it would have if all were equally spaced.
CLUMP = 0.25
# How many rows of a clump have its usual category in each column.
_USUAL = 0.7
# Numbers that are written out to compare with ordinary k-means.
_MOST_WRITTEN = 10**7


def with_plain_numbers(schema: Schema) -> Schema:
    """Return the schema with plain numbers for dates and durations, which are generated as such."""
    plain = [
        (name, replace(fact, form="number", format=None) if isinstance(fact, Box | Bins) else fact)
        for name, fact in schema.columns.items()
    ]
    return Schema(plain, ball=schema.ball)


def synthetic_rows(
    schema: Schema, n_clusters: int, n_rows: int, unit: RowUnit, seed: int
) -> Rehearsal:
    """Return rows in clumps; the error is the inertia of the released centres on them.

    Of a learned metric it is that of their numbers and shares, by mismatches.
    """
    made = Clumps.make(schema, n_clusters, n_rows, seed)
    table = made.table(unit)

    def error_ratio(model: Any) -> float:
        points, release = made.points(model), model.release()
        if release.parameters.get("metric") == "dilca":
            inertia = _inertia_around(points, model.cluster_centers_ / column_scales(release))
        else:
            inertia = -model.score(table[: len(points)])
        return float(inertia / best_inertia(points, n_clusters))

    return Rehearsal((table,), error_ratio)


@dataclass(frozen=True)
class Planned:
    """The public facts of a fit of rows that is planned."""

    model: Any
    budget: Budget
    schema: Schema
    n_rows: int
    scaling: dict[str, Any]  # how much columns count; see ``Coordinates.scales``
    measured: bool  # whether ranges would be measured

    def rehearse(
        self, synthetic: Callable[[Schema, int, RowUnit, int], Rehearsal], measure: Measure
    ) -> Plan:
        """Rehearse on synthetic rows, made from a schema, their number, unit and seed."""
        schema, unit = with_plain_numbers(self.schema), row_unit(self.model.unit)
        region_of(schema, **self.scaling)  # an unusable schema is reported first
        known = {"schema": schema, "bounds": None, "rescale": self.scaling["rescale"]}
        rehearsed = min(self.n_rows, MOST_REHEARSED)

        def plan_within(**budget: Any) -> Plan:
            return rehearse(
                self.model,
                lambda seed: synthetic(schema, rehearsed, unit, seed),
                n_rows=self.n_rows,
                measure=measure,
                known={**known, **budget},
            )

        plan = plan_within()
        shares = share_sentences(self.schema, **self.scaling, measured=self.measured)
        plan = replace(plan, notes=(*plan.notes, *shares))
        plan = with_missing_sentence(plan, unit, schema)
        if not self.budget.delta or self.budget.stated_as_rho:
            return plan
        if getattr(self.model, "synthetic", False):
            return plan  # clusters may do as well without a delta; synthetic rows do not
        pure = plan_within(epsilon=self.budget.epsilon, delta=0, budget=None)
        return note_pure_alternative(plan, pure)

    def with_profiles(self, plan: Plan, n_clusters: int) -> Plan:
        """Return a plan that says how good histograms will be, if they are paid for."""
        paid = self.model.profile_share
        if paid is None:
            return plan
        shape = plan.n_rows, n_clusters, len(self.schema.numeric)
        note = histogram_note(plan.budget, row_unit(self.model.unit), *shape, float(paid))
        return replace(plan, notes=(*plan.notes, note))


@dataclass(frozen=True)
class Clumps:
    """Rows in clumps spread evenly over the declared bounds and categories."""

    schema: Schema
    numbers: Floats  # (n_rows, n_numbers)
    # (n_rows, n_categorical): places in the lists of categories, of those that can be given.
    codes: Indices

    @classmethod
    def make(cls, schema: Schema, n_clusters: int, n_rows: int, seed: int) -> Clumps:
        """Return ``n_rows`` rows in ``n_clusters`` clumps."""
        check_clusters(n_clusters, Coordinates(schema).dimension)
        rng = np.random.default_rng(seed)
        dimension = len(schema.numeric)
        middle, half = (schema.low + schema.high) / 2, (schema.high - schema.low) / 2
        centres = rng.uniform(-0.8, 0.8, (n_clusters, dimension))
        clump = CLUMP * n_clusters ** (-1 / max(1, dimension))
        clumps = rng.integers(n_clusters, size=n_rows)
        rows = centres[clumps] + rng.standard_normal((n_rows, dimension)) * clump
        numbers = np.asarray(middle + half * np.clip(rows, -1, 1))
        sizes = np.array([len(_values(schema[name])) for name in schema.categorical], np.intp)
        usual = rng.integers(sizes, size=(n_clusters, len(sizes)))[clumps]
        others = rng.integers(sizes, size=usual.shape)
        codes = np.where(rng.random(usual.shape) < _USUAL, usual, others)
        return cls(schema, numbers, codes)

    def table(self, unit: RowUnit) -> pa.Table:
        """Return the rows with names, each a person of its own if people count."""
        columns: dict[str, Any] = dict(zip(self.schema.numeric, self.numbers.T, strict=True))
        for name, codes in zip(self.schema.categorical, self.codes.T, strict=True):
            columns[name] = pa.array(_values(self.schema[name])).take(pa.array(codes))
        columns = {name: columns[name] for name in self.schema.names}
        if unit.id_column is not None:
            columns[unit.id_column] = np.arange(len(self.numbers))
        return pa.table(columns)

    def points(self, model: Any) -> Floats:
        """Return as many of the rows as may be written out, in the metric of a fitted model."""
        schema, coordinates = model.schema_, Coordinates(model.schema_)
        n_rows = min(len(self.numbers), max(1, _MOST_WRITTEN // coordinates.dimension))
        rows = np.zeros((n_rows, coordinates.dimension))
        rows[:, coordinates.numbers] = np.clip(self.numbers[:n_rows], schema.low, schema.high)
        for column, codes in zip(coordinates.categorical, self.codes[:n_rows].T, strict=True):
            rows[np.arange(n_rows), column.start + codes] = 1
        return rows / column_scales(model.release())


def _values(fact: Fact) -> list[Any]:
    """Return the values that a categorical column can be given: categories, or middles of bins."""
    if isinstance(fact, Bins):
        edges = np.array(fact.edges)
        return list((edges[:-1] / 2 + edges[1:] / 2).tolist())
    return [] if isinstance(fact, Box) else list(fact.values)


def best_inertia(rows: Floats, n_clusters: int) -> float:
    """Return the inertia of ordinary k-means, up to rounding at least a tiny positive number."""
    from sklearn.cluster import KMeans  # which a fit does not need

    model = KMeans(min(n_clusters, len(rows)), n_init=3, random_state=0).fit(rows)
    return max(float(model.inertia_), 1e-300)


# The plan of a summary: rehearsed on clumps, judged by its centres for as many clusters.

# Rows at a time whose distances to all centres are held.
_PART = 10_000


def synthetic_summary_rows(
    schema: Schema, n_clusters: int, n_rows: int, unit: RowUnit, seed: int
) -> Rehearsal:
    """Return rows in clumps; the error is the inertia of the summary's centres on them."""
    made = Clumps.make(schema, n_clusters, n_rows, seed)
    table = made.table(unit)

    def error_ratio(model: Any) -> float:
        release, points = model.release(), made.points(model)
        k = min(n_clusters, most_clusters(cells_from_release(release)))
        centers = model.centers(k) / column_scales(release)
        return _inertia_around(points, centers) / best_inertia(points, n_clusters)

    return Rehearsal((table,), error_ratio)


class SampleErrors:
    """What rehearsals of a summary with tables say about its synthetic rows.

    ``budget``: that of the plan; rehearsals with another are ignored.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._found: list[tuple[float, float | None]] = []

    def seen(self, made: Rehearsal) -> Rehearsal:
        """Return the same data; a model that is judged on them is also asked for its errors."""

        def error_ratio(fitted: Any) -> float:
            model = synthetic_model(fitted.release())
            if model is not None and fitted.privacy_.delta == self._budget.delta:
                self._found.append((model.column_error, model.pair_error))
            return made.error_ratio(fitted)

        return replace(made, error_ratio=error_ratio)

    def in_words(self) -> tuple[str, ...]:
        """Return what to expect, in at most one sentence."""
        if not self._found:
            return ()
        column = float(np.mean([one for one, _ in self._found]))
        pairs = [two for _, two in self._found if two is not None]
        sentence = f"Synthetic rows: noise moves the table of a column by about {100 * column:.2g}"
        if pairs:
            return (f"{sentence} points, and that of a pair by {100 * np.mean(pairs):.2g}.",)
        return (f"{sentence} points; there are too few rows for tables of pairs at this budget.",)


def _inertia_around(rows: Floats, centers: Floats) -> float:
    middle = centers.mean(axis=0)
    rows, centers = rows - middle, centers - middle
    parts = np.array_split(rows, max(1, len(rows) // _PART))
    return float(sum(squares(part, centers).min(axis=1).sum() for part in parts))
