"""Source-target clustering: the paper's experiments, and the solver beside AkM.

``python benchmarks/source_target.py costs [SET ...] [--runs 10] [--save FOLDER]`` measures the
true cost of every method on each set and at each budget, at k = 5, 10, 20, 50, 100, and prints its
mean and the share of the gap that it closes: 0 % is ClusterT (the source ignored), 100 % the solver
without privacy. ``... coreset`` and ``... nearest`` vary the coreset of NNA and NAS and t of NAS,
``... times`` times a fit of every method and ``... solver`` our solver and AkM, ``... large``
solves for 200 000 targets. ``... figures --save FOLDER`` draws what the others saved there, and
``... tables --save FOLDER`` prints the saved costs as Markdown. A SET is a name of
``SOURCE_TARGET_SETS`` in ``privclust.papers.datasets.named``, "cities", or two parts of a file as
FILE:SOURCE:TARGET, where the file may lie in the folder of ``--data`` or PRIVCLUST_DATA. A budget
of ρ is spent at δ = 1e-6: ρ = 0.5 is ε = 5.2 and ρ = 3 is ε = 15 then.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from peers.akm import akm
from privclust.papers.datasets.named import SOURCE_TARGET_SETS, source_target_set
from privclust.papers.datasets.source_target import SourceTarget, geography, scale_pair
from privclust.papers.metrics import share_of_gap, source_target_curve
from privclust.papers.targets.published import SourceTargetMedoids
from privclust.source_target.solver import Problem, improve_by_swaps, lazy_greedy, solution_cost
from privclust.source_target.task import SOURCE_TARGET
from source_target_methods import BUDGETS, Order, contestants, private
from source_target_output import Results, figures, tables

NUMBERS = [5, 10, 20, 50, 100]
CITIES = Path(__file__).parent.parent / "examples" / "clinic_sites_cities.csv"


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
        "figures": lambda options: figures(options.save),
        "tables": lambda options: tables(options.save),
    }
    parser.add_argument("experiment", choices=choices)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--budgets", nargs="+", default=list(BUDGETS))
    parser.add_argument("--methods", nargs="+", default=None)
    parser.add_argument("--save", type=Path, default=None)
    parser.add_argument("--data", type=Path, default=os.environ.get("PRIVCLUST_DATA"))
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # of few sources and little signal
    choices[options.experiment](options)


def costs(options: argparse.Namespace) -> None:
    """Print costs and shares of the gap of every method."""
    results = Results(options.save, "costs")
    for name in options.sets or [*SOURCE_TARGET_SETS, "cities"]:
        pairs, numbers = _pairs(name, options)
        ends = [reference_curves(*pair, numbers) for pair in pairs]
        alone, best = (np.array(side) for side in zip(*ends, strict=True))
        m, n = (len(part) for part in pairs[0])
        print(f"\n{name}: {m} sources, {n} targets; ClusterT {alone.mean():.4f}, ", end="")
        print(f"not private {best.mean():.4f}")
        facts = {"set": name, "k": numbers, "alone": alone, "best": best}
        for budget in options.budgets:
            for method, order in contestants(*BUDGETS[budget]).items():
                if options.methods and method not in options.methods:
                    continue
                found = measured(order, pairs, numbers)
                results.add(**facts, budget=budget, method=method, costs=found)
                closed = [100 * share_of_gap(*run) for run in zip(found, alone, best, strict=True)]
                whole = 100 * share_of_gap(found, alone, best)
                print(
                    f"| {budget} | {method} | {found.mean():.4f} | {whole:.0f} % | "
                    f"{np.median(closed):.0f} % | {min(closed):.0f} % |",
                    flush=True,
                )


def pair_maker(name: str, folder: Path | None) -> Callable[[int], SourceTarget]:
    """Return the function of a seed that makes a set."""
    if name == "cities":
        return lambda seed: scale_pair(geography(CITIES, seed))
    return source_target_set(name, folder)


class Draws(list[SourceTarget]):
    """Draws of a set, one for each run."""

    @cached_property
    def bases(self) -> list[np.ndarray]:
        """The distance of each target to its nearest source, which every method is scored with."""
        return [cdist(target, source).min(axis=1) for source, target in self]


def _pairs(name: str, options: argparse.Namespace) -> tuple[Draws, list[int]]:
    make = pair_maker(name, options.data)
    pairs = Draws(make(seed) for seed in range(options.runs))
    return pairs, [k for k in NUMBERS if k < len(pairs[0][1])]


def reference_curves(
    source: np.ndarray, target: np.ndarray, numbers: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the true costs of ClusterT and of the solver without privacy."""
    k = max(numbers)
    alone = SourceTargetMedoids(k).fit(target).order_
    best = SourceTargetMedoids(k).fit(target, source=source).order_
    return (
        source_target_curve(source, target, alone, numbers),
        source_target_curve(source, target, best, numbers),
    )


def measured(order: Order, pairs: Draws, numbers: list[int]) -> np.ndarray:
    """Return true costs, runs by numbers of centres; one release per run serves all numbers."""
    costs = []
    for seed, (pair, base) in enumerate(zip(pairs, pairs.bases, strict=True)):
        chosen = pair[1][order(*pair, max(numbers), seed)]
        nearest = np.minimum.accumulate(cdist(pair[1], chosen), axis=1)
        last = nearest.shape[1] - 1  # there may be fewer sites than centres
        costs.append([np.minimum(base, nearest[:, min(k - 1, last)]).mean() for k in numbers])
    return np.array(costs)


def coreset_ablation(options: argparse.Namespace) -> None:
    """Vary how far a target may be from the coreset."""
    values = {reach: {"coreset_radius": reach} for reach in (0.01, 0.025, 0.05, 0.1)}
    ablation(options, "coreset", ("nna", "nas"), values)


def nearest_ablation(options: argparse.Namespace) -> None:
    """Vary the number of sources that NAS averages."""
    ablation(options, "nearest", ("nas",), {t: {"n_nearest": t} for t in (75, 150, 300)})


def ablation(
    options: argparse.Namespace,
    experiment: str,
    methods: tuple[str, ...],
    values: dict[float, dict[str, float]],
) -> None:
    """Print mean costs with one parameter varied."""
    results = Results(options.save, experiment)
    for name in options.sets or ["Synthetic 1", "Synthetic 2", "Synthetic 3"]:
        pairs, numbers = _pairs(name, options)
        for budget in options.budgets:
            for method in methods:
                for value, parameters in values.items():
                    order = private(*BUDGETS[budget], method=method, **parameters)
                    found = measured(order, pairs, numbers).mean()
                    results.add(set=name, budget=budget, method=method, value=value, cost=found)
                    print(f"| {name} | {budget} | {method} | {value:g} | {found:.4f} |", flush=True)


def times(options: argparse.Namespace) -> None:
    """Time one fit of every method."""
    results = Results(options.save, "times")
    for name in options.sets or ["Synthetic 1", "digits 1→7", "cities"]:
        source, target = pair_maker(name, options.data)(0)
        for method, order in contestants(1, None).items():
            taken = [
                seconds(partial(order, source, target, 20, seed))[1] for seed in range(options.runs)
            ]
            results.add(set=name, method=method, seconds=np.median(taken))
            print(f"| {name} | {method} | {np.median(taken):.2f} s |", flush=True)


def solver(options: argparse.Namespace) -> None:
    """Time our solver and AkM on the same distances."""
    results = Results(options.save, "solver")
    print("CPU seconds and cost of AkM, of ours, ratio of times")
    for k, (slow, before), (fast, after) in solved():
        results.add(k=k, akm=[slow, before], ours=[fast, after])
        print(f"k = {k}: {slow:.2f} s {before:.5f} | {fast:.2f} s {after:.5f} | {slow / fast:.1f}x")


def solved(
    numbers: Sequence[int] = (10, 50, 200), per_clump: int = 583
) -> Iterator[tuple[int, tuple[float, float], tuple[float, float]]]:
    """Yield k, and seconds and cost of AkM and of our solver."""
    rng = np.random.default_rng(0)
    centres = rng.normal(0, 1, (12, 8))
    target = np.concatenate([rng.normal(c, 0.5, (per_clump, 8)) for c in centres]) / 8
    source = rng.normal(centres[0] / 8, 0.1, (50, 8))
    table = cdist(target, target).astype(np.float32)
    problem = Problem(table, cdist(target, source).min(axis=1), np.ones(len(target)))
    for k in numbers:
        theirs, slow = seconds(lambda k=k: akm(table, problem.base, k, np.random.default_rng(1)))
        ours, fast = seconds(lambda k=k: improve_by_swaps(problem, lazy_greedy(problem, k).chosen))
        before, after = (solution_cost(problem, chosen) for chosen in (theirs, ours))
        yield k, (slow, before), (fast, after)


def large(options: argparse.Namespace) -> None:
    """Choose 100 centres for 200 000 targets, privately."""
    rng = np.random.default_rng(0)
    towns = rng.uniform(0, 1, (400, 2))
    target = towns[rng.integers(400, size=200_000)] + rng.normal(0, 0.01, (200_000, 2))
    source = towns[rng.integers(100, size=20_000)] + rng.normal(0, 0.01, (20_000, 2))
    model, took = seconds(lambda: SOURCE_TARGET.model(100).fit(target, source=source))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{took:.1f} CPU s, {memory:.2f} GB at most; estimated cost {model.cost_estimate_:.5f}")


def seconds(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of a call and the processor time it took."""
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


if __name__ == "__main__":
    main()
