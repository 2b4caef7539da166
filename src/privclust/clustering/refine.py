"""The last stage of private k-means: a few noisy Lloyd steps, and the errors that noise leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.clustering.weighted_kmeans import nearest_centre
from privclust.data.points.public import ClusterAnswer, Projection
from privclust.data.points.view import PointsView
from privclust.data.public import Noisy

# Errors of the noise: how far it alone moves the noisy mean of a cluster. Post-processing.


@dataclass(frozen=True)
class Sketch:
    """What noisy answers show about where the rows are: cells, with about how many rows each.

    ``blur`` is the mean square distance of rows to their cell.
    """

    cells: Floats
    weights: Floats
    blur: float

    def estimated_bias(self, centres: Floats, radius: float) -> Floats:
        """Return how far one step with clipped offsets leaves centres from the mean of their rows.

        The step is made on the cells. It falls short where rows are clipped, and where they are
        nearer to another centre once all have moved.

        Parameters
        ----------
        centres : ndarray of shape (n_clusters, n_features)
            The centres before the step.
        radius : float
            What offsets are clipped to.
        """
        offsets = self.cells - centres[nearest_centre(self.cells, centres)]
        lengths = np.sqrt((offsets**2).sum(axis=1) + self.blur)
        kept = np.minimum(1, radius / np.maximum(lengths, 1e-300))
        moved = centres + self._means(kept[:, None] * offsets, centres)
        rest = self._means(self.cells - moved[nearest_centre(self.cells, moved)], moved)
        return np.abs(rest)

    def _means(self, offsets: Floats, centres: Floats) -> Floats:
        """Return the weighted mean of the offsets of the cells nearest to each centre, or zero."""
        members = np.equal.outer(np.arange(len(centres)), nearest_centre(self.cells, centres))
        shares = members * self.weights
        return np.asarray(shares @ offsets / np.maximum(shares.sum(axis=1), 1e-300)[:, None])


def errors_of_means(
    answer: ClusterAnswer, moves: Floats, least: float, hidden: Floats | float
) -> Floats:
    """Return the standard errors of centres that were moved by noisy mean offsets.

    Noise of a sum moves its centre; noise of a count stretches or shortens the move.

    Parameters
    ----------
    answer : ClusterAnswer
        Counts and offsets of the last step.
    moves : ndarray of shape (n_clusters, n_features)
        The mean offsets made of them.
    least : float
        Clusters with a count of this or below are hidden by noise.
    hidden : ndarray of shape (n_features,) or float
        The error of such clusters, and the largest of the others.
    """
    counts, sums = answer.counts, answer.offsets
    sizes = np.maximum(counts.value, 1)[:, None]
    errors = np.hypot(sums.standard_error, moves * counts.standard_error) / sizes
    return np.where(counts.value[:, None] > least, np.minimum(errors, hidden), hidden)


def uninformative_errors(n_clusters: int, low: Floats, high: Floats) -> Floats:
    """Return the errors of centres about which nothing is known but the bounds."""
    return np.tile((high - low) / 2, (n_clusters, 1))


# A second, third, ... step is made if its noise adds at most this much to the mean square distance
# of rows to their centre, relative to it.
_ERRORS = 0.1, 0.01, 0.003, 0.003, 0.003
_COUNTS, _SQUARE = 0.12, 0.03  # of a step's share
# The last step of mixed rows clips as widely as adds this much, and at most to this many spreads.
_SHARE_ERROR, _FARTHEST = 0.005, 2.5


def ask_refined_centres(
    view: PointsView,
    budget: Share,
    n_rows: float,
    centres: Floats,
    within: float,
    sketch: Sketch,
) -> tuple[Floats, Floats]:
    """Move the centres by noisy mean offsets, clipped to about the clusters' own radius.

    It returns the centres and their errors: of the noise, and of what the last step leaves out.

    Parameters
    ----------
    view : PointsView
    budget : Share
        What all steps may spend.
    n_rows : float
        The noisy number of rows.
    centres : ndarray of shape (n_clusters, n_features)
        Points of the unit ball.
    within : float
        About the mean square distance of rows to their centre.
    sketch : Sketch
        Where the rows are, to show what the last step leaves out.
    """
    dimension = centres.shape[1]
    frame = Projection(np.zeros(dimension))
    reach = 1 + 0.5 / math.sqrt(dimension)
    shares = budget.split([1] * _refine_steps(view, budget, n_rows, centres.shape, reach))
    for number, share in enumerate(shares, start=1):
        last = number == len(shares)
        square = None if last else share.take(_SQUARE)
        counts = share.take(_COUNTS)
        offsets = share.remainder(counts, *([] if square is None else [square]))
        if last and view.domain.has_shares:
            reach = max(reach, _largest_clip(view, offsets, n_rows, centres.shape))
        radius = min(reach * math.sqrt(within), 2.0)
        name, paid = f"step {number}", {"counts": counts, "offsets": offsets, "square": square}
        answer = view.ask_clusters(name, frame, centres, radius, **paid)
        sizes = answer.counts.value
        least = 2 * answer.counts.standard_error
        moves = shrink_means(answer.offsets, sizes, least, radius)
        if last:
            noise = errors_of_means(answer, moves, least, radius)
            errors = np.hypot(noise, sketch.estimated_bias(centres, radius))
        centres = clip_lengths(centres + moves, 1.0)
        if not last:
            gain = np.maximum(sizes, 0) @ (moves**2).sum(axis=1)
            left = (float(answer.square.value[0]) - gain) / n_rows
            within = float(np.clip(left, 0.05 * within, within))
    return centres, errors


def _largest_clip(view: PointsView, offsets: Share, n_rows: float, shape: tuple[int, ...]) -> float:
    """Return how far from its centre a row may count in full, given the noise that this brings.

    Rows of a rare category lie far from their centre. Clipped closely, they would count too little
    in the released share of their category.
    """
    n_clusters, dimension = shape
    error = view.offset_error(offsets, 1.0, dimension) * n_clusters / n_rows
    return min(_FARTHEST, math.sqrt(_SHARE_ERROR / dimension) / max(error, 1e-300))


def _refine_steps(
    view: PointsView, budget: Share, n_rows: float, shape: tuple[int, ...], reach: float
) -> int:
    """Return as many steps as keep the noise of each small beside the clusters' own spread."""
    n_clusters, dimension = shape

    def added_error(steps: int) -> float:
        share = budget.split([1] * steps)[0].take(1 - _COUNTS)
        error = view.offset_error(share, reach, dimension) * n_clusters / n_rows
        return dimension * error**2

    allowed = enumerate(_ERRORS, start=2)
    return 1 + sum(added_error(steps) < limit for steps, limit in allowed)


def shrink_means(sums: Noisy, counts: Floats, least: float, radius: float) -> Floats:
    """Return noisy mean offsets, shrunk towards zero (James and Stein) and at most ``radius``.

    Groups with a count of ``least`` or below get no offset.
    """
    lengths = np.maximum((sums.value**2).sum(axis=1), 1e-300)
    noise = max(sums.value.shape[1] - 2, 0) * sums.standard_error**2
    kept = np.maximum(0, 1 - noise / lengths)
    factors = np.where(counts > least, kept / np.maximum(counts, 1e-9), 0)
    return clip_lengths(factors[:, None] * sums.value, radius)


def clip_lengths(vectors: Floats, radius: float) -> Floats:
    """Shorten vectors to at most ``radius``."""
    lengths: Floats = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    return np.asarray(vectors * np.minimum(1, radius / lengths))
