"""Where the rows are, and along which axes they spread most: what cells are thrown by."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats
from privclust.budget import Loss, Share
from privclust.clustering.refine import shrink_means
from privclust.data.points.public import Projection
from privclust.data.points.view import PointsView

# Shares of the budget.
_MEAN, _SPREAD, _AXES = 0.03, 0.02, 0.10
LARGEST_MEAN_SHARE = 0.8
# In units of the radius of the domain: an error of the mean beyond which it gets a larger share.
MEAN_ERROR = 0.15

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
    # Noise hides a spread below its own size, and too small a spread would ruin what follows.
    visible = max(float(square.value[0]), square.standard_error)
    distance = math.sqrt(float(np.clip(visible / n_rows, 1e-6, 1.0)))
    return Spread(n_rows, mean, distance, square.standard_error / n_rows)


def _mean_share(view: PointsView, purse: Allowance, n_rows: float) -> float:
    """Return a share that puts the mean within ``MEAN_ERROR``, if there is one."""
    for fraction in np.geomspace(_MEAN, LARGEST_MEAN_SHARE, 20):
        if mean_error(view, purse.share(fraction), n_rows) <= MEAN_ERROR:
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
