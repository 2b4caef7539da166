"""Source-target clustering: the paper's experiments, and the solver beside AkM.

``python benchmarks/source_target.py costs [SET ...] [--runs 10] [--plots FOLDER]`` prints, for each
set and budget, the mean cost over k = 5, 10, 20, 50, 100 of every method, and the share of the gap
between ClusterT (the source ignored) and the solver without privacy that it closes.
``... coreset`` and ``... nearest`` vary the coreset of NNA and NAS and the t of NAS, ``... times``
times a fit of every method and ``... solver`` our solver and AkM, ``... large`` solves for 200 000
targets. A budget of ρ is spent at δ = 1e-6: ρ = 0.5 is ε = 5.2 and ρ = 3 is ε = 15 then.
"""

from __future__ import annotations

import argparse
import math
import resource
import time
import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from peers.akm import akm
from privclust.kmeans import PrivateKMeans
from privclust.privacy.loss import epsilon_spent
from privclust.reference.source_target import SourceTargetMedoids
from privclust.transfer import PrivateSourceTargetMedoids, SourceWarning
from privclust.transfer.sites import coreset
from privclust.transfer.solver import Problem, improved_by_swaps, lazy_greedy, solution_cost
from source_target_sets import SETS

DELTA = 1e-6
NUMBERS = [5, 10, 20, 50, 100]
BUDGETS = {"ε=0.5": (0.5, None), "ε=1": (1, None), "ε=3": (3, None)} | {
    "ρ=0.5": (None, 0.5),
    "ρ=3": (None, 3),
}

Order = Callable[[np.ndarray, np.ndarray, int, int], np.ndarray]


def main() -> None:
    """Run one of the experiments."""
    parser = argparse.ArgumentParser(description=__doc__)
    choices = {
        "costs": costs,
        "coreset": coreset_ablation,
        "nearest": nearest_ablation,
        "times": times,
        "solver": solver,
        "large": large,
    }
    parser.add_argument("experiment", choices=choices)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--budgets", nargs="+", default=list(BUDGETS))
    parser.add_argument("--methods", nargs="+", default=None)
    parser.add_argument("--plots", type=Path, default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore", SourceWarning)
    choices[options.experiment](options)


# The methods: each returns the order in which it chooses targets.


def private(epsilon: float | None, rho: float | None, **parameters: object) -> Order:
    """Return one of our methods at a budget of ε, or of ρ spent through (ε, δ)."""
    if rho is None:
        budget = {"epsilon": epsilon}
    else:
        budget = {"epsilon": epsilon_spent(Fraction(rho), Fraction(DELTA)), "delta": DELTA}

    def order(source: np.ndarray, target: np.ndarray, k: int, seed: int) -> np.ndarray:
        model = PrivateSourceTargetMedoids(k, **budget, **parameters)
        return model.fit(target, source=source).order_

    return order


def nna_as_published(epsilon: float | None, rho: float | None) -> Order:
    """Return NNA with the constants and the threshold of the paper (γ = 0.05)."""

    def order(source: np.ndarray, target: np.ndarray, k: int, seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        sites = target[coreset(target, 0.05)]
        clipped = source * np.minimum(1, 0.5 / np.linalg.norm(source, axis=1))[:, None]
        labels = cKDTree(sites).query(clipped)[1]
        counts = np.bincount(labels, minlength=len(sites)).astype(float)
        sums = np.array([np.bincount(labels, x, len(sites)) for x in clipped.T]).T
        root = math.sqrt(target.shape[1])
        if rho is None:
            scale, threshold = (root + 1) / epsilon, 1 + math.log((root + 1) / 0.05) / epsilon
            counts += rng.laplace(0, scale, counts.shape)
            sums += rng.laplace(0, scale, sums.shape)
        else:
            scale = math.sqrt(2 / rho)
            threshold = 1 + scale * math.sqrt(2 * math.log(2 / 0.05))
            counts += rng.normal(0, scale, counts.shape)
            sums += rng.normal(0, scale, sums.shape)
        live = counts >= threshold
        points = sums[live] / counts[live, None]
        return SourceTargetMedoids(k).fit(target, source=points).order_

    return order


def kmeans_of_source(epsilon: float | None, rho: float | None) -> Order:
    """Return the baseline that releases private k-means centres of the source."""

    def order(source: np.ndarray, target: np.ndarray, k: int, seed: int) -> np.ndarray:
        spent = epsilon if rho is None else epsilon_spent(Fraction(rho), Fraction(DELTA))
        low, high = target.min(axis=0) - 0.5, target.max(axis=0) + 0.5
        model = PrivateKMeans(
            20, epsilon=spent, delta=0 if rho is None else DELTA, bounds=(low, high)
        )
        centres = model.fit(source).cluster_centers_
        return SourceTargetMedoids(k).fit(target, source=centres).order_

    return order


def contestants(epsilon: float | None, rho: float | None) -> dict[str, Order]:
    return {
        "NAS": private(epsilon, rho, method="nas"),
        "NNA as published": nna_as_published(epsilon, rho),
        "NNA": private(epsilon, rho, method="nna"),
        "rings": private(epsilon, rho),
        "k-means of S": kmeans_of_source(epsilon, rho),
    }


# The experiments.


def costs(options: argparse.Namespace) -> None:
    """Print a table of costs and shares of the gap, and draw the curves."""
    for name in options.sets or SETS:
        curves: dict[str, dict[str, np.ndarray]] = {}
        pairs = [SETS[name](seed) for seed in range(options.runs)]
        numbers = [k for k in NUMBERS if k < len(pairs[0][1])]
        ends = [reference_curves(*pair, numbers) for pair in pairs]
        alone, best = (np.array(side) for side in zip(*ends, strict=True))
        m, n = (len(part) for part in pairs[0])
        print(f"\n{name}: {m} sources, {n} targets; ClusterT {alone.mean():.4f}, ", end="")
        print(f"not private {best.mean():.4f}")
        for budget in options.budgets:
            curves[budget] = {}
            for method, order in contestants(*BUDGETS[budget]).items():
                if options.methods and method not in options.methods:
                    continue
                found = measured(order, pairs, numbers)
                curves[budget][method] = found
                closed = 100 * (alone - found).sum(axis=1) / (alone - best).sum(axis=1)
                whole = 100 * (alone - found).sum() / (alone - best).sum()
                print(
                    f"| {budget} | {method} | {found.mean():.4f} | {whole:.0f} % | "
                    f"{np.median(closed):.0f} % | {closed.min():.0f} % |",
                    flush=True,
                )
        if options.plots:
            draw(name, numbers, alone, best, curves, options.plots)


def reference_curves(
    source: np.ndarray, target: np.ndarray, numbers: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    k = max(numbers)
    alone = SourceTargetMedoids(k).fit(target).order_
    best = SourceTargetMedoids(k).fit(target, source=source).order_
    return true_curve(source, target, alone, numbers), true_curve(source, target, best, numbers)


def measured(
    order: Order, pairs: list[tuple[np.ndarray, np.ndarray]], numbers: list[int]
) -> np.ndarray:
    return np.array(
        [
            true_curve(*pair, order(*pair, max(numbers), seed), numbers)
            for seed, pair in enumerate(pairs)
        ]
    )


def true_curve(
    source: np.ndarray, target: np.ndarray, order: np.ndarray, numbers: list[int]
) -> np.ndarray:
    """Return the true cost of the first k of an order; for evaluation, never for release."""
    base = cKDTree(source).query(target)[0]
    return np.array(
        [np.minimum(base, cKDTree(target[order[:k]]).query(target)[0]).mean() for k in numbers]
    )


def draw(
    name: str,
    numbers: list[int],
    alone: np.ndarray,
    best: np.ndarray,
    curves: dict[str, dict[str, np.ndarray]],
    folder: Path,
) -> None:
    """Draw the cost by k, one panel per budget."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    figure, panels = plt.subplots(
        1, len(curves), figsize=(3.2 * len(curves), 3), sharey=True, layout="constrained"
    )
    for ax, (budget, found) in zip(np.atleast_1d(panels), curves.items(), strict=True):
        ax.plot(numbers, alone.mean(axis=0), "k--", label="ClusterT")
        ax.plot(numbers, best.mean(axis=0), "k-", label="not private")
        for method, values in found.items():
            ax.plot(numbers, values.mean(axis=0), marker="o", markersize=3, label=method)
        ax.set(title=f"{name}, {budget}", xlabel="k", xscale="log")
    np.atleast_1d(panels)[0].set_ylabel("true mean distance")
    np.atleast_1d(panels)[-1].legend(fontsize=7)
    figure.savefig(folder / f"{name.replace(' ', '_').replace('→', '_')}.svg")
    plt.close(figure)


def coreset_ablation(options: argparse.Namespace) -> None:
    """Vary how far a target may be from the coreset."""
    values = {f"coreset={reach:g}": {"coreset": reach} for reach in (0.01, 0.025, 0.05, 0.1)}
    ablation(options, ("nna", "nas"), values)


def nearest_ablation(options: argparse.Namespace) -> None:
    """Vary the number of sources that NAS averages."""
    ablation(options, ("nas",), {f"t={t}": {"n_nearest": t} for t in (75, 150, 300)})


def ablation(
    options: argparse.Namespace, methods: tuple[str, ...], values: dict[str, dict[str, float]]
) -> None:
    for name in options.sets or ["Synthetic 1", "Synthetic 2", "Synthetic 3"]:
        pairs = [SETS[name](seed) for seed in range(options.runs)]
        for budget in options.budgets:
            for method in methods:
                for label, parameters in values.items():
                    order = private(*BUDGETS[budget], method=method, **parameters)
                    found = measured(order, pairs, NUMBERS)
                    print(f"| {name} | {budget} | {method} | {label} | {found.mean():.4f} |")


def times(options: argparse.Namespace) -> None:
    """Time one fit of every method."""
    for name in options.sets or ["Synthetic 1", "digits 1→7", "cities"]:
        source, target = SETS[name](0)
        for method, order in contestants(1, None).items():
            taken = [
                seconds(partial(order, source, target, 20, seed))[1] for seed in range(options.runs)
            ]
            print(f"| {name} | {method} | {np.median(taken):.2f} s |", flush=True)


def solver(options: argparse.Namespace) -> None:
    """Time our solver and AkM on the same distances."""
    rng = np.random.default_rng(0)
    centres = rng.normal(0, 1, (12, 8))
    target = np.concatenate([rng.normal(c, 0.5, (583, 8)) for c in centres]) / 8
    source = rng.normal(centres[0] / 8, 0.1, (50, 8))
    table = cdist(target, target).astype(np.float32)
    problem = Problem(table, cdist(target, source).min(axis=1), np.ones(len(target)))
    print(f"{len(target)} targets: seconds and cost of AkM, of ours, ratio of times")
    for k in (10, 50, 200):
        theirs, slow = seconds(lambda k=k: akm(table, problem.base, k, np.random.default_rng(1)))
        ours, fast = seconds(lambda k=k: improved_by_swaps(problem, lazy_greedy(problem, k).chosen))
        before, after = (solution_cost(problem, chosen) for chosen in (theirs, ours))
        print(f"k = {k}: {slow:.2f} s {before:.5f} | {fast:.2f} s {after:.5f} | {slow / fast:.1f}x")


def large(options: argparse.Namespace) -> None:
    """Choose 100 centres for 200 000 targets, privately."""
    rng = np.random.default_rng(0)
    towns = rng.uniform(0, 1, (400, 2))
    target = towns[rng.integers(400, size=200_000)] + rng.normal(0, 0.01, (200_000, 2))
    source = towns[rng.integers(100, size=20_000)] + rng.normal(0, 0.01, (20_000, 2))
    model, took = seconds(lambda: PrivateSourceTargetMedoids(100).fit(target, source=source))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{took:.1f} CPU s, {memory:.2f} GB at most; estimated cost {model.cost_estimate_:.5f}")


def seconds(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


if __name__ == "__main__":
    main()
