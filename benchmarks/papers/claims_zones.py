"""The claims of Joshi and Thakkar (2022) and of Lu and Shen (2020)."""

from __future__ import annotations

import math
from collections.abc import Callable

from judging import FAILS, HOLDS, PARTLY, Claim, Figure, Verdict, ahead, figure, means, verdict_of
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


CLAIMS = [
    Claim("both algorithms are ε-differentially private", attacked, sure=True),
    Claim("the iteration converges", converges),
    Claim("CostGap is 1.1 times smaller than the baseline's on iris", zone_ratio("iris", 1.1)),
    Claim("... 4.13 times on wine", zone_ratio("wine", 4.13)),
    Claim("... 2.83 times on breast cancer", zone_ratio("breast cancer", 2.83)),
    Claim("... about equal on digits", zone_ratio("digits", 1.0)),
    Claim("internal_k has a small impact on iris (6.1)", little_internal_k),
]
