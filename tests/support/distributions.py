"""Exact probabilities of the distributions under test, and the tests of fit that use them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from scipy import stats

MIN_EXPECTED = 10  # below this the chi-square approximation is poor, so cells are pooled


def laplace_cells(scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return cell boundaries and probabilities of the discrete Laplace distribution."""
    support = np.arange(-int(20 * scale) - 20, int(20 * scale) + 21)
    return support, _normalised(-np.abs(support) / scale)


def gaussian_cells(variance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return support and probabilities of the discrete Gaussian distribution."""
    width = int(10 * variance**0.5) + 10
    support = np.arange(-width, width + 1)
    return support, _normalised(-(support**2) / (2 * variance))


def exponential_probabilities(scores: np.ndarray, scale: float) -> np.ndarray:
    """Return the probabilities of the exponential mechanism."""
    return _normalised(scores / scale)


def permute_and_flip_probabilities(scores: np.ndarray, scale: float) -> np.ndarray:
    """Return p_j times the integral over [0, 1] of the product of (1 - t p_i) over the others."""
    accept = np.exp((scores - scores.max()) / scale)
    answers = []
    for j, chance in enumerate(accept):
        product = np.polynomial.Polynomial([1.0])
        for i, other in enumerate(accept):
            if i != j:
                product *= np.polynomial.Polynomial([1.0, -other])
        integral = product.integ()
        answers.append(chance * (integral(1.0) - integral(0.0)))
    return np.array(answers)


def top_k_probabilities(scores: np.ndarray, scale: float, k: int) -> dict[tuple[int, ...], float]:
    """Return the probability of each ordered outcome of k exponential mechanisms in turn."""
    weights = np.exp((scores - scores.max()) / scale)
    outcomes = {}
    for order in permutations(range(len(scores)), k):
        left, chance = list(range(len(scores))), 1.0
        for index in order:
            chance *= weights[index] / weights[left].sum()
            left.remove(index)
        outcomes[order] = chance
    return outcomes


def fit_p_value(draws: np.ndarray, support: np.ndarray, probabilities: np.ndarray) -> float:
    """Return the chi-square p-value of integer draws, cells pooled from left to right."""
    assert draws.min() >= support[0]
    assert draws.max() <= support[-1]
    counts = np.bincount(draws - support[0], minlength=len(support))
    return counts_p_value(counts, probabilities)


def counts_p_value(counts: np.ndarray, probabilities: np.ndarray) -> float:
    """Return the chi-square p-value of counts, pooling cells into at most about 200."""
    total = counts.sum()
    least = max(MIN_EXPECTED / total, 1 / 200)
    cell = np.minimum((np.cumsum(probabilities) - probabilities / 2) / least, 1 / least).astype(int)
    observed = np.bincount(cell, counts)
    expected = np.bincount(cell, probabilities) * total
    kept = expected > 0
    return stats.chisquare(observed[kept], expected[kept] * total / expected[kept].sum()).pvalue


def agreement_p_value(left: np.ndarray, right: np.ndarray) -> float:
    """Return the p-value that two samples of integers share their distribution."""
    edges = np.unique(np.quantile(np.concatenate([left, right]), np.linspace(0, 1, 30)))
    edges = np.append(edges, edges[-1] + 1)
    table = np.array([np.histogram(sample, edges)[0] for sample in (left, right)])
    return stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue


def _normalised(log_weights: np.ndarray) -> np.ndarray:
    weights = np.exp(log_weights - log_weights.max())
    return weights / weights.sum()
