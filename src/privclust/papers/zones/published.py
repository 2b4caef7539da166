"""KMeans-Guarantee and SubCluster-Guarantee, as published; NOT PRIVATE, for comparison only.

``KMeansGuarantee`` is that of Lu and Shen (2021), ``SubclusterGuarantee`` its extension by Joshi
and Thakkar (2022). Both claim ε-differential privacy and are not private. They are reconstructed
from the text, with a parameter for what the text leaves open. Nothing here takes a ledger. The
private algorithm of the same idea is :class:`privclust.papers.zones.PrivateZoneKMeans`.

Why they are not private
------------------------
The centre of a convergent zone is the exact mean of a cluster and its radius an exact distance, so
*which outputs are possible at all* depends on single rows. Take one cluster, n rows at -1, n rows
at +1, and a neighbour with one more row at 0.5. Without that row no row lies inside the zone of
radius 1 around the mean 0, and the centre stays at -1 or +1. With it, the row at 0.5 is the only
one inside the zone of the start +1, is drawn with certainty, and is the centre from then on. The
final Laplace noise has a scale of range / n / ε and cannot hide a distance of 0.5. So the event
"the released centre is within 0.25 of 0.5" has probability near 0 on one side and near 1 on the
other, whatever ε was claimed. The starts are raw rows besides, and the noise of a centre is scaled
to the exact size of its cluster. ``docs/zones.md`` has the audit.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from privclust._typing import Floats, Indices
from privclust.exceptions import NotPrivateWarning

# What the published k-means algorithms with convergent zones share; NOT PRIVATE.

Zones = tuple[Floats, Floats]  # middles and radii

_STILL = 1e-8  # a smaller step than this ends the iteration


class PublishedZoneKMeans(ClusterMixin, BaseEstimator):
    """What both algorithms share: start, assignment, zones, and the final noise."""

    def __init__(
        self,
        n_clusters: int,
        epsilon: float,
        n_iter: int,
        noise_share: float,
        laplace_scale: Literal["range", "unit"],
        bounds: tuple[Any, Any] | None,
        random_state: Any,
        draw_epsilon: float | None = None,
        noise_epsilon: float | None = None,
        draw_scale: float | Literal["radius"] = "radius",
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.n_iter = n_iter
        self.noise_share = noise_share
        self.laplace_scale = laplace_scale
        self.bounds = bounds
        self.random_state = random_state
        self.draw_epsilon = draw_epsilon
        self.noise_epsilon = noise_epsilon
        self.draw_scale = draw_scale
        warnings.warn(
            f"{type(self).__name__} is NOT PRIVATE, whatever its epsilon says: single rows decide "
            "what it can return. Use it for comparison on public data; "
            "privclust.papers.zones.PrivateZoneKMeans is the private algorithm of the same idea.",
            NotPrivateWarning,
            stacklevel=3,
        )

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Run the algorithm as published.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            At least ``n_clusters`` rows.
        y : ignored
        """
        rows = validate_data(self, X, dtype=np.float64, ensure_min_samples=self.n_clusters)
        rng = np.random.default_rng(self.random_state)
        # The start: k raw rows.
        centres = rows[rng.choice(len(rows), self.n_clusters, replace=False)]
        published = []
        self.converged_, self.cost_history_ = False, [_cost(rows, centres)]
        for _ in range(self.n_iter):
            labels = nearest(rows, centres)
            zones = _zones(rows, labels, centres)
            published.append(zones)
            before, centres = centres, self._move_centres(rows, labels, centres, zones, rng)
            self.cost_history_.append(_cost(rows, centres))
            if abs(centres - before).max() < _STILL:
                self.converged_ = True
                break
        self.n_iter_ = len(published)
        self.zone_middles_, self.zone_radii_ = map(np.array, zip(*published, strict=True))
        self.cluster_centers_ = centres + self._final_noise(rows, centres, rng)
        self.labels_ = nearest(rows, self.cluster_centers_)
        return self

    def _move_centres(
        self, rows: Floats, labels: Indices, centres: Floats, zones: Zones, rng: np.random.Generator
    ) -> Floats:
        """Return the next centres; one that is the mean of its cluster stays."""
        moved = centres.copy()
        for i, (mean, radius) in enumerate(zip(*zones, strict=True)):
            if radius > 0:
                moved[i] = self._sample(rows[labels == i], centres[i], mean, radius, rng)
        return moved

    def _sample(
        self, members: Floats, before: Floats, mean: Floats, radius: float, rng: np.random.Generator
    ) -> Floats:
        """Return a point of the sampling zone within the convergent zone around ``mean``."""
        raise NotImplementedError

    def _draw_near(
        self, points: Floats, mean: Floats, radius: float, rng: np.random.Generator
    ) -> Floats:
        """Draw a point by the exponential mechanism; the nearer to ``mean``, the likelier."""
        epsilon = self.draw_epsilon or self.epsilon * (1 - self.noise_share) / self.n_iter
        scale = radius if self.draw_scale == "radius" else float(self.draw_scale)
        scores = -np.linalg.norm(points - mean, axis=1) * epsilon / (2 * scale)
        # The largest score after Gumbel noise is a draw of the exponential mechanism.
        return np.asarray(points[np.argmax(scores + rng.gumbel(size=len(points)))])

    def _final_noise(self, rows: Floats, centres: Floats, rng: np.random.Generator) -> Floats:
        epsilon = self.noise_epsilon or self.epsilon * self.noise_share
        noise = rng.laplace(size=centres.shape) / epsilon
        if self.laplace_scale == "unit":
            return noise
        low, high = self.bounds or (rows.min(axis=0), rows.max(axis=0))
        sizes = np.maximum(np.bincount(nearest(rows, centres), minlength=self.n_clusters), 1)
        return np.asarray(noise * (np.asarray(high) - low) / sizes[:, None])


def _zones(rows: Floats, labels: Indices, centres: Floats) -> Zones:
    """Return the convergent zones; that of an empty cluster is its centre alone."""
    middles = means(rows, labels, centres)
    return middles, np.asarray(np.linalg.norm(centres - middles, axis=1))


def _cost(rows: Floats, centres: Floats) -> float:
    return float(cdist(rows, centres, "sqeuclidean").min(axis=1).sum())


def means(points: Floats, labels: Indices, centres: Floats) -> Floats:
    """Return the mean of each cluster; an empty one keeps its centre."""
    sums = (labels == np.arange(len(centres))[:, None]) @ points
    sizes = np.bincount(labels, minlength=len(centres))[:, None]
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), centres)


def nearest(rows: Floats, centres: Floats) -> Indices:
    """Return the number of the nearest centre of each row."""
    return np.asarray(cdist(rows, centres, "sqeuclidean").argmin(axis=1))


# Two published k-means algorithms with a convergence guarantee; NOT PRIVATE, for comparison only.

_SAMPLED_POINTS = 64
_INNER_ITERATIONS = 10


class KMeansGuarantee(PublishedZoneKMeans):
    """k-means of Lu and Shen (2021), as published. NOT PRIVATE.

    In each iteration a random direction within 90 degrees of the Lloyd step is drawn (the
    orientation controller). The sampling zone is a ball along it that touches the edge of the
    convergent zone; the new centre is drawn from it by the exponential mechanism.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    epsilon : float, default=1.0
        The claim; it does not hold.
    n_iter : int, default=20
        The largest number of iterations; the papers do not give one.
    radius_share : float, default=0.5
        The radius of the sampling zone, as a share of that of the convergent zone.
    noise_share : float, default=0.5
        The share of ε for the final noise; the draws have the rest, in equal parts. The papers name
        two budgets and do not say how they add up.
    laplace_scale : {"range", "unit"}, default="range"
        The scale of the final noise at ε = 1: the range of a column over the size of the cluster,
        or one.
    bounds : tuple of (low, high) or None, default=None
        A public range of the columns; None takes that of the data.
    random_state : int, Generator or None, default=None
    draw_epsilon, noise_epsilon : float or None, default=None
        The two budgets of the papers, of every draw and of the final noise, in place of shares of
        ``epsilon``.
    draw_scale : float or "radius", default="radius"
        The scale of the utility in the exponential mechanism: the radius of the zone, or a number.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_rows,)
        The index of the nearest centre of each row.
    zone_middles_ : ndarray of shape (iterations made, n_clusters, n_features)
        The middle of each convergent zone, an exact mean; Algorithm 1 publishes it.
    zone_radii_ : ndarray of shape (iterations made, n_clusters)
        The radius of each convergent zone.
    n_iter_ : int
        The iterations made.
    converged_ : bool
        Whether the centres came to rest before ``n_iter`` iterations were made.
    cost_history_ : list of float
        The sum of squares before the first iteration and after each, without the final noise.

    Warns
    -----
    NotPrivateWarning
        Always, on construction.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: float = 1.0,
        n_iter: int = 20,
        radius_share: float = 0.5,
        noise_share: float = 0.5,
        laplace_scale: Literal["range", "unit"] = "range",
        bounds: tuple[Any, Any] | None = None,
        random_state: Any = None,
        draw_epsilon: float | None = None,
        noise_epsilon: float | None = None,
        draw_scale: float | Literal["radius"] = "radius",
    ) -> None:
        shared = (n_clusters, epsilon, n_iter, noise_share, laplace_scale, bounds, random_state)
        super().__init__(*shared, draw_epsilon, noise_epsilon, draw_scale)
        self.radius_share = radius_share

    def _sample(
        self, members: Floats, before: Floats, mean: Floats, radius: float, rng: np.random.Generator
    ) -> Floats:
        direction = _directions(1, len(mean), rng)[0]
        if direction @ (mean - before) < 0:
            direction = -direction
        middle = mean + (1 - self.radius_share) * radius * direction
        depths = rng.random((_SAMPLED_POINTS, 1)) ** (1 / len(mean))
        around = depths * _directions(_SAMPLED_POINTS, len(mean), rng)
        points = middle + self.radius_share * radius * around
        return self._draw_near(points, mean, radius, rng)


class SubclusterGuarantee(PublishedZoneKMeans):
    """k-means of Joshi and Thakkar (2022), Algorithms 1 and 2, as published. NOT PRIVATE.

    In each iteration the rows of a cluster inside its convergent zone are clustered again; one of
    the sub-clusters is drawn in proportion to its exact size, and the new centre is one of its
    rows, drawn by the exponential mechanism.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    internal_k : int, default=4
        The number of sub-clusters in a zone.
    epsilon : float, default=1.0
        The claim; it does not hold.
    n_iter : int, default=20
        The largest number of iterations; the paper does not give one.
    empty_zone : {"keep", "mean"}, default="keep"
        Where the centre goes if no row lies inside the zone; the paper does not say.
    noise_share : float, default=0.5
        The share of ε for the final noise; the draws have the rest, in equal parts. The papers name
        two budgets and do not say how they add up.
    laplace_scale : {"range", "unit"}, default="range"
        The scale of the final noise at ε = 1: the range of a column over the size of the cluster,
        or one.
    bounds : tuple of (low, high) or None, default=None
        A public range of the columns; None takes that of the data.
    random_state : int, Generator or None, default=None
    draw_epsilon, noise_epsilon : float or None, default=None
        The two budgets of the papers, of every draw and of the final noise, in place of shares of
        ``epsilon``.
    draw_scale : float or "radius", default="radius"
        The scale of the utility in the exponential mechanism: the radius of the zone, or a number.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_rows,)
        The index of the nearest centre of each row.
    zone_middles_ : ndarray of shape (iterations made, n_clusters, n_features)
        The middle of each convergent zone, an exact mean; Algorithm 1 publishes it.
    zone_radii_ : ndarray of shape (iterations made, n_clusters)
        The radius of each convergent zone.
    n_iter_ : int
        The iterations made.
    converged_ : bool
        Whether the centres came to rest before ``n_iter`` iterations were made.
    cost_history_ : list of float
        The sum of squares before the first iteration and after each, without the final noise.

    Warns
    -----
    NotPrivateWarning
        Always, on construction.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        internal_k: int = 4,
        epsilon: float = 1.0,
        n_iter: int = 20,
        empty_zone: Literal["keep", "mean"] = "keep",
        noise_share: float = 0.5,
        laplace_scale: Literal["range", "unit"] = "range",
        bounds: tuple[Any, Any] | None = None,
        random_state: Any = None,
        draw_epsilon: float | None = None,
        noise_epsilon: float | None = None,
        draw_scale: float | Literal["radius"] = "radius",
    ) -> None:
        shared = (n_clusters, epsilon, n_iter, noise_share, laplace_scale, bounds, random_state)
        super().__init__(*shared, draw_epsilon, noise_epsilon, draw_scale)
        self.internal_k = internal_k
        self.empty_zone = empty_zone

    def _sample(
        self, members: Floats, before: Floats, mean: Floats, radius: float, rng: np.random.Generator
    ) -> Floats:
        zone = members[np.linalg.norm(members - mean, axis=1) < radius]
        if not len(zone):
            return mean if self.empty_zone == "mean" else before
        labels = _lloyd_labels(zone, min(self.internal_k, len(zone)), rng)
        # A sub-cluster in proportion to its size is the sub-cluster of a row drawn uniformly.
        drawn = zone[labels == labels[rng.integers(len(zone))]]
        return self._draw_near(drawn, mean, radius, rng)


def _lloyd_labels(points: Floats, n_clusters: int, rng: np.random.Generator) -> Indices:
    """Return the labels of Lloyd's algorithm from a random start."""
    centres = points[rng.choice(len(points), n_clusters, replace=False)]
    labels: Indices = np.full(len(points), -1)
    for _ in range(_INNER_ITERATIONS):
        before, labels = labels, nearest(points, centres)
        if (before == labels).all():
            break
        centres = means(points, labels, centres)
    return labels


def _directions(count: int, dimension: int, rng: np.random.Generator) -> Floats:
    """Draw uniform unit vectors."""
    vectors = rng.standard_normal((count, dimension))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
