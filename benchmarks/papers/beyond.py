"""Beyond the papers, each in its own line: the same promise, the same ε, beside what is published.

``by`` says whether a set was looked at when the rules were chosen. Nothing else was tuned.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from dilca import Fits, fits_of, tables
from given import Given, Row, spread
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from targets import RADIUS, USUAL_T, names, pairs
from tau import matrices

from privclust.papers.datasets.matrices import MatrixSet
from privclust.papers.metrics import distance_l1, distance_pearson
from privclust.papers.targets.published import source_spread
from privclust.papers.targets.theory import coreset_bound, laplace_bound, zcdp_bound
from privclust.papers.tau import PrivateTauCoclustering
from privclust.source_target.placement import greedy_net
from privclust.source_target.task import SOURCE_TARGET
from source_target_methods import BUDGETS, budget_of

CHOSEN_ON = {
    *("cstr", "classic3", "tr11", *(f"drawn {n}" for n in range(1, 6))),  # DP-τCC
    *("wine", "cmc", "mushroom", "soybean", "nltcs"),  # DP-DILCA
    *("Synthetic 1", "Synthetic 2", "Synthetic 3", "cities"),  # the bound
    *("mnist_pairs:digit7:digit1", "superconductivity:l:ml"),
}
SOME_REAL = (
    *("mnist_pairs:digit7:digit1", "superconductivity:l:ml"),
    *("mnist_pairs:digit5:digit2", "superconductivity:h:mh", "office_surf:amazon:webcam"),
)


def seen(name: str) -> str:
    """Return whether the rules were chosen with a look at a set."""
    return "chosen on it" if name in CHOSEN_ON else "held out"


# Drawn matrices on which the rules were chosen: rows, columns, classes, counts of a row, and how
# unlike the classes are; the smaller, the more.
DRAWN = (
    *((1500, 60, 10, 300, 0.5), (1500, 60, 4, 300, 0.5), (1000, 300, 8, 100, 0.2)),
    *((2000, 1000, 12, 60, 0.1), (2000, 40, 6, 40, 0.5)),
)


def drawn_matrices(given: Given) -> Iterator[MatrixSet]:
    """Yield matrices whose rows draw counts from the columns of their class, and of all classes."""
    for seed, (n_rows, n_columns, k, counts, unlike) in enumerate(DRAWN, start=1):
        name = f"drawn {seed}"
        if given.sets and name not in given.sets:
            continue
        rng = np.random.default_rng(seed)
        of_class = rng.dirichlet(np.full(n_columns, unlike), k)
        classes = rng.integers(k, size=n_rows)
        chances = 0.7 * of_class[classes] + 0.3 * of_class.mean(axis=0)
        table = rng.multinomial(rng.poisson(counts, n_rows), chances)
        yield MatrixSet(name, sparse.csr_array(table), classes)


def found_sizes(given: Given) -> Iterator[Row]:
    """DP-τCC with the true numbers of clusters, with a guess, and with numbers of its own."""
    runs = given.often(1, 3, 30)
    drawn = given.pick((), (), drawn_matrices(given))
    for data in chain(matrices(given), drawn):
        k = data.n_classes
        for at in given.pick((1.0,), (0.5, 3.0), (0.3, 0.5, 1.0, 2.0, 3.0)):
            auto = {"n_row_clusters": "auto", "n_column_clusters": "auto", "epsilon": at}
            letter = {"epsilon": at, "n_rounds": 4, "noise": "published"}
            for method, model in {
                "the paper, K and L given": PrivateTauCoclustering(k, k, **letter),
                "the paper, K = L = 5": PrivateTauCoclustering(5, 5, **letter),
                "repaired, K and L given": PrivateTauCoclustering(k, k, epsilon=at, n_rounds=4),
                "K, L and I found": PrivateTauCoclustering(**auto),
                "K, L, I and h found": PrivateTauCoclustering(**auto, choice_share="auto"),
            }.items():
                keys = {"set": data.name, "by": seen(data.name), "method": method, "at": at}
                labels = [model.fit(data.counts).predict(data.counts) for _ in range(runs)]
                for measure, score in (
                    ("nmi", normalized_mutual_info_score),
                    ("ari", adjusted_rand_score),
                ):
                    yield spread(measure, [score(data.classes, one) for one in labels], **keys)
                yield spread("row clusters", [len(np.unique(one)) for one in labels], **keys)


CONTEXTS: dict[str, tuple[str, int | str]] = {
    "max-relevance, 3": ("max-relevance", 3),
    "max-relevance, size chosen": ("max-relevance", "auto"),
    "max-dependency, 3": ("max-dependency", 3),
    "max-dependency, size chosen": ("max-dependency", "auto"),
    "greedy-dependency, 3": ("greedy-dependency", 3),
}


def chosen_contexts(given: Given) -> Iterator[Row]:
    """DP-DILCA with contexts of three, of a chosen size, and grown greedily; ε for each target.

    All are compared with the exact metric of the paper: contexts of three by the same rule.
    """
    for data in tables(given):
        fits: Fits = fits_of(data, per_target=True)
        for at in given.pick((1.0,), (0.5, 2.5), (0.1, 0.5, 1.0, 2.5)):
            for method, (rule, size) in CONTEXTS.items():
                exact = fits.exact(rule.replace("greedy", "max"))
                models = [fits(rule, at, 0, size) for _ in range(given.often(1, 2, 30))]
                keys = {"set": data.name, "by": seen(data.name), "method": method, "at": at}
                for measure, score in (("Pearson", distance_pearson), ("L1", distance_l1)):
                    yield spread(measure, [score(model, exact) for model in models], **keys)
                mean = [np.mean([len(c) for c in model.contexts_.values()]) for model in models]
                yield spread("attributes in a context", mean, **keys)


# What the paper's theorems promise by themselves.
THEOREM = "promised by the theorem alone"
# What NAS and NNA pay for their bound, and how many centres are chosen.
BOUND_SHARE, CENTRES = 0.2, 20


def certified(given: Given) -> Iterator[Row]:
    """Costs that a fit can promise, for all but one run of twenty, beside the true ones.

    Without any bound a fit promises what its centres serve by themselves. The theorems bound how
    much the noise of NAS changes a cost; Δ_t(S) in them is exact here, which favours them.
    """
    few = ("Synthetic 2", "digits 1→7")
    sets = given.pick(("digits 1→7",), few, (*names(Given("small")), "cities", *SOME_REAL))
    for name, drawn in pairs(given, tuple(sets), given.often(1, 2, 10)):
        for by in given.pick(("ε=3",), ("ε=1", "ε=3"), ("ε=1", "ε=3", "ρ=3")):
            found: dict[tuple[str, str], list[float]] = {}
            for source, target in drawn:
                for key, value in promised(source, target, by).items():
                    found.setdefault(key, []).append(value)
            for (method, measure), values in found.items():
                keys = {"set": name, "by": f"{by}, {seen(name)}", "method": method}
                yield spread(measure, values, **keys)


def promised(source: np.ndarray, target: np.ndarray, by: str) -> dict[tuple[str, str], float]:
    """Return what each method promises, its true cost, and whether the promise was kept."""
    budget, found = budget_of(*BUDGETS[by]), {}
    k = min(CENTRES, len(target) - 1)
    for method, given in {
        "rings": {},
        "NNA": {"method": "nna", "bound_share": BOUND_SHARE},
        "NAS": {"method": "nas", "coreset": "net", "coreset_radius": RADIUS},
    }.items():
        model = SOURCE_TARGET.model(k, **budget, **given).fit(target, source=source)
        alone = cdist(target, model.centers_).min(axis=1)
        cost = float(np.minimum(alone, cdist(target, source).min(axis=1)).mean())
        bound = model.cost_bound_
        if bound is None:
            papers = model.cost_estimate_ + theorem(source, target, by)
            found[method, THEOREM] = papers
            bound = min(papers, alone.mean())
        found |= {
            (method, "promised"): float(bound),
            (method, "true"): cost,
            (method, "its centres alone"): float(alone.mean()),
            (method, "kept"): float(cost <= bound + 1e-9),
        }
    return found


def theorem(source: np.ndarray, target: np.ndarray, by: str) -> float:
    """Return the bound of Theorem 5.10 or 5.12 with Corollary B.1, in the lengths of the set."""
    sites = target[greedy_net(target, 2 * RADIUS * _radius(target))]
    diameter = 2 * _radius(target)
    t = min(USUAL_T, len(source))
    spread_of = source_spread(source / diameter, sites / diameter, t)
    numbers: Any = (spread_of, len(sites), t, target.shape[1], 3 if by != "ε=1" else 1)
    bound = zcdp_bound(*numbers) if by.startswith("ρ") else laplace_bound(*numbers)
    return diameter * coreset_bound(bound, RADIUS)


def _radius(target: np.ndarray) -> float:
    return float(np.linalg.norm(target - target.mean(axis=0), axis=1).max())
