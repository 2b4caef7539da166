"""Tables that are no plain pivot: with published values beside ours, of attacks, of tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from beyond import THEOREM
from experiments import EXPERIMENTS
from judging import Figure, ahead, figure
from pivoting import Line, Rows, cell, named, number, picked, pivot, published, with_a_gap

from keeping import markdown

__all__ = [
    "attacks",
    "beside_times",
    "beyond_chance",
    "bound_lines",
    "dilca_seconds",
    "example_chances",
    "gains",
    "gap_ratios",
    "largest_p",
    "leaked",
    "per_target_published",
    "promises",
    "settings",
    "shares",
    "test_statistics",
    "with_published",
]

# Sets that the published files name otherwise.
OUR_NAMES = {"NLTCS": "nltcs", "mushrooms": "mushroom"}
# Sets that are not to be had: the paper's values alone.
ABSENT = ("sports",)
PAPERS_NAMES = {
    "DP-tauCC": "paper: DP-τCC",
    "Fast-tauCC": "paper: Fast-τCC, not private",
    "DPHD": "paper: DPHD",
    "DPNMF": "paper: DPNMF, not private as run",
    "DP-KMeans": "paper: DP-KMeans",
}


def with_published(measure: str) -> Callable[[list[Line]], str]:
    """Return our values by ε with those of the paper's curves and of the authors' code."""

    def make(rows: list[Line]) -> str:
        sets = list(dict.fromkeys([*(row["set"] for row in rows), *ABSENT]))
        values = {float(row["at"]) for row in rows if row["at"]}
        curves = published("tau_coclustering_curves")
        more = [
            _other(old["dataset"], PAPERS_NAMES[old["method"]], old["eps"], old["mean"])
            for old in curves
            if old["metric"] == measure and old["dataset"] in sets and float(old["eps"]) in values
            if old["mean"]  # some points of the curves could not be read
        ]
        for old in published("tau_coclustering_authors_code_rerun"):
            if (
                old["dataset"] in sets
                and old["method"] == "DP-tauCC"
                and float(old["eps"]) in values
            ):
                name = "authors' code, our run"
                more.append(_other(old["dataset"], name, old["eps"], old[measure.lower()]))
        both = [*rows, *more]
        ordered = [row for name in sets for row in both if row["set"] == name]
        return pivot(ordered, digits=3, head="ε = ")

    return make


def _other(name: str, method: str, at: str, mean: str) -> Line:
    return {
        "set": name,
        "method": method,
        "at": f"{float(at):g}" if at else "",
        "mean": mean,
        "error": "",
    }


def gains(*pairs: tuple[str, str], more_is_better: bool = True) -> Callable[[list[Line]], str]:
    """Return by how much one method is ahead of another, by ε, and on how many sets for certain.

    The mean is over the sets that the rules were chosen on, and over those that were held out.
    """

    def make(rows: list[Line]) -> str:
        values = sorted({row["at"] for row in rows}, key=float)
        body = []
        for by in dict.fromkeys(row["by"] for row in rows):
            keyed = {(r["set"], r["method"], r["at"]): figure(r) for r in picked(rows, by=by)}
            sets = list(dict.fromkeys(key[0] for key in keyed))
            for ours, theirs in pairs:
                told = [
                    _gain([(keyed.get((s, ours, at)), keyed.get((s, theirs, at))) for s in sets])
                    for at in values
                ]
                body.append([f"{by}: {', '.join(sets)}", f"{ours}, less {theirs}", *told])
        better = "more" if more_is_better else "less"
        told = "sets for certain ahead and behind, of all that have a value"
        return markdown(["sets", f"gain ({better} is better; {told})", *map(_at, values)], body)

    return make


def _at(value: str) -> str:
    return f"ε = {value}"


def _gain(both: list[tuple[Figure | None, Figure | None]]) -> str:
    """Return the mean difference, and how many sets are ahead and behind."""
    known = [
        (mine, yours)
        for mine, yours in both
        if mine and yours and not np.isnan(mine.mean) and not np.isnan(yours.mean)
    ]
    if not known:
        return ""
    signs = [ahead(*pair) for pair in known]
    mean = np.mean([mine.mean - yours.mean for mine, yours in known])
    return f"{mean:+.3f} ({signs.count(1)}, {signs.count(-1)} of {len(signs)})"


def promises(budget: str = "") -> Callable[[list[Line]], str]:
    """Return costs at one budget or all: true, promised, of the centres alone; how often it held.

    The last column has the promise as a part of what the paper's theorem says of NAS by itself.
    """

    def make(rows: list[Line]) -> str:
        measures = ("true", "promised", "its centres alone", "kept")
        kept = [row for row in rows if row["by"].startswith(budget)]
        keyed = {(r["set"], r["by"], r["method"], r["measure"]): r for r in kept}
        body = []
        for key in dict.fromkeys(key[:3] for key in keyed):
            cells = [cell(keyed.get((*key, m)), 4, errors=False) for m in measures]
            theorem = keyed.get((*key[:2], "NAS", THEOREM))
            mine = float(keyed[*key, "promised"]["mean"])
            part = f"{mine / float(theorem['mean']):.2f}" if theorem else ""
            body.append([*map(named, key), *cells, part])
        heads = ["set", "by", "method", *measures, "promised / by the theorem alone"]
        return markdown(heads, body)

    return make


def beside_times(rows: list[Line]) -> str:
    """Return our seconds by columns at ε = 1, and those of the paper, at ε = .99999."""
    own = picked(rows, by="ε = 1")
    key = "columns(1000 rows, dense)"
    widths = {row["at"] for row in own}
    more = [
        _other(
            "biclusters", PAPERS_NAMES[old["method"]] + ", its machine", old[key], old["seconds"]
        )
        for old in published("tau_coclustering_times")
        if old[key] in widths
    ]
    return pivot([*own, *more], ("method",), digits=3, head="columns: ", errors=False)


def per_target_published(rows: list[Line]) -> str:
    """Return Pearson at ε for each target, ours and our run of the authors' code."""
    names = {"Baseline": "baseline", "MeanSU": "mean-su", "MaxRel": "max-relevance"}
    names["MaxDep"] = "max-dependency"
    sets = {row["set"] for row in rows}
    values = {float(row["at"]) for row in rows}
    more = [
        _other(name, f"{names[old['variant']]}, authors' code", old["eps_per_target"],
               old["pearson_offdiag(paper formula)"])
        for old in published("dilca_authors_code_rerun_per_target")
        if (name := OUR_NAMES.get(old["dataset"], old["dataset"])) in sets
        and float(old["eps_per_target"]) in values and old["variant"] in names
    ]  # fmt: skip
    both = [*({**row, "at": f"{float(row['at']):g}"} for row in rows), *more]
    order = [row["set"] for row in rows]
    return pivot(sorted(both, key=lambda r: order.index(r["set"])), head="ε = ")


def example_chances(rows: list[Line]) -> str:
    """Return the chances that the text prints for its example, and what they can be."""
    found = {(r["by"], r["method"], r["at"]): r["mean"] for r in rows}
    lines = []
    for old in published("dilca_example_2"):
        own = [
            number(found[old["algorithm"], method, old["context"]])
            if old["score"]
            else f"at least {number(found[old['algorithm'], method, ''], 4)}"
            for method in ("its formula", "the noise it needs")
        ]
        lines.append([old["algorithm"], old["context"], old["chance"], *own])
    return markdown(["", "context", "the text", "its formula", "the noise it needs"], lines)


def dilca_seconds(rows: list[Line]) -> str:
    """Return CPU seconds of our variants, those of the paper's Table 6, and of its code here."""
    sets = {row["set"] for row in rows}
    more = [
        _other(old["dataset"], f"{old['method']}, paper's Table 6", "", old["seconds"])
        for old in published("dilca_table_6")
        if old["dataset"] in sets
    ]
    for old in published("dilca_times"):
        name = OUR_NAMES.get(old["dataset"], old["dataset"])
        if old["step"].startswith("MaxDependency") and name in sets:
            more.append(
                _other(name, "max-dependency, authors' code, our run", "", old["authors_cpu_s"])
            )
    return pivot([*rows, *more], ("method",), across="set", errors=False)


def attacks(rows: list[Line]) -> str:
    """Return one line for each attack and claim."""
    keys = list(dict.fromkeys((r["set"], r["method"], r["by"], r["at"]) for r in rows))
    lines = []
    for key in keys:
        own = {r["measure"]: r for r in rows if (r["set"], r["method"], r["by"], r["at"]) == key}
        hits = " / ".join(f"{float(own[f'hits on {side}']['mean']):.0f}" for side in ("D", "D'"))
        trials = own["hits on D"]["runs"]
        bound = float(own["audited ε"]["mean"])
        told = f"**{bound:.2f}**" if bound > float(key[3]) else f"{bound:.2f}"
        lines.append([key[1], key[2], key[3], f"{hits} of {trials}", told])
    heads = ["algorithm", "neighbours", "claimed ε", "hits on D / D'", "audited ε ≥ (95 %)"]
    return markdown(heads, lines)


def gap_ratios(rows: list[Line]) -> str:
    """Return the mean CostGap of each algorithm, the ratio to the best, and that of the paper."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    paper = {row["set"]: row["ratio"] for row in published("subclustering_ratios")}
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        own = {row["method"]: row for row in rows if row["set"] == name}
        means = [float(own[method]["mean"]) for method in methods]
        ratio = means[0] / min(means[1:])
        lines.append([name, *(cell(own[m], 2) for m in methods), f"{ratio:.2f}", paper[name]])
    return markdown(["data", *methods, "baseline / best", "paper"], lines)


def test_statistics(rows: list[Line]) -> str:
    """Return the statistics of Page, Friedman and Nemenyi, and those of the paper."""
    keys = ("measure", "method", "at")
    paper = {tuple(old[key] for key in keys): old["value"] for old in published("dilca_tests")}
    lines = []
    for row in rows:
        key = tuple(row[key] for key in keys)
        value = f"{float(row['mean']):.3g}"
        lines.append([key[0], named(key[1]), key[2], value, paper.get(key, "")])
    return markdown(["statistic", "variant", "against", "ours", "paper"], lines)


def beyond_chance(rows: list[Line]) -> str:
    """Return how many targets are beyond chance, of how many."""
    total = {
        (r["set"], r["method"], r["at"]): r for r in rows if r["measure"].endswith(": targets")
    }
    lines = []
    better = [row for row in rows if row["measure"].endswith("beyond chance")]
    values = sorted({row["at"] for row in better}, key=float)
    for key in dict.fromkeys((row["set"], row["method"]) for row in better):
        own = {row["at"]: row for row in better if (row["set"], row["method"]) == key}
        told = [
            f"{float(own[v]['mean']):.0f} of {float(total[(*key, v)]['mean']):.0f}" for v in values
        ]
        lines.append([*key, *told])
    return markdown(["set", "variant", *(f"ε = {value}" for value in values)], lines)


def bound_lines(rows: list[Line]) -> str:
    """Return bounds and what was measured, by t."""
    return pivot(rows, ("set", "by", "method"), digits=3, head="t = ")


def largest_p(measure: str) -> Callable[[list[Line]], str]:
    """Return our largest p-values and those of the paper."""

    def make(rows: list[Line]) -> str:
        sets, values = {row["set"] for row in rows}, {float(row["at"]) for row in rows}
        more = [
            _other(old["dataset"], "paper", old["eps"], old["p"])
            for old in published("dilca_tables_3_4")
            if old["measure"] == measure and old["dataset"] in sets and float(old["eps"]) in values
        ]
        ours = [{**row, "method": "ours", "at": f"{float(row['at']):g}"} for row in rows]
        lines, keys = [], dict.fromkeys((row["set"], row["method"]) for row in [*ours, *more])
        columns = sorted({row["at"] for row in ours}, key=float)
        found = {(r["set"], r["method"], r["at"]): float(r["mean"]) for r in [*ours, *more]}
        for key in sorted(keys):
            cells = [f"{found[(*key, v)]:.1e}" if (*key, v) in found else "" for v in columns]
            lines.append([*key, *cells])
        return markdown(["set", "", *(f"ε = {value}" for value in columns)], lines)

    return make


def shares(measure: str) -> Callable[[list[Line]], str]:
    """Return the share of the gap that is closed, in per cent, by budget."""

    def make(rows: list[Line]) -> str:
        kept = with_a_gap(rows)
        left = [
            named(name)
            for name in dict.fromkeys(row["set"] for row in rows)
            if name not in {row["set"] for row in kept}
        ]
        table = pivot(picked(kept, measure=measure), across="by", digits=0)
        if not left:
            return table
        return f"{table}\n\nLeft out, for there is no gap to speak of: {', '.join(left)}."

    return make


def leaked(rows: list[Line]) -> str:
    """Return the two tables of Figure 1."""
    told = []
    for name in ("A", "A'"):
        own = picked(rows, set=name, measure="block total")
        cells = {(row["by"], row["at"]): float(row["mean"]) for row in own}
        table = ", ".join(f"[{cells[i, '1']:.0f}, {cells[i, '2']:.0f}]" for i in "12")
        beside = float(picked(rows, set=name, measure="third product beside the first")[0]["mean"])
        told.append([name, f"[{table}]", "the first" if beside else "the last"])
    return markdown(
        ["matrix", "table of the best co-clustering", "the third product is beside"], told
    )


def settings(rows: Rows) -> str:
    """Return for each experiment: what it repeats, setting, runs, sets, date and commit."""
    if not any(name in rows for name in EXPERIMENTS):
        return "*No results yet: `make papers` writes them.*"
    lines = []
    for name, experiment in EXPERIMENTS.items():
        found = rows.get(name, [])
        setting, date, commit = (
            ", ".join(dict.fromkeys(row[key] for row in found))
            for key in ("setting", "date", "commit")
        )
        runs = {int(row["runs"]) for row in found}
        often = " to ".join(str(end(runs)) for end in (min, max)[: len(runs)])
        sets = dict.fromkeys(named(row["set"]) for row in found if row["set"] != "all")
        lines.append(
            [f"`{name}`", experiment.repeats, setting, often, str(len(sets)), date, commit]
        )
    heads = ["experiment", "repeats", "setting", "runs", "sets", "date", "commit"]
    return markdown(heads, lines)
