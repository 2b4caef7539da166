"""Tables of the categorical benchmark, one per data set; figures, one per experiment."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

Scores = dict[str, list[tuple[float, float]]]

# Published variants are thin and dashed, rivals grey, ours thick; orange is with δ.
PUBLISHED = ("baseline", "mean-su", "max-relevance", "max-dependency")
MARKERS = {"baseline": "v", "mean-su": "s", "max-relevance": "^", "max-dependency": "D"}
BLUE, ORANGE, GREEN, GREY, INK = "#0072b2", "#d55e00", "#009e73", "#999999", "#222222"


@dataclass(frozen=True)
class Panel:
    """One table, to be drawn; ``flat`` are rows that do not depend on ε."""

    title: str
    scores: Scores
    flat: dict[str, float] = field(default_factory=dict)


def mean_and_error(values: list[float]) -> tuple[float, float]:
    return float(np.nanmean(values)), float(np.nanstd(values, ddof=1) / np.sqrt(len(values)))


def show(options: argparse.Namespace, title: str, scores: Scores, flat: dict[str, float]) -> None:
    """Print a table and keep it for the figure."""
    print(f"\n{title}\n| | " + " | ".join(f"ε={e:g}" for e in options.epsilon) + " |")
    print("|---" * (len(options.epsilon) + 1) + "|")
    for row, cells in scores.items():
        print(f"| {row} | " + " | ".join(f"{m:.2f} ± {e:.2f}" for m, e in cells) + " |")
    for row, value in flat.items():
        print(f"| {row} | " + " | ".join([f"{value:.2f}"] * len(options.epsilon)) + " |")
    print(end="", flush=True)
    options.panels.append(Panel(title, scores, flat))


def draw(path: Path, epsilons: list[float], panels: list[Panel]) -> None:
    """Draw the tables of one experiment side by side, with one legend for all."""
    across = min(len(panels), 4) if len(panels) != 12 else 3
    down = -(-len(panels) // across)
    figure = Figure(figsize=(3.1 * across, 2.7 * down + 1.0), layout="constrained")
    axes = np.atleast_1d(figure.subplots(down, across, squeeze=False)).ravel()
    for ax, panel in zip(axes, panels, strict=False):
        for row, cells in panel.scores.items():
            means, errors = zip(*cells, strict=True)
            ax.errorbar(epsilons, means, 2 * np.array(errors), label=row, **_style(row))
        for row, value in panel.flat.items():
            dots = (0, (1, 1)) if row.startswith("Hamming") else (0, (5, 2))
            ax.axhline(value, color=INK, lw=1, ls=dots, label=row)
        ax.set(xscale="log", xlabel="total ε")
        ax.set_title(panel.title, fontsize=9)
        ax.set_xticks(epsilons, [f"{e:g}" for e in epsilons])
        ax.minorticks_off()
        ax.grid(visible=True, alpha=0.25)
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    handles, names = axes[0].get_legend_handles_labels()
    columns = {1: 2, 2: 3}.get(across, 5)
    place = "outside lower center"
    figure.legend(handles, names, loc=place, ncols=columns, fontsize=8, frameon=False)
    save_small(figure, path)


def save_small(figure: Figure, path: Path) -> None:
    """Write a figure in 256 colours, with which lines keep theirs: less than half of the bytes."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = BytesIO()
    figure.savefig(drawn, dpi=80)
    image = Image.open(drawn).convert("RGB")
    image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        path, optimize=True
    )


def _style(row: str) -> dict[str, object]:
    name = row.partition(",")[0]
    if name in PUBLISHED:
        return {"color": GREEN, "ls": "--", "lw": 1, "marker": MARKERS[name], "ms": 4, "alpha": 0.8}
    style = {"color": ORANGE if "δ" in row else BLUE, "marker": "o", "ms": 3}
    if name.startswith("tree"):
        style |= {"marker": "x", "ms": 5}
    if name.startswith("raw"):
        return {**style, "ls": ":", "lw": 1}
    if name.startswith("shrunk"):
        return {**style, "ls": "-.", "lw": 1}
    return {**style, "ls": "-", "lw": 2 if "default" in row or "k-means" in row else 1}
