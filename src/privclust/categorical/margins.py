"""One consistent set of margins from noisy histograms and noisy tables."""

from __future__ import annotations

import numpy as np

from privclust._typing import Floats
from privclust.categorical.cells import Cells
from privclust.data.table.public import NoisyTables
from privclust.data.view import Noisy

__all__ = ["combined_margins", "number_of_rows", "on_simplex"]


def number_of_rows(histograms: Noisy, tables: NoisyTables, cells: Cells) -> float:
    """Return the number of rows that all noisy totals together suggest."""
    ends = cells.offsets[:-1]
    totals = np.concatenate(
        [np.add.reduceat(histograms.value, ends), cells.per_table(tables.cells)]
    )
    variances = np.concatenate(
        [
            cells.sizes * max(histograms.standard_error, 1e-9) ** 2,
            cells.heights * cells.widths * max(tables.standard_error, 1e-9) ** 2,
        ]
    )
    return max(1.0, float((totals / variances).sum() / (1 / variances).sum()))


def combined_margins(histograms: Noisy, tables: NoisyTables, cells: Cells, n_rows: float) -> Floats:
    """Return the counts of all values: weighted by precision, none negative, adding up to N.

    A table of w columns tells a margin with w times the variance of its cells.
    """
    cell_variance = max(tables.standard_error, 1e-9) ** 2
    by_row, by_column = 1 / (cell_variance * cells.widths), 1 / (cell_variance * cells.heights)
    sums = np.bincount(
        cells.first, tables.cells * by_row[cells.pair], minlength=cells.n_values
    ) + np.bincount(cells.second, tables.cells * by_column[cells.pair], minlength=cells.n_values)
    precision = np.bincount(cells.pairs[:, 0], by_row, minlength=len(cells.sizes)) + np.bincount(
        cells.pairs[:, 1], by_column, minlength=len(cells.sizes)
    )
    own = 1 / max(histograms.standard_error, 1e-9) ** 2
    counts = np.empty(cells.n_values)
    for attribute, weight in enumerate(precision):
        part = cells.slice(attribute)
        noisy = (sums[part] + histograms.value[part] * own) / (weight + own)
        counts[part] = on_simplex(noisy + (n_rows - noisy.sum()) / len(noisy), n_rows)
    return counts


def on_simplex(values: Floats, total: float) -> Floats:
    """Return the nearest non-negative vector that adds up to ``total``."""
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    last = int(np.flatnonzero(falling - excess > 0)[-1])
    return np.asarray(np.maximum(values - excess[last], 0))
