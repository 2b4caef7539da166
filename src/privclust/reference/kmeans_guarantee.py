"""Two published k-means algorithms with a convergence guarantee; NOT PRIVATE, for comparison only.

``KMeansGuarantee`` is that of Lu and Shen (2020), ``SubclusterGuarantee`` its extension by Joshi
and Thakkar (2022). Both claim ε-differential privacy and have none. They are reconstructed from
the text, with a parameter for what the text leaves open. Nothing here takes a ledger. The private
algorithm of the same idea is :class:`privclust.published.PrivateZoneKMeans`.

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

from typing import Any, Literal

import numpy as np

from privclust._typing import Floats, Indices
from privclust.reference.published_zones import PublishedZones, means, nearest

__all__ = ["KMeansGuarantee", "SubclusterGuarantee"]

_SAMPLED_POINTS = 64
_INNER_ITERATIONS = 10


class KMeansGuarantee(PublishedZones):
    """k-means of Lu and Shen (2020), as published. NOT PRIVATE.

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

    def _sampled(
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


class SubclusterGuarantee(PublishedZones):
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

    def _sampled(
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
