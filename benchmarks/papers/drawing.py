"""Plots of the papers' pages, from rows of results alone: lines by panel, dots by set, and ranks.

Error bars are standard errors. A paper's own curve, where its values are known, is black.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from pivoting import Line, Rows, named, picked, published, with_a_gap

from category_output import save_small

__all__ = ["DOTS", "FIGURES", "draw", "draw_dots", "draw_ranks"]

# Three panels in a row can be read at a width of 800 pixels.
ACROSS = 3
# What a logarithmic axis names, times powers of ten: on a short one, on a longer, on the longest.
TICKS = {8: (1, 1.5, 2, 3, 5), 300: (1, 3), np.inf: (1,)}
# So many whole numbers are named one by one.
FEW = 5
VARIANTS = ("baseline", "mean-su", "max-relevance", "max-dependency")
LETTER = ("max-relevance, paper's noise", "max-dependency, paper's noise")
PLAIN = ("DILCA, not private", "Hamming, not private")
OURS = ("tree (default)", "pairs, δ (default)")
TAU = ("Fast-tauCC, not private", "DP-tauCC, paper's noise, 4 rounds", "tables")
TAU += ("DP-tauCC, repaired, 4 rounds",)


def tau_curves(measure: str) -> Callable[[str], list[Line]]:
    """Return the digitised curve of DP-τCC of a set."""

    def of_set(name: str) -> list[Line]:
        return [
            {"line": "the paper's DP-τCC", "at": old["eps"], "mean": old["mean"], "error": ""}
            for old in published("tau_coclustering_curves")
            if (old["metric"], old["dataset"], old["method"]) == (measure, name, "DP-tauCC")
            and old["mean"]
        ]

    return of_set


def dilca_curves(column: str) -> Callable[[str], list[Line]]:
    """Return the authors' code for max-relevance, run for many ε, on a set."""
    names = {"nltcs": "NLTCS", "mushroom": "mushrooms"}

    def of_set(name: str) -> list[Line]:
        return [
            {"line": "authors' code: max-relevance", "at": old["eps_per_target"], "mean": value,
             "error": ""}
            for old in published("dilca_authors_code_rerun_per_target")
            if old["dataset"] in (name, names.get(name)) and old["variant"] == "MaxRel"
            if (value := old[column])
        ]  # fmt: skip

    return of_set


class Plot(NamedTuple):
    """Lines of one measure: a panel for each value of ``panel``, a line for each of ``line``."""

    file: str
    measure: str
    panel: str = "set"
    line: str = "method"
    across: str = ""
    label: str = ""
    log: str = ""
    only: dict[str, Any] = {}  # noqa: RUF012
    beside: Callable[[str], list[Line]] | None = None  # the paper's own lines of a panel


FIGURES: dict[str, Plot] = {
    "papers-tau-nmi": Plot(
        *("tau-epsilon", "nmi"), across="ε", label="NMI", log="x", only={"method": TAU},
        beside=tau_curves("NMI"),
    ),
    "papers-tau-rounds": Plot("tau-rounds", "tau", across="rounds", label="τ, released"),
    "papers-tau-h": Plot("tau-h", "tau", across="h", label="τ, released"),
    "papers-tau-columns": Plot(
        *("tau-columns", "nmi", "by"), across="columns", label="NMI", log="x"
    ),
    "papers-tau-beyond": Plot(
        *("tau-beyond", "nmi"), across="ε", label="NMI", log="x", beside=tau_curves("NMI"),
    ),
    "papers-zones-gaps": Plot(
        "zones-gaps", "CostGap", across="claimed ε", label="CostGap", log="xy"
    ),
    "papers-zones-cost": Plot(
        *("zones-convergence", "cost / cost of Lloyd"), across="iteration",
        label="cost, before the last noise", log="y",
    ),
    "papers-targets-bounds": Plot(
        *("targets-bounds", "Diff"), across="t", label="Diff(S, S')", log="y", only={"by": "ρ=3"}
    ),
    "papers-dilca-contexts": Plot(
        *("dilca-values", "adjusted F"), across="ε for each target", label="adjusted F", log="x",
        only={"by": "each target", "method": (*VARIANTS, *LETTER)},
        beside=dilca_curves("adjF_context_full_eps"),
    ),
    "papers-dilca-pearson": Plot(
        *("dilca-values", "Pearson"), across="ε for each target", label="Pearson", log="x",
        only={"by": "each target", "method": ("baseline", "mean-su", *LETTER)},
        beside=dilca_curves("pearson_offdiag(paper formula)"),
    ),
    "papers-dilca-ward": Plot(
        *("dilca-ward", "ARI"), across="ε", label="ARI", log="x",
        only={"method": ("mean-su", *LETTER, *OURS, *PLAIN)},
    ),
    "papers-dilca-neighbours": Plot(
        *("dilca-neighbours", "accuracy"), across="ε", label="accuracy of 5-NN", log="x",
        only={"method": ("mean-su", *LETTER, *OURS, *PLAIN)},
    ),
    "papers-dilca-synthetic": Plot(
        *("dilca-synthetic", "found"), across="ε", label="right contexts, noise .2", log="x",
        only={"by": "0.2"},
    ),
    "papers-dilca-size": Plot(
        "dilca-size", "Pearson", across="k", label="Pearson", only={"by": "ε = 2.5"}
    ),
    "papers-dilca-objects": Plot(
        *("dilca-objects", "Pearson"), across="ε", label="Pearson of objects", log="x",
        only={"method": ("baseline", "mean-su", *LETTER, *OURS)},
    ),
    "papers-dilca-kmeans": Plot(
        *("dilca-kmeans", "ARI"), across="total ε", label="ARI", only={"by": "one k-means, ours"}
    ),
}  # fmt: skip


def draw(name: str, rows: Rows, folder: Path) -> None:
    """Draw one figure; without rows there is none."""
    plot = FIGURES[name]
    found = [
        row
        for row in picked(rows.get(plot.file, []), measure=plot.measure, **plot.only)
        if row["mean"] != "nan"
    ]
    panels = list(dict.fromkeys(row[plot.panel] for row in found))
    if not panels:
        return
    across = min(ACROSS, len(panels))
    down = -(-len(panels) // across)
    figure = Figure(figsize=(max(2.9 * across, 4), 2.4 * down + 0.9), layout="constrained")
    axes = np.atleast_1d(figure.subplots(down, across, squeeze=False)).ravel()
    lines = list(dict.fromkeys(row[plot.line] for row in found))
    for ax, panel in zip(axes, panels, strict=False):
        _panel(ax, [row for row in found if row[plot.panel] == panel], plot, lines)
        if plot.beside is not None:
            _papers_lines(ax, plot.beside(panel))
        ax.set_title(named(panel), fontsize=9)
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    for ax in axes[: len(panels) : across]:
        ax.set_ylabel(plot.label, fontsize=8)
    _legend(figure, axes)
    save_small(figure, folder / f"{name}.png")


def _legend(figure: Figure, axes: Sequence[Any]) -> None:
    handles = {
        label: line
        for ax in axes
        for line, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    place = "outside lower center"
    figure.legend(handles.values(), handles, loc=place, ncols=3, fontsize=7, frameon=False)


def _panel(ax: Any, rows: Sequence[Line], plot: Plot, lines: Sequence[str]) -> None:
    for number, name in enumerate(lines):
        own = [row for row in rows if row[plot.line] == name]
        colour, style = f"C{number % 10}", "--" if number >= 10 else "-"
        look = {"marker": ".", "lw": 1, "ls": style, "color": colour, "capsize": 2}
        _line(ax, [row for row in own if row["at"]], label=named(name), **look)
        for row in own:
            if not row["at"]:  # does not depend on it
                ax.axhline(float(row["mean"]), ls=":", color=colour, label=named(name))
    values = sorted({float(row["at"]) for row in rows if row["at"]})
    if len(values) <= FEW and all(value.is_integer() for value in values):
        ax.set_xticks(values)
    if "x" in plot.log:
        ax.set_xscale("log")
        _name_ticks(ax.xaxis)
    if "y" in plot.log:
        ax.set_yscale("log")
        _name_ticks(ax.yaxis)
    ax.set_xlabel(plot.across, fontsize=8)
    ax.tick_params(labelsize=7)


def _name_ticks(axis: Any) -> None:
    """Name few values of a logarithmic axis, as plain numbers."""
    low, high = axis.get_view_interval()
    parts = next(parts for most, parts in TICKS.items() if high / low < most)
    ticks = [
        t for power in range(-5, 6) for part in parts if low <= (t := part * 10.0**power) <= high
    ]
    axis.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    axis.set_minor_locator(NullLocator())


def _line(ax: Any, rows: Sequence[Line], **look: Any) -> None:
    if not rows:
        return
    ordered = sorted(rows, key=lambda row: float(row["at"]))
    at, mean = ([float(row[key]) for row in ordered] for key in ("at", "mean"))
    errors = np.nan_to_num([float(row["error"] or 0) for row in ordered])
    ax.errorbar(at, mean, yerr=errors if errors.any() else None, **look)


def _papers_lines(ax: Any, rows: Sequence[Line]) -> None:
    for name in dict.fromkeys(row["line"] for row in rows):
        own = [row for row in rows if row["line"] == name]
        _line(ax, own, label=name, color="black", lw=1.3, ls="--")


class Dots(NamedTuple):
    """One measure of many sets: a line for each set, a dot for each method."""

    file: str
    measure: str
    methods: tuple[str, ...]
    label: str
    only: dict[str, Any]
    ends: tuple[float, float]


DOTS = {
    "papers-targets-shares": Dots(
        "targets-costs",
        "share",
        (
            *("NAS, to the letter", "NAS", "NNA, to the letter", "NNA"),
            *("DPHD of S, 100 centres", "k-means of S, 100 centres", "rings"),
        ),
        "share of the gap between ClusterT (0) and the choice that knows S (100), %, ε = 3",
        {"by": "ε=3"},
        (-40, 100),
    )
}


def draw_dots(name: str, rows: Rows, folder: Path) -> None:
    """Draw one figure of dots; what lies beyond the ends is drawn at them."""
    dots = DOTS[name]
    kept = picked(with_a_gap(rows.get(dots.file, [])), measure=dots.measure, **dots.only)
    sets = list(dict.fromkeys(row["set"] for row in kept))
    if not sets:
        return
    figure = Figure(figsize=(8, 0.3 * len(sets) + 1.6), layout="constrained")
    ax = figure.subplots()
    for number, method in enumerate(dots.methods):
        own = [row for row in kept if row["method"] == method]
        # One below the other, so that error bars can be told apart.
        places = [sets.index(row["set"]) + 0.1 * (number - 3) for row in own]
        values = [float(np.clip(float(row["mean"]), *dots.ends)) for row in own]
        errors = np.nan_to_num([float(row["error"] or 0) for row in own])
        look = {"fmt": "o", "ms": 3.5, "lw": 1, "color": f"C{number}", "zorder": 3}
        if own:
            ax.errorbar(values, places, xerr=errors, label=named(method), **look)
    ax.set_yticks(range(len(sets)), [named(one) for one in sets], fontsize=7)
    ax.set_ylim(len(sets) - 0.4, -0.6)
    ax.set_xlabel(dots.label, fontsize=8)
    ax.grid(axis="both", color="#dddddd", lw=0.5)
    ax.axvline(0, color="#888888", lw=1)
    _legend(figure, [ax])
    save_small(figure, folder / f"{name}.png")


def draw_ranks(rows: Rows, folder: Path) -> None:
    """Draw the critical-difference plot of DP-DILCA's variants (A.4.4)."""
    found = picked(rows.get("dilca-tests", []), set="all")
    ranks = {r["method"]: float(r["mean"]) for r in found if r["measure"] == "mean rank"}
    if not ranks:
        return
    critical = float(picked(found, measure="critical difference")[0]["mean"])
    figure = Figure(figsize=(6, 1.7), layout="constrained")
    ax = figure.subplots()
    ax.plot([1, 1 + critical], [0.75, 0.75], color="black", lw=2)
    ax.annotate(f"critical difference {critical:.2f}", (1.03 + critical, 0.72), fontsize=8)
    ordered = sorted(ranks.items(), key=lambda item: item[1])
    for number, (name, rank) in enumerate(ordered):
        ax.plot([rank, rank], [0, 0.15], color=f"C{number}", lw=2)
        ax.annotate(
            f"{name} {rank:.2f}", (rank, 0.2 + 0.14 * (number % 2)), fontsize=8, ha="center"
        )
    for (_, one), (_, other) in pairwise(ordered):
        if other - one < critical:  # not told apart
            ax.plot([one, other], [0.08, 0.08], color="black", lw=3)
    ax.set(xlim=(0.9, len(ranks) + 0.1), ylim=(0, 1), yticks=[], xlabel="mean rank, 1 is best")
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)
    save_small(figure, folder / "papers-dilca-ranks.png")
