"""k-means by a learned metric: half of the budget for the metric, half for the clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from privclust.budget import Share
from privclust.categorical.declared import check_width
from privclust.categorical.mixed import ask_point_metric
from privclust.data.points.door import PointRows
from privclust.data.points.view import PointsView
from privclust.estimator import Run
from privclust.exceptions import ParameterError
from privclust.kmeans.result import KMeansResult, LearnedCenters

__all__ = ["METRIC", "ask_by_learned_metric", "check_learnable"]

METRIC = 0.5  # of the budget


def check_learnable(door: PointRows) -> None:
    """Raise, before anything is paid, if no metric can be learned for such columns."""
    if not door.schema.categorical:
        raise ParameterError(
            'metric="dilca" learns distances between categories, but the schema declares none; '
            'use metric="auto".'
        )
    check_width(door.schema)
    door.check_table()


def ask_by_learned_metric(
    door: PointRows, run: Run, n_clusters: int, cluster: Callable[[PointsView, Share], Any]
) -> KMeansResult:
    """Learn a metric, and cluster the rows as points of its axes.

    Parameters
    ----------
    door : PointRows
    run : Run
    n_clusters : int
    cluster : callable
        Clusters the rows of a view within a share.
    """
    for_metric = run.budget.whole.take(METRIC)
    view = door.table(run.meter, run.seed)
    learned = ask_point_metric(view, for_metric, door.schema, n_clusters)
    points = view.as_points(learned.points, learned.radius)
    found: KMeansResult = cluster(points, run.budget.remainder(for_metric))
    places = points.domain.to_data_units(found.centres)
    values = np.concatenate(learned.points.points)
    table = learned.centers(places, door.schema)
    notes = (*learned.notes, *found.notes)
    return replace(found, learned=LearnedCenters(places, values, table), notes=notes)
