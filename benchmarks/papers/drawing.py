"""Plots of the papers' pages: lines by panel, from rows of results alone, and pictures of data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from pivoting import Line, Rows, named, picked

from category_output import save_small

__all__ = ["FIGURES", "draw"]


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


FIGURES: dict[str, Plot] = {
    "papers-tau-nmi": Plot("tau-epsilon", "nmi", across="ε", label="NMI", log="x"),
    "papers-tau-rounds": Plot("tau-rounds", "tau", across="rounds", label="τ, released"),
    "papers-tau-h": Plot("tau-h", "tau", across="h", label="τ, released"),
    "papers-tau-columns": Plot("tau-columns", "nmi", "by", across="columns", label="NMI", log="x"),
    "papers-zones-gaps": Plot(
        "zones-gaps", "CostGap", across="claimed ε", label="CostGap", log="xy"
    ),
    "papers-zones-cost": Plot(
        "zones-convergence",
        "cost / cost of Lloyd",
        across="iteration",
        label="cost, before the last noise",
        log="y",
    ),
    "papers-targets-cost": Plot(
        "targets-costs",
        "cost",
        across="number of new centres",
        label="true mean distance",
        log="xy",
        only={"by": ("", "ε=3")},
    ),
    "papers-targets-bounds": Plot(
        "targets-bounds",
        "Diff",
        across="t",
        label="Diff(S, S')",
        log="y",
        only={"by": "ρ=3"},
    ),
    "papers-dilca-pearson": Plot(
        "dilca-values",
        "Pearson",
        across="ε for each target",
        label="Pearson",
        log="x",
        only={"by": "each target"},
    ),
    "papers-dilca-size": Plot(
        "dilca-size", "Pearson", across="k", label="Pearson", only={"by": "ε = 2.5"}
    ),
}


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
    across = min(4, len(panels))
    down = -(-len(panels) // across)
    figure = Figure(figsize=(3.1 * across, 2.6 * down + 0.8), layout="constrained")
    axes = np.atleast_1d(figure.subplots(down, across, squeeze=False)).ravel()
    lines = list(dict.fromkeys(row[plot.line] for row in found))
    for ax, panel in zip(axes, panels, strict=False):
        _panel(ax, [row for row in found if row[plot.panel] == panel], plot, lines)
        ax.set_title(named(panel), fontsize=9)
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    axes[0].set_ylabel(plot.label)
    handles = {
        label: line
        for ax in axes
        for line, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    place = "outside lower center"
    figure.legend(handles.values(), handles, loc=place, ncols=4, fontsize=7, frameon=False)
    save_small(figure, folder / f"{name}.png")


def _panel(ax: Any, rows: Sequence[Line], plot: Plot, lines: Sequence[str]) -> None:
    for number, name in enumerate(lines):
        own = [row for row in rows if row[plot.line] == name]
        points = sorted((float(row["at"]), float(row["mean"])) for row in own if row["at"])
        colour, style = f"C{number % 10}", "--" if number >= 10 else "-"
        if points:
            look = {"marker": ".", "lw": 1, "ls": style, "color": colour}
            ax.plot(*zip(*points, strict=True), label=named(name), **look)
        for row in own:
            if not row["at"]:  # does not depend on it
                ax.axhline(float(row["mean"]), ls=":", color=colour, label=named(name))
    if "x" in plot.log:
        ax.set_xscale("log")
    if "y" in plot.log:
        ax.set_yscale("log")
    ax.set_xlabel(plot.across, fontsize=8)
    ax.tick_params(labelsize=7)
