"""The claims of Joshi and Thakkar (2022) and of Lu and Shen (2021)."""

from __future__ import annotations

import math
from collections.abc import Callable

from judging import (
    FAILS,
    HOLDS,
    PARTLY,
    Claim,
    Figure,
    Verdict,
    ahead,
    counted,
    figure,
    means,
    verdict_of,
)
from pivoting import Rows, picked

__all__ = ["CLAIMS"]


def zone_ratio(name: str, claimed: float) -> Callable[[Rows], Verdict]:
    def judged(rows: Rows) -> Verdict:
        found = picked(rows["zones-gaps"], set=name, measure="CostGap, mean of all ε")
        gaps = {row["method"]: figure(row) for row in found}
        found_ratio = ratio(gaps.pop("KMeansGuarantee"), min(gaps.values()))
        words = f"ratio {found_ratio} ± {found_ratio.error:.2f}, the best internal_k taken"
        return told(ahead(found_ratio, 0.9 * claimed)), words

    return judged


def never_larger(rows: Rows) -> Verdict:
    """A gap counts as equal up to a tenth."""
    found = picked(rows["zones-gaps"], measure="CostGap, mean of all ε")
    signs = []
    for name in dict.fromkeys(row["set"] for row in found):
        gaps = {row["method"]: figure(row) for row in picked(found, set=name)}
        base = gaps.pop("KMeansGuarantee")
        signs.append(ahead(base.times(1.1), min(gaps.values())))
    return counted(signs, "sets, the best internal_k taken, and a tenth more counted as equal")


def ratio(above: Figure, below: Figure) -> Figure:
    """Return the ratio of two figures of separate runs."""
    share = above.mean / below.mean
    parts = above.error / above.mean, below.error / below.mean
    return Figure(share, share * math.hypot(*parts))


def told(sign: int) -> str:
    """Return the verdict on a claim of one comparison."""
    return verdict_of(sign == 1, sign == -1, sign == 0)


def attacked(rows: Rows) -> Verdict:
    found = picked(rows["zones-attack"], measure="audited ε")
    largest = {
        kind: max(float(row["mean"]) for row in found if row["method"] == kind)
        for kind in ("KMeansGuarantee", "SubclusterGuarantee", "PrivateZoneKMeans")
    }
    words = ", ".join(f"{kind} {bound:.2f}" for kind, bound in largest.items())
    refuted = min(largest["KMeansGuarantee"], largest["SubclusterGuarantee"]) > 1
    return (FAILS if refuted else PARTLY), f"largest audited ε at claims of at most 1: {words}"


def converges(rows: Rows) -> Verdict:
    found = rows["zones-convergence"]
    medians, shares = [], []
    for method in ("KMeansGuarantee", "SubclusterGuarantee"):
        rests = means(found, measure="rests", method=method)
        median = means(found, measure="iterations, median", method=method)
        numbers = f"{min(median.values()):.0f} to {max(median.values()):.0f}"
        medians.append(f"{method}: medians of {numbers} iterations")
        shares += rests.values()
    verdict = HOLDS if min(shares) == 1 else PARTLY
    return verdict, "; ".join(medians) + f"; at least {100 * min(shares):.0f} % of the runs rest"


def little_internal_k(rows: Rows) -> Verdict:
    found = picked(rows["zones-gaps"], set="iris", measure="CostGap, mean of all ε")
    gaps = [figure(row) for row in found if row["method"].startswith("internal_k")]
    apart = ratio(max(gaps), min(gaps))
    words = f"largest over smallest gap on iris: {apart} ± {apart.error:.2f}, held against 1.25"
    return told(ahead(Figure(1.25), apart)), words


def better_at_small(rows: Rows) -> Verdict:
    found = picked(rows["zones-gaps"], set="iris", measure="CostGap")
    small = [row for row in found if float(row["at"]) <= 0.5]
    base = {r["at"]: figure(r) for r in small if r["method"] == "KMeansGuarantee"}
    signs = []
    for at, other in base.items():
        own = [figure(r) for r in small if r["at"] == at and r["method"].startswith("internal_k")]
        signs.append(ahead(other, min(own)))
    return counted(signs, "values of ε up to .5, the best internal_k taken")


def four_is_best(name: str) -> Callable[[Rows], Verdict]:
    def judged(rows: Rows) -> Verdict:
        found = picked(rows["zones-gaps"], set=name, measure="CostGap, mean of all ε")
        gaps = {r["method"]: figure(r) for r in found if r["method"].startswith("internal_k")}
        four = gaps.pop("internal_k = 4")
        signs = [ahead(other, four) for other in gaps.values()]
        verdict, words = counted(signs, "other values of internal_k have a larger gap")
        best = min({**gaps, "internal_k = 4": four}.items(), key=lambda item: item[1].mean)
        return verdict, f"{words}; the smallest is that of {best[0]}"

    return judged


CLAIMS = [
    Claim("both algorithms are ε-differentially private", attacked, sure=True),
    Claim("“guaranteed convergence” (2; the title of Lu and Shen)", converges),
    Claim("“cost gap for all the dataset is smaller or equal to the baseline” (6)", never_larger),
    Claim(
        "“In case of Iris dataset, the cost gap is 1.1 times smaller than baseline” (6)",
        zone_ratio("iris", 1.1),
    ),
    Claim("“In case of Wine dataset ... 4.13 times smaller” (6)", zone_ratio("wine", 4.13)),
    Claim(
        "“In case of Breast_Cancer dataset ... 2.83 times smaller” (6)",
        zone_ratio("breast cancer", 2.83),
    ),
    Claim(
        "“In case of Digits dataset, the cost gap is almost same” (6)", zone_ratio("digits", 1.0)
    ),
    Claim(
        "iris: “better clustering quality than the baseline algorithm for smaller epsilon "
        "values” (6.1)",
        better_at_small,
    ),
    Claim("iris: internalK has a “small impact on the costGap” (6.1)", little_internal_k),
    Claim(
        "“internalK=4 for the wine dataset performs better than the rest of the internalK "
        "values” (6.1)",
        four_is_best("wine"),
    ),
    Claim(
        "breast cancer: “internalK being 4 having the least loss” (6.1)",
        four_is_best("breast cancer"),
    ),
]
