"""From the noisy source to centres: build the medoid problem, make it small, solve it.

If a target's distance b to the source is uncertain, its cost at distance d from the nearest new
centre is the mean of min(b, d). That is again a rising function of d, so the problem stays one of
medoids, on distances changed target by target; the solver knows nothing of the uncertainty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from scipy.spatial import cKDTree

from privclust._typing import Floats, Indices, Singles
from privclust.data.sites.distances import CoordinateMetric, Metric
from privclust.source_target.placement import cell_sites, nearest_site
from privclust.source_target.public_targets import PublicTargets, public_table
from privclust.source_target.solver import (
    Problem,
    choose_with_safeguard,
    improve_by_swaps,
    lazy_greedy,
    to_expected_costs,
)

# Tables of distances between public points, in the units of the metric.

# The names of metrics of points, for lists of choices.
POINT_METRICS: tuple[str, ...] = get_args(CoordinateMetric)

# Double-precision distances held at a time, before they are stored in single precision.
_CHUNK = 2**22


def distance_table(rows: Floats, columns: Floats, metric: Metric) -> Singles:
    """Return the distances of embedded points, rows by columns, a few rows at a time."""
    table = np.empty((len(rows), len(columns)), np.float32)
    height = max(1, _CHUNK // max(1, len(columns)))
    for start in range(0, len(rows), height):
        piece = slice(start, start + height)
        table[piece] = metric.distances(rows[piece], columns)
    return table


# The largest table of distances, in bytes; larger problems are solved on cells of targets.
MOST_BYTES = 2**29
_CELLS = 4000


@dataclass(frozen=True)
class ExistingService:
    """What is known about the existing service."""

    # (n_draws, n_targets): possible distances of the targets to it; infinite where there is none.
    base: Floats
    # (n_judges, n_targets): more of them, on which a choice must be better than ignoring the
    # source; None skips this.
    judges: Floats | None = None


@dataclass(frozen=True)
class Solution:
    """Chosen centres."""

    chosen: Indices  # (n_centers,): numbers of candidates, forced ones first
    order: Indices  # (n_centers,): the greedy order, whose first k are a choice of k centres
    # (n_centers + 1,): the cost of the first 0, 1, 2, ... of them, on average over the draws.
    order_costs: Floats
    cost: float  # the same for the chosen ones
    # (n_targets,): the share of draws in which the source is at least as near as the chosen
    # centres.
    served: Floats


def service_of_public_source(public: PublicTargets, source: Any) -> ExistingService:
    """Return the existing service of a source that is public or synthetic."""
    if source is None or not len(source):
        return ExistingService(np.full((1, public.n_targets), np.inf))
    table = public_table(source, "source")
    if table.shape[1] != public.table.shape[1]:
        raise ValueError(
            f"source has {table.shape[1]} columns where target has {public.table.shape[1]}; give "
            "both the same columns."
        )
    if not public.metric.has_coordinates:
        return ExistingService(table.min(axis=0)[None])
    space = public.space
    straight = cKDTree(space.place(table)).query(space.targets, p=space.order)[0]
    return ExistingService(public.metric.lengths(np.asarray(straight))[None])


def mean_distance(public: PublicTargets, existing: ExistingService, chosen: Indices) -> float:
    """Return the mean distance of targets to the nearest of the source and the chosen centres."""
    return _mean_cost(public, existing, _distances_from(public, chosen))


def solve(public: PublicTargets, existing: ExistingService, n_centers: int) -> Solution:
    """Choose ``n_centers`` candidates, given the existing service."""
    rows, weights = public.allowed, public.weights
    draws = existing.base
    judges = np.empty((0, public.n_targets)) if existing.judges is None else existing.judges
    if not public.metric.has_coordinates:
        distances = public.candidates[rows].astype(np.float32)
        forced = public.candidates[public.forced].astype(np.float32)
    else:
        objects = public.space.targets
        # The guard needs the distances and the mean costs at once.
        n_tables = 1 if existing.judges is None else 2
        if n_tables * len(rows) * len(objects) * 4 > MOST_BYTES:
            rows, objects, weights, (draws, judges) = _reduce_problem(public, draws, judges)
        distances = distance_table(public.places[rows], objects, public.metric)
        forced = distance_table(public.places[public.forced], objects, public.metric)
    without = forced.min(axis=0, initial=np.inf)
    draws, judges = np.minimum(draws, without), np.minimum(judges, without)
    n_free = n_centers - len(public.forced)
    if existing.judges is None:
        problem = to_expected_costs(distances, draws, weights)
        found = lazy_greedy(problem, n_free).chosen
        better = improve_by_swaps(problem, found)
    else:
        choice = choose_with_safeguard(Problem(distances, without, weights), draws, judges, n_free)
        found, better = choice.order, choice.improved
    order = np.concatenate([public.forced, rows[found]])
    chosen = np.concatenate([public.forced, rows[better]])
    return _evaluate(public, existing, chosen, order)


def _reduce_problem(
    public: PublicTargets, *draws: Floats
) -> tuple[Indices, Floats, Floats, tuple[Floats, ...]]:
    """Return a problem of a few thousand cells of targets and the candidates nearest to them."""
    targets = public.space.targets
    sites = cell_sites(targets, _CELLS)
    labels = nearest_site(targets, sites, public.space.order)
    weights = np.asarray(np.bincount(labels, public.weights, len(sites)), np.float64)
    share = np.maximum(weights, 1e-300)

    def means(base: Floats) -> Floats:
        sums = [np.bincount(labels, public.weights * _finite(draw), len(sites)) for draw in base]
        return np.array(sums).reshape(len(base), len(sites)) / share

    rows = public.allowed
    if len(rows) > _CELLS:
        rows = rows[np.unique(nearest_site(sites, public.places[rows], public.space.order))]
    return rows, sites, weights, tuple(means(base) for base in draws)


def _finite(draw: Floats) -> Floats:
    return np.minimum(draw, np.finfo(np.float32).max / 4)


def _evaluate(
    public: PublicTargets, existing: ExistingService, chosen: Indices, order: Indices
) -> Solution:
    """Return the costs of a choice on all targets."""
    costs, nearest = [_mean_cost(public, existing, np.full(public.n_targets, np.inf))], None
    for candidate in order:
        row = _distances_from(public, np.array([candidate]))
        nearest = row if nearest is None else np.minimum(nearest, row)
        costs.append(_mean_cost(public, existing, nearest))
    final = _distances_from(public, chosen)
    served = (existing.base <= final).mean(axis=0)
    return Solution(
        chosen, order, np.array(costs), _mean_cost(public, existing, final), np.asarray(served)
    )


def _distances_from(public: PublicTargets, chosen: Indices) -> Floats:
    """Return the distance of every target to the nearest of the chosen candidates."""
    if not public.metric.has_coordinates:
        return np.asarray(public.candidates[chosen].min(axis=0))
    nearest = np.full(public.n_targets, np.inf)
    for candidate in chosen:
        place = public.places[candidate : candidate + 1]
        row = distance_table(place, public.space.targets, public.metric)[0]
        np.minimum(nearest, row, out=nearest)
    return nearest


def _mean_cost(public: PublicTargets, existing: ExistingService, nearest: Floats) -> float:
    served = np.minimum(existing.base, nearest).mean(axis=0)
    with_weight = public.weights > 0
    return float(np.average(served[with_weight], weights=public.weights[with_weight]))
