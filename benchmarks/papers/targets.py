"""The figures of Schnapp and Sabato (2025), source-target clustering."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from given import Given, Row, row, spread
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from privclust.budget import Budget
from privclust.papers.datasets.source_target import SourceTarget, project_pair, scale_pair
from privclust.papers.metrics import share_of_gap
from privclust.papers.targets.published import SourceTargetMedoids, cost_difference, source_spread
from privclust.papers.targets.theory import (
    coreset_bound,
    gaussian_bound,
    laplace_bound,
    lower_bound,
    zcdp_bound,
)
from privclust.source_target.placement import coreset, greedy_net
from privclust.source_target.task import SOURCE_TARGET
from source_target import Draws, measured, pair_maker, reference_curves, seconds, solved
from source_target_methods import (
    BUDGETS,
    DELTA,
    contestants,
    dphd_of_source,
    gan_of_source,
    kmeans_of_source,
    private,
    targets_alone,
)

SYNTHETIC = ("Synthetic 1", "Synthetic 2", "Synthetic 3")
PAIRS = [("1", "7"), ("7", "1"), ("5", "2"), ("2", "5"), ("9", "6"), ("6", "9")]
REAL = (
    *(f"mnist_pairs:digit{s}:digit{t}" for s, t in PAIRS),
    *(f"office_surf:{s}:{t}" for s, t in permutations(("amazon", "webcam", "dslr"), 2)),
    *(f"superconductivity:{s}:{t}" for s, t in permutations(("l", "ml", "mh", "h"), 2)),
)
NUMBERS = [5, 10, 20, 50, 100]
# The paper's own.
PAPERS_BUDGETS = ("ε=3", "ρ=3")
# Larger sets are cut down to so many targets, the same for all methods; all sources stay.
MOST_TARGETS = 1500
# What Figures 3, 6 and 57 to 104 compare; the others are for single experiments.
COMPARED = (
    "NAS",
    "NAS, to the letter",
    "NNA",
    "NNA, to the letter",
    "DPHD of S, 100 centres",
    "k-means of S, 100 centres",
    "rings",
)
RADIUS = 0.05
# What NAS averages unless it is told otherwise.
USUAL_T = 150
# Run by run, on the same draw of the set, for draws differ more than methods do.
AGAINST_USUAL_T, AGAINST_NO_CORESET = "cost / cost at t = 150", "cost / cost without coreset"


def pairs(
    given: Given, names: tuple[str, ...], runs: int | None = None
) -> Iterator[tuple[str, Draws]]:
    """Yield each set that is there, drawn once for each run."""

    def read(name: str, folder: Path | None) -> tuple[str, Callable[[int], SourceTarget]]:
        return name, pair_maker(name, folder)

    most = given.pick(60, MOST_TARGETS, MOST_TARGETS)
    for name, make in given.opened(names, read):
        drawn = (cut(make(given.seed + run), most, run) for run in range(runs or given.runs))
        yield name, Draws(drawn)


def cut(pair: SourceTarget, most: int, seed: int) -> SourceTarget:
    """Return all sources, and at most so many targets."""
    source, target = pair
    if len(target) <= most:
        return pair
    rng = np.random.default_rng(seed)
    return source, target[np.sort(rng.choice(len(target), most, replace=False))]


def names(given: Given) -> tuple[str, ...]:
    """Return the sets that were asked for, any by their path, or those of the setting."""
    if given.sets:
        return tuple(given.sets)
    usual = (*SYNTHETIC, "digits 1→7", "digits 9→6")
    return given.pick(("digits 1→7",), usual, (*usual, "cities", *REAL))


_COSTS: dict[tuple[Any, ...], np.ndarray] = {}


def costs_of(name: str, by: str, method: str, drawn: Draws, numbers: list[int]) -> np.ndarray:
    """Return the costs of a contestant; the experiments of one process share them."""
    key = name, by, method, len(drawn), len(drawn[0][1])
    if key not in _COSTS:
        _COSTS[key] = measured(contestants(*BUDGETS[by])[method], drawn, numbers)
    return _COSTS[key]


def costs(given: Given) -> Iterator[Row]:
    """Figures 3, 6 and 57 to 104: true cost by k, every method, and the share of the gap."""
    for name, drawn in pairs(given, names(given)):
        numbers = [k for k in NUMBERS if k < len(drawn[0][1])]
        ends = [reference_curves(*pair, numbers) for pair in drawn]
        alone, best = (np.array(side) for side in zip(*ends, strict=True))
        for method, curve in (("ClusterT", alone), ("not private", best)):
            yield from curves(curve, numbers, set=name, method=method)
        few = name in REAL
        for by in given.pick(("ε=3",), BUDGETS, PAPERS_BUDGETS if few else BUDGETS):
            for method in COMPARED:
                found = costs_of(name, by, method, drawn, numbers)
                keys = {"set": name, "by": by, "method": method}
                yield from curves(found, numbers, **keys)
                yield share(found, alone, best, **keys)
                shares = [100 * share_of_gap(*run) for run in zip(found, alone, best, strict=True)]
                yield row("worst share", min(shares), np.nan, len(drawn), **keys)


def share(found: np.ndarray, alone: np.ndarray, best: np.ndarray, **keys: Any) -> Row:
    """Return the share of the gap of all runs together, in per cent.

    Its error is that of a ratio of means. Shares of single runs would be far apart where a draw of
    the set has hardly any gap.
    """
    whole = share_of_gap(found, alone, best)
    gains, gaps = (alone - found).sum(axis=1), (alone - best).sum(axis=1)
    error = np.nan
    if len(gaps) > 1:
        error = (gains - whole * gaps).std(ddof=1) / (np.sqrt(len(gaps)) * abs(gaps.mean()))
    return row("share", 100 * whole, 100 * float(error), len(gaps), **keys)


def curves(found: np.ndarray, numbers: list[int], **keys: Any) -> Iterator[Row]:
    """Yield the cost at every number of centres, and its mean over them."""
    for at, values in zip(numbers, found.T, strict=True):
        yield spread("cost", values, at=at, **keys)
    yield spread("cost, mean of all k", found.mean(axis=1), **keys)


def nearest(given: Given) -> Iterator[Row]:
    """Figures 4 and 5: NAS with t = 75, 150 and 300."""
    for name, drawn in pairs(given, names(given)):
        numbers = [k for k in NUMBERS if k < len(drawn[0][1])]
        for by in given.pick(("ρ=3",), PAPERS_BUDGETS, PAPERS_BUDGETS):
            usual = costs_of(name, by, "NAS", drawn, numbers).mean(axis=1)
            keys = {"set": name, "by": by, "method": "NAS"}
            for at in (75, USUAL_T, 300):
                found = usual
                if at != USUAL_T:
                    order = private(*BUDGETS[by], method="nas", n_nearest=at)
                    found = measured(order, drawn, numbers).mean(axis=1)
                    yield spread(AGAINST_USUAL_T, found / usual, at=at, **keys)
                yield spread("cost", found, at=at, **keys)


def coresets(given: Given) -> Iterator[Row]:
    """C.3: NAS and NNA with both coresets and with none; how many sites each of them has."""
    for name, drawn in pairs(given, names(given)):
        numbers = [k for k in NUMBERS if k < len(drawn[0][1])]
        for method, make in (("halving", coreset), ("net", greedy_net)):
            sizes = [len(make(target, RADIUS)) for _, target in drawn]
            yield spread("sites", sizes, set=name, method=method)
        yield spread("sites", [len(target) for _, target in drawn], set=name, method="none")
        for by in given.pick(("ρ=3",), PAPERS_BUDGETS, PAPERS_BUDGETS):
            for method in ("nas", "nna"):
                keys = {"set": name, "by": by, "method": method.upper()}
                title = f"{method.upper()}, no coreset"
                without = costs_of(name, by, title, drawn, numbers).mean(axis=1)
                for at in ("halving", "net"):
                    title = f"{method.upper()}, {at}"
                    if title in contestants(*BUDGETS[by]):
                        found = costs_of(name, by, title, drawn, numbers).mean(axis=1)
                    else:
                        order = private(*BUDGETS[by], method=method, coreset=at)
                        found = measured(order, drawn, numbers).mean(axis=1)
                    yield spread("cost", found, at=at, **keys)
                    yield spread(AGAINST_NO_CORESET, found / without, at=at, **keys)
                yield spread("cost", without, at="none", **keys)


def rivals(given: Given) -> Iterator[Row]:
    """C.6: the baselines, with all targets and with a coreset of them in their place."""
    for name, drawn in pairs(given, given.pick(("digits 1→7",), SYNTHETIC, (*SYNTHETIC, *REAL))):
        fewest = min(len(coreset(target, RADIUS)) for _, target in drawn)
        numbers = [k for k in NUMBERS if k < fewest]  # more centres than sites cannot be compared
        if not numbers:
            continue
        ends = [reference_curves(*pair, numbers) for pair in drawn]
        alone, best = (np.array(side) for side in zip(*ends, strict=True))
        for by in given.pick(("ρ=3",), PAPERS_BUDGETS, PAPERS_BUDGETS):
            for method, make in {
                "ClusterT": targets_alone,
                "k-means of S, 100 centres": partial(kmeans_of_source, n_centres=100),
                "DPHD of S, 100 centres": partial(dphd_of_source, n_centres=100),
                "DP-WGAN of S, 100 draws": gan_of_source,
            }.items():
                if method.startswith("DP-WGAN") and by.startswith("ε"):
                    continue  # its accounting needs δ
                for at in ("none", "halving"):
                    order = make(*BUDGETS[by], radius=None if at == "none" else RADIUS)
                    found = measured(order, drawn, numbers)
                    keys = {"set": name, "by": by, "method": method, "at": at}
                    yield spread("cost", found.mean(axis=1), **keys)
                    yield share(found, alone, best, **keys)


def bounds(given: Given) -> Iterator[Row]:
    """Theorems 5.5, 5.10, 5.12 and Corollary B.1 beside the measured Diff(S, S') of NAS."""
    for name, drawn in pairs(given, given.pick(("digits 1→7",), SYNTHETIC, SYNTHETIC)):
        for at in given.pick((30,), (75, 150, 300), (75, 150, 300)):
            found: dict[tuple[str, str], list[float]] = {}
            for source, target in drawn:
                t = min(at, len(source))
                for (by, method), value in bounds_of(source, target, t).items():
                    found.setdefault((by, method), []).append(value)
            for (by, method), values in found.items():
                yield spread("Diff", values, set=name, by=by, method=method, at=at)
    for at in (0.1, 0.5, 1.0, 3.0):
        error, chance = lower_bound(10, epsilon=at)
        yield row("error that no choice avoids", error, 0, 1, set="Observation 4.2", at=at)
        yield row("how often at least", chance, 0, 1, set="Observation 4.2", at=at)


def bounds_of(source: np.ndarray, target: np.ndarray, t: int) -> dict[tuple[str, str], float]:
    """Return what the theorems allow and what is measured, by budget."""
    sites = target[greedy_net(target, RADIUS)]
    spread_of, d, n = source_spread(source, sites, t), target.shape[1], len(sites)
    found = {}
    for by, bound in {
        "ε=3": laplace_bound(spread_of, n, t, d, 3),
        "ρ=3": zcdp_bound(spread_of, n, t, d, 3),
        f"ε=3, δ={DELTA:g}": gaussian_bound(spread_of, n, t, d, 3, DELTA),
    }.items():
        found[by, "bound for the sites"] = bound
        found[by, "bound for all targets (B.1)"] = coreset_bound(bound, RADIUS)
        budget = Budget.of_rho(3, DELTA) if by == "ρ=3" else Budget(3, DELTA if "δ" in by else 0)
        model = SOURCE_TARGET.model(
            10, budget=budget, method="nas", n_nearest=t, coreset="net", coreset_radius=RADIUS
        ).fit(target, source=source)
        places = np.asarray(model.released_source_.positions)
        found[by, "measured"] = cost_difference(source, places, target)
    return found


def times(given: Given) -> Iterator[Row]:
    """C.7, Figures 177 to 200: CPU seconds of one fit, 20 centres, ε = 3."""
    sets = given.pick(("digits 1→7",), ("Synthetic 1", "digits 1→7"), names(given))
    runs = given.often(1, 2, 3)
    for name, drawn in pairs(given, sets, 1):
        timed = contestants(3, None) | {
            "ClusterT": targets_alone(3, None),
            "DP-WGAN of S, 100 draws, ρ = 3": gan_of_source(None, 3),
        }
        for method, order in timed.items():
            taken = [seconds(partial(order, *drawn[0], 20, run))[1] for run in range(runs)]
            yield spread("seconds", taken, set=name, method=method)


def solver(given: Given) -> Iterator[Row]:
    """AkM and our solver on the same targets: CPU seconds and cost."""
    numbers, per_clump = given.pick((3,), (10, 50), (10, 50, 200)), given.pick(5, 583, 583)
    for k, *found in solved(numbers, per_clump):
        for method, (taken, cost) in zip(("AkM", "ours"), found, strict=True):
            keys = {"set": f"{12 * per_clump} targets", "method": method, "at": k}
            yield row("seconds", taken, np.nan, 1, **keys)
            yield row("cost", cost, np.nan, 1, **keys)


def adaptation(given: Given) -> Iterator[Row]:
    """The story behind the paper: label k chosen targets, train on them and S, test on the rest.

    The source has images of the digits 0 to 4, turned by a quarter; the target has all digits
    upright. Whoever labels may look at k targets, and S is labelled already.
    """
    images, labels = load_digits(return_X_y=True)
    turned = np.rot90(images.reshape(-1, 8, 8), axes=(1, 2)).reshape(len(images), -1)
    runs = given.often(1, 5, 30)
    found: dict[tuple[str, int], list[float]] = {}
    for run in range(runs):
        rng = np.random.default_rng(given.seed + run)
        mixed = rng.permutation(len(images))
        own, rest = mixed[: len(mixed) // 2], mixed[len(mixed) // 2 :]
        few = own[labels[own] < 5]
        upright = rng.random(len(few)) < 0.5
        known = np.where(upright[:, None], images[few], turned[few])
        source, target = scale_pair(project_pair((known, images[rest]), run))
        numbers = given.pick((10,), (10, 20, 50), (10, 20, 50, 100))
        most = max(numbers)
        orders = {
            "ClusterT": SourceTargetMedoids(most).fit(target).order_,
            "not private": SourceTargetMedoids(most).fit(target, source=source).order_,
            "rings, ε = 1": private(1, None)(source, target, most, run),
            "NNA, ε = 1": private(1, None, method="nna")(source, target, most, run),
            "random": rng.choice(len(target), most, replace=False),
        }
        for k in numbers:  # one order, and one release, serves all numbers
            for method, order in orders.items():
                chosen = np.asarray(order)[:k]
                train = np.concatenate([source, target[chosen]])
                answers = np.concatenate([labels[few], labels[rest][chosen]])
                left = np.setdiff1d(np.arange(len(target)), chosen)
                knn = KNeighborsClassifier(1).fit(train, answers)
                score = float(knn.score(target[left], labels[rest][left]))
                found.setdefault((method, k), []).append(score)
    for (method, at), values in found.items():
        yield spread("accuracy", values, set="digits", method=method, at=at)
