"""A summary by a learned metric: cells are found on its axes, and released as numbers and shares.

Half of the budget pays for the metric, as in k-means. What the axes say about every column turns
the cells into ordinary ones, so that a release and all that is made of it look as they always do.
How far rows lie from these cells, counted in mismatches, is asked for last.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.categorical.mixed import LearnedPoints, ask_point_metric
from privclust.data.points.door import PointRows
from privclust.data.points.public import WHOLE, Projection
from privclust.data.points.view import PointsView
from privclust.data.view import Noisy
from privclust.estimator import Run
from privclust.kmeans.learned import METRIC
from privclust.summary.result import Cells, SummaryResult
from privclust.summary.summarising import CLUSTERS, ask_summary

__all__ = ["ask_summary_by_learned_metric"]

_WITHIN = 0.02  # of the budget
_STEP = 1e-3  # in radii of the rows on the axes


def ask_summary_by_learned_metric(
    door: PointRows, run: Run, view: PointsView, budget: Share
) -> SummaryResult:
    """Learn a metric, and summarise the rows as points of its axes.

    Parameters
    ----------
    door : PointRows
    run : Run
    view : PointsView
        The rows by mismatches, for the last question.
    budget : Share
        What all of it may spend.
    """
    for_metric, for_within = budget.take(METRIC), budget.take(_WITHIN)
    table = door.table(run.meter, run.seed)
    learned = ask_point_metric(table, for_metric, door.schema, CLUSTERS)
    points = table.as_points(learned.points, learned.radius)
    found = ask_summary(points, budget.remainder(for_metric, for_within), run.choices)
    mapped = _Mapped(learned, points, door)
    cells = mapped.cells(found.cells)
    within = _ask_within(view, for_within, cells)
    told = replace(cells, within=float(within.value[0]), within_error=within.standard_error)
    notes = (*learned.notes, *found.notes)
    return replace(found, cells=told, notes=notes, misses_far_rows=False)  # nothing was clipped


class _Mapped:
    """How places on the axes become numbers and shares, in the unit ball of each."""

    def __init__(self, learned: LearnedPoints, points: PointsView, door: PointRows) -> None:
        self._learned, self._axes, self._door = learned, points.domain, door

    def cells(self, found: Cells) -> Cells:
        """Return the cells as numbers and shares; noise goes the same way, on average."""
        shares = np.mean([slopes**2 for slopes in self._slopes(found.cells)], axis=0)
        noise = found.noise
        return replace(
            found,
            cells=self._places(found.cells),
            variances=noise.mean(axis=1),
            column_shares=shares * noise.shape[1],
            group_variances=np.zeros_like(found.group_variances),
        )

    def _places(self, points: Floats) -> Floats:
        table = self._learned.centers(self._axes.to_data_units(points), self._door.schema)
        return self._door.domain.to_unit_ball(table)

    def _slopes(self, points: Floats) -> list[Floats]:
        """Return how far each coordinate moves with each axis, over all points."""
        steps = np.eye(points.shape[1]) * _STEP
        here = self._places(points)
        moved = (self._places(points + step) - here for step in steps)
        return [np.sqrt(np.mean((move / _STEP) ** 2, axis=0)) for move in moved]


def _ask_within(view: PointsView, share: Share, cells: Cells) -> Noisy:
    """Ask for the mean square distance of rows to their cell."""
    frame = Projection(np.zeros(view.domain.dimension))
    places = cells.cells[cells.counts > 0]
    square = view.ask_clusters("spread within cells", frame, places, WHOLE, square=share).square
    visible = np.maximum(square.value, square.standard_error)
    return Noisy(visible / cells.n_rows, square.standard_error / cells.n_rows)
