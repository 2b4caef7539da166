"""Where the rows are, and along which axes they spread most: what cells are thrown by."""

from __future__ import annotations

import math
import statistics
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
# Axes by the pull of directions: the largest share; how many times less noise they must have than
# second moments; the part of its share of all variance at which an axis is clear; how much of the
# mean square may lie along the axes; and how near to the mean, in mean distances, places are.
_MOST_FOR_AXES, _PULL_GAINS, _CLEAR, _MOST_ALONG, _NEAR = 0.3, 2.0, 0.5, 0.9, 0.01


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
    moments = _edge_of_moments(view, purse.share(_AXES), spread)
    pull = _Pull(view, spread, n_axes)
    if moments > max(_CLEAR / n_axes, _PULL_GAINS * pull.edge(purse.share(_AXES))):
        share = pull.affordable_share(purse)
        if share is not None:
            return pull.ask_axes(purse.spend(share), rng)
    elif moments <= _AXES_NOISE:
        return _ask_axes_of_moments(view, purse.take(_AXES), spread, n_axes)
    directions = np.linalg.qr(rng.standard_normal((dimension, n_axes)))[0]
    return _axes(spread, directions, np.full(n_axes, square / dimension))


def _edge_of_moments(view: PointsView, share: Share, spread: Spread) -> float:
    """Return the largest eigenvalue that noise alone would show, in mean squares of the rows."""
    dimension = view.domain.dimension
    error = view.moment_error(share, spread.distance, dimension)
    return 2 * math.sqrt(dimension) * error / spread.n_rows / spread.distance**2


def _ask_axes_of_moments(view: PointsView, share: Share, spread: Spread, n_axes: int) -> Axes:
    """Return the first eigenvectors of noisy second moments."""
    dimension, square = view.domain.dimension, spread.distance**2
    edge = _edge_of_moments(view, share, spread) * square
    frame = Projection(spread.mean, radius=spread.distance)
    moments = view.ask_second_moments("axes", frame, share)
    values, directions = np.linalg.eigh(moments.value / spread.n_rows)
    values, directions = values[::-1], directions[:, ::-1]
    clear = min(int((values > _AXIS_ABOVE_NOISE * edge).sum()), _MOST_AXES)
    n_axes = max(n_axes, clear)
    top = np.clip(values[:clear], 1e-3 * square / dimension, square)
    left = max(square - top.sum(), 1e-3 * square) / max(dimension - clear, 1)
    return _axes(spread, directions[:, :n_axes], np.append(top, np.full(n_axes - clear, left)))


class _Pull:
    """Axes from the mean offsets of rows that lie towards each of a few random directions.

    The mean offset of rows towards a direction is about their covariance times that direction: one
    step of the power iteration. It takes a sum of vectors where second moments take their products,
    which in pure ε and many columns has much less noise.
    """

    def __init__(self, view: PointsView, spread: Spread, n_axes: int) -> None:
        self._view, self._spread, self._n_axes = view, spread, n_axes
        self._groups = min(view.domain.dimension, 2 * n_axes + 1)
        # How far the largest of this many normal numbers is expected to be (Blom, 1958).
        place = (self._groups - 0.375) / (self._groups + 0.25)
        self._reach = statistics.NormalDist().inv_cdf(place)

    def edge(self, share: Share) -> float:
        """Return the largest variance of an axis that noise alone would show, as of moments."""
        dimension, groups = self._view.domain.dimension, self._groups
        error = self._view.offset_error(share, self._spread.distance, dimension)
        noise = (math.sqrt(dimension) + math.sqrt(groups)) * math.sqrt(groups) * error
        return noise / (self._spread.n_rows * self._reach * self._spread.distance)

    def affordable_share(self, purse: Allowance) -> Share | None:
        """Return a share that shows axes clearly, or the largest if that shows any, or nothing.

        If all of the variance lay along the axes, each would have its part; half of that is clear.
        """
        for fraction in np.linspace(_AXES, _MOST_FOR_AXES, 5):
            share = purse.share(fraction)
            if self.edge(share) <= _CLEAR / self._n_axes:
                break
        is_seen = self.edge(share) <= 1 / self._n_axes
        return share if is_seen and share.amount < purse.remaining.amount / 2 else None

    def ask_axes(self, share: Share, rng: np.random.Generator) -> Axes:
        """Ask for the sums of offsets, and return their first singular vectors."""
        spread, dimension = self._spread, self._view.domain.dimension
        towards = np.linalg.qr(rng.standard_normal((dimension, self._groups)))[0].T
        # Places so near to the mean that only the direction of a row decides which is nearest.
        places, frame = _NEAR * spread.distance * towards, Projection(spread.mean)
        sums = self._view.ask_clusters("axes", frame, places, spread.distance, offsets=share)
        means = sums.offsets.value * self._groups / spread.n_rows
        pulled = means * spread.distance / math.sqrt(dimension) / self._reach
        axes = np.linalg.svd(pulled, full_matrices=False)[2][: self._n_axes]
        along = towards @ axes.T
        variances = ((pulled @ axes.T) * along).sum(axis=0) / (along**2).sum(axis=0)
        square = spread.distance**2
        variances = np.clip(variances, square / dimension, square / 2)
        variances *= min(1.0, _MOST_ALONG * square / variances.sum())
        return _axes(spread, axes.T, variances)


def _axes(spread: Spread, directions: Floats | None, variances: Floats) -> Axes:
    radius = min(2.0, 3.5 * math.sqrt(variances.sum()))
    return Axes(Projection(spread.mean, directions, radius, coarse=True), variances)
