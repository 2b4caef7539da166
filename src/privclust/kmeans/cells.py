"""Private k-means by sub-clustering first: count many small cells, cluster the cells, then refine.

A cell needs only a noisy count and a noisy mean offset, clipped to its own small radius, so many
cells cost little; and clustering the cells afterwards is free. Five stages, each a few questions:

1. the number of rows, their mean and their spread;
2. the axes along which they spread most;
3. cells along these axes, moved twice to where the rows are;
4. k centres of the cells (no question);
5. a few noisy Lloyd steps in all dimensions, with offsets clipped to the clusters' own radius.

Everything here is computed from noisy answers, public facts and public random choices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.data.points.public import Projection
from privclust.data.points.view import PointsView
from privclust.kmeans.packing import packed_centres
from privclust.kmeans.release import NEVER_SAW_THE_ROWS
from privclust.kmeans.result import KMeansResult
from privclust.kmeans.shrinking import refined, shrunk_means
from privclust.kmeans.weighted import nearest_of, weighted_kmeans

__all__ = ["by_cells"]

# Shares of the budget. The cells and the steps divide what these leave.
_COUNT, _MEAN, _SPREAD, _AXES, _SIZES = 0.03, 0.03, 0.02, 0.10, 0.03
_LARGEST_MEAN_SHARE = 0.8
# In units of the radius of the domain: an error of the mean beyond which it gets a larger share,
# and one at which centres that never saw the data are no worse.
_MEAN_ERROR, _LOST_MEAN = 0.15, 1.0

# Axes.
_AXES_PER_DOUBLING, _MOST_AXES = 1.5, 10
_AXES_NOISE = 0.5  # of the mean square distance; noisier axes are drawn at random instead
_AXIS_ABOVE_NOISE = 1.2

# Cells.
_ROUNDS = 2
_CELL_COUNTS = 0.35  # of a round's share
_FEWEST_CELLS, _MOST_CELLS = 2, 24  # per cluster
_LIVE = 2.0  # standard errors that a cell's count must exceed
_SEED_SPREAD, _SPLIT_SPREAD = 0.85, 0.5
_SYNTHETIC_ROWS = 4000
_UNSEEN_CELLS = 500


_REMEDY = "raise epsilon, allow a delta, or ask plan() what to expect"
_HIDDEN = f"Noise hides some of the clusters at this budget; {_REMEDY}."
_UNSEEN = (
    "At this budget even the mean of the rows would be noise, so the centres are spread over the "
    f"declared bounds and {NEVER_SAW_THE_ROWS}; {_REMEDY}."
)


@dataclass(frozen=True)
class _Spread:
    """The number of rows, their mean, and their root mean square distance from it."""

    n_rows: float
    mean: Floats
    distance: float


@dataclass(frozen=True)
class _Axes:
    """A frame in which the rows are seen, and the variance along each of its axes."""

    frame: Projection
    variances: Floats


def by_cells(
    view: PointsView, budget: Share, n_clusters: int, rng: np.random.Generator
) -> KMeansResult:
    """Cluster the rows of ``view`` within ``budget``."""
    purse = _Purse(budget)
    n_rows = max(1.0, float(view.count("number of rows", purse.take(_COUNT)).value[0]))
    if _mean_error(view, purse.share(_LARGEST_MEAN_SHARE), n_rows) > _LOST_MEAN:
        centres = packed_centres(n_clusters, *view.domain.box_in_unit_ball(), rng)
        return _sized(view, centres, purse.rest, (_UNSEEN,))
    for_sizes = purse.take(_SIZES)
    spread = _find_spread(view, purse, n_rows)
    axes = _find_axes(view, purse, spread, n_clusters, rng)
    seeds, within, n_live = _find_seeds(view, purse, spread, axes, n_clusters, rng)
    centres = refined(view, purse.rest, n_rows, seeds, within)
    return _sized(view, centres, for_sizes, () if n_live >= n_clusters else (_HIDDEN,))


def _sized(
    view: PointsView, centres: Floats, share: Share, warnings: tuple[str, ...]
) -> KMeansResult:
    frame = Projection(np.zeros(view.domain.dimension))
    sizes = view.clusters("cluster sizes", frame, centres, 1.0, counts=share).counts
    return KMeansResult(centres, sizes, warnings)


class _Purse:
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

    @property
    def rest(self) -> Share:
        """What is left of the budget."""
        return self._budget.remainder(*self._taken)

    def share(self, fraction: float) -> Share:
        """Return a fraction of the whole budget, for planning."""
        return self._budget.take(round(fraction, 6))


def _find_spread(view: PointsView, purse: _Purse, n_rows: float) -> _Spread:
    fraction = _mean_fraction(view, purse, n_rows)
    origin = np.zeros((1, view.domain.dimension))
    answer = view.clusters(
        "mean", Projection(origin[0]), origin, 1.0, offsets=purse.take(fraction)
    ).offsets
    mean = shrunk_means(answer, np.array([n_rows]), 0.0, 1.0)[0]
    square = view.clusters(
        "spread", Projection(mean), origin, 1.0, square=purse.take(_SPREAD)
    ).square
    # Noise hides a spread below its own size, and one taken too small would ruin what follows.
    visible = max(float(square.value[0]), square.standard_error)
    return _Spread(n_rows, mean, math.sqrt(float(np.clip(visible / n_rows, 1e-6, 1.0))))


def _mean_fraction(view: PointsView, purse: _Purse, n_rows: float) -> float:
    """Return a share that puts the mean within ``_MEAN_ERROR``, if there is one."""
    for fraction in np.geomspace(_MEAN, _LARGEST_MEAN_SHARE, 20):
        if _mean_error(view, purse.share(fraction), n_rows) <= _MEAN_ERROR:
            return float(fraction)
    return _LARGEST_MEAN_SHARE


def _mean_error(view: PointsView, share: Share, n_rows: float) -> float:
    """Return how far from the mean a share would leave its noisy estimate."""
    dimension = view.domain.dimension
    return view.offset_error(share, 1.0, dimension) * math.sqrt(dimension) / n_rows


def _find_axes(
    view: PointsView,
    purse: _Purse,
    spread: _Spread,
    n_clusters: int,
    rng: np.random.Generator,
) -> _Axes:
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
    moments = view.second_moments("axes", frame, purse.take(_AXES))
    values, directions = np.linalg.eigh(moments.value / spread.n_rows)
    values, directions = values[::-1], directions[:, ::-1]
    clear = int((values > _AXIS_ABOVE_NOISE * noise_edge(moments.standard_error)).sum())
    clear = min(clear, _MOST_AXES)
    n_axes = max(n_axes, clear)
    top = np.clip(values[:clear], 1e-3 * square / dimension, square)
    left = max(square - top.sum(), 1e-3 * square) / max(dimension - clear, 1)
    return _axes(spread, directions[:, :n_axes], np.append(top, np.full(n_axes - clear, left)))


def _axes(spread: _Spread, directions: Floats | None, variances: Floats) -> _Axes:
    radius = min(2.0, 3.5 * math.sqrt(variances.sum()))
    return _Axes(Projection(spread.mean, directions, radius, coarse=True), variances)


def _find_seeds(
    view: PointsView,
    purse: _Purse,
    spread: _Spread,
    axes: _Axes,
    n_clusters: int,
    rng: np.random.Generator,
) -> tuple[Floats, float, int]:
    """Return k centres of the cells, the mean square distance of rows to them, and live cells."""
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
    reach, later = float(np.clip(0.95 - noise, 0.6, 0.95)), float(np.clip(1 - noise, 0.6, 1))
    deviations = np.sqrt(axes.variances)
    cells = rng.standard_normal((n_cells, p)) * deviations * _SEED_SPREAD
    for number in range(_ROUNDS):
        radius = _cell_radius(cells, deviations, reach, rng) * (later if number else 1)
        answer = view.clusters(
            f"cells, round {number + 1}",
            axes.frame,
            cells,
            radius,
            counts=for_counts,
            offsets=for_offsets,
        )
        purse.spend(for_counts)
        purse.spend(for_offsets)
        counts = answer.counts.value
        live = counts > least
        cells = cells + shrunk_means(answer.offsets, counts, least, radius)
        if number < _ROUNDS - 1 and live.any():
            cells = _reseeded(cells, np.where(live, counts, 0), radius, rng)
    weights = np.where(live, counts, 0)
    if live.sum() < n_clusters:
        cells, weights = _with_unseen(cells, weights, spread.n_rows, deviations, rng)
    seeds = weighted_kmeans(cells, weights, n_clusters, rng)
    squares = ((cells - seeds[nearest_of(cells, seeds)]) ** 2).sum(axis=1)
    across = max(spread.distance**2 - axes.variances.sum(), 0)
    within = float(weights @ squares / max(weights.sum(), 1)) + 0.4 * radius**2 + across
    directions = axes.frame.axes
    seeds = spread.mean + (seeds if directions is None else seeds @ directions.T)
    return seeds, within, int(live.sum())


def _cell_radius(
    cells: Floats, deviations: Floats, reach: float, rng: np.random.Generator
) -> float:
    """Return the distance that a share ``reach`` of synthetic rows has to its nearest cell."""
    synthetic = rng.standard_normal((_SYNTHETIC_ROWS, len(deviations))) * deviations
    gaps = np.linalg.norm(synthetic - cells[nearest_of(synthetic, cells)], axis=1)
    return float(np.quantile(gaps, reach))


def _with_unseen(
    cells: Floats, weights: Floats, n_rows: float, deviations: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Add synthetic cells for the rows that stand out nowhere, so that centres still spread."""
    synthetic = rng.standard_normal((_UNSEEN_CELLS, len(deviations))) * deviations
    unseen = max(n_rows - float(weights.sum()), 1.0)
    return (
        np.concatenate([cells, synthetic]),
        np.append(weights, np.full(_UNSEEN_CELLS, unseen / _UNSEEN_CELLS)),
    )


def _reseeded(cells: Floats, weights: Floats, radius: float, rng: np.random.Generator) -> Floats:
    """Keep the cells with weight and put the others beside them, in proportion to weight."""
    dead = weights == 0
    sources = rng.choice(len(cells), int(dead.sum()), p=weights / weights.sum())
    scatter = rng.standard_normal((len(sources), cells.shape[1]))
    split = cells[sources] + scatter * (_SPLIT_SPREAD * radius / math.sqrt(cells.shape[1]))
    return np.concatenate([cells[~dead], split])
