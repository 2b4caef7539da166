"""What the report of a summary shows: the curve of k, and the clusters for a chosen k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privclust.kmeans.report import kmeans_context
from privclust.reports.rounded import shown_error
from privclust.reports.svg import ACCENT, INK, WIDTH, inline_svg
from privclust.summary.answers import Summary
from privclust.summary.choosing import Choice
from privclust.summary.clustering import most_clusters
from privclust.summary.release import cells_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privclust.release.release import Release

__all__ = ["summary_context"]

_FEWEST_CELLS = 3


def summary_context(release: Release) -> dict[str, Any]:
    """Return what the template needs; without enough cells there is nothing to choose."""
    summary, cells = Summary(release), cells_of(release)
    found = release.signal == "seen" and most_clusters(cells) >= _FEWEST_CELLS
    shown: dict[str, Any] = {
        "found": found,
        "rows": f"{cells.n_rows:,.0f}",
        "rows_error": shown_error(2 * cells.n_rows_error),
        "n_cells": most_clusters(cells),
    }
    if not found:
        return shown
    choice = summary.choose_k()
    k = choice.suggestion
    return shown | {
        "verdict": choice.verdict,
        "clear": choice.n_clusters is not None,
        "curve": _curve_plot(choice),
        "lines": _lines(choice),
        "k": k,
        "sentences": [profile.sentence for profile in summary.profiles(k)],
        "clusters": kmeans_context(summary.kmeans(k)),
    }


def _lines(choice: Choice) -> list[dict[str, str]]:
    curve = zip(choice.ks, choice.inertia, choice.inertia_error, choice.stability, strict=True)
    return [
        {
            "k": str(k),
            "inertia": f"{inertia:,.4g}",
            "error": shown_error(2 * error),
            "stability": f"{stability:.2f}".replace("-", "−"),
        }
        for k, inertia, error, stability in curve
    ]


def _curve_plot(choice: Choice) -> str:
    """Draw the inertia of every k with two errors of the noise to each side."""

    def draw(figure: Figure) -> None:
        ax = figure.subplots()
        whiskers: dict[str, Any] = {"ecolor": INK, "capsize": 2.5, "elinewidth": 1.0}
        errors = 2 * choice.inertia_error
        ax.errorbar(
            choice.ks, choice.inertia, yerr=errors, color=ACCENT, marker="o", ms=4, **whiskers
        )
        ax.set_xlabel("number of clusters")
        ax.set_ylabel("inertia")
        ax.set_ylim(0, float(np.max(choice.inertia + errors)) * 1.05)
        ax.yaxis.grid(visible=True)
        ax.set_axisbelow(True)

    ends = f"{choice.inertia[0]:.3g} for 1 to {choice.inertia[-1]:.3g} for {choice.ks[-1]}"
    alt = f"Line of the inertia by the number of clusters, from {ends}. {choice.verdict}"
    return inline_svg("curve", alt, (WIDTH, 2.8), draw)
