"""The contestants of the source-target benchmark: each returns the order in which it chooses.

Ours are ``PrivateSourceTargetMedoids`` with its three methods. Beside them stand what the paper
publishes (NNA with its constants and its threshold, which are NOT private as claimed), counts that
are snapped to graded sites without shells, and private k-means centres of the source.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from privclust.budget import Budget
from privclust.clustering.estimator import PrivateKMeans
from privclust.papers.rivals.high_dim import PrivateHighDimKMeans
from privclust.papers.rivals.wgan import PrivateWGAN
from privclust.papers.targets.published import SourceTargetMedoids
from privclust.source_target.placement import cell_sites, coreset
from privclust.source_target.task import SOURCE_TARGET

__all__ = [
    "BUDGETS",
    "DELTA",
    "Order",
    "budget_of",
    "contestants",
    "dphd_of_source",
    "gan_of_source",
    "kmeans_of_source",
    "private",
]

DELTA = 1e-6
BUDGETS = {"ε=0.5": (0.5, None), "ε=1": (1, None), "ε=3": (3, None)} | {
    "ρ=0.5": (None, 0.5),
    "ρ=3": (None, 3),
}

# Source, target, number of centres, seed of the comparison methods: numbers of targets.
Order = Callable[[np.ndarray, np.ndarray, int, int], np.ndarray]


# The paper's own coreset and noise.
LETTER = {"coreset": "halving", "noise": "published"}


def contestants(epsilon: float | None, rho: float | None) -> dict[str, Order]:
    """Return all methods at one budget."""
    return {
        "NAS": private(epsilon, rho, method="nas"),
        "NAS, to the letter": private(epsilon, rho, method="nas", **LETTER),
        "NAS, halving": private(epsilon, rho, method="nas", coreset="halving"),
        "NAS, no coreset": private(epsilon, rho, method="nas", coreset=None),
        "NNA, to the letter": private(epsilon, rho, method="nna", pull=False, **LETTER),
        "NNA": private(epsilon, rho, method="nna"),
        "NNA, net": private(epsilon, rho, method="nna", coreset="net"),
        "NNA, no coreset": private(epsilon, rho, method="nna", coreset=None),
        "DPHD of S, 100 centres": dphd_of_source(epsilon, rho, 100),
        "k-means of S, 100 centres": kmeans_of_source(epsilon, rho, 100),
        "k-means of S, 20 centres": kmeans_of_source(epsilon, rho, 20),
        "snapped counts": snapped_counts(epsilon, rho),
        "rings": private(epsilon, rho),
    }


def private(epsilon: float | None, rho: float | None, **parameters: object) -> Order:
    """Return one of our methods at a budget of ε, or of ρ."""
    budget = budget_of(epsilon, rho)

    def order(source: np.ndarray, target: np.ndarray, k: int, seed: int) -> np.ndarray:
        model = SOURCE_TARGET.model(k, **budget, **parameters)
        return model.fit(target, source=source).order_

    return order


def kmeans_of_source(
    epsilon: float | None, rho: float | None, n_centres: int, radius: float | None = None
) -> Order:
    """Return the baseline that releases private k-means centres of S; the paper has 100."""
    return _instead_of_source(PrivateKMeans(n_centres), budget_of(epsilon, rho), radius)


def dphd_of_source(
    epsilon: float | None, rho: float | None, n_centres: int, radius: float | None = None
) -> Order:
    """Return the baseline of Balcan and others (2017), with which the paper clusters S."""
    return _instead_of_source(PrivateHighDimKMeans(n_centres), budget_of(epsilon, rho), radius)


def gan_of_source(
    epsilon: float | None, rho: float | None, radius: float | None = None, n_draws: int = 100
) -> Order:
    """Return the baseline that draws points from a private generator of S; it needs δ."""
    model = PrivateWGAN(2)  # its clusters are not used
    return _instead_of_source(model, budget_of(epsilon, rho), radius, lambda: model.sample(n_draws))


def targets_alone(epsilon: float | None, rho: float | None, radius: float | None = None) -> Order:
    """Return ClusterT: the targets clustered as if there were no source."""
    return lambda source, target, k, seed: _order(target, k, None, radius)


def _instead_of_source(
    model: Any,
    budget: dict[str, Any],
    radius: float | None,
    points: Callable[[], np.ndarray] | None = None,
) -> Order:
    """Return the order beside released points in place of S; of a coreset if there is a radius."""

    def order(source: np.ndarray, target: np.ndarray, k: int, seed: int) -> np.ndarray:
        low, high = target.min(axis=0) - 0.5, target.max(axis=0) + 0.5
        model.set_params(bounds=(low, high), **budget).fit(source)
        released = points() if points else model.cluster_centers_
        return _order(target, k, released, radius)

    return order


def _order(
    target: np.ndarray, k: int, released: np.ndarray | None, radius: float | None
) -> np.ndarray:
    """Solve for all targets, or for the paper's coreset, whose sites count as all their targets."""
    if radius is None:
        return SourceTargetMedoids(k).fit(target, source=released).order_
    sites = coreset(target, radius)
    weights = np.bincount(cKDTree(target[sites]).query(target)[1], minlength=len(sites))
    # Of equal targets one site has all, and the others cannot be chosen.
    solver = SourceTargetMedoids(min(k, int(np.count_nonzero(weights))))
    return sites[solver.fit(target[sites], source=released, sample_weight=weights).order_]


def snapped_counts(epsilon: float | None, rho: float | None) -> Order:
    """Return counts at graded sites; a site whose noisy count passes stands for its sources."""

    def order(source: np.ndarray, target: np.ndarray, k: int, seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        strength = epsilon if rho is None else math.sqrt(2 * rho)
        total = _noisy(np.array([len(source)]), 0.02, epsilon, rho, rng)[0]
        fine = cell_sites(target, int(np.clip(0.08 * strength * total, 60, 1500)))
        sites = _graded(target, fine, rng)
        counts = np.bincount(cKDTree(sites).query(source)[1], minlength=len(sites))
        noisy = _noisy(counts, 0.98, epsilon, rho, rng)
        if rho is None:
            threshold = math.log(len(sites) / 2) / (0.98 * epsilon)
        else:
            threshold = NormalDist().inv_cdf(1 - 1 / len(sites)) / math.sqrt(1.96 * rho)
        live = sites[noisy >= max(threshold, 0.5)]
        return SourceTargetMedoids(k).fit(target, source=live).order_

    return order


def _graded(target: np.ndarray, fine: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the fine sites and others around the targets, the sparser the farther away."""
    few = cell_sites(target, min(100, len(target) // 2))
    spacing = float(np.median(cKDTree(few).query(target)[0]))
    starts = target[rng.integers(len(target), size=6000)]
    ways = rng.standard_normal(starts.shape)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    points = starts + ways * np.exp(rng.uniform(np.log(spacing), 0, 6000))[:, None]
    away = cKDTree(target).query(points)[0]
    points, away = points[away > spacing], away[away > spacing]
    kept, gaps = [], cKDTree(fine).query(points)[0]
    for number in np.argsort(-away):
        if gaps[number] >= 0.8 * away[number] and len(kept) < 300:
            kept.append(points[number])
            np.minimum(gaps, np.linalg.norm(points - points[number], axis=1), out=gaps)
    return np.concatenate([fine, np.array(kept).reshape(-1, target.shape[1])])


def _noisy(
    counts: np.ndarray,
    share: float,
    epsilon: float | None,
    rho: float | None,
    rng: np.random.Generator,
) -> np.ndarray:
    if rho is None:
        return counts + rng.laplace(0, 1 / (share * epsilon), counts.shape)
    return counts + rng.normal(0, 1 / math.sqrt(2 * share * rho), counts.shape)


def budget_of(epsilon: float | None, rho: float | None) -> dict[str, Any]:
    """Return the parameters of an estimator at a budget of ε, or of ρ."""
    return {"epsilon": epsilon} if rho is None else {"budget": Budget.of_rho(rho, DELTA)}
