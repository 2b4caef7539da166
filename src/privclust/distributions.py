"""Public facts about noise: its tails, quantiles and densities, and simulated draws.

Algorithms plan with these, and compare noisy answers with them. Nothing here is drawn for an
answer, and no promise rests on it; the mechanisms themselves are in ``privclust.privacy``.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from scipy.special import ndtr

from privclust._typing import Floats
from privclust.budget import Currency
from privclust.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace

_Noise = DiscreteLaplace | DiscreteGaussian


def tail(noise: _Noise, values: Floats) -> Floats:
    """Return the chances of noise of at least each value; approximate if Gaussian."""
    if isinstance(noise, DiscreteGaussian):
        return np.asarray(ndtr((0.5 - values) / noise.standard_error()))
    step = float(1 / noise.scale)
    # The noise is symmetric, so the tail at x <= 0 is one minus the tail at 1 - x.
    beyond = np.exp(-(np.abs(values - 0.5) + 0.5) * step) / (1 + np.exp(-step))
    return np.asarray(np.where(values > 0, beyond, 1 - beyond))


def quantile(noise: _Noise, chance: float) -> float:
    """Return what the noise of a number exceeds with about this probability, below one half."""
    if isinstance(noise, DiscreteGaussian):
        return noise.standard_error() * NormalDist().inv_cdf(1 - min(chance, 0.5))
    return max(0.0, float(noise.scale) * math.log(1 / (2 * chance)))


def log_density(noise: _Noise, gaps: Floats) -> Floats:
    """Return the log-density of the noise of a number, up to a constant."""
    if isinstance(noise, DiscreteGaussian):
        return np.asarray(-(gaps**2) / (2 * float(noise.variance)))
    return np.asarray(-np.abs(gaps) / float(noise.scale))


def noise_like(
    currency: Currency, standard_error: float, shape: tuple[int, ...], rng: np.random.Generator
) -> Floats:
    """Simulate noise like that of a number, for comparison; it protects nothing."""
    if currency == "pure":
        return rng.laplace(0, standard_error / math.sqrt(2), shape)
    return rng.normal(0, standard_error, shape)
