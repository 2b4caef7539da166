"""What the published k-means algorithms with convergent zones share; NOT PRIVATE."""

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

__all__ = ["PublishedZones", "means", "nearest"]

Zones = tuple[Floats, Floats]  # middles and radii

_STILL = 1e-8  # a smaller step than this ends the iteration


class PublishedZones(ClusterMixin, BaseEstimator):
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
            "privclust.published.PrivateZoneKMeans is the private algorithm of the same idea.",
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
            before, centres = centres, self._moved(rows, labels, centres, zones, rng)
            self.cost_history_.append(_cost(rows, centres))
            if abs(centres - before).max() < _STILL:
                self.converged_ = True
                break
        self.n_iter_ = len(published)
        self.zone_middles_, self.zone_radii_ = map(np.array, zip(*published, strict=True))
        self.cluster_centers_ = centres + self._final_noise(rows, centres, rng)
        self.labels_ = nearest(rows, self.cluster_centers_)
        return self

    def _moved(
        self, rows: Floats, labels: Indices, centres: Floats, zones: Zones, rng: np.random.Generator
    ) -> Floats:
        """Return the next centres; one that is the mean of its cluster stays."""
        moved = centres.copy()
        for i, (mean, radius) in enumerate(zip(*zones, strict=True)):
            if radius > 0:
                moved[i] = self._sampled(rows[labels == i], centres[i], mean, radius, rng)
        return moved

    def _sampled(
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
