"""The claims of Battaglia, Celano and Pensa (2021), DP-DILCA."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from judging import (
    FAILS,
    HOLDS,
    OPEN,
    PARTLY,
    Claim,
    Figure,
    Verdict,
    ahead,
    counted,
    figure,
    figures,
    fixed,
    means,
)
from pivoting import Line, Rows, picked

__all__ = ["CLAIMS"]

# Seconds are those of one machine, at the best of two fits: less than this is no difference.
CLEARLY_SLOWER = 1.25


def grows(measure: str, by: str, up: bool = True) -> Callable[[Rows], Verdict]:
    def judged(rows: Rows) -> Verdict:
        signs = []
        variants = ("mean-su", "max-relevance", "max-dependency")
        for method in variants:
            found = picked(rows["dilca-values"], measure=measure, by=by, method=method)
            for name in {row["set"] for row in found}:
                own = sorted((r for r in found if r["set"] == name), key=lambda r: float(r["at"]))
                first, last = figure(own[0]), figure(own[-1])
                if np.isnan(first.mean):
                    continue  # binary attributes alone
                signs.append(ahead(last, first) if up else ahead(first, last))
        return counted(signs, "pairs of set and variant from the smallest ε to the largest")

    return judged


def trend(measure: str) -> Callable[[Rows], Verdict]:
    def judged(rows: Rows) -> Verdict:
        found = picked(rows["dilca-tests"], measure=f"{measure}: Page, p")
        values = [float(row["mean"]) for row in found]
        largest, clear = max(values), sum(value < 0.01 for value in values)
        verdict = HOLDS if clear == len(values) else PARTLY if clear else OPEN
        return verdict, f"largest p of Page's tests {largest:.1e}"

    return judged


def always_beyond_chance(rows: Rows) -> Verdict:
    found = rows["dilca-tests"]
    better = sum(float(r["mean"]) for r in picked(found, measure="Pearson: targets beyond chance"))
    total = sum(float(r["mean"]) for r in picked(found, measure="Pearson: targets"))
    return counted(
        [1] * int(better) + [-1] * int(total - better),
        "tests beyond chance at a false discovery rate of 1 %",
    )


def variants_order(rows: Rows) -> Verdict:
    found = picked(rows["dilca-tests"], set="all")
    ranks = {r["method"]: float(r["mean"]) for r in found if r["measure"] == "mean rank"}
    critical = float(picked(found, measure="critical difference")[0]["mean"])
    apart = ranks["mean-su"] - max(ranks["max-relevance"], ranks["max-dependency"])
    told = ", ".join(f"{name} {rank:.2f}" for name, rank in ranks.items())
    words = f"mean ranks {told}; critical difference {critical:.2f}"
    return (HOLDS if apart > critical else FAILS if apart < -critical else OPEN), words


def ward_near(rows: Rows) -> Verdict:
    found = rows["dilca-ward"]
    exact = means(found, method="DILCA, not private")
    private = figures(found, method="max-dependency", at="2.5")
    signs = [ahead(own, exact[name] - 0.05) for name, own in private.items()]
    told = ", ".join(f"{name} {own} of {exact[name]:.2f}" for name, own in private.items())
    verdict, words = counted(signs, "sets near to DILCA at ε = 2.5")
    return verdict, f"{words}: {told}"


def neighbours_near(rows: Rows) -> Verdict:
    found = rows["dilca-neighbours"]
    exact = means(found, method="DILCA, not private")
    plain = means(found, method="Hamming, not private")
    smallest = min((r["at"] for r in found if r["at"]), key=float)
    private = figures(found, method="max-dependency", at=smallest)
    signs = [ahead(own, exact[name] - 0.05) for name, own in private.items()]
    also = sum(plain[name] >= exact[name] - 0.05 for name in private)
    verdict, words = counted(signs, f"sets near to DILCA at ε = {smallest}")
    return verdict, f"{words}; so is plain mismatch, on {also}: it says little of the metric"


def dpmd_beats_one_hot(rows: Rows) -> Verdict:
    found = picked(rows["dilca-kmeans"], by="δ = 0")
    keyed = {(r["set"], r["at"], r["method"]): figure(r) for r in found}
    keys = sorted({key[:2] for key in keyed})
    one_hot = [keyed[(*k, "one-hot (DP-KMeans-OH)")] for k in keys]
    theirs, ours = (
        [ahead(keyed[(*k, method)], other) for k, other in zip(keys, one_hot, strict=True)]
        for method in ("DP-KMeans-DPMD", "ours")
    )
    verdict, words = counted(theirs, "pairs of set and total ε, pure")
    return verdict, f"{words}; ours is ahead of one-hot in {ours.count(1)}"


def relevance_finds(rows: Rows) -> Verdict:
    found = picked(rows["dilca-synthetic"], by="0.1", method="max-relevance", at="0.5")
    own = {row["set"]: shared(row) for row in found if row["set"] in ("Synth-A", "Synth-B")}
    told = ", ".join(f"{name} {share}" for name, share in own.items())
    signs = [ahead(share, 0.9) for share in own.values()]
    verdict, words = counted(signs, "sets in more than nine of ten runs, noise .1, ε = .5")
    return verdict, f"{words}: {told}"


def shared(row: Line) -> Figure:
    """Return a share of runs; where all agree, what one run less would change is its error."""
    share = figure(row)
    return Figure(share.mean, max(share.error, 1 / int(row["runs"])))


def dependency_on_d(rows: Rows) -> Verdict:
    found = picked(rows["dilca-synthetic"], set="Synth-D")
    keyed = {(r["by"], r["at"], r["method"]): shared(r) for r in found}
    keys = sorted({key[:2] for key in keyed})
    signs = [
        ahead(
            keyed[(*k, "max-dependency")],
            max(keyed[(*k, method)] for method in ("mean-su", "max-relevance")),
        )
        for k in keys
    ]
    return counted(signs, "pairs of noise and ε on Synth-D")


def slowest(rows: Rows) -> Verdict:
    found = rows["dilca-times"]
    slow = means(found, method="max-dependency")
    fast = means(found, method="max-relevance")
    ratios = [slow[name] / max(fast[name], 1e-3) for name in slow]
    signs = [(ratio > CLEARLY_SLOWER) - (ratio < 1 / CLEARLY_SLOWER) for ratio in ratios]
    ratio = max(ratios)
    verdict, words = counted(signs, "sets where max-dependency is the slower one")
    return verdict, f"{words}, by up to {ratio:.0f} times here"


CLAIMS = [
    Claim(
        "all variants are ε-differentially private (Theorems 3 to 7)",
        fixed(
            PARTLY,
            "the mechanisms are, with twice the noise they need; lists of values and "
            "bins are read off the rows. See the errata",
        ),
    ),
    Claim("contexts get better with ε (Fig. 2)", grows("adjusted F", "each target")),
    Claim("distances get better with ε (Fig. 3)", grows("Pearson", "each target")),
    Claim("L1 falls with ε (Fig. 8)", grows("L1", "each target", up=False)),
    Claim("Page's test finds the trend of F (Table 5)", trend("F")),
    Claim("Page's test finds the trend of Pearson (Table 5)", trend("Pearson")),
    Claim("distances are always beyond chance (Table 4)", always_beyond_chance),
    Claim("max-relevance and max-dependency beat mean-su (A.4.4)", variants_order),
    Claim("Ward's clusters come near to those of DILCA (Fig. 4)", ward_near),
    Claim("5-NN is hardly affected by noise (Fig. 5)", neighbours_near),
    Claim("max-relevance finds Synth-A and B at noise .1 from ε = .3 on (Fig. 6)", relevance_finds),
    Claim("max-dependency is the best on Synth-D (Fig. 6)", dependency_on_d),
    Claim("DP-KMeans-DPMD beats one-hot in almost all cases (Fig. 12)", dpmd_beats_one_hot),
    Claim("max-dependency is by far the slowest (Table 6)", slowest),
]
