"""Fits by a learned metric: half of the budget for the metric, half for clusters or cells.

Tables of all pairs of columns, numbers in bins, give the metric of the categories, the axes
along which rows spread most, and what a place on these axes says about every column. One part of
the budget pays for the tables; everything here is computed from them and from the schema.

Half of the budget pays for the metric, as in k-means. What the axes say about every column turns
the cells into ordinary ones, so that a release and all that is made of it look as they always do.
How far rows lie from these cells, counted in mismatches, is asked for last.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.categories.estimator import check_width
from privclust.categories.learn import Options, ask_by_signal, ask_metric
from privclust.categories.metric import (
    RADIUS_IN_SPREADS,
    AttributeMetric,
    CategoricalMetric,
    principal_axes,
    usual_axes,
)
from privclust.categories.pair_tables import PairTableCells
from privclust.categories.shrinkage import Estimate
from privclust.clustering.refine import last_noise
from privclust.clustering.result import Cells, KMeansResult, LearnedCenters, SummaryResult
from privclust.clustering.summarise import CLUSTERS, ask_mean_square, ask_summary
from privclust.data.points.door import PointRows
from privclust.data.points.public import WHOLE
from privclust.data.points.view import PointsView
from privclust.data.table.public import BINS, ValuePoints
from privclust.data.table.view import TableView
from privclust.exceptions import ParameterError
from privclust.fitting import Run
from privclust.notes import Note
from privclust.schema.coordinates import Column, Coordinates, category_gap
from privclust.schema.facts import Box
from privclust.schema.schema import Schema

# A learned metric for mixed rows: categories are compared by the other columns, numbers as such.

_CONTEXT = 3
# The middles of the bins of a number, in declared widths.
_MIDDLES = (np.arange(BINS) + 0.5) / BINS


@dataclass(frozen=True)
class PointMetric:
    """What tables of all pairs of columns show."""

    points: ValuePoints  # the values of every column as points of some axes
    radius: float  # a radius around the origin that holds most rows
    shares: Floats  # (n_values,): the share of rows of every value
    slopes: Floats  # (n_axes, n_values): how the shares change with the place on the axes
    variances: Floats  # (n_axes,): the mean square of the rows along each axis
    metric: CategoricalMetric  # the distances between categories, as they were learned
    cell_error: float  # the standard error of the noise on a cell of the tables
    # Reasons not to trust the metric, if any; of the rows on its axes they say nothing.
    notes: tuple[Note, ...] = ()

    def centers(self, places: Floats, schema: Schema) -> Floats:
        """Return what places on the axes say about every column: numbers and shares."""
        values = self.shares + places @ self.slopes
        coordinates, start = Coordinates(schema), 0
        table = np.zeros((len(places), coordinates.dimension))
        for column, points in zip(coordinates.columns, self.points.points, strict=True):
            part, start = values[:, start : start + len(points)], start + len(points)
            fact = column.fact
            if isinstance(fact, Box):
                middles = fact.low + (fact.high - fact.low) * _MIDDLES
                total = np.maximum(part, 0)
                table[:, column.start] = total @ middles / np.maximum(total.sum(axis=1), 1e-9)
            else:
                table[:, column.places] = np.delete(part, _left_out(column), axis=1)
        return coordinates.project(table)


def ask_point_metric(
    view: TableView, share: Share, rest: Share, schema: Schema, n_clusters: int
) -> PointMetric:
    """Learn a metric within ``share``, and where the values lie on the axes of the rows.

    ``rest``: what is left to find clusters along these axes.
    """
    size = min(_CONTEXT, view.n_attributes - 1)
    options = Options(targets=tuple(range(view.n_attributes)), context_size=size)
    learning = ask_metric(view, share, ask_by_signal, options)
    estimate = next(iter(learning.learned.estimates.values()))
    metric = _apply_weights(learning.metric, estimate, schema)
    n_axes = _affordable_axes(view, rest, estimate.n_rows, n_clusters)
    points, radius = principal_axes(metric, estimate, n_axes)
    joint = _joint(estimate)
    places = np.concatenate(points.points)
    # The points are centred, so this is the regression of what a row has on where it lies.
    variances = places.T @ joint @ places
    slopes = np.linalg.pinv(variances, rcond=1e-9, hermitian=True) @ places.T @ joint
    notes = tuple(replace(note, code="metric-doubtful") for note in learning.notes)
    return PointMetric(
        points,
        radius,
        np.diag(joint).copy(),
        slopes,
        np.diag(variances).copy(),
        _of_categories(learning.metric, schema),
        learning.learned.cell_error,
        notes,
    )


def _affordable_axes(view: TableView, share: Share, n_rows: float, n_clusters: int) -> int:
    """Return along how many axes centres have no more noise than the rows, as a sample, bring.

    A sample leaves a centre of one of k clusters off by k / n of the mean square of the rows. With
    less noise than that nothing is gained by leaving axes out, and what they say would be lost.
    """
    _, steps = share.split([1, 1])  # cells and steps divide it
    seen = view.as_points(ValuePoints([np.zeros((size, 1)) for size in view.sizes]), 1.0)
    sampling = n_clusters / max(n_rows, 1.0)

    def is_noisy(n_axes: int) -> bool:
        noise = last_noise(seen, steps, max(n_rows, 1.0), (n_clusters, n_axes))
        return RADIUS_IN_SPREADS**2 * noise > sampling

    usual, most = usual_axes(n_clusters), sum(view.sizes)
    return usual + bisect_left(range(usual + 1, most + 1), True, key=is_noisy)


def _of_categories(metric: CategoricalMetric, schema: Schema) -> CategoricalMetric:
    """Return the part of a metric that compares declared categories."""

    def of_column(column: Column) -> AttributeMetric:
        part, left_out = metric[column.name], _left_out(column)
        labels = tuple(np.delete(np.array(part.labels, dtype=object), left_out))
        return replace(
            part, labels=labels, coordinates=np.delete(part.coordinates, left_out, axis=0)
        )

    columns = Coordinates(schema).categorical
    return CategoricalMetric(schema.names, {column.name: of_column(column) for column in columns})


def _left_out(column: Column) -> list[int]:
    """Return the place of missing values that are left out, but were learned as a category."""
    fact = column.fact
    if isinstance(fact, Box) or not column.omits:
        return []
    return [replace(fact, missing="category").missing_code or 0]


def _joint(estimate: Estimate) -> Floats:
    """Return the shares of rows that have two values together, for all pairs of values."""
    n_rows = max(estimate.n_rows, 1.0)
    together = PairTableCells(estimate.layout).square(estimate.counts / n_rows)
    return np.asarray(together + np.diag(estimate.margins / n_rows))


def _apply_weights(
    metric: CategoricalMetric, estimate: Estimate, schema: Schema
) -> CategoricalMetric:
    """Return the metric with weights, and numbers in declared widths.

    Learned distances are as long as the chances that they compare differ. They are multiplied by
    one factor, so that rows differ as much in all categories together as by mismatches, which
    count as much against numbers as in any other fit. Where nothing is learned, as for independent
    columns, mismatches count.
    """
    cells, shares = PairTableCells(estimate.layout), estimate.margins / max(estimate.n_rows, 1.0)
    columns = Coordinates(schema).columns
    gap = category_gap(schema, rescale=True)  # the middles of bins are in declared widths
    learned = plain = 0.0
    for place, column in enumerate(columns):
        if column.labels is None:
            continue
        own, points = shares[cells.slice(place)], metric[column.name].coordinates
        gaps = points - own @ points
        learned += column.fact.weight**2 * float(own @ (gaps**2).sum(axis=1))
        plain += column.apart(gap) ** 2 * max(1 - float(own @ own), 0.0) / 2
    factor = np.sqrt(plain / learned) if learned > 0 and plain > 0 else 1.0

    def scale_metric(column: Column) -> AttributeMetric:
        part, weight = metric[column.name], column.fact.weight
        if column.labels is None:
            own = weight * _MIDDLES[:, None]
        elif learned > 0:
            own = weight * (factor * part.coordinates)
        else:
            own = column.apart(gap) * (np.eye(len(part.labels)) / np.sqrt(2))
        return replace(part, coordinates=own)

    return CategoricalMetric(metric.names, {c.name: scale_metric(c) for c in columns})


METRIC = 0.5  # of the budget


def check_metric_can_be_learned(door: PointRows) -> None:
    """Raise, before anything is paid, if no metric can be learned for such columns."""
    if not door.schema.categorical:
        raise ParameterError(
            'metric="dilca" learns distances between categories, but the schema declares none; '
            'use metric="auto".'
        )
    check_width(door.schema)
    door.check_table()


def ask_by_learned_metric(
    door: PointRows,
    run: Run,
    budget: Share,
    n_clusters: int,
    cluster: Callable[[PointsView, Share], Any],
) -> KMeansResult:
    """Learn a metric, and cluster the rows as points of its axes.

    ``cluster``: clusters the rows of a view within a share.
    """
    for_metric = budget.take(METRIC)
    view = door.table(run.meter, run.seed)
    rest = budget.remainder(for_metric)
    learned = ask_point_metric(view, for_metric, rest, door.schema, n_clusters)
    points = view.as_points(learned.points, learned.radius)
    found: KMeansResult = cluster(points, rest)
    places = points.domain.to_data_units(found.centres)
    values = np.concatenate(learned.points.points)
    table = learned.centers(_without_noise(places, found, learned), door.schema)
    centers = LearnedCenters(places, values, table, learned.metric, learned.cell_error)
    return replace(found, learned=centers, notes=(*learned.notes, *found.notes))


def _without_noise(places: Floats, found: KMeansResult, learned: PointMetric) -> Floats:
    """Return places at the mean of the rows wherever noise hides more than the rows spread.

    Along an axis that nearly all rows share, a little noise would tell shares of 0 or 1.
    """
    if found.centres_error is None:
        return places
    errors = found.centres_error * learned.radius
    return np.where(errors**2 < learned.variances, places, 0.0)


# A summary by a learned metric: cells are found on its axes, and released as numbers and shares.

_WITHIN = 0.02  # of the budget
_STEP = 1e-3  # in radii of the rows on the axes


def ask_summary_by_learned_metric(
    door: PointRows, run: Run, view: PointsView, budget: Share
) -> SummaryResult:
    """Learn a metric, and summarise the rows as points of its axes.

    ``view``: the rows by mismatches, for the last question.
    """
    for_metric, for_within = budget.take(METRIC), budget.take(_WITHIN)
    table = door.table(run.meter, run.seed)
    rest = budget.remainder(for_metric, for_within)
    learned = ask_point_metric(table, for_metric, rest, door.schema, CLUSTERS)
    points = table.as_points(learned.points, learned.radius)
    found = ask_summary(points, rest, run.public_rng)
    mapped = _AxesToColumns(learned, points, door)
    cells = mapped.cells(found.cells)
    places = cells.cells[cells.counts > 0]
    within = ask_mean_square(view, for_within, places, WHOLE, cells.n_rows)
    told = replace(cells, within=float(within.value[0]), within_error=within.standard_error)
    notes = (*learned.notes, *found.notes)
    return replace(found, cells=told, notes=notes, misses_far_rows=False)  # nothing was clipped


class _AxesToColumns:
    """How places on the axes become numbers and shares, in the unit ball of each."""

    def __init__(self, learned: PointMetric, points: PointsView, door: PointRows) -> None:
        self._learned, self._axes, self._door = learned, points.domain, door

    def cells(self, found: Cells) -> Cells:
        """Return the cells as numbers and shares; noise goes the same way, on average."""
        shares = np.mean([slopes**2 for slopes in self._slopes(found.cells)], axis=0)
        noise = found.noise
        return replace(
            found,
            cells=self._to_points(found.cells),
            variances=noise.mean(axis=1),
            column_shares=shares * noise.shape[1],
            group_variances=np.zeros_like(found.group_variances),
        )

    def _to_points(self, points: Floats) -> Floats:
        table = self._learned.centers(self._axes.to_data_units(points), self._door.schema)
        return self._door.domain.to_unit_ball(table)

    def _slopes(self, points: Floats) -> list[Floats]:
        """Return how far each coordinate moves with each axis, over all points."""
        steps = np.eye(points.shape[1]) * _STEP
        here = self._to_points(points)
        moved = (self._to_points(points + step) - here for step in steps)
        return [np.sqrt(np.mean((move / _STEP) ** 2, axis=0)) for move in moved]
