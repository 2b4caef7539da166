"""Cells thrown along the axes of the rows, moved twice to where these are, and clustered."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.data.points.view import PointsView
from privclust.kmeans.errors import Sketch
from privclust.kmeans.shrinking import shrunk_means
from privclust.kmeans.spread import Axes, Purse, Spread
from privclust.kmeans.weighted import nearest_of, weighted_kmeans

__all__ = ["Seeds", "cell_radius", "find_seeds", "reseeded", "with_unseen"]

_ROUNDS = 2
_CELL_COUNTS = 0.35  # of a round's share
_FEWEST_CELLS, _MOST_CELLS = 2, 24  # per cluster
_LIVE = 2.0  # standard errors that a cell's count must exceed
_SEED_SPREAD, _SPLIT_SPREAD = 0.85, 0.5
_SYNTHETIC_ROWS = 4000
_UNSEEN_CELLS = 500


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


def find_seeds(
    view: PointsView,
    purse: Purse,
    spread: Spread,
    axes: Axes,
    n_clusters: int,
    rng: np.random.Generator,
) -> Seeds:
    """Throw cells along the axes, move them to where the rows are, and cluster them."""
    plan = _CellPlan.of(view, purse, spread, axes, n_clusters)
    deviations = np.sqrt(axes.variances)
    cells = rng.standard_normal((plan.n_cells, len(deviations))) * deviations * _SEED_SPREAD
    for number in range(_ROUNDS):
        radius = cell_radius(cells, deviations, plan.quantile, rng)
        seen = _asked(view, purse, plan, axes, cells, radius * plan.shortened(number), number)
        cells = seen.cells
        if number < _ROUNDS - 1 and seen.n_live:
            cells = reseeded(cells, seen.weights, seen.radius, rng)
    return _clustered(seen, spread, axes, n_clusters, rng)


@dataclass(frozen=True)
class _CellPlan:
    """How many cells there are, what each round pays, and how closely rows are clipped.

    ``least`` is the count above which a cell is live, ``quantile`` the share of synthetic rows that
    the first round does not clip, and ``later`` the factor by which the other rounds clip closer.
    """

    for_counts: Share
    for_offsets: Share
    least: float
    n_cells: int
    quantile: float
    later: float

    @classmethod
    def of(
        cls, view: PointsView, purse: Purse, spread: Spread, axes: Axes, n_clusters: int
    ) -> _CellPlan:
        """Plan the rounds from public facts and earlier answers."""
        p, d = axes.frame.dimension, view.domain.dimension
        # The error of a mean grows with the root of the dimension; so do the two stages' shares.
        (stage, _) = purse.rest.split([math.sqrt(p), math.sqrt(d)])
        rounds = stage.split([1] * _ROUNDS)
        for_counts, for_offsets = rounds[0].split([_CELL_COUNTS, 1 - _CELL_COUNTS])
        unit_error = view.offset_error(for_offsets, 1.0, p) * math.sqrt(p)
        least = _LIVE * view.count_error(for_counts)
        # So many that a cell's mean is known to about its radius, and its count exceeds the noise.
        affordable = spread.n_rows / max(unit_error, least)
        n_cells = int(np.clip(affordable, _FEWEST_CELLS * n_clusters, _MOST_CELLS * n_clusters))
        # The noisier the mean of a cell will be, the closer its rows are clipped; and more so once
        # the cells have moved to where the rows are.
        noise = 0.8 * unit_error * n_cells / spread.n_rows
        quantile, later = np.clip(0.95 - noise, 0.6, 0.95), np.clip(1 - noise, 0.6, 1)
        return cls(for_counts, for_offsets, least, n_cells, float(quantile), float(later))

    def shortened(self, number: int) -> float:
        """Return the factor on the radius of a round; rounds are numbered from 0."""
        return self.later if number else 1


@dataclass(frozen=True)
class _MovedCells:
    """Cells moved to the noisy means of their rows; those that do not stand out have no weight."""

    cells: Floats
    weights: Floats
    radius: float

    @property
    def n_live(self) -> int:
        return int((self.weights > 0).sum())


def _asked(
    view: PointsView,
    purse: Purse,
    plan: _CellPlan,
    axes: Axes,
    cells: Floats,
    radius: float,
    number: int,
) -> _MovedCells:
    """Ask for the counts and offsets of the cells, and move them."""
    answer = view.clusters(
        f"cells, round {number + 1}",
        axes.frame,
        cells,
        radius,
        counts=purse.spend(plan.for_counts),
        offsets=purse.spend(plan.for_offsets),
    )
    counts = answer.counts.value
    moved = cells + shrunk_means(answer.offsets, counts, plan.least, radius)
    return _MovedCells(moved, np.where(counts > plan.least, counts, 0), radius)


def _clustered(
    seen: _MovedCells, spread: Spread, axes: Axes, n_clusters: int, rng: np.random.Generator
) -> Seeds:
    """Cluster the cells by their weights; synthetic ones help out where too few are live."""
    cells, weights = seen.cells, seen.weights
    if seen.n_live < n_clusters:
        deviations = np.sqrt(axes.variances)
        cells, weights = with_unseen(cells, weights, spread.n_rows, deviations, rng)
    seeds = weighted_kmeans(cells, weights, n_clusters, rng)
    squares = ((cells - seeds[nearest_of(cells, seeds)]) ** 2).sum(axis=1)
    across = max(spread.distance**2 - axes.variances.sum(), 0)
    blur = 0.4 * seen.radius**2 + across
    within = float(weights @ squares / max(weights.sum(), 1)) + 0.4 * seen.radius**2 + across

    def in_space(points: Floats) -> Floats:
        directions = axes.frame.axes
        return np.asarray(spread.mean + (points if directions is None else points @ directions.T))

    sketch = Sketch(in_space(cells), weights, blur)
    return Seeds(in_space(seeds), within, seen.n_live, sketch)


def cell_radius(
    cells: Floats, deviations: Floats, quantile: float, rng: np.random.Generator
) -> float:
    """Return the distance that a share ``quantile`` of synthetic rows has to its nearest cell."""
    synthetic = rng.standard_normal((_SYNTHETIC_ROWS, len(deviations))) * deviations
    gaps = np.linalg.norm(synthetic - cells[nearest_of(synthetic, cells)], axis=1)
    return float(np.quantile(gaps, quantile))


def with_unseen(
    cells: Floats, weights: Floats, n_rows: float, deviations: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Add synthetic cells for the rows that stand out nowhere, so that centres still spread."""
    synthetic = rng.standard_normal((_UNSEEN_CELLS, len(deviations))) * deviations
    unseen = max(n_rows - float(weights.sum()), 1.0)
    return (
        np.concatenate([cells, synthetic]),
        np.append(weights, np.full(_UNSEEN_CELLS, unseen / _UNSEEN_CELLS)),
    )


def reseeded(cells: Floats, weights: Floats, radius: float, rng: np.random.Generator) -> Floats:
    """Keep the cells with weight and put the others beside them, in proportion to weight."""
    dead = weights == 0
    sources = rng.choice(len(cells), int(dead.sum()), p=weights / weights.sum())
    scatter = rng.standard_normal((len(sources), cells.shape[1]))
    split = cells[sources] + scatter * (_SPLIT_SPREAD * radius / math.sqrt(cells.shape[1]))
    return np.concatenate([cells[~dead], split])
