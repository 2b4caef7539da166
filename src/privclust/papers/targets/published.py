"""``SourceTargetMedoids`` of a public source, and the measures Δ_t and Diff, exact; NOT PRIVATE.

It is the algorithm that the private methods imitate, and the measure of what privacy costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree
from sklearn.base import BaseEstimator

from privclust._typing import Floats
from privclust.data.sites.distances import MetricName
from privclust.source_target.centres import ChosenCentres
from privclust.source_target.public_targets import PublicTargets
from privclust.source_target.solution import service_of_public_source, solve

# Δ_t(S) and Diff(S, S') of Schnapp and Sabato (2025), exact. NOT PRIVATE.


def source_spread(source: ArrayLike, target: ArrayLike, n_nearest: int) -> float:
    """Return Δ_t(S): the mean distance of the targets to the t nearest sources of each.

    Examples
    --------
    >>> source_spread([[0.0], [2.0], [9.0]], [[0.0], [1.0]], n_nearest=2)
    1.0
    """
    points = np.asarray(source, np.float64)
    if not 1 <= n_nearest <= len(points):
        raise ValueError("n_nearest must be at least 1 and at most the number of sources.")
    distances = cKDTree(points).query(np.asarray(target, np.float64), k=[*range(1, n_nearest + 1)])
    return float(np.mean(distances[0]))


def cost_difference(
    source: ArrayLike, other: ArrayLike, target: ArrayLike, centres: ArrayLike | None = None
) -> float:
    """Return how much the cost changes if one source replaces another.

    Without ``centres`` it is the mean change of the distance of a target to the source, which no
    choice of centres exceeds: a bound on Diff(S, S').

    Examples
    --------
    >>> cost_difference([[0.0]], [[1.0]], [[0.0], [3.0]])
    1.0
    >>> cost_difference([[0.0]], [[1.0]], [[0.0], [3.0]], centres=[[3.0]])
    0.5
    """
    points = np.asarray(target, np.float64)
    first, second = (_to_nearest(points, places) for places in (source, other))
    if centres is None:
        return float(np.abs(first - second).mean())
    chosen = _to_nearest(points, centres)
    return abs(float((np.minimum(first, chosen) - np.minimum(second, chosen)).mean()))


def _to_nearest(points: Floats, places: ArrayLike) -> Floats:
    return np.asarray(cKDTree(np.asarray(places, np.float64)).query(points)[0])


class SourceTargetMedoids(ChosenCentres, BaseEstimator):
    """Choose candidates so that every target is near one of them or an existing source.

    The choice and its cost depend on the source without noise: use it where the source is public.

    Parameters
    ----------
    n_centers : int, default=8
        The number of new centres.
    metric : {"euclidean", "manhattan", "cosine", "haversine", "precomputed"}, default="euclidean"
        ``"haversine"`` takes latitude and longitude in degrees and measures kilometres;
        ``"precomputed"`` takes tables of distances to the targets.

    Attributes
    ----------
    medoid_indices_ : ndarray of shape (n_centers,)
        Numbers of the chosen candidates.
    centers_ : ndarray of shape (n_centers, n_features)
        The candidates themselves.
    order_ : ndarray of shape (n_centers,)
        The greedy order; its first k are a choice of k centres.
    order_costs_ : ndarray of shape (n_centers + 1,)
        The cost of its first 0, 1, 2, ...
    labels_ : ndarray of shape (n_targets,)
        The number of the nearest new centre of each target.
    cost_ : float
        The weighted mean distance of targets to the nearest centre or source.

    Examples
    --------
    >>> model = SourceTargetMedoids(1).fit([[0.0], [1.0], [9.0], [9.5]], source=[[0.5]])
    >>> model.centers_
    array([[9.]])
    """

    def __init__(
        self,
        n_centers: int = 8,
        *,
        metric: MetricName = "euclidean",
    ) -> None:
        self.n_centers = n_centers
        self.metric = metric

    def fit(
        self,
        target: Any,
        y: object = None,
        *,
        source: Any = None,
        sample_weight: ArrayLike | None = None,
        candidates: Any = None,
        forbidden: Sequence[int] = (),
        forced: Sequence[int] = (),
    ) -> Self:
        """Choose the centres.

        Parameters
        ----------
        target : array-like of shape (n_targets, n_features)
            Whom to serve.
        y : ignored
        source : array-like of shape (n_sources, n_features) or None
            Existing centres; ``None`` for plain k-medoids.
        sample_weight : array-like of shape (n_targets,) or None
            How much each target counts.
        candidates : array-like of shape (n_candidates, n_features) or None
            Where new centres may be; if not given, at the targets that have a weight.
        forbidden, forced : sequence of int
            Numbers of candidates that must not, or must, be chosen.
        """
        public = PublicTargets.of(
            target,
            metric=self.metric,
            candidates=candidates,
            weights=sample_weight,
            forbidden=forbidden,
            forced=forced,
        )
        found = solve(
            public, service_of_public_source(public, source), public.check_centres(self.n_centers)
        )
        self._keep_choice(public, found)
        self.cost_ = found.cost
        return self
