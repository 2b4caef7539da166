"""What somebody would try before ``PrivateGaussianMixture``; float noise, for comparison only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privclust.mixture.model import Gaussians, responsibilities

Floats = NDArray[np.float64]


def noisy_em(
    rows: Floats, low: Floats, high: Floats, k: int, rho: float, rng: np.random.Generator
) -> Gaussians:
    """Return a mixture by ten noisy steps in the manner of Park, Foulds, Choudhary and Welling.

    Moments are taken about the origin of the unit ball and the start is random, as in their paper
    on private expectation and maximisation (2017); noise is counted in ρ. This version is ours and
    was not tuned: it shows what a private start and frames of the components are worth, not how
    good that paper can be made.
    """
    d, steps = rows.shape[1], 10
    middle, half = (low + high) / 2, (high - low) / 2 * np.sqrt(d)
    points = (rows - middle) / half
    means = rng.uniform(-0.8, 0.8, (k, d)) / np.sqrt(d)
    mixture = Gaussians(np.full(k, 1 / k), means, np.stack([np.eye(d) * 0.1 / d] * k))
    # Counts, sums and second moments of rows of length one: a third of the step's ρ for each.
    error = np.sqrt(1 / (2 * rho / steps / 3))
    for _ in range(steps):
        shares = responsibilities(mixture.joint(points))[0]
        counts = np.maximum(shares.sum(axis=0) + rng.normal(0, error, k), 1.0)
        sums = shares.T @ points + rng.normal(0, error, (k, d))
        noise = np.triu(rng.normal(0, error, (k, d, d)))
        moments = np.einsum("nk,ni,nj->kij", shares, points, points, optimize=True)
        moments += noise + np.triu(noise, 1).swapaxes(1, 2)
        means = np.clip(sums / counts[:, None], -1, 1)
        spread = moments / counts[:, None, None] - means[:, :, None] * means[:, None]
        values, vectors = np.linalg.eigh(spread)
        held = np.clip(values, 1e-4, 1.0)[:, None] * vectors
        mixture = Gaussians(counts / counts.sum(), means, held @ vectors.swapaxes(1, 2))
    covariances = mixture.covariances * half[:, None] * half
    return Gaussians(mixture.weights, mixture.means * half + middle, covariances)
