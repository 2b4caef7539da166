"""Small pictures of how the numbers of each cluster spread, drawn from released values alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from privclust._typing import Floats
from privclust.reports.svg import ACCENT, MUTED, WIDTH, inline_svg, is_narrow, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["histogram_grid"]

_ROW = 0.55  # inches
_MOST_ON_A_PHONE = 3


def histogram_grid(
    labels: Sequence[int], names: Sequence[str], counts: Floats, errors: Floats, ends: Floats
) -> str:
    """Draw a histogram for each cluster and column; bars within two errors of zero are pale.

    Parameters
    ----------
    labels : sequence of int
        The clusters, one line each.
    names : sequence of str
        The columns.
    counts : ndarray of shape (n_clusters, n_columns, n_cells)
        Noisy numbers of rows.
    errors : ndarray of the same shape
        Their standard errors.
    ends : ndarray of shape (n_columns, 2)
        The declared bounds, below the last line.
    """

    def draw(figure: Figure) -> None:
        width = min(len(names), _MOST_ON_A_PHONE) if is_narrow(figure) else len(names)
        axes = figure.subplots(len(labels), width, squeeze=False)
        for row, label in enumerate(labels):
            for column in range(width):
                ax = axes[row, column]
                _draw_one(ax, counts[row, column], errors[row, column])
                if row == 0:
                    ax.set_title(shown(names[column]), fontsize=7.5, color=MUTED)
                if row == len(labels) - 1:
                    _mark_ends(ax, ends[column], counts.shape[2])
            axes[row, 0].set_ylabel(f"{label}", rotation=0, ha="right", va="center")

    listed = ", ".join(shown(name) for name in names)
    alt = f"Histograms of {listed}, a line for each of {len(labels)} clusters."
    return inline_svg("histograms", alt, (WIDTH, 0.7 + _ROW * len(labels)), draw)


def _draw_one(ax: Axes, counts: Floats, errors: Floats) -> None:
    heights = np.maximum(counts, 0)
    sure = counts > 2 * errors
    at = np.arange(len(counts))
    ax.bar(at[sure], heights[sure], 0.92, color=ACCENT, alpha=0.8)
    ax.bar(at[~sure], heights[~sure], 0.92, color=ACCENT, alpha=0.25)
    ax.set_xlim(-0.6, len(counts) - 0.4)
    ax.set_ylim(0, max(float(heights.max()), 4 * float(errors.max()), 1e-9))
    ax.set_xticks([])
    ax.set_yticks([])


def _mark_ends(ax: Axes, ends: Floats, n_cells: int) -> None:
    ax.set_xticks([-0.5, n_cells - 0.5], [f"{end:.3g}" for end in ends], fontsize=6.5)
    ax.tick_params(length=0)
