"""``Gaussians``: weights, means and covariances of components, and the densities that they give.

Everything here is public: it was released, or it is on its way out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import logsumexp

from privclust._typing import Floats, Indices, Integers

CovarianceType = Literal["full", "tied", "diag", "spherical"]
COVARIANCE_TYPES: tuple[CovarianceType, ...] = ("full", "tied", "diag", "spherical")


@dataclass(frozen=True)
class Gaussians:
    """A Gaussian mixture."""

    weights: Floats  # (n_components,)
    means: Floats  # (n_components, n_features)
    covariances: Floats  # (n_components, n_features, n_features)
    background: float = 0.0  # the share of rows that belong to no component
    volume: float = 1.0  # over which these are spread evenly

    @property
    def n_components(self) -> int:
        """The number of components."""
        return len(self.weights)

    @property
    def dimension(self) -> int:
        """The number of columns."""
        return int(self.means.shape[1])

    @property
    def roots(self) -> Floats:
        """Lower triangular roots of the covariances."""
        return np.asarray(np.linalg.cholesky(self.covariances))

    @property
    def axes(self) -> Floats:
        """What takes offsets from the means into frames in which the components are round."""
        return np.asarray(np.linalg.inv(self.roots))

    def joint(self, points: Floats, within: float = 0.0) -> Floats:
        """Return the log of each weight times the density of its component at each point.

        With a background it is the last of them. ``within`` is the variance, in each column, of
        rows around the point that stands for them.
        """
        axes = self.axes
        places = np.einsum("kij,nkj->nki", axes, points[:, None] - self.means)
        heights = np.log(self.weights) + np.linalg.slogdet(axes)[1]
        heights -= (self.dimension * np.log(2 * np.pi) + within * (axes**2).sum(axis=(1, 2))) / 2
        found = heights - (places**2).sum(axis=2) / 2
        if not self.background:
            return np.asarray(found)
        even = np.full((len(points), 1), np.log(self.background / self.volume))
        return np.hstack([found + np.log(1 - self.background), even])

    def label(self, points: Floats) -> Integers:
        """Return the most probable component of each point, and -1 for the background."""
        labels = self.joint(points).argmax(axis=1).astype(np.int64, copy=False)
        return np.where(labels < self.n_components, labels, -1)

    def score(self, points: Floats) -> float:
        """Return the mean log density of points."""
        return float(responsibilities(self.joint(points))[1].mean())

    def draw(self, n_rows: int, rng: np.random.Generator) -> tuple[Floats, Integers]:
        """Return random rows of the mixture, and the component of each."""
        labels = rng.choice(self.n_components, n_rows, p=self.weights / self.weights.sum())
        rows, roots = rng.standard_normal((n_rows, self.dimension)), self.roots
        for label in range(self.n_components):
            its = labels == label
            rows[its] = rows[its] @ roots[label].T + self.means[label]
        return rows, labels.astype(np.int64, copy=False)

    def reorder(self, order: Indices) -> Gaussians:
        """Return the same mixture with its components in another order."""
        arrays = self.weights[order], self.means[order], self.covariances[order]
        return Gaussians(*arrays, self.background, self.volume)


def responsibilities(joint: Floats) -> tuple[Floats, Floats]:
    """Return the share of each component in each point, and the log density of the point."""
    total = logsumexp(joint, axis=1)
    return np.asarray(np.exp(joint - total[:, None])), np.asarray(total)


def restrict(covariances: Floats, weights: Floats, kind: CovarianceType, least: float) -> Floats:
    """Return covariances of one type, with at least this variance along every direction."""
    d = covariances.shape[-1]
    if kind == "tied":
        pooled = np.tensordot(weights / weights.sum(), covariances, 1)
        covariances = np.broadcast_to(pooled, covariances.shape)
    if kind == "diag":
        covariances = covariances * np.eye(d)
    if kind == "spherical":
        traces = np.trace(covariances, axis1=1, axis2=2)
        covariances = traces[:, None, None] / d * np.eye(d)
    values, vectors = np.linalg.eigh((covariances + covariances.swapaxes(1, 2)) / 2)
    if (values >= least).all():
        return np.asarray(covariances)
    raised = np.maximum(values, least)[:, None] * vectors
    return np.asarray(raised @ vectors.swapaxes(1, 2))


def as_declared(matrices: Floats, kind: CovarianceType) -> Floats:
    """Return matrices of all components in the shape that scikit-learn has for a type."""
    if kind == "tied":
        return np.array(matrices[0])
    if kind == "full":
        return np.array(matrices)
    diagonals = np.array(np.diagonal(matrices, axis1=1, axis2=2))
    return diagonals if kind == "diag" else diagonals[:, 0]


def as_matrices(covariances: Floats, kind: CovarianceType, shape: tuple[int, int]) -> Floats:
    """Return covariances in the shape of a type as a matrix for each component."""
    k, d = shape
    if kind == "tied":
        return np.array(np.broadcast_to(covariances, (k, d, d)))
    if kind == "full":
        return covariances
    return np.asarray(np.reshape(covariances, (k, -1, 1)) * np.eye(d))


def precision_roots(covariances: Floats) -> Floats:
    """Return upper triangular roots of the precisions."""
    inverse = np.linalg.inv(np.linalg.cholesky(covariances))
    return np.asarray(np.triu(inverse.swapaxes(1, 2)))
