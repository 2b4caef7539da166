"""Cells along the axes on which rows spread most, moved twice to where rows are, and clustered.

In few columns a scout comes first: cells thrown wide, whose counts say where to throw all of them
again. With many columns, or few rows, such counts are worth less than they cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats
from privclust.budget import Loss, Share
from privclust.clustering.refine import Sketch, shrink_means
from privclust.clustering.weighted_kmeans import nearest_centre, weighted_kmeans
from privclust.data.points.public import ClusterAnswer, Projection
from privclust.data.points.view import PointsView
from privclust.data.public import Noisy

# Where the rows are, and along which axes they spread most: what cells are thrown by.

# Shares of the budget.
_MEAN, _SPREAD, _AXES = 0.03, 0.02, 0.10
LARGEST_MEAN_SHARE = 0.8
# In units of the radius of the domain: an error of the mean beyond which it gets a larger share.
_MEAN_ERROR = 0.15

_AXES_PER_DOUBLING, _MOST_AXES = 1.5, 10
_AXES_NOISE = 0.5  # of the mean square distance; noisier axes are drawn at random instead
_AXIS_ABOVE_NOISE = 1.2


class Allowance:
    """The budget of one run, from which shares are taken until nothing is left."""

    def __init__(self, budget: Share) -> None:
        self._budget = budget
        self._taken: list[Share] = []

    def take(self, fraction: float) -> Share:
        """Return a fraction of the whole budget and count it as spent."""
        return self.spend(self.share(fraction))

    def spend(self, share: Share) -> Share:
        """Count a share as spent."""
        self._taken.append(share)
        return share

    def convert_to_rho(self, budget: Share) -> Allowance:
        """Return a purse of ρ from which what was taken here, in pure ε, is spent already."""
        purse = Allowance(budget)
        for share in self._taken:
            purse.spend(Share("zcdp", Loss.of_pure(share.amount).rho))
        return purse

    @property
    def remaining(self) -> Share:
        """What is left of the budget."""
        return self._budget.remainder(*self._taken)

    def share(self, fraction: float) -> Share:
        """Return a fraction of the whole budget, for planning."""
        return self._budget.take(round(fraction, 6))


@dataclass(frozen=True)
class Spread:
    """The number of rows, their mean, and their root mean square distance from it.

    ``square_error`` is the error of the square of that distance.
    """

    n_rows: float
    mean: Floats
    distance: float
    square_error: float


@dataclass(frozen=True)
class Axes:
    """A frame in which the rows are seen, and the variance along each of its axes."""

    frame: Projection
    variances: Floats


def ask_spread(view: PointsView, purse: Allowance, n_rows: float) -> Spread:
    fraction = _mean_share(view, purse, n_rows)
    origin = np.zeros((1, view.domain.dimension))
    answer = view.ask_clusters(
        "mean", Projection(origin[0]), origin, 1.0, offsets=purse.take(fraction)
    ).offsets
    mean = shrink_means(answer, np.array([n_rows]), 0.0, 1.0)[0]
    square = view.ask_clusters(
        "spread", Projection(mean), origin, 1.0, square=purse.take(_SPREAD)
    ).square
    # Noise hides a spread below its own size, and one taken too small would ruin what follows.
    visible = max(float(square.value[0]), square.standard_error)
    distance = math.sqrt(float(np.clip(visible / n_rows, 1e-6, 1.0)))
    return Spread(n_rows, mean, distance, square.standard_error / n_rows)


def _mean_share(view: PointsView, purse: Allowance, n_rows: float) -> float:
    """Return a share that puts the mean within ``_MEAN_ERROR``, if there is one."""
    for fraction in np.geomspace(_MEAN, LARGEST_MEAN_SHARE, 20):
        if mean_error(view, purse.share(fraction), n_rows) <= _MEAN_ERROR:
            return float(fraction)
    return LARGEST_MEAN_SHARE


def mean_error(view: PointsView, share: Share, n_rows: float) -> float:
    """Return how far from the mean a share would leave its noisy estimate."""
    dimension = view.domain.dimension
    return view.offset_error(share, 1.0, dimension) * math.sqrt(dimension) / n_rows


def ask_axes(
    view: PointsView,
    purse: Allowance,
    spread: Spread,
    n_clusters: int,
    rng: np.random.Generator,
) -> Axes:
    """Return the axes of largest noisy variance, or random ones where noise would drown them."""
    dimension, square = view.domain.dimension, spread.distance**2
    wanted = max(2, math.ceil(_AXES_PER_DOUBLING * math.log2(n_clusters)))
    n_axes = min(dimension, _MOST_AXES, wanted)
    if n_axes == dimension:
        return _axes(spread, None, np.full(dimension, square / dimension))
    radius = spread.distance

    def noise_edge(error: float) -> float:
        """Return the largest eigenvalue that noise alone would show."""
        return 2 * math.sqrt(dimension) * error / spread.n_rows

    expected = view.moment_error(purse.share(_AXES), radius, dimension)
    if noise_edge(expected) > _AXES_NOISE * square:
        directions = np.linalg.qr(rng.standard_normal((dimension, n_axes)))[0]
        return _axes(spread, directions, np.full(n_axes, square / dimension))
    frame = Projection(spread.mean, radius=radius)
    moments = view.ask_second_moments("axes", frame, purse.take(_AXES))
    values, directions = np.linalg.eigh(moments.value / spread.n_rows)
    values, directions = values[::-1], directions[:, ::-1]
    clear = int((values > _AXIS_ABOVE_NOISE * noise_edge(moments.standard_error)).sum())
    clear = min(clear, _MOST_AXES)
    n_axes = max(n_axes, clear)
    top = np.clip(values[:clear], 1e-3 * square / dimension, square)
    left = max(square - top.sum(), 1e-3 * square) / max(dimension - clear, 1)
    return _axes(spread, directions[:, :n_axes], np.append(top, np.full(n_axes - clear, left)))


def _axes(spread: Spread, directions: Floats | None, variances: Floats) -> Axes:
    radius = min(2.0, 3.5 * math.sqrt(variances.sum()))
    return Axes(Projection(spread.mean, directions, radius, coarse=True), variances)


_ROUNDS = 2
_CELL_COUNTS = 0.35  # of a round's share
_FEWEST_CELLS, _MOST_CELLS = 2, 24  # per cluster
LIVE = 2.0  # standard errors that a cell's count must exceed
_SEED_SPREAD, _SPLIT_SPREAD = 0.85, 0.5
# The scout: in at most so many columns, where so many cells in all and for each cluster can be paid
# for; its share of what is left; how wide it is thrown, and how far, in quantiles of the distance
# of rows to cells, its cells are thrown again. After it, a part of the first round's offsets pays
# for the distance of rows to their cell.
_SCOUTED_COLUMNS, _SCOUTED_CELLS, _SCOUTED_EACH = 4, 180, 6
_SCOUT, _SQUARE = 0.10, 0.05
SCOUT_SPREAD, _SCOUT_REACH = 1.2, 0.8
# How closely rows are clipped: at least and at most this share of them is not, less by so much of
# the noise on the mean of a cell. New cells are thrown so far, in root mean square distances.
_LEAST_KEPT, _MOST_KEPT, _BY_NOISE = 0.6, 0.95, 0.8
_RESEEDED = 1.5
_LEAST_LEFT = 0.02  # of the mean square distance, after a move
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


def ask_seeds(
    view: PointsView,
    purse: Allowance,
    spread: Spread,
    axes: Axes,
    n_clusters: int,
    rng: np.random.Generator,
) -> Seeds:
    """Throw cells along the axes, move them to where the rows are, and cluster them."""
    plan = _CellPlan.of(view, purse, spread, axes, n_clusters)
    deviations = np.sqrt(axes.variances)
    is_wide = axes.frame.axes is not None or axes.frame.dimension > _SCOUTED_COLUMNS
    scouted = not is_wide and plan.n_cells >= max(_SCOUTED_CELLS, _SCOUTED_EACH * n_clusters)
    if scouted:
        for_scout = purse.spend(purse.remaining.take(_SCOUT))
        plan = _CellPlan.of(view, purse, spread, axes, n_clusters)
    cells = rng.standard_normal((plan.n_cells, len(deviations))) * deviations
    cells *= SCOUT_SPREAD if scouted else _SEED_SPREAD
    if scouted:
        counts = view.ask_clusters("scout", axes.frame, cells, 1.0, counts=for_scout).counts
        cells = resample_cells(cells, counts, deviations, rng)
    within = math.inf
    for number in range(_ROUNDS):
        radius = cell_radius(cells, deviations, plan.quantile, rng) * plan.clip_factor(number)
        radius = tightened_radius(radius, within, len(deviations))
        squared = scouted and number < _ROUNDS - 1
        seen = _ask_round(view, purse, plan, axes, cells, radius, number, squared=squared)
        cells, within = seen.cells, seen.within
        if number < _ROUNDS - 1 and seen.n_live:
            cells = split_heavy_cells(
                cells, seen.weights, reseeding_radius(seen.radius, within), rng
            )
    return _cluster_cells(seen, spread, axes, n_clusters, rng)


@dataclass(frozen=True)
class _CellPlan:
    """How many cells there are, what each round pays, and how closely rows are clipped.

    ``n_rows`` is the noisy number of rows, ``least`` the count above which a cell is live,
    ``quantile`` the share of synthetic rows that the first round does not clip, and ``later`` the
    factor by which the other rounds clip closer.
    """

    n_rows: float
    for_counts: Share
    for_offsets: Share
    least: float
    n_cells: int
    quantile: float
    later: float

    @classmethod
    def of(
        cls, view: PointsView, purse: Allowance, spread: Spread, axes: Axes, n_clusters: int
    ) -> _CellPlan:
        """Plan the rounds from public facts and earlier answers."""
        p, d = axes.frame.dimension, view.domain.dimension
        # The error of a mean grows with the root of the dimension; so do the two stages' shares.
        (stage, _) = purse.remaining.split([math.sqrt(p), math.sqrt(d)])
        rounds = stage.split([1] * _ROUNDS)
        for_counts, for_offsets = rounds[0].split([_CELL_COUNTS, 1 - _CELL_COUNTS])
        unit_error = view.offset_error(for_offsets, 1.0, p) * math.sqrt(p)
        least = LIVE * view.count_error(for_counts)
        # So many that a cell's mean is known to about its radius, and its count exceeds the noise.
        affordable = spread.n_rows / max(unit_error, least)
        n_cells = int(np.clip(affordable, _FEWEST_CELLS * n_clusters, _MOST_CELLS * n_clusters))
        clips = clips_for(unit_error, n_cells, spread.n_rows)
        return cls(spread.n_rows, for_counts, for_offsets, least, n_cells, *clips)

    def clip_factor(self, number: int) -> float:
        """Return the factor on the radius of a round; rounds are numbered from 0."""
        return self.later if number else 1


def clips_for(unit_error: float, n_cells: int, n_rows: float) -> tuple[float, float]:
    """Return the share of rows that the first round does not clip, and how much closer others do.

    The noisier the mean of a cell will be, the closer its rows are clipped; and more so once the
    cells have moved to where the rows are. ``unit_error`` is the error of a sum of offsets that are
    clipped to length one.
    """
    noise = _BY_NOISE * unit_error * n_cells / n_rows
    first = np.clip(_MOST_KEPT - noise, _LEAST_KEPT, _MOST_KEPT)
    return float(first), float(np.clip(1 - noise, _LEAST_KEPT, 1))


def reseeding_radius(radius: float, within: float) -> float:
    """Return how far from heavy cells new ones are thrown."""
    return min(radius, _RESEEDED * math.sqrt(within))


@dataclass(frozen=True)
class _CellRound:
    """Cells moved to the noisy means of their rows; those that do not stand out have no weight."""

    cells: Floats
    weights: Floats
    radius: float
    within: float  # mean square distance of rows to their cell; without end unless it was asked

    @property
    def n_live(self) -> int:
        return int((self.weights > 0).sum())


def _ask_round(
    view: PointsView,
    purse: Allowance,
    plan: _CellPlan,
    axes: Axes,
    cells: Floats,
    radius: float,
    number: int,
    *,
    squared: bool,
) -> _CellRound:
    """Ask for the counts and offsets of the cells, and for squares if so, and move them."""
    square = plan.for_offsets.take(_SQUARE) if squared else None
    offsets = plan.for_offsets if square is None else plan.for_offsets.remainder(square)
    answer = view.ask_clusters(
        f"cells, round {number + 1}",
        axes.frame,
        cells,
        radius,
        counts=purse.spend(plan.for_counts),
        offsets=purse.spend(offsets),
        square=None if square is None else purse.spend(square),
    )
    counts = answer.counts.value
    moves = shrink_means(answer.offsets, counts, plan.least, radius)
    within = math.inf
    if squared:
        within = residual_mean_square(answer, counts, moves, plan.n_rows, radius**2)
    return _CellRound(cells + moves, np.where(counts > plan.least, counts, 0), radius, within)


def _cluster_cells(
    seen: _CellRound, spread: Spread, axes: Axes, n_clusters: int, rng: np.random.Generator
) -> Seeds:
    """Cluster the cells by their weights; synthetic ones help out where too few are live."""
    cells, weights = seen.cells, seen.weights
    if seen.n_live < n_clusters:
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

    sketch = Sketch(in_space(cells), weights, blur)
    return Seeds(in_space(seeds), within, seen.n_live, sketch)


def cell_radius(
    cells: Floats, deviations: Floats, quantile: float, rng: np.random.Generator
) -> float:
    """Return the distance that a share ``quantile`` of synthetic rows has to its nearest cell."""
    synthetic = rng.standard_normal((_SYNTHETIC_ROWS, len(deviations))) * deviations
    gaps = np.linalg.norm(synthetic - cells[nearest_centre(synthetic, cells)], axis=1)
    return float(np.quantile(gaps, quantile))


def tightened_radius(radius: float, within: float, dimension: int) -> float:
    """Return a radius that is closer where rows are known to lie closer to their cells."""
    needed = (1 + 0.5 / math.sqrt(dimension)) * math.sqrt(within)
    return max(min(radius, needed), 0.3 * radius)


def residual_mean_square(
    answer: ClusterAnswer, counts: Floats, moves: Floats, n_rows: float, most: float
) -> float:
    """Return the mean square distance of rows to their cell after noisy moves.

    A move gains its own square for each row, but that is measured with noise, and the noise stays
    in the cell: hence twice its variance less.
    """
    offsets, square = answer.offsets, answer.square
    noise = moves.shape[1] * offsets.standard_error**2 / np.maximum(counts, 1) ** 2
    moved = (moves**2).sum(axis=1)
    gain = float(np.maximum(counts, 0) @ (moved - 2 * np.minimum(noise, moved)))
    visible = max(float(square.value[0]), square.standard_error)
    return float(np.clip((visible - gain) / n_rows, _LEAST_LEFT * most, most))


def resample_cells(
    cells: Floats, counts: Noisy, deviations: Floats, rng: np.random.Generator
) -> Floats:
    """Return as many cells, thrown in proportion to the rows that wide ones have counted."""
    weights = np.where(counts.value > LIVE * counts.standard_error, counts.value, 0)
    if not weights.any():
        return cells
    sources = rng.choice(len(cells), len(cells), p=weights / weights.sum())
    jitter = cell_radius(cells, deviations, _SCOUT_REACH, rng) / math.sqrt(cells.shape[1])
    moves = rng.standard_normal(cells.shape) * jitter
    moves[np.unique(sources, return_index=True)[1]] = 0  # one copy of each stays in its place
    return np.asarray(cells[sources] + moves)


def add_synthetic_cells(
    cells: Floats, weights: Floats, n_rows: float, deviations: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Add synthetic cells for the rows that stand out nowhere, so that centres still spread."""
    synthetic = rng.standard_normal((_UNSEEN_CELLS, len(deviations))) * deviations
    unseen = max(n_rows - float(weights.sum()), 1.0)
    return (
        np.concatenate([cells, synthetic]),
        np.append(weights, np.full(_UNSEEN_CELLS, unseen / _UNSEEN_CELLS)),
    )


def split_heavy_cells(
    cells: Floats, weights: Floats, radius: float, rng: np.random.Generator
) -> Floats:
    """Keep the cells with weight and put the others beside them, in proportion to weight."""
    dead = weights == 0
    sources = rng.choice(len(cells), int(dead.sum()), p=weights / weights.sum())
    scatter = rng.standard_normal((len(sources), cells.shape[1]))
    split = cells[sources] + scatter * (_SPLIT_SPREAD * radius / math.sqrt(cells.shape[1]))
    return np.concatenate([cells[~dead], split])
