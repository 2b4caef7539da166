"""The claims of Schnapp and Sabato (2025), source-target clustering."""

from __future__ import annotations

from collections.abc import Callable

from judging import (
    PARTLY,
    Claim,
    Figure,
    Verdict,
    ahead,
    counted,
    figure,
    figures,
    fixed,
)
from pivoting import Rows, number, picked, with_a_gap

__all__ = ["CLAIMS"]

SYNTHETIC = ("Synthetic 1", "Synthetic 2", "Synthetic 3")


def shares_of(rows: Rows, method: str, by: str) -> dict[str, Figure]:
    return figures(with_a_gap(rows["targets-costs"]), measure="share", method=method, by=by)


def improves(method: str, by: str, *, real: bool, never: bool = False) -> Callable[[Rows], Verdict]:
    def judged(rows: Rows) -> Verdict:
        found = shares_of(rows, method, by)
        own = {name: s for name, s in found.items() if (name not in SYNTHETIC) == real}
        signs = [ahead(share, 10) * (-1 if never else 1) for share in own.values()]
        than = "no more than" if never else "more than"
        verdict, words = counted(signs, f"sets gain {than} a tenth of the gap, {by}")
        return verdict, f"{words}: {range_of(own)}"

    return judged


def range_of(shares: dict[str, Figure]) -> str:
    least, most = (number(str(end(shares.values()).mean), 0) for end in (min, max))
    return f"{least} to {most} % of the gap"


def kmeans_useless(rows: Rows) -> Verdict:
    found = shares_of(rows, "k-means of S, 100 centres", "ε=3")
    signs = [-ahead(share, 10) for share in found.values()]
    verdict, words = counted(signs, "sets where it closes a tenth or less, ε=3")
    return verdict, f"{words}: {range_of(found)}"


def coreset_helps(method: str) -> Callable[[Rows], Verdict]:
    def judged(rows: Rows) -> Verdict:
        found = picked(rows["targets-coreset"], method=method, by="ρ=3")
        ratios = figures(found, measure="cost / cost without coreset", at="net")
        signs = [ahead(Figure(1.01), ratio) for ratio in ratios.values()]
        return counted(signs, f"sets: {method} with the net no dearer than without, ρ=3")

    return judged


def same_t(rows: Rows) -> Verdict:
    found = picked(rows["targets-nearest"], by="ρ=3", measure="cost / cost at t = 150")
    low, high = (figures(found, at=at) for at in ("75", "300"))
    signs = []
    for name in low:
        both = low[name], high[name]
        near = [ahead(one, 1 / 1.1) for one in both] + [ahead(Figure(1.1), one) for one in both]
        signs.append(min(near))
    return counted(signs, "sets whose costs at t = 75, 150, 300 lie within a tenth, ρ=3")


def bounds_hold(rows: Rows) -> Verdict:
    found = picked(rows["targets-bounds"], measure="Diff")
    value = {(r["set"], r["by"], r["at"], r["method"]): figure(r) for r in found}
    keys = {key[:3] for key in value}
    signs = [
        ahead(value[(*k, "bound for all targets (B.1)")], value[(*k, "measured")]) for k in keys
    ]
    empty = sum(value[(*k, "bound for the sites")].mean >= 1 for k in keys)
    verdict, words = counted(signs, "measured Diff(S, S') within the bound")
    return verdict, f"{words}; in {empty} the bound is above 1 and says nothing"


CLAIMS = [
    Claim(
        "NAS and NNA are private (Theorems 5.3, 5.9, 5.13)",
        fixed(
            PARTLY,
            "not as run: the scale is read off the source, and NNA's threshold is too "
            "low. See the errata",
        ),
    ),
    Claim("the utility bounds hold (5.5, 5.10, 5.12, B.1)", bounds_hold),
    Claim(
        "NAS improves on ClusterT on synthetic data, ε = 3 (Fig. 3)",
        improves("NAS", "ε=3", real=False),
    ),
    Claim(
        "NNA improves on ClusterT on synthetic data, ε = 3 (Fig. 3)",
        improves("NNA", "ε=3", real=False),
    ),
    Claim("NNA improves on real data, ε = 3 (Fig. 3)", improves("NNA", "ε=3", real=True)),
    Claim(
        "NAS does not, on real data and with pure ε (Fig. 3)",
        improves("NAS", "ε=3", real=True, never=True),
    ),
    Claim("NAS does on real data with ρ-zCDP (C.5)", improves("NAS", "ρ=3", real=True)),
    Claim("private k-means of S is no better than ClusterT (Fig. 3)", kmeans_useless),
    Claim("a coreset helps NAS (C.3)", coreset_helps("NAS")),
    Claim("a coreset does not harm NNA (C.3)", coreset_helps("NNA")),
    Claim("t = 75, 150 and 300 give similar results (C.1)", same_t),
]
