"""Seeds of k clusters: cells moved to where the rows are, and clustered by their counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from privclust._typing import Floats
from privclust.clustering import fitted
from privclust.clustering.refine import Sketch
from privclust.clustering.rounds import (
    CellPlan,
    MovedCells,
    Round,
    add_synthetic_cells,
    affordable_cells,
    ask_moved_cells,
)
from privclust.clustering.spread import Allowance, Axes, Spread
from privclust.clustering.weighted_kmeans import nearest_centre, weighted_kmeans
from privclust.data.points.view import PointsView

_ROUNDS = 2
_CELL_COUNTS = 0.35  # of a round's share
_FEWEST_CELLS, _MOST_CELLS = 2, 24  # per cluster
# The scout: in few columns, if this many cells in all and for each cluster are affordable; and its
# share of what is left. After it, a part of the first round's offsets pays for the distance of rows
# to their cell.
_SCOUTED_CELLS, _SCOUTED_EACH = 180, 6
_SCOUT, _SQUARE = 0.10, 0.05


@dataclass(frozen=True)
class Seeds:
    """Centres in the space of the rows.

    ``within`` is about the mean square distance of rows to them, ``n_live`` the number of cells
    that stand out from the noise, and ``sketch`` what the cells show of the rows.
    """

    centres: Floats
    within: float
    n_live: int
    sketch: Sketch


def ask_seeds(
    view: PointsView,
    purse: Allowance,
    spread: Spread,
    axes: Axes,
    n_clusters: int,
    rng: np.random.Generator,
) -> Seeds:
    """Throw cells along the axes, move them to where the rows are, and cluster them."""
    plan = _plan_rounds(view, purse, spread, axes, n_clusters)
    is_wide = axes.frame.axes is not None or axes.frame.dimension > fitted.FEW_COLUMNS
    if not is_wide and plan.n_cells >= max(_SCOUTED_CELLS, _SCOUTED_EACH * n_clusters):
        plan = _with_scout(view, purse, spread, axes, n_clusters)
    for paid in plan.rounds:
        for share in (paid.counts, paid.offsets, paid.square):
            if share is not None:
                purse.spend(share)
    seen = ask_moved_cells(view, plan, spread, axes, rng)
    return _cluster_cells(seen, spread, axes, n_clusters, rng)


def _plan_rounds(
    view: PointsView, purse: Allowance, spread: Spread, axes: Axes, n_clusters: int
) -> CellPlan:
    """Plan rounds without a scout from public facts and earlier answers."""
    p, d = axes.frame.dimension, view.domain.dimension
    # The error of a mean grows with the root of the dimension; so do the two stages' shares.
    (stage, _) = purse.remaining.split([math.sqrt(p), math.sqrt(d)])
    first, *_ = stage.split([1] * _ROUNDS)
    counts, offsets = first.split([_CELL_COUNTS, 1 - _CELL_COUNTS])
    affordable, unit_error = affordable_cells(view, counts, offsets, spread.n_rows, p)
    most = _MOST_CELLS * n_clusters
    n_cells = int(np.clip(affordable, _FEWEST_CELLS * n_clusters, most))
    rounds = (Round(counts, offsets, None, unit_error),) * _ROUNDS
    return CellPlan(n_cells, n_cells == most, None, rounds)


def _with_scout(
    view: PointsView, purse: Allowance, spread: Spread, axes: Axes, n_clusters: int
) -> CellPlan:
    """Plan a scout, and rounds that show how far from their cells rows are."""
    scout = purse.spend(purse.remaining.take(_SCOUT))
    plan = _plan_rounds(view, purse, spread, axes, n_clusters)
    *first, last = plan.rounds
    squared = [
        replace(paid, offsets=paid.offsets.remainder(square), square=square)
        for paid in first
        for square in [paid.offsets.take(_SQUARE)]
    ]
    return replace(plan, scout=scout, rounds=(*squared, last))


def _cluster_cells(
    seen: MovedCells, spread: Spread, axes: Axes, n_clusters: int, rng: np.random.Generator
) -> Seeds:
    """Cluster the cells by their weights; synthetic ones help out where too few are live."""
    cells, weights = seen.cells, seen.weights
    n_live = int((weights > 0).sum())
    if n_live < n_clusters:
        deviations = np.sqrt(axes.variances)
        cells, weights = add_synthetic_cells(cells, weights, spread.n_rows, deviations, rng)
    seeds = weighted_kmeans(cells, weights, n_clusters, rng)
    squares = ((cells - seeds[nearest_centre(cells, seeds)]) ** 2).sum(axis=1)
    across = max(spread.distance**2 - axes.variances.sum(), 0)
    blur = 0.4 * seen.radius**2 + across
    within = float(weights @ squares / max(weights.sum(), 1)) + 0.4 * seen.radius**2 + across

    def in_space(points: Floats) -> Floats:
        directions = axes.frame.axes
        return np.asarray(spread.mean + (points if directions is None else points @ directions.T))

    sketch = Sketch(in_space(cells), weights, blur, seen.counts.standard_error)
    return Seeds(in_space(seeds), within, n_live, sketch)
