"""The tables of the papers' pages, by the names of their markers."""

from __future__ import annotations

from collections.abc import Callable

from beside import BESIDE, beside
from pivoting import Rows, pivot, table_of
from special import (
    attacks,
    beside_times,
    beyond_chance,
    bound_lines,
    dilca_seconds,
    example_chances,
    gains,
    gap_ratios,
    largest_p,
    leaked,
    per_target_published,
    promises,
    settings,
    shares,
    test_statistics,
    with_published,
)

__all__ = ["TABLES"]

BY_EPSILON = {"head": "ε = "}
TABLES: dict[str, Callable[[Rows], str]] = {
    "papers-settings": settings,
    **{f"{paper}-settings": beside(paper) for paper in BESIDE},
    "tau-leakage": table_of("tau-leakage", leaked),
    "tau-nmi": table_of("tau-epsilon", with_published("NMI"), measure="nmi"),
    "tau-ari": table_of("tau-epsilon", with_published("ARI"), measure="ari"),
    "tau-rivals": table_of("tau-rivals", lambda r: pivot(r, digits=3, **BY_EPSILON), measure="nmi"),
    "tau-rounds": table_of("tau-rounds", lambda r: pivot(r, head="I = "), measure="tau"),
    "tau-rounds-nmi": table_of("tau-rounds", lambda r: pivot(r, head="I = "), measure="nmi"),
    "tau-h": table_of("tau-h", lambda r: pivot(r, head="h = "), measure="tau"),
    "tau-columns-nmi": table_of(
        "tau-columns", lambda r: pivot(r, ("by", "method"), head="columns: "), measure="nmi"
    ),
    "tau-columns-ari": table_of(
        "tau-columns", lambda r: pivot(r, ("by", "method"), head="columns: "), measure="ari"
    ),
    "tau-seconds": table_of("tau-columns", beside_times, measure="seconds"),
    "tau-beyond": table_of(
        "tau-beyond", lambda r: pivot(r, ("set", "by", "method"), **BY_EPSILON), measure="nmi"
    ),
    "tau-beyond-gains": table_of(
        "tau-beyond",
        gains(
            ("K, L and I found", "the paper, K and L given"),
            ("K, L and I found", "the paper, K = L = 5"),
            ("K, L and I found", "repaired, K and L given"),
            ("K, L, I and h found", "K, L and I found"),
        ),
        measure="nmi",
    ),
    "tau-beyond-sizes": table_of(
        "tau-beyond",
        lambda r: pivot(r, ("set", "method"), digits=1, **BY_EPSILON, errors=False),
        measure="row clusters",
        method=("K, L and I found", "K, L, I and h found"),
    ),
    "zones-gaps": table_of("zones-gaps", gap_ratios, measure="CostGap, mean of all ε"),
    "zones-gaps-epsilon": table_of(
        "zones-gaps", lambda r: pivot(r, **BY_EPSILON), measure="CostGap"
    ),
    "zones-iterations": table_of(
        "zones-convergence",
        lambda r: pivot(r, across="measure"),
        measure=("iterations", "iterations, median", "rests"),
    ),
    "zones-readings": table_of("zones-readings", lambda r: pivot(r, ("set",)), measure="ratio"),
    "zones-attack": table_of("zones-attack", attacks),
    "zones-compare": table_of("zones-compare", lambda r: pivot(r, **BY_EPSILON)),
    "zones-ablation": table_of("zones-ablation", lambda r: pivot(r, **BY_EPSILON)),
    "targets-shares": table_of("targets-costs", shares("share")),
    "targets-worst": table_of("targets-costs", shares("worst share")),
    "targets-cost": table_of(
        "targets-costs",
        lambda r: pivot(r, across="by", digits=4),
        measure="cost, mean of all k",
    ),
    "targets-nearest": table_of(
        "targets-nearest", lambda r: pivot(r, ("set", "by"), digits=4, head="t = "), measure="cost"
    ),
    "targets-sites": table_of(
        "targets-coreset", lambda r: pivot(r, ("set",), "method", 0), measure="sites"
    ),
    "targets-coreset": table_of(
        "targets-coreset", lambda r: pivot(r, ("set", "by", "method"), digits=4), measure="cost"
    ),
    "targets-rivals": table_of(
        "targets-rivals",
        lambda r: pivot(r, ("set", "by", "method"), digits=0, head="coreset: "),
        measure="share",
    ),
    "targets-beyond": table_of("targets-beyond", promises("ε=3")),
    "targets-beyond-all": table_of("targets-beyond", promises()),
    "targets-bounds": table_of("targets-bounds", bound_lines, measure="Diff"),
    "targets-lower": table_of(
        "targets-bounds",
        lambda r: pivot(r, ("measure",), digits=3, **BY_EPSILON),
        set="Observation 4.2",
    ),
    "targets-times": table_of(
        "targets-times", lambda r: pivot(r, ("method",), "set", errors=False)
    ),
    "targets-solver": table_of(
        "targets-solver", lambda r: pivot(r, ("method",), head="seconds, k = "), measure="seconds"
    ),
    "targets-solver-cost": table_of(
        "targets-solver",
        lambda r: pivot(r, ("method",), digits=5, head="cost, k = "),
        measure="cost",
    ),
    "targets-adaptation": table_of(
        "targets-adaptation", lambda r: pivot(r, ("method",), digits=3, head="k = ")
    ),
    "dilca-text": table_of("dilca-text", example_chances),
    "dilca-pearson-each": table_of(
        "dilca-values", per_target_published, measure="Pearson", by="each target"
    ),
    "dilca-pearson": table_of(
        "dilca-values", lambda r: pivot(r, **BY_EPSILON), measure="Pearson", by="all targets"
    ),
    "dilca-f-each": table_of(
        "dilca-values", lambda r: pivot(r, **BY_EPSILON), measure="adjusted F", by="each target"
    ),
    "dilca-f": table_of(
        "dilca-values", lambda r: pivot(r, **BY_EPSILON), measure="adjusted F", by="all targets"
    ),
    "dilca-l1": table_of(
        "dilca-values",
        lambda r: pivot(r, ("set", "by", "method"), digits=3, **BY_EPSILON),
        measure="L1",
    ),
    "dilca-ward": table_of("dilca-ward", lambda r: pivot(r, **BY_EPSILON)),
    "dilca-neighbours": table_of("dilca-neighbours", lambda r: pivot(r, **BY_EPSILON)),
    "dilca-synthetic": table_of(
        "dilca-synthetic", lambda r: pivot(r, ("set", "by", "method"), **BY_EPSILON, errors=False)
    ),
    "dilca-size": table_of("dilca-size", lambda r: pivot(r, ("set", "by", "method"), head="k = ")),
    "dilca-chance-f": table_of(
        "dilca-tests", beyond_chance, measure=("F: targets beyond chance", "F: targets")
    ),
    "dilca-chance-pearson": table_of(
        "dilca-tests",
        beyond_chance,
        measure=("Pearson: targets beyond chance", "Pearson: targets"),
    ),
    "dilca-p-f": table_of("dilca-tests", largest_p("F"), measure="F: largest p"),
    "dilca-p-pearson": table_of("dilca-tests", largest_p("Pearson"), measure="Pearson: largest p"),
    "dilca-statistics": table_of("dilca-tests", test_statistics, set="all"),
    "dilca-objects-pearson": table_of(
        "dilca-objects", lambda r: pivot(r, **BY_EPSILON), measure="Pearson"
    ),
    "dilca-objects-l1": table_of(
        "dilca-objects", lambda r: pivot(r, digits=3, **BY_EPSILON), measure="L1"
    ),
    "dilca-kmeans": table_of(
        "dilca-kmeans", lambda r: pivot(r, ("set", "by", "method"), **BY_EPSILON)
    ),
    "dilca-beyond": table_of(
        "dilca-beyond", lambda r: pivot(r, ("set", "by", "method"), **BY_EPSILON), measure="Pearson"
    ),
    "dilca-beyond-gains": table_of(
        "dilca-beyond",
        gains(
            ("max-relevance, size chosen", "max-relevance, 3"),
            ("max-dependency, size chosen", "max-dependency, 3"),
            ("greedy-dependency, 3", "max-dependency, 3"),
        ),
        measure="Pearson",
    ),
    "dilca-beyond-gains-l1": table_of(
        "dilca-beyond",
        gains(
            ("max-relevance, size chosen", "max-relevance, 3"),
            ("max-dependency, size chosen", "max-dependency, 3"),
            ("greedy-dependency, 3", "max-dependency, 3"),
            more_is_better=False,
        ),
        measure="L1",
    ),
    "dilca-beyond-l1": table_of(
        "dilca-beyond",
        lambda r: pivot(r, ("set", "by", "method"), digits=3, **BY_EPSILON),
        measure="L1",
    ),
    "dilca-times": table_of("dilca-times", dilca_seconds),
    "dilca-contexts": table_of(
        "dilca-examples", lambda r: pivot(r, ("by", "method", "at"), "measure", errors=False)
    ),
}
