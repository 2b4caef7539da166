"""What a paper or a rival may hold of numeric rows: arguments of questions, and noisy answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats


@dataclass(frozen=True)
class Critic:
    """A public network: f(x) = Σ_j heights_j max(0, weights_j · x + shifts_j)."""

    weights: Floats  # (n_hidden, n_features)
    # (n_hidden,).
    shifts: Floats
    heights: Floats

    @property
    def flat(self) -> Floats:
        """All parameters in one vector, in the order of gradients."""
        return np.concatenate([self.weights.ravel(), self.shifts, self.heights])

    def with_flat(self, parameters: Floats) -> Critic:
        """Return a network of the same shape with other parameters."""
        n_hidden, n_features = self.weights.shape
        weights, shifts, heights = np.split(
            parameters, [n_hidden * n_features, n_hidden * (n_features + 1)]
        )
        return Critic(weights.reshape(n_hidden, n_features), shifts, heights)

    def gradients(self, inputs: Floats, points: Floats) -> Floats:
        """Return the gradient of f in its parameters at each point, one line for each.

        ``inputs``: (n_points, n_hidden), what reaches the hidden layer, weights · x + shifts.
        ``points``: (n_points, n_features).

        Notes
        -----
        Every step is elementwise, so a line depends only on its own point.
        """
        open_ = np.where(inputs > 0, self.heights, 0.0)
        by_weights = open_[:, :, None] * points[:, None, :]
        flat = by_weights.reshape(len(points), -1)
        return np.concatenate([flat, open_, np.maximum(inputs, 0)], axis=1)


@dataclass(frozen=True)
class Swap:
    """The swap that was picked: which centre leaves, and which candidate takes its place."""

    centre: int
    candidate: int


@dataclass(frozen=True)
class FactorAnswer:
    """Sums over rows v with loadings h on public components, all noised as one vector."""

    loadings: Floats  # (n_components, n_components): the sum of h hᵀ
    products: Floats  # (n_components, n_features): the sum of h vᵀ
    standard_error: float  # the standard error of each entry


@dataclass(frozen=True)
class Zones:
    """A ball for each cluster, and the candidates that its rows are counted for."""

    # (n_clusters, n_features): points of the unit ball; a row belongs to the cluster of the nearest
    # one.
    centres: Floats
    middles: Floats  # (n_clusters, n_features): the middle of each ball
    radii: Floats  # (n_clusters,): the radius of each ball
    candidates: Floats  # (n_clusters, n_candidates, n_features): the candidates of each cluster
