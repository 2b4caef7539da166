"""How strong things are, judged by many noisy and unbiased measurements.

Strengths are shares of the strongest possible. They are taken to be exponentially distributed
around a mean that is itself learned from all measurements (empirical Bayes). Ordinary arithmetic on
released values.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from privclust._typing import Floats

__all__ = ["Doubt", "chances", "usual_level"]

_ROUNDS = 5

# From some true strengths to the standard errors of all measurements there, one column for each.
Doubt = Callable[[Floats], Floats]


def usual_level(found: Floats, doubt: Doubt, *, default: float, least: float) -> float:
    """Return the mean strength, drawn towards a default where little is known.

    Measurements are weighed by how uncertain they would be at the mean strength, never at the one
    found: that would give the most weight to those that happen to look weak.
    """
    usual, own = default, 1 / default**2
    for _ in range(_ROUNDS):
        weights = 1 / (doubt(np.array([usual]))[:, 0] ** 2 + usual**2)
        weight = float(weights.sum())
        mean = (float(weights @ found) + default * own) / (weight + own)
        usual = max(mean, least)
    return usual


def chances(found: Floats, doubt: Doubt, levels: Floats, usual: float) -> Floats:
    """Return how likely each of some strengths is, of shape (n_found, n_levels)."""
    errors = doubt(levels)
    fit = -0.5 * ((found[:, None] - levels) / errors) ** 2 - np.log(errors)
    prior = np.gradient(levels) * np.exp(-levels / usual)
    weights = np.exp(fit - fit.max(axis=1, keepdims=True)) * prior
    return np.asarray(weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300))
