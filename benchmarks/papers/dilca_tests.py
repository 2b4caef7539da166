"""The statistical tests of DP-DILCA (4.3 and A.4): chance, growth with ε, order of variants.

Algorithms 4 and 5 have the paper's noise here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from dilca import EPSILONS, LETTER_OF, VARIANTS, fits_of, tables
from given import Given, Row, row
from scipy.stats import friedmanchisquare, mannwhitneyu, norm, rankdata, studentized_range

ALPHA = 0.01
TESTED = VARIANTS[1:]

# Of one set, target, variant and ε: the runs, and as many of a random choice.
Found = dict[tuple[str, str, str, float], tuple[list[float], list[float]]]


def tests(given: Given) -> Iterator[Row]:
    """Figure 9, Tables 3 to 5, and the tests of Friedman and Nemenyi."""
    epsilons = given.pick((0.5, 1.0, 2.5), (0.1, 0.5, 2.5), EPSILONS)
    runs = given.often(3, 10, 30)
    found = scored(given, epsilons, runs)
    if not found["F"]:  # no set is there
        return
    for measure, scores in found.items():
        yield from against_chance(measure, scores, runs)
        yield from trends(measure, scores, epsilons, runs)
    yield from orders(found["Pearson"], runs)


def scored(given: Given, epsilons: tuple[float, ...], runs: int) -> dict[str, Found]:
    """Return F of the contexts and Pearson of the distances, target by target, ε for each."""
    rng = np.random.default_rng(given.seed)
    found: dict[str, Found] = {"F": {}, "Pearson": {}}
    for data in tables(given):
        names = list(data.schema)
        fits = fits_of(data, per_target=True)
        for variant in TESTED:
            exact = fits.exact(variant)
            for target in names[: given.pick(3, None, None)]:
                others = [name for name in names if name != target]
                right = set(exact.contexts_[target])
                chance = [f_score(drawn(others, variant, rng), right) for _ in range(runs)]
                true = upper(exact.metric_[target].distances())
                for epsilon in epsilons:
                    letter = LETTER_OF.get(variant, variant)
                    models = fits.many(letter, epsilon, runs=runs)
                    key = (data.name, target, variant, epsilon)
                    alone = fits.many(letter, epsilon, runs=runs, contexts=True)
                    contexts = [f_score(set(m.contexts_[target]), right) for m in alone]
                    found["F"][key] = contexts, chance
                    if len(true) > 1 and true.std() > 0:
                        near = [pearson(upper(m.metric_[target].distances()), true) for m in models]
                        random = [pearson(rng.random(len(true)), true) for _ in range(runs)]
                        found["Pearson"][key] = near, random
    return found


def drawn(others: list[str], variant: str, rng: np.random.Generator) -> set[str]:
    """Return a random context: of three, or with mean-su of any size."""
    if variant != "mean-su":
        return set(rng.choice(others, 3, replace=False))
    while True:
        kept = rng.random(len(others)) < 0.5
        if kept.any():
            return {name for name, here in zip(others, kept, strict=True) if here}


def f_score(found: set[str], right: set[str]) -> float:
    """Return the harmonic mean of precision and recall."""
    return 2 * len(found & right) / (len(found) + len(right))


def upper(distances: np.ndarray) -> np.ndarray:
    """Return what is above the diagonal."""
    return distances[np.triu_indices(len(distances), 1)]


def pearson(found: np.ndarray, true: np.ndarray) -> float:
    """Return the correlation; that of a constant is 0."""
    return float(np.corrcoef(found, true)[0, 1]) if found.std() > 0 else 0.0


def against_chance(measure: str, scores: Found, runs: int) -> Iterator[Row]:
    """Mann-Whitney of every target against random choices, at a false discovery rate of 1 %."""
    values = {key: one_sided(*both) for key, both in scores.items()}
    limit = discovery_limit(list(values.values()))
    sets, epsilons = (list(dict.fromkeys(key[i] for key in values)) for i in (0, 3))
    for name in sets:
        for at in epsilons:
            own = {k: p for k, p in values.items() if (k[0], k[3]) == (name, at)}
            keys = {"set": name, "at": at}
            yield row(f"{measure}: largest p", max(own.values()), np.nan, runs, **keys)
            for variant in TESTED:
                some = [p for key, p in own.items() if key[2] == variant]
                keys["method"] = variant
                better = sum(p <= limit for p in some)
                yield row(f"{measure}: targets beyond chance", better, np.nan, runs, **keys)
                yield row(f"{measure}: targets", len(some), np.nan, runs, **keys)


def one_sided(found: list[float], chance: list[float]) -> float:
    """Return the p-value of "no better than chance"."""
    if np.ptp([*found, *chance]) == 0:
        return 1.0
    return float(mannwhitneyu(found, chance, alternative="greater").pvalue)


def discovery_limit(values: list[float]) -> float:
    """Return the largest p-value that Benjamini and Hochberg let pass; 0 if there is none."""
    ordered = np.sort(values)
    passing = ordered[ordered <= ALPHA * np.arange(1, len(ordered) + 1) / len(ordered)]
    return float(passing.max()) if len(passing) else 0.0


def trends(measure: str, scores: Found, epsilons: tuple[float, ...], runs: int) -> Iterator[Row]:
    """Page's test of a growth with ε, for each variant over all sets and targets."""
    for variant in TESTED:
        targets = list(dict.fromkeys(key[:2] for key in scores if key[2] == variant))
        means = [[np.mean(scores[(*t, variant, e)][0]) for e in epsilons] for t in targets]
        n, k = len(means), len(epsilons)
        ranks = np.array([rankdata(line) for line in means])
        statistic = float((ranks.sum(axis=0) * np.arange(1, k + 1)).sum())
        deviation = math.sqrt(n * k**2 * (k + 1) * (k**2 - 1) / 144)
        z = (statistic - n * k * (k + 1) ** 2 / 4) / deviation
        keys = {"set": "all", "method": variant}
        yield row(f"{measure}: Page, z squared", z**2, np.nan, runs, **keys)
        yield row(f"{measure}: Page, p", float(norm.sf(z)), np.nan, runs, **keys)


def orders(scores: Found, runs: int) -> Iterator[Row]:
    """Friedman's test of equal variants, mean ranks, and Nemenyi's critical difference."""
    blocks = list(dict.fromkeys((*key[:2], key[3]) for key in scores))
    means = np.array(
        [[np.mean(scores[s, t, variant, e][0]) for variant in TESTED] for s, t, e in blocks]
    )
    k, n = len(TESTED), len(blocks)
    test = friedmanchisquare(*means.T)
    unit = math.sqrt(k * (k + 1) / (6 * n))
    ranks = rankdata(-means, axis=1).mean(axis=0)
    yield row("Friedman, Q", float(test.statistic), np.nan, runs, set="all")
    yield row("Friedman, p", float(test.pvalue), np.nan, runs, set="all")
    critical = float(studentized_range.ppf(1 - ALPHA, k, np.inf)) / math.sqrt(2) * unit
    yield row("critical difference", critical, np.nan, runs, set="all")
    for variant, rank in zip(TESTED, ranks, strict=True):
        yield row("mean rank", float(rank), np.nan, runs, set="all", method=variant)
    for one, other in combinations(range(k), 2):
        apart = abs(ranks[one] - ranks[other])
        keys = {"set": "all", "method": TESTED[one], "at": TESTED[other]}
        p = float(studentized_range.sf(apart / unit * math.sqrt(2), k, np.inf))
        yield row("ranks apart", float(apart), np.nan, runs, **keys)
        yield row("Nemenyi, p", p, np.nan, runs, **keys)
