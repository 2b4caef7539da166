"""DPLloyd, as improved by Su, Cao, Li, Bertino, Lyu and Jin (2016, 2017): noisy Lloyd steps.

Start from packed spheres; in each iteration ask for the count and the sum of every cluster, and
move the centre to their quotient. The number of iterations and the split between counts and sums
come from the paper's model of the error. It is the baseline that every paper compares with.
"""

from __future__ import annotations

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.clustering.refine import errors_of_means, uninformative_errors
from privclust.clustering.result import KMeansResult
from privclust.clustering.weighted_kmeans import spread_out_centres
from privclust.data.points.public import Projection
from privclust.data.points.view import PointsView

# The paper's constant: the mean square of a coordinate, in units of half the side of the box.
_SPREAD = 0.225
_ITERATIONS = 2, 7
_SIZES_SHARE = 0.03
_COUNT_SHARE = 0.03


def ask_lloyd(
    view: PointsView, budget: Share, n_clusters: int, rng: np.random.Generator
) -> KMeansResult:
    """Cluster the rows of ``view`` within ``budget``."""
    for_size, for_sizes, for_steps = budget.split(
        [_COUNT_SHARE, _SIZES_SHARE, 1 - _COUNT_SHARE - _SIZES_SHARE]
    )
    n_rows = max(1.0, float(view.ask_count("number of rows", for_size).value[0]))
    return ask_lloyd_given_count(view, n_rows, for_sizes, for_steps, n_clusters, rng)


def ask_lloyd_given_count(
    view: PointsView,
    n_rows: float,
    for_sizes: Share,
    for_steps: Share,
    n_clusters: int,
    rng: np.random.Generator,
) -> KMeansResult:
    """Cluster rows, given an already released row count."""
    centres = spread_out_centres(n_clusters, *view.domain.box_in_unit_ball(), rng)
    steps = _lloyd_steps(view, for_steps, n_clusters, n_rows)
    for number, share in enumerate(for_steps.split([1] * steps), start=1):
        centres, errors = ask_lloyd_points(view, f"step {number}", centres, share)
    frame = Projection(np.zeros(view.domain.dimension))
    final = view.ask_clusters("cluster sizes", frame, centres, 1.0, counts=for_sizes)
    return KMeansResult(centres, errors, final.counts, "lloyd")


def ask_lloyd_points(
    view: PointsView, name: str, centres: Floats, share: Share
) -> tuple[Floats, Floats]:
    """Return the noisy mean of each cluster and its errors of the noise.

    A cluster without rows, by its noisy count, stays.

    ``centres``: (n_clusters, n_features), points of the unit ball; a row belongs to the cluster of
    the nearest one. ``share``: divided between counts and sums as the paper says.
    """
    dimension = view.domain.dimension
    low, high = view.domain.box_in_unit_ball()
    counts, sums = share.split([(4 * dimension * _SPREAD**2) ** (1 / 3), dimension])
    frame = Projection(np.zeros(dimension))
    answer = view.ask_clusters(name, frame, centres, 1.0, counts=counts, offsets=sums)
    sizes = answer.counts.value[:, None]
    moves = answer.offsets.value / np.maximum(sizes, 1)
    moved = np.clip(centres + moves, low, high)
    hidden = uninformative_errors(1, low, high)[0]
    errors = errors_of_means(answer, moves, 2 * answer.counts.standard_error, hidden)
    return np.asarray(np.where(sizes >= 1, moved, centres)), errors


def _lloyd_steps(view: PointsView, budget: Share, n_clusters: int, n_rows: float) -> int:
    """Return as many iterations as keep the noise of each below the paper's threshold."""
    least, most = _ITERATIONS
    allowed = 0.004  # of the squared radius of the domain, the error that a step may add
    for steps in range(most, least, -1):
        share = budget.split([1] * steps)[0]
        error = view.offset_error(share, 1.0, view.domain.dimension) * n_clusters / n_rows
        if error**2 * view.domain.dimension <= allowed:
            return steps
    return least
