"""Lloyd's iteration for few rows: every step goes only as far as its noise allows one to trust it.

Where rows are few, noise moves a centre further than the rows do. So the centres start around the
noisy mean of the rows, spread as rows usually are within declared bounds; offsets are clipped to
what such a spread needs; and each move is shrunk to what is expected of it, given its noise and how
far starts usually lie from the rows. With no signal the centres stay where they started; with much
it is Lloyd's iteration. Everything is computed from noisy answers and public facts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.clustering import fitted
from privclust.clustering.cells import (
    COUNT,
    HIDDEN,
    SIZES,
    Method,
    ask_cluster_sizes,
    ask_with_row_count,
)
from privclust.clustering.refine import clip_lengths, uninformative_errors
from privclust.clustering.result import KMeansResult
from privclust.clustering.spread import Allowance
from privclust.clustering.weighted_kmeans import nearest_centre, weighted_kmeans
from privclust.data.points.public import ClusterAnswer, Projection
from privclust.data.points.view import PointsView
from privclust.notes import Note

# Shares of the budget; the steps divide what these leave. Of a step, what its counts get.
_COUNT_AGAIN, _MEAN = 0.05, 0.2
_COUNTS = 0.15

# What is expected before anything is seen, in half the declared range: how far the mean of the rows
# lies from the middle, how far rows lie from their mean, and starts from the mean of their rows (if
# there were one cluster). Clusters differ in size by about this much of their mean size, and none
# is below that much of it.
_OFF_MIDDLE, _SPREAD, _OFF_START = 0.3, 0.5, 0.5
_SIZES_DIFFER, _SMALLEST = 0.7, 0.1
_IMAGINED_ROWS = 400

# Offsets are clipped to this share of what all but a tenth of simulated rows need, and in each
# further step to this share of the step before.
_REACH, _CLOSER = 0.9, 0.8
_MOST_STEPS = 4

# How many standard errors noise may have moved a centre by, or may be of a size.
_CAUTION = 2

_EMPTY = Note(
    "empty-clusters",
    "Some of the clusters may have no rows, judging by their noisy sizes; ask for fewer clusters, "
    "raise epsilon, or declare bounds that fit the rows more closely.",
)


def ask_cautious_given_count(
    view: PointsView, purse: Allowance, n_rows: float, n_clusters: int, rng: np.random.Generator
) -> KMeansResult:
    """Cluster rows, given an already released row count, which is asked again to be surer."""
    for_sizes = purse.take(SIZES)
    n_rows = ask_row_count_again(view, purse, n_rows)
    mean = _ask_shrunk_mean(view, purse.take(_MEAN), n_rows)
    start = _Start.around(mean, view, n_clusters, rng)
    moved = _ask_step(view, purse.remaining, n_rows, start)
    found = ask_cluster_sizes(view, moved.centres, moved.errors, for_sizes, "cautious", ())
    # Centres far from rows move little and seem certain; their sizes reveal it.
    is_empty = bool((found.sizes.value < _CAUTION * found.sizes.standard_error).any())
    return replace(found, notes=(HIDDEN,) if moved.is_hidden else (_EMPTY,) if is_empty else ())


cautious: Method = partial(ask_with_row_count, ask_cautious_given_count)


def ask_row_count_again(view: PointsView, purse: Allowance, n_rows: float) -> float:
    """Return a surer number of rows, and at least its own error."""
    first = view.count_error(purse.share(COUNT))
    answer = view.ask_count("number of rows, again", purse.take(_COUNT_AGAIN))
    second = answer.standard_error
    weight = first**2 / (first**2 + second**2)
    both = (1 - weight) * n_rows + weight * float(answer.value[0])
    return max(both, math.sqrt(weight) * second, 1.0)


def _ask_shrunk_mean(view: PointsView, share: Share, n_rows: float) -> Floats:
    origin = np.zeros((1, view.domain.dimension))
    sums = view.ask_clusters("mean", Projection(origin[0]), origin, 1.0, offsets=share).offsets
    trusted = _trusted_move(_OFF_MIDDLE * _half_range(view), sums.standard_error / n_rows)
    low, high = view.domain.box_in_unit_ball()
    return np.asarray(np.clip(trusted * sums.value[0] / n_rows, low, high))


def _half_range(view: PointsView) -> Floats:
    """Return half of the declared range of each coordinate, all together in the unit ball."""
    low, high = view.domain.box_in_unit_ball()
    half = (high - low) / 2
    return np.asarray(half / max(1.0, float(np.linalg.norm(half))))


def _trusted_move(expected: Floats, error: Floats | float) -> Floats:
    """Return how much of a noisy number to trust, by its expected size and its error."""
    square = np.maximum(expected, 1e-300) ** 2
    return np.asarray(square / (square + np.square(error)))


@dataclass(frozen=True)
class _Start:
    """Centres based only on the mean of the rows.

    ``clip`` is the length that offsets of most rows are expected to have, ``off`` how far from
    the mean of its rows each coordinate of a centre is expected to lie.
    """

    centres: Floats
    clip: float
    off: Floats

    @classmethod
    def around(
        cls, mean: Floats, view: PointsView, n_clusters: int, rng: np.random.Generator
    ) -> _Start:
        """Cluster rows simulated around the mean."""
        half = _half_range(view)
        drawn = mean + rng.standard_normal((_IMAGINED_ROWS, len(mean))) * _SPREAD * half
        rows = view.domain.feasible(np.clip(drawn, *view.domain.box_in_unit_ball()))
        centres = weighted_kmeans(rows, np.ones(len(rows)), n_clusters, rng)
        gaps = np.linalg.norm(rows - centres[nearest_centre(rows, centres)], axis=1)
        clip = float(np.clip(_REACH * np.quantile(gaps, 0.9), 1e-6, 1.0))
        return cls(centres, clip, _OFF_START * half * n_clusters ** (-1 / len(mean)))


@dataclass(frozen=True)
class _Step:
    """Centres after all steps, their errors, and how much of the last moves was believed."""

    centres: Floats
    errors: Floats
    trusted: Floats

    @property
    def is_hidden(self) -> bool:
        """Whether noise outweighs a move, or could have put a centre where another one is."""
        gaps = np.linalg.norm(self.centres[:, None] - self.centres, axis=2)
        np.fill_diagonal(gaps, np.inf)
        lost = _CAUTION * np.linalg.norm(self.errors, axis=1) > gaps.min(axis=1)
        return bool(lost.any() or self.trusted.min() < 0.5)


def _ask_step(view: PointsView, budget: Share, n_rows: float, start: _Start) -> _Step:
    """Move the centres by noisy mean offsets, as far as these can be believed."""
    centres, clip = start.centres, start.clip
    frame, bounds = Projection(np.zeros(centres.shape[1])), view.domain.box_in_unit_ball()
    for number, share in enumerate(
        budget.split([1] * _cautious_steps(view, budget, n_rows, start)), 1
    ):
        for_counts, for_offsets = share.split([_COUNTS, 1 - _COUNTS])
        answer = view.ask_clusters(
            f"step {number}", frame, centres, clip, counts=for_counts, offsets=for_offsets
        )
        sizes = _likely_sizes(answer, n_rows)
        noise = answer.offsets.standard_error / sizes
        trusted = _trusted_move(start.off, noise)
        moves = clip_lengths(trusted * answer.offsets.value / sizes, clip)
        centres = np.clip(centres + moves, *bounds)
        clip *= _CLOSER
    # What is left to know of a move, given its noise; and noise of the count stretches it.
    errors = np.hypot(np.sqrt(trusted) * noise, moves * answer.counts.standard_error / sizes)
    return _Step(centres, np.minimum(errors, uninformative_errors(1, *bounds)), trusted)


def _likely_sizes(answer: ClusterAnswer, n_rows: float) -> Floats:
    """Return the noisy sizes, drawn towards equal ones as far as noise hides the difference."""
    counts, equal = answer.counts, n_rows / len(answer.counts.value)
    trusted = _trusted_move(np.array(_SIZES_DIFFER * equal), counts.standard_error)
    sizes = equal + trusted * (counts.value - equal)
    return np.maximum(sizes, _SMALLEST * equal)[:, None]


def _cautious_steps(view: PointsView, budget: Share, n_rows: float, start: _Start) -> int:
    """Return as many steps as keep the noise of each small compared with the expected move."""
    n_clusters, dimension = start.centres.shape
    expected = float(np.sqrt(np.mean(start.off**2)))

    def is_quiet(steps: int) -> bool:
        share = budget.split([1] * steps)[0].take(1 - _COUNTS)
        noise = view.offset_error(share, start.clip, dimension) * n_clusters / n_rows
        return bool(noise < fitted.STEP_NOISE * expected / (1 if steps == 2 else 2))

    return 1 + sum(is_quiet(steps) for steps in range(2, _MOST_STEPS + 1))
