"""The last stage of private k-means: a few noisy Lloyd steps, and the errors that noise leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.clustering import fitted
from privclust.clustering.result import KMeansResult
from privclust.clustering.weighted_kmeans import nearest_centre, squares
from privclust.data.points.door import Region
from privclust.data.points.public import ClusterAnswer, Projection
from privclust.data.points.view import PointsView
from privclust.data.public import Noisy
from privclust.notes import Note, signal_of
from privclust.schema.coordinates import Coordinates
from privclust.schema.schema import Schema

# Errors of the noise: how far it alone moves the noisy mean of a cluster. Post-processing.


@dataclass(frozen=True)
class Sketch:
    """What noisy answers show about where the rows are: cells, with about how many rows each.

    ``blur`` is the mean square distance of rows to their cell, ``error`` that of a weight.
    """

    cells: Floats
    weights: Floats
    blur: float
    error: float

    def estimated_bias(self, centres: Floats, radius: float) -> Floats:
        """Return how far one step with clipped offsets leaves centres from the mean of their rows.

        The step is made on the cells. It falls short where rows are clipped, and where they are
        nearer to another centre once all have moved.

        ``centres``: (n_clusters, n_features).
        """
        offsets = self.cells - centres[nearest_centre(self.cells, centres)]
        lengths = np.sqrt((offsets**2).sum(axis=1) + self.blur)
        kept = np.minimum(1, radius / np.maximum(lengths, 1e-300))
        moved = centres + self._means(kept[:, None] * offsets, centres)
        rest = self._means(self.cells - moved[nearest_centre(self.cells, moved)], moved)
        return np.abs(rest)

    def squared_bias(self, centres: Floats, radii: Floats, within: float) -> Floats:
        """Return how far, in mean squares of all rows, each clip would leave centres from means.

        What is symmetric around the mean of a cluster's cells does no harm if it is clipped.

        ``centres``: (n_clusters, n_features). ``radii``: (n_radii,). ``within``: the mean square
        distance of rows to their centre, which that to their cell is below.
        """
        labels = nearest_centre(self.cells, centres)
        offsets = self.cells - centres[labels]
        offsets -= self._means(offsets, centres)[labels]
        lengths = np.sqrt((offsets**2).sum(axis=1) + min(self.blur, within))
        order = np.argsort(labels, kind="stable")
        first = np.flatnonzero(np.diff(labels[order], prepend=-1))
        weights, lengths, offsets = self.weights[order], lengths[order], offsets[order]
        sizes = np.maximum(np.add.reduceat(weights, first), 1e-300)
        lost = np.array(
            [
                np.add.reduceat(
                    (weights * np.maximum(0, 1 - radius / lengths))[:, None] * offsets, first
                )
                for radius in radii
            ]
        )
        return np.asarray((lost**2).sum(axis=2) @ (1 / sizes) / sizes.sum())

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

    ``answer``: counts and offsets of the last step. ``moves``: (n_clusters, n_features). ``least``:
    clusters with a count of this or below are hidden by noise. ``hidden``: (n_features,), the error
    of such clusters, and the largest of the others.
    """
    counts, sums = answer.counts, answer.offsets
    sizes = np.maximum(counts.value, 1)[:, None]
    errors = np.hypot(sums.standard_error, moves * counts.standard_error) / sizes
    return np.where(counts.value[:, None] > least, np.minimum(errors, hidden), hidden)


def uninformative_errors(n_clusters: int, low: Floats, high: Floats) -> Floats:
    """Return the errors of centres of which only the bounds are known."""
    return np.tile((high - low) / 2, (n_clusters, 1))


def errors_in_data_units(result: KMeansResult, region: Region, schema: Schema) -> Floats | None:
    """Return the errors of the centres in the units of the data, within the bounds."""
    if result.centres_error is None:
        return None
    coordinates = Coordinates(schema)
    errors = result.centres_error * (region.radius * region.scales)
    return np.minimum(errors, (coordinates.high - coordinates.low) / 2)


def is_worse_than_one(centres: Floats, errors: Floats, sizes: Floats) -> bool:
    """Return whether one centre may be as near to the rows, by noisy numbers alone.

    Clusters gain the squared distances of their centres from the mean of all, and the errors of
    the centres take theirs away.
    """
    weights = np.maximum(sizes, 1e-9)
    gaps = ((centres - np.average(centres, axis=0, weights=weights)) ** 2).sum(axis=1)
    return len(centres) > 1 and bool(weights @ gaps <= weights @ (errors**2).sum(axis=1))


_ONE_CENTRE = Note(
    "one-centre-as-good",
    "By its own noisy numbers a single centre may be as near to the rows as these, whose errors "
    "outweigh their distances from each other; raise epsilon, ask for fewer clusters, or declare "
    "bounds that fit the rows more closely.",
)


def with_doubt(result: KMeansResult) -> KMeansResult:
    """Return the result with one more note if its centres are no better than one would be."""
    errors = result.centres_error
    doubted = errors is not None and is_worse_than_one(result.centres, errors, result.sizes.value)
    if not doubted or signal_of(result.notes) != "seen":
        return result
    return replace(result, notes=(*result.notes, _ONE_CENTRE))


# The last stage of private k-means: noisy Lloyd steps, as many and as wide as noise allows.

_COUNTS, _SQUARE = 0.12, 0.03  # of a step's share
_FARTHEST_CLIP, _CLIPS = 2.0, 16  # in radii of the domain, and how many are tried up to it
_LEAST_LEFT = 0.05  # of the mean square distance, after a step
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
    """Move the centres by noisy mean offsets, clipped where squared bias equals squared noise.

    It returns the centres and their errors: of the noise, and of what the last step leaves out.

    ``centres``: (n_clusters, n_features). ``within``: about the mean square distance of rows to
    their centre. ``sketch``: where the rows are, to show what a clip, and the last step, leave out.
    """
    frame, shape = Projection(np.zeros(centres.shape[1])), centres.shape
    shares = _shares(budget, _refine_steps(view, budget, n_rows, shape))
    for number, share in enumerate(shares, start=1):
        last = number == len(shares)
        paid = {"counts": share.take(_COUNTS)} | ({} if last else {"square": share.take(_SQUARE)})
        paid["offsets"] = share.remainder(*paid.values())
        noise = _noise(view, paid["offsets"], n_rows, shape)
        closest = _closest_clip(shape[1], within)
        if last and view.domain.has_shares:
            closest = max(closest, _clip_of_shares(noise, within))
        radius = _best_clip(sketch, centres, within, noise, closest)
        answer = view.ask_clusters(f"step {number}", frame, centres, radius, **paid)
        sizes, least = answer.counts.value, 2 * answer.counts.standard_error
        moves = shrink_means(answer.offsets, sizes, least, radius)
        moved = clip_lengths(centres + moves, 1.0)
        if last:
            noise_errors = errors_of_means(answer, moves, least, radius)
            errors = np.hypot(noise_errors, sketch.estimated_bias(centres, radius))
            break
        moved = _resettle(moved, sizes, least, sketch)
        gain = np.maximum(sizes, 0) @ (moves**2).sum(axis=1)
        left = (float(answer.square.value[0]) - gain) / n_rows
        within = float(np.clip(left, _LEAST_LEFT * within, within))
        centres = moved
    return moved, errors


def _resettle(centres: Floats, sizes: Floats, least: float, sketch: Sketch) -> Floats:
    """Move centres that seem to have no rows to cells that gain more.

    Among thousands of cells some that are far from all rows stand out by noise alone, and each may
    attract a centre. Cells that noise can explain are therefore no targets.
    """
    if len(centres) == 1 or least > fitted.CLEARLY_FEW * sizes.mean():
        return centres
    centres, by_noise = centres.copy(), math.log(len(sketch.cells)) / math.sqrt(2) * sketch.error
    weights = np.where(sketch.weights > by_noise, sketch.weights, 0)
    for empty in np.flatnonzero(sizes <= least):
        others = np.delete(centres, empty, axis=0)
        apart = squares(sketch.cells, others).min(axis=1)
        tried = np.argsort(weights * apart)[-fitted.TRIED :]
        left = np.minimum(apart, squares(sketch.cells[tried], sketch.cells))
        gains = (apart - left) @ weights
        loss = max(float(sizes[empty]), 0) * squares(centres[[empty]], others).min()
        if gains.max() > loss:
            centres[empty] = sketch.cells[tried[gains.argmax()]]
    return centres


def _shares(budget: Share, steps: int) -> tuple[Share, ...]:
    """Divide the budget among ``steps`` steps."""
    return budget.split([fitted.GROWTH[budget.currency] ** step for step in range(steps)])


def _refine_steps(view: PointsView, budget: Share, n_rows: float, shape: tuple[int, ...]) -> int:
    """Return how many steps there may be, so that the first is not lost in its noise."""
    closest = _closest_clip(shape[1], 1.0) ** 2
    for steps in range(fitted.MOST_STEPS, 1, -1):
        first = _shares(budget, steps)[0].take(1 - _COUNTS)
        if _noise(view, first, n_rows, shape) * closest < fitted.FIRST_NOISE[budget.currency]:
            return steps
    return 1


def last_noise(view: PointsView, budget: Share, n_rows: float, shape: tuple[int, ...]) -> float:
    """Return the mean square noise of a centre after all steps, if offsets are clipped to one."""
    last = _shares(budget, _refine_steps(view, budget, n_rows, shape))[-1]
    return _noise(view, last.take(1 - _COUNTS), n_rows, shape)


def _noise(view: PointsView, offsets: Share, n_rows: float, shape: tuple[int, ...]) -> float:
    """Return the mean square noise of a centre that moves by offsets clipped to length one."""
    n_clusters, dimension = shape
    error = view.offset_error(offsets, 1.0, dimension) * n_clusters / n_rows
    return max(dimension * error**2, 1e-300)


def _closest_clip(dimension: int, within: float) -> float:
    """Return the radius of clusters whose rows are normal around their centre, about."""
    return min((1 + 0.5 / math.sqrt(dimension)) * math.sqrt(within), _FARTHEST_CLIP)


def _best_clip(
    sketch: Sketch, centres: Floats, within: float, noise: float, closest: float
) -> float:
    """Return the clip whose squared bias, by the sketch, and squared noise add up to least."""
    radii = np.geomspace(closest, _FARTHEST_CLIP, _CLIPS)
    errors = sketch.squared_bias(centres, radii, within) + noise * radii**2
    wide = min(math.sqrt(fitted.UNSEEN_NOISE * within / noise), _FARTHEST_CLIP)
    return max(float(radii[errors.argmin()]), wide)


def _clip_of_shares(noise: float, within: float) -> float:
    """Return how far from its centre a row may count in full, given the noise that this brings.

    Rows of a rare category lie far from their centre. Clipped closely, they would count too little
    in the released share of their category.
    """
    reach = min(_FARTHEST, math.sqrt(_SHARE_ERROR / noise))
    return min(reach * math.sqrt(within), _FARTHEST_CLIP)


def shrink_means(sums: Noisy, counts: Floats, least: float, radius: float) -> Floats:
    """Return noisy mean offsets, shrunk towards zero (James and Stein) and at most ``radius``.

    In few columns, where theirs would shrink nothing, the length of pure noise is subtracted.
    Groups with a count of ``least`` or below get no offset.
    """
    lengths = np.maximum((sums.value**2).sum(axis=1), 1e-300)
    dimension = sums.value.shape[1]
    noise = max(dimension - 2, min(dimension, 2)) * sums.standard_error**2
    kept = np.maximum(0, 1 - noise / lengths)
    factors = np.where(counts > least, kept / np.maximum(counts, 1e-9), 0)
    return clip_lengths(factors[:, None] * sums.value, radius)


def clip_lengths(vectors: Floats, radius: float) -> Floats:
    """Shorten vectors to at most ``radius``."""
    lengths: Floats = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    return np.asarray(vectors * np.minimum(1, radius / lengths))
