"""The figures of ``subclustering.py``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

__all__ = ["draw_gaps", "draw_ratios"]


def draw_gaps(
    curves: Mapping[str, Mapping[str, Sequence[float]]], epsilons: Sequence[float], folder: Path
) -> None:
    """Draw CostGap by ε, one panel per data set and one line per algorithm."""
    figure, panels = plt.subplots(1, len(curves), figsize=(3.2 * len(curves), 3), squeeze=False)
    for panel, (name, by_method) in zip(panels[0], curves.items(), strict=True):
        for title, curve in by_method.items():
            style = "k--" if title == "KMeansGuarantee" else "-"
            panel.plot(epsilons, curve, style, marker="o", markersize=3, label=title)
        panel.set(title=name, xlabel="claimed ε", xscale="log", yscale="log")
        panel.minorticks_off()
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 3)))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    panels[0][0].set_ylabel("CostGap")
    panels[0][0].legend(fontsize=7)
    _save(figure, folder / "subclustering_costgap.svg")


def draw_ratios(
    found: Mapping[str, Sequence[float]], paper: Mapping[str, float], folder: Path
) -> None:
    """Draw the ratio of the two CostGaps under each reading, and that of the paper."""
    figure, panel = plt.subplots(figsize=(6, 2.6))
    rng = np.random.default_rng(0)
    for place, (name, ratios) in enumerate(found.items()):
        spread = place + rng.uniform(-0.15, 0.15, len(ratios))
        panel.plot(ratios, spread, "o", color="tab:blue", markersize=3, alpha=0.6)
        panel.plot(paper[name], place, "kx", markersize=8, markeredgewidth=2)
    panel.axvline(1, color="grey", linewidth=0.8)
    panel.set(xscale="log", xlabel="CostGap of KMeansGuarantee / that of SubclusterGuarantee")
    ticks = [0.1, 0.2, 0.5, 1, 2, 4]
    panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.set_xticks([], minor=True)
    panel.set_yticks(range(len(found)), list(found))
    panel.invert_yaxis()
    panel.legend(["a reading", "the paper"], fontsize=8)
    _save(figure, folder / "subclustering_readings.svg")


def _save(figure: Figure, path: Path) -> None:
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    with plt.rc_context({"svg.fonttype": "none"}):  # letters as letters: half the size
        figure.savefig(path)
