"""The figures of Joshi and Thakkar (2022) and of Lu and Shen (2021): k-means with zones."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
from given import Given, Row, row, spread

import subclustering as runs_of
from privclust.papers.zones.published import KMeansGuarantee, SubclusterGuarantee
from subclustering_attacks import ATTACKS, bound_of

KINDS = {"KMeansGuarantee": KMeansGuarantee, "SubclusterGuarantee": SubclusterGuarantee}
# Iterations after which a run that still moves is called not convergent, and those of the plot.
MOST_ITERATIONS, DRAWN = 300, 61


def names(given: Given) -> list[str]:
    """Return the four sets of the paper; digits are dear and left out of the small settings."""
    sets = given.pick(["iris"], ["iris", "wine", "breast cancer"], [*runs_of.LOADERS])
    return given.among(sets)


def of_set(name: str, given: Given) -> int:
    """Return how often a set is run: digits less often, as in the paper."""
    return given.few if name == "digits" else given.runs


def gap_runs(name: str, given: Given) -> int:
    """Return how often: the paper had 30 runs, 10 of digits: too few for such tails.

    On iris a hundred left a claim undecided, so that it was run again with more.
    """
    often = {"iris": 300, "digits": 10}.get(name, 100)
    return given.pick(2, 10, often) if name != "digits" else given.pick(1, 2, often)


def reading_runs(name: str, given: Given) -> int:
    """Return how often each reading is run, at every ε: digits are dear."""
    return given.pick(1, 2, 2) if name == "digits" else given.few


def gaps(given: Given) -> Iterator[Row]:
    """Figures 3 and 4: CostGap of both published algorithms by ε and internal_k, on raw rows."""
    epsilons = given.pick((1.0,), runs_of.GAP_EPSILONS, runs_of.GAP_EPSILONS)
    for name in names(given):
        with patch.object(runs_of, "GAP_EPSILONS", epsilons):
            tables = runs_of.gap_tables(name, gap_runs(name, given))
        for method, table in tables.items():
            for at, values in zip(epsilons, table, strict=True):
                yield spread("CostGap", values, set=name, method=method, at=at)
            yield spread("CostGap, mean of all ε", table.mean(axis=0), set=name, method=method)


def convergence(given: Given) -> Iterator[Row]:
    """The title's claim: how many iterations, whether they rest, and the cost by iteration."""
    for name in names(given):
        rows, k = runs_of.rows_of(name, "raw")
        best = float(
            ((rows[:, None] - runs_of.without_privacy(name, "raw")) ** 2).sum(2).min(1).sum()
        )
        for method, kind in KINDS.items():
            fits = [
                kind(k, epsilon=1.0, n_iter=MOST_ITERATIONS, random_state=seed).fit(rows)
                for seed in range(of_set(name, given))
            ]
            keys = {"set": name, "method": method}
            numbers = [fit.n_iter_ for fit in fits]
            yield spread("iterations", numbers, **keys)
            yield row("iterations, median", float(np.median(numbers)), np.nan, len(fits), **keys)
            yield spread("rests", [fit.converged_ for fit in fits], **keys)
            for at in (*range(11), *range(15, DRAWN, 5)):
                costs = [fit.cost_history_[min(at, fit.n_iter_)] / best for fit in fits]
                yield spread("cost / cost of Lloyd", costs, at=at, **keys)


def readings(given: Given) -> Iterator[Row]:
    """What the text leaves open: the ratio of the two CostGaps under 72 readings."""
    with patch.object(runs_of, "READING_EPSILONS", given.pick((1.0,), (0.5,), (0.1, 0.5, 2.0))):
        for name in names(given):
            runs = reading_runs(name, given)
            ratios = [ratio for _, ratio in runs_of.reading_ratios(name, runs)]
            for at, share in (("least", 0), ("median", 0.5), ("most", 1)):
                value = float(np.quantile(ratios, share))
                yield row("ratio", value, np.nan, runs, set=name, at=at)
            below = sum(ratio < 1 for ratio in ratios)
            yield row("readings below 1", below, np.nan, runs, set=name)
            yield row("readings", len(ratios), np.nan, runs, set=name)


def attack(given: Given) -> Iterator[Row]:
    """Events that betray a row, counted on two neighbours, and the ε that they refute."""
    for part in given.among(ATTACKS):
        for number, attacked in enumerate(ATTACKS[part]):
            trials = given.pick(4, min(100, attacked.runs), min(500, attacked.runs))
            for claim in attacked.claims:
                on_d, on_neighbour, bound = bound_of(attacked, claim, trials)
                keys = {"set": f"{part} {number + 1}", "at": claim, "by": attacked.neighbours}
                keys |= {"method": attacked.kind.__name__}
                yield row("hits on D", on_d, np.nan, trials, **keys)
                yield row("hits on D'", on_neighbour, np.nan, trials, **keys)
                yield row("audited ε", bound, np.nan, trials, **keys)


def compare(given: Given) -> Iterator[Row]:
    """The private algorithms beside the published ones, in the unit box."""
    extra = given.pick([], [], ["1e5_5_10"])
    for name in [*names(given), *given.among(extra)]:
        runs = given.few if name in ("digits", "1e5_5_10") else given.often(2, 5, 30)
        for at in given.pick((1.0,), (0.5, 2.0), runs_of.EPSILONS):
            for method, make in runs_of.contestants(name).items():
                found = runs_of.gaps_of(name, make(at), runs)
                yield spread("CostGap", found, set=name, method=method, at=at)


def ablation(given: Given) -> Iterator[Row]:
    """The repair with parts of it taken away."""
    for name in [name for name in names(given) if name != "digits"]:
        for at in (1.0, 5.0):
            for method in runs_of.VARIANTS:
                found = runs_of.variant_gaps(name, at, method, given.runs)
                yield spread("CostGap", found, set=name, method=method, at=at)
