"""A learned metric for mixed rows: categories are compared by the other columns, numbers as such.

Tables of all pairs of columns, numbers in bins, give the metric of the categories, the few axes
along which rows spread most, and what a place on these axes says about every column. One part of
the budget pays for the tables; everything here is computed from them and from the schema.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.categorical.cells import PairCells
from privclust.categorical.learning import ask_metric
from privclust.categorical.metric import AttributeMetric, CategoricalMetric
from privclust.categorical.principal_axes import principal_axes
from privclust.categorical.result import Options
from privclust.categorical.shrinkage import Estimate
from privclust.data.table.public import BINS, ValuePoints
from privclust.data.table.view import TableView
from privclust.notes import Note
from privclust.schema import Box, Fact, Schema
from privclust.schema.coordinates import Coordinates

__all__ = ["LearnedPoints", "ask_point_metric"]

_CONTEXT = 3
# The middles of the bins of a number, in declared widths.
_MIDDLES = (np.arange(BINS) + 0.5) / BINS


@dataclass(frozen=True)
class LearnedPoints:
    """What tables of all pairs of columns show.

    Attributes
    ----------
    points : ValuePoints
        The values of every column as points of a few axes.
    radius : float
        A radius around the origin that holds most rows.
    shares : ndarray of shape (n_values,)
        The share of rows of every value.
    slopes : ndarray of shape (n_axes, n_values)
        How the shares change with the place on the axes.
    notes : tuple of Note
        Reasons not to trust the metric, if any; of the rows on its axes they say nothing.
    """

    points: ValuePoints
    radius: float
    shares: Floats
    slopes: Floats
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
            elif column.omits:  # learned as a category of their own
                missing = replace(fact, missing="category").missing_code or 0
                table[:, column.places] = np.delete(part, missing, axis=1)
            else:
                table[:, column.places] = part
        return coordinates.projected(table)


def ask_point_metric(
    view: TableView, share: Share, schema: Schema, n_clusters: int
) -> LearnedPoints:
    """Learn a metric within ``share``, and where the values lie on the axes of the rows.

    Parameters
    ----------
    view : TableView
        The rows with numbers in bins.
    share : Share
    schema : Schema
        As it is declared.
    n_clusters : int
        Clusters to be told apart.
    """
    size = min(_CONTEXT, view.n_attributes - 1)
    options = Options(targets=tuple(range(view.n_attributes)), context_size=size)
    learning = ask_metric(view, share, "auto", options)
    estimate = next(iter(learning.learned.estimates.values()))
    metric = _weighted(learning.metric, estimate, list(schema.columns.values()))
    points, radius = principal_axes(metric, estimate, n_clusters)
    joint = _joint(estimate)
    places = np.concatenate(points.points)
    # The points are centred, so this is the regression of what a row has on where it lies.
    variances = places.T @ joint @ places
    slopes = np.linalg.pinv(variances, rcond=1e-9, hermitian=True) @ places.T @ joint
    notes = tuple(replace(note, code="metric-doubtful") for note in learning.notes)
    return LearnedPoints(points, radius, np.diag(joint).copy(), slopes, notes)


def _joint(estimate: Estimate) -> Floats:
    """Return the shares of rows that have two values together, for all pairs of values."""
    n_rows = max(estimate.n_rows, 1.0)
    together = PairCells(estimate.layout).square(estimate.counts / n_rows)
    return np.asarray(together + np.diag(estimate.margins / n_rows))


def _weighted(
    metric: CategoricalMetric, estimate: Estimate, facts: list[Fact]
) -> CategoricalMetric:
    """Return the metric with weights, and numbers in declared widths.

    Learned distances are as long as the chances that they compare differ. They are multiplied by
    one factor, so that rows differ as much in all categories together as if a mismatch counted as
    one. Where nothing is learned, as for independent columns, it does count as one.
    """
    cells, shares = PairCells(estimate.layout), estimate.margins / max(estimate.n_rows, 1.0)
    parts = [metric.attributes[name] for name in metric.names]
    learned = plain = 0.0
    for place, (fact, part) in enumerate(zip(facts, parts, strict=True)):
        if isinstance(fact, Box):
            continue
        own = shares[cells.slice(place)]
        gaps = part.coordinates - own @ part.coordinates
        learned += fact.weight**2 * float(own @ (gaps**2).sum(axis=1))
        plain += fact.weight**2 * max(1 - float(own @ own), 0.0) / 2
    factor = np.sqrt(plain / learned) if learned > 0 and plain > 0 else 1.0

    def scaled(fact: Fact, part: AttributeMetric) -> AttributeMetric:
        own = factor * part.coordinates if learned > 0 else np.eye(len(part.labels)) / np.sqrt(2)
        own = _MIDDLES[:, None] if isinstance(fact, Box) else own
        return replace(part, coordinates=fact.weight * own)

    pairs = zip(metric.names, facts, parts, strict=True)
    return CategoricalMetric(metric.names, {n: scaled(fact, part) for n, fact, part in pairs})
