"""Tables and figures of the categorical benchmark."""

from __future__ import annotations

import argparse

import numpy as np

Scores = dict[str, list[tuple[float, float]]]


def mean_and_error(values: list[float]) -> tuple[float, float]:
    return float(np.nanmean(values)), float(np.nanstd(values) / np.sqrt(len(values)))


def show(options: argparse.Namespace, title: str, scores: Scores, flat: dict[str, float]) -> None:
    """Print a table, and draw it; ``flat`` are rows that do not depend on ε."""
    print(f"\n{title}\n| | " + " | ".join(f"ε={e:g}" for e in options.epsilon) + " |")
    print("|---" * (len(options.epsilon) + 1) + "|")
    for row, cells in scores.items():
        print(f"| {row} | " + " | ".join(f"{m:.2f} ± {e:.2f}" for m, e in cells) + " |")
    for row, value in flat.items():
        print(
            f"| {row} | " + " | ".join([f"{value:.2f}"] * len(options.epsilon)) + " |", flush=True
        )
    if options.plots:
        draw(options, title, scores, flat)


def draw(options: argparse.Namespace, title: str, scores: Scores, flat: dict[str, float]) -> None:
    from matplotlib.figure import Figure

    options.plots.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    ax = figure.subplots()
    for row, cells in scores.items():
        means, errors = zip(*cells, strict=True)
        style = "-" if "pairs" in row or "tree" in row else "--"
        ax.errorbar(options.epsilon, means, 2 * np.array(errors), label=row, ls=style, capsize=2)
    for row, value in flat.items():
        ax.axhline(value, color="grey", ls=":", label=row)
    ax.set(xscale="log", xlabel="total ε", title=title)
    ax.legend(fontsize=7)
    figure.savefig(options.plots / f"{title.replace(' ', '-').replace(',', '')}.svg")
