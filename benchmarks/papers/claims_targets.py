"""The claims of Schnapp and Sabato (2025), source-target clustering."""

from __future__ import annotations

from collections.abc import Callable

from judging import FAILS, HOLDS, PARTLY, Claim, Verdict, counted, fixed, means
from pivoting import Rows, picked, with_a_gap

__all__ = ["CLAIMS"]

SYNTHETIC = ("Synthetic 1", "Synthetic 2", "Synthetic 3")


def shares_of(rows: Rows, method: str, by: str) -> dict[str, float]:
    return means(with_a_gap(rows["targets-costs"]), measure="share", method=method, by=by)


def improves(method: str, by: str, real: bool) -> Callable[[Rows], Verdict]:
    def judged(rows: Rows) -> Verdict:
        found = shares_of(rows, method, by)
        own = {name: s for name, s in found.items() if (name not in SYNTHETIC) == real}
        wins = sum(share > 10 for share in own.values())
        told = f"{min(own.values()):.0f} to {max(own.values()):.0f} % of the gap"
        verdict, words = counted(wins, len(own), f"sets gain more than a tenth of the gap, {by}")
        return verdict, f"{words}: {told}"

    return judged


def kmeans_useless(rows: Rows) -> Verdict:
    found = shares_of(rows, "k-means of S, 100 centres", "ε=3")
    useless = sum(share <= 10 for share in found.values())
    told = ", ".join(f"{name} {share:.0f} %" for name, share in list(found.items())[:5])
    return counted(useless, len(found), f"sets where it closes a tenth or less, ε=3: {told}")


def coreset_helps(method: str) -> Callable[[Rows], Verdict]:
    def judged(rows: Rows) -> Verdict:
        found = picked(rows["targets-coreset"], measure="cost", method=method, by="ρ=3")
        net, none = (means(found, at=at) for at in ("net", "none"))
        wins = sum(net[name] <= 1.01 * none[name] for name in net)
        return counted(wins, len(net), f"sets: {method} with the net no dearer than without, ρ=3")

    return judged


def same_t(rows: Rows) -> Verdict:
    found = picked(rows["targets-nearest"], by="ρ=3")
    by_t = [means(found, at=at) for at in ("75", "150", "300")]
    apart = {n: max(t[n] for t in by_t) / min(t[n] for t in by_t) for n in by_t[0]}
    wins = sum(ratio < 1.1 for ratio in apart.values())
    return counted(wins, len(apart), "sets whose costs at t = 75, 150, 300 lie within a tenth, ρ=3")


def bounds_hold(rows: Rows) -> Verdict:
    found = picked(rows["targets-bounds"], measure="Diff")
    value = {(r["set"], r["by"], r["at"], r["method"]): float(r["mean"]) for r in found}
    keys = {key[:3] for key in value}
    wins = sum(value[(*k, "measured")] <= value[(*k, "bound for all targets (B.1)")] for k in keys)
    empty = sum(value[(*k, "bound for the sites")] >= 1 for k in keys)
    verdict, words = counted(wins, len(keys), "measured Diff(S, S') within the bound")
    return verdict, f"{words}; in {empty} the bound is above 1 and says nothing"


def _turned(verdict: Verdict) -> Verdict:
    """Return the verdict on the opposite claim."""
    return {HOLDS: FAILS, FAILS: HOLDS}.get(verdict[0], verdict[0]), verdict[1]


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
        improves("NAS", "ε=3", False),
    ),
    Claim(
        "NNA improves on ClusterT on synthetic data, ε = 3 (Fig. 3)",
        improves("NNA", "ε=3", False),
    ),
    Claim("NNA improves on real data, ε = 3 (Fig. 3)", improves("NNA", "ε=3", True)),
    Claim(
        "NAS does not, on real data and with pure ε (Fig. 3)",
        lambda rows: _turned(improves("NAS", "ε=3", True)(rows)),
    ),
    Claim("NAS does on real data with ρ-zCDP (C.5)", improves("NAS", "ρ=3", True)),
    Claim("private k-means of S is no better than ClusterT (Fig. 3)", kmeans_useless),
    Claim("a coreset helps NAS (C.3)", coreset_helps("NAS")),
    Claim("a coreset does not harm NNA (C.3)", coreset_helps("NNA")),
    Claim("t = 75, 150 and 300 give similar results (C.1)", same_t),
]
