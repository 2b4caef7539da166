"""The bounds of Schnapp and Sabato (2025) as numbers, and the examples behind their lower bounds.

All of it is arithmetic on public numbers, in units where no two points are farther apart than 1. A
bound is on Diff(S, S'): how much, at most, the cost of any choice of centres changes if the
sanitised source S' replaces the source S. It holds with a chance of 1 - γ. The formulas are damaged
in the text that we have and were derived again from its proofs. The exact counterparts, which know
every source, are in :mod:`privclust.papers`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats

__all__ = [
    "HardExample",
    "coreset_bound",
    "gaussian_bound",
    "gaussian_deviation",
    "gaussian_term",
    "hard_example",
    "laplace_bound",
    "lower_bound",
    "sensitive_example",
    "zcdp_bound",
]


def gaussian_deviation(n_sites: int, n_nearest: int, epsilon: float, delta: float) -> float:
    """Return σ_NAS, the noise on each coordinate in Theorems 5.3 and 5.5."""
    inside = 18 * n_sites * math.log(1 / delta) * math.log(1.25 * (n_sites + 1) / delta)
    return math.sqrt(inside) / (n_nearest * epsilon)


def gaussian_term(
    n_sites: int, n_nearest: int, dimension: int, epsilon: float, delta: float, gamma: float
) -> float:
    """Return Λ(d, n, δ, γ): the most that noise adds to the distances of all sites."""
    deviation = gaussian_deviation(n_sites, n_nearest, epsilon, delta)
    return deviation * _largest_normal(n_sites, dimension, gamma)


def gaussian_bound(
    spread: float,
    n_sites: int,
    n_nearest: int,
    dimension: int,
    epsilon: float,
    delta: float,
    gamma: float = 0.05,
) -> float:
    """Return Δ_t(S) + Λ: Theorem 5.5, NAS with (ε, δ).

    Parameters
    ----------
    spread : float
        Δ_t(S), the mean distance of the sites to their t nearest sources.
    n_sites, n_nearest, dimension : int
        n, t and d.
    epsilon, delta : float
        The privacy loss.
    gamma : float, default=0.05
        The chance that the bound fails.
    """
    return spread + gaussian_term(n_sites, n_nearest, dimension, epsilon, delta, gamma)


def laplace_bound(
    spread: float,
    n_sites: int,
    n_nearest: int,
    dimension: int,
    epsilon: float,
    gamma: float = 0.05,
) -> float:
    """Return Δ_t(S) + (n d / t ε) ln(d n / γ): Theorem 5.10, NAS with pure ε."""
    largest = math.log(dimension * n_sites / gamma)
    return spread + n_sites * dimension * largest / (n_nearest * epsilon)


def zcdp_bound(
    spread: float, n_sites: int, n_nearest: int, dimension: int, rho: float, gamma: float = 0.05
) -> float:
    """Return Δ_t(S) + (1/t) √(d n ln(2 d n / γ) / ρ): Theorem 5.12, NAS with ρ-zCDP.

    Its noise is the one that ``method="nas"`` draws: one joint question of all sites.
    """
    deviation = math.sqrt(n_sites / (2 * rho)) / n_nearest
    return spread + deviation * _largest_normal(n_sites, dimension, gamma)


def coreset_bound(bound: float, radius: float) -> float:
    """Return a bound for all targets from that of a coreset within ``radius``: Corollary B.1.

    The distances of a target to S and to S' may each differ by the radius from those of its site,
    so it is added twice.
    """
    return bound + 2 * radius


def lower_bound(
    n_centers: int, epsilon: float, delta: float = 0.0, apart: float = 0.5
) -> tuple[float, float]:
    """Return an error that no private algorithm avoids, and its least chance: Observation 4.2.

    With points ``apart`` by Δ_t(S) instead of 1/2 it is Observation 5.8.

    Returns
    -------
    error, chance : float
        On one of two neighbouring sources, the cost is above the best one by at least ``error``
        with at least this chance.

    Examples
    --------
    >>> error, chance = lower_bound(3, epsilon=0.1, delta=0.1)
    >>> round(error, 3), chance > 1 / 3
    (0.1, True)
    """
    return apart / (n_centers + 2), (1 - 2 * delta) / (2 * math.exp(epsilon))


@dataclass(frozen=True)
class HardExample:
    """Targets and two neighbouring sources.

    Attributes
    ----------
    target : ndarray of shape (n_targets, dimension)
    source, without : ndarray
        The source, and the same without its first point.
    centres : ndarray of shape (n_centers, dimension)
        A choice that costs nothing with ``source``.
    """

    target: Floats
    source: Floats
    without: Floats
    centres: Floats


def sensitive_example(n_centers: int, n_targets: int, n_sources: int = 2) -> HardExample:
    """Return the example of Observation 4.1, in which one source changes the cost by 1/4 or more.

    Examples
    --------
    >>> from privclust.papers.metrics import source_target_cost
    >>> made = sensitive_example(3, n_targets=10)
    >>> source_target_cost(made.without, made.target, made.centres)
    0.35
    """
    if not 1 <= n_centers <= n_targets // 2 or n_sources < 2:
        raise ValueError("Take at least 2 sources, and at most half as many centres as targets.")
    points = _apart(n_centers + 1, 0.5)
    target = np.concatenate([np.repeat(points[:1], n_targets - n_centers, axis=0), points[1:]])
    without = np.repeat(points[1:2], n_sources - 1, axis=0)
    return HardExample(target, np.concatenate([points[:1], without]), without, points[1:])


def hard_example(n_centers: int, copies: int = 1, apart: float = 0.5) -> HardExample:
    """Return the example of Observation 4.2, or of 5.8 with points ``apart`` by Δ_t(S).

    The first point has twice as many targets as any of the others. With a source there, the best
    centres are all the others; without, it must be among them. No private algorithm can know.
    """
    points = _apart(n_centers + 2, apart)
    sizes = [2 * copies] + [copies] * n_centers
    target = np.repeat(points[:-1], sizes, axis=0)
    without = points[-1:]
    return HardExample(target, np.concatenate([points[:1], without]), without, points[1:-1])


def _apart(count: int, distance: float) -> Floats:
    """Return points of the unit ball at equal distances."""
    return np.eye(count) * (distance / math.sqrt(2))


def _largest_normal(n_sites: int, dimension: int, gamma: float) -> float:
    """Return a length that n vectors of d standard normals exceed with a chance of at most γ."""
    return math.sqrt(dimension) * math.sqrt(2 * math.log(2 * dimension * n_sites / gamma))
