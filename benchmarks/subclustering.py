"""k-means with convergent zones: the published figures, the attacks on them, and the repair.

``python benchmarks/subclustering.py gaps [--figures docs/figures]`` draws the papers' CostGap by ε
and internal_k; ``readings`` varies what the papers leave open; ``attack [zone start size published
repaired]`` counts the events that betray a row; ``compare [SET ...]`` puts the private algorithms
beside the published ones; ``ablation [SET ...]`` takes parts of the repair away. Each prints tables
in Markdown. Bounds are the ranges of these public data sets.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from privclust import PrivateKMeans
from privclust.clustering.weighted_kmeans import spread_out_centres
from privclust.exceptions import NotPrivateWarning
from privclust.papers.datasets.points import clumps
from privclust.papers.metrics import cost_gap
from privclust.papers.zones.private import PrivateZoneKMeans
from privclust.papers.zones.published import KMeansGuarantee, SubclusterGuarantee
from subclustering_attacks import attacked
from subclustering_figures import draw_gaps, draw_ratios

PAPER = {"iris": 1.1, "wine": 4.13, "breast cancer": 2.83, "digits": 1.0}
LOADERS = {
    "iris": (load_iris, 3),
    "wine": (load_wine, 3),
    "breast cancer": (load_breast_cancer, 2),
    "digits": (load_digits, 10),
}
INTERNAL_K = 2, 3, 4, 5
GAP_EPSILONS = 0.1, 0.25, 0.5, 1.0, 2.0
READING_EPSILONS = 0.1, 0.5, 2.0
# What the papers leave open: the scale of the rows, the number of iterations, the scale of the last
# noise, the radius of the baseline's sampling zone, and what happens when a zone is empty.
READINGS = (
    ("raw", "unit", "standard"),
    (5, 20),
    ("range", "unit"),
    (0.25, 0.5, 0.75),
    ("keep", "mean"),
)
EPSILONS = 0.5, 1.0, 2.0, 5.0
DELTA = 1e-6
# Variants of the repair: how far out candidates lie (None: as it is), and parameters.
VARIANTS: dict[str, tuple[float | None, dict[str, float]]] = {
    "as it is": (None, {}),
    "candidates all at M": (0.0, {}),
    "hardly any budget for the choice": (None, {"choice_share": 0.001}),
    "both: plain noisy Lloyd steps": (0.0, {"choice_share": 0.001}),
    "half of the budget for the last step": (None, {"last_share": 0.5}),
}

# Sub-clusters of a finer partition than the usual four candidates.
SUBCLUSTERS = {"internal_k": 4, "n_candidates": 16}

Fit = Callable[[int], np.ndarray]


def main() -> None:
    """Run the chosen part."""
    options = arguments()
    warnings.simplefilter("ignore", NotPrivateWarning)
    PARTS[options.part](options)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--runs", type=int, default=None)
    parser.add_argument("--figures", type=Path, default=None)
    return parser.parse_args()


@cache
def rows_of(name: str, scaling: str = "unit") -> tuple[np.ndarray, int]:
    """Return rows and the number of clusters: raw, standardised, or within the unit box."""
    if name == "1e5_5_10":
        rows, n_clusters = clumps(10**5, 5, 10), 10
    else:
        load, n_clusters = LOADERS[name]
        rows = load().data
    if scaling == "standard":
        spread = rows.std(axis=0)
        return (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1), n_clusters
    if scaling == "unit":
        width = np.ptp(rows, axis=0)
        return (rows - rows.min(axis=0)) / np.where(width > 0, width, 1), n_clusters
    return rows, n_clusters


@cache
def without_privacy(name: str, scaling: str) -> np.ndarray:
    rows, n_clusters = rows_of(name, scaling)
    return KMeans(n_clusters, n_init=10, random_state=0).fit(rows).cluster_centers_


def gaps_of(name: str, fit: Fit, runs: int, scaling: str = "unit") -> list[float]:
    rows, baseline = rows_of(name, scaling)[0], without_privacy(name, scaling)
    return [cost_gap(rows, fit(seed), baseline) for seed in range(runs)]


def with_error(found: Sequence[float]) -> str:
    """Return the mean and its standard error."""
    return f"{np.mean(found):.2f} ± {np.std(found, ddof=1) / np.sqrt(len(found)):.2f}"


def published(kind: type, name: str, scaling: str, **parameters: object) -> Fit:
    rows, n_clusters = rows_of(name, scaling)

    def fit(seed: int) -> np.ndarray:
        return kind(n_clusters, random_state=seed, **parameters).fit(rows).cluster_centers_

    return fit


# (a) The papers' figures.
def gaps(options: argparse.Namespace) -> None:
    """Print and draw CostGap of both published algorithms, by ε and internal_k, on raw rows."""
    tables = {name: gap_tables(name, options.runs) for name in options.sets or LOADERS}
    heads = ["data", *next(iter(tables.values())), "ratio found", "paper"]
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for name, by_method in tables.items():
        baseline, *ours = (float(table.mean()) for table in by_method.values())
        cells = [with_error(table.mean(axis=0)) for table in by_method.values()]
        cells += [f"{baseline / min(ours):.2f}", f"{PAPER[name]:g}"]
        print(f"| {name} | " + " | ".join(cells) + " |")
    if options.figures:
        curves = {
            name: {title: table.mean(axis=1) for title, table in by_method.items()}
            for name, by_method in tables.items()
        }
        draw_gaps(curves, GAP_EPSILONS, options.figures)


def gap_tables(name: str, runs: int | None) -> dict[str, np.ndarray]:
    """Return the gaps by ε and run; the paper had 30 runs, too few for tails as heavy as these."""
    runs = runs or (20 if name == "digits" else 300)
    methods = {"KMeansGuarantee": (KMeansGuarantee, {})}
    for internal_k in INTERNAL_K:
        methods[f"internal_k = {internal_k}"] = (SubclusterGuarantee, {"internal_k": internal_k})
    return {
        title: np.array(
            [
                gaps_of(name, published(kind, name, "raw", epsilon=epsilon, **own), runs, "raw")
                for epsilon in GAP_EPSILONS
            ]
        )
        for title, (kind, own) in methods.items()
    }


def readings(options: argparse.Namespace) -> None:
    """Print the ratio of the baseline's gap to ours under other readings of the papers."""
    names = options.sets or list(LOADERS)
    print("| rows | iterations | Laplace | radius | empty zone | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 5) + "|")
    found = {
        name: list(reading_ratios(name, options.runs or (5 if name == "digits" else 30)))
        for name in names
    }
    for at_one in zip(*found.values(), strict=True):
        cells = [*map(str, at_one[0][0]), *(f"{ratio:.2f}" for _, ratio in at_one)]
        print("| " + " | ".join(cells) + " |")
    ratios = {name: [ratio for _, ratio in own] for name, own in found.items()}
    for name, own in ratios.items():
        least, median, most = np.quantile(own, [0, 0.5, 1])
        below = sum(ratio < 1 for ratio in own)
        summary = f"{name}: {least:.2f} to {most:.2f}, median {median:.2f}, {below} below 1"
        print(f"{summary}, of {len(own)}; the paper {PAPER[name]:g}")
    if options.figures:
        draw_ratios(ratios, PAPER, options.figures)


def reading_ratios(name: str, runs: int) -> Iterator[tuple[tuple[object, ...], float]]:
    """Yield each reading of what the papers leave open, with the ratio of the two gaps."""
    for reading in itertools.product(*READINGS):
        scaling, n_iter, laplace, radius_share, empty_zone = reading
        shared = {"n_iter": n_iter, "laplace_scale": laplace}
        baseline = reading_gap(KMeansGuarantee, name, scaling, runs, radius_share, **shared)
        ours = reading_gap(SubclusterGuarantee, name, scaling, runs, empty_zone, **shared)
        yield reading, baseline / ours


@cache
def reading_gap(
    kind: type, name: str, scaling: str, runs: int, own: float | str, **shared: object
) -> float:
    """Return the mean gap over three ε; what is not read by an algorithm is not run again."""
    title = "radius_share" if kind is KMeansGuarantee else "empty_zone"
    fits = [
        published(kind, name, scaling, epsilon=epsilon, **{title: own}, **shared)
        for epsilon in READING_EPSILONS
    ]
    return float(np.mean([gaps_of(name, fit, runs, scaling) for fit in fits]))


# (b) The attacks.
def attack(options: argparse.Namespace) -> None:
    """Count events, named before the runs, on two neighbouring data sets."""
    heads = ["algorithm", "neighbours", "event", "claimed ε", "share of the last noise"]
    heads += ["hits D / D'", "audited ε ≥ (95 %)"]
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for cells in attacked(options.sets, options.runs):
        print("| " + " | ".join(cells) + " |", flush=True)


# (c) The private algorithms.
def compare(options: argparse.Namespace) -> None:
    """Print mean CostGap ± standard error at the same ε, published algorithms included."""
    for name in options.sets or [*LOADERS, "1e5_5_10"]:
        methods = contestants(name)
        print(
            f"\n{name}\n\n| ε | " + " | ".join(methods) + " |\n" + "|---" * (len(methods) + 1) + "|"
        )
        runs = options.runs or (10 if name == "1e5_5_10" else 20)
        for epsilon in EPSILONS:
            cells = [with_error(gaps_of(name, make(epsilon), runs)) for make in methods.values()]
            print(f"| {epsilon:g} | " + " | ".join(cells) + " |", flush=True)


def contestants(name: str) -> dict[str, Callable[[float], Fit]]:
    rows, n_clusters = rows_of(name)

    def private(kind: type, delta: float, **own: object) -> Callable[[float], Fit]:
        def at(epsilon: float) -> Fit:
            model = kind(n_clusters, epsilon=epsilon, delta=delta, bounds=(0, 1), **own)
            return lambda seed: model.fit(rows).cluster_centers_

        return at

    def unseen(epsilon: float) -> Fit:
        low, high = np.zeros(rows.shape[1]), np.ones(rows.shape[1])
        return lambda seed: spread_out_centres(n_clusters, low, high, np.random.default_rng(seed))

    lloyd = {"method": "lloyd"}
    return {
        "no data": unseen,
        "KMeansGuarantee": lambda e: published(KMeansGuarantee, name, "unit", epsilon=e),
        "SubclusterGuarantee": lambda e: published(SubclusterGuarantee, name, "unit", epsilon=e),
        "DPLloyd": private(PrivateKMeans, 0, **lloyd),
        "PrivateZoneKMeans": private(PrivateZoneKMeans, 0),
        "PrivateZoneKMeans, internal_k = 4": private(PrivateZoneKMeans, 0, **SUBCLUSTERS),
        "PrivateKMeans": private(PrivateKMeans, 0),
        "DPLloyd δ": private(PrivateKMeans, DELTA, **lloyd),
        "PrivateZoneKMeans δ": private(PrivateZoneKMeans, DELTA),
        "PrivateZoneKMeans, internal_k = 4, δ": private(PrivateZoneKMeans, DELTA, **SUBCLUSTERS),
        "PrivateKMeans δ": private(PrivateKMeans, DELTA),
    }


def ablation(options: argparse.Namespace) -> None:
    """Print mean CostGap ± standard error of the repair at ε = 1 and 5, with other constants."""
    names = options.sets or ["iris", "wine", "breast cancer"]
    columns = list(itertools.product(names, (1.0, 5.0)))
    print("| variant | " + " | ".join(f"{name}, ε = {e:g}" for name, e in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for title in VARIANTS:
        found = [variant_gaps(*column, title, options.runs or 30) for column in columns]
        print(f"| {title} | " + " | ".join(map(with_error, found)) + " |", flush=True)


def variant_gaps(name: str, epsilon: float, title: str, runs: int) -> list[float]:
    """Return the gaps of the repair with other constants."""
    rows, n_clusters = rows_of(name)
    reach, parameters = VARIANTS[title]
    model = PrivateZoneKMeans(n_clusters, epsilon=epsilon, bounds=(0, 1), **parameters)
    with (
        patch("privclust.papers.zones.private._REACH", reach)
        if reach is not None
        else nullcontext()
    ):
        return gaps_of(name, lambda seed: model.fit(rows).cluster_centers_, runs)


PARTS = {
    "gaps": gaps,
    "readings": readings,
    "attack": attack,
    "compare": compare,
    "ablation": ablation,
}

if __name__ == "__main__":
    main()
