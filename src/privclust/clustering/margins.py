"""How many rows are in each bin of each column, by all released counts that tell of it.

The histogram of a column tells of it, and so does every table of the column, summed over the other
side. All of these are the same numbers with independent noise of a known size, so that their mean,
weighted by precision, is the best of them. Everything here is computed from released values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats, Integers
from privclust.clustering.binned_columns import Histogram, on_simplex
from privclust.clustering.tables import Tables

# Counts without noise still have a variance.
_LEAST_VARIANCE = 1e-12


@dataclass(frozen=True)
class Margin:
    """What all counts together say of a column."""

    histogram: Histogram
    errors: Floats  # (n_bins,): the standard error of the rows of each bin


def margins_from(tables: Tables, histograms: Sequence[Histogram], total: float) -> list[Margin]:
    """Return the margin of each column, of ``total`` rows.

    ``histograms``: of all columns, as their own counts have them.
    """
    bins = tables.bins(len(histograms))
    sizes = [int(codes.max()) + 1 for codes in bins]
    sums, precisions = [np.zeros(size) for size in sizes], np.zeros(len(sizes))
    for column, rows, variance in _told_by_tables(tables, histograms, sizes):
        sums[column] += rows / max(variance, _LEAST_VARIANCE)
        precisions[column] += 1 / max(variance, _LEAST_VARIANCE)
    return [_margin(*of, total) for of in zip(histograms, bins, sums, precisions, strict=True)]


def _told_by_tables(
    tables: Tables, histograms: Sequence[Histogram], sizes: Sequence[int]
) -> Iterator[tuple[int, Floats, float]]:
    """Yield a column, its rows by bin as a table has them, and the variance of each."""
    pairs, squares = tables.pair_tables(sizes), tables.pair_counts_error**2
    for (first, second), table, square in zip(tables.pairs.tolist(), pairs, squares, strict=True):
        yield first, table.sum(axis=1), square * table.shape[1]
        yield second, table.sum(axis=0), square * table.shape[0]
    if len(tables.group_counts):
        numbers = [j for j, histogram in enumerate(histograms) if histogram.axis.ordered]
        ends = np.cumsum([sizes[j] for j in numbers])[:-1]
        parts = np.split(tables.group_counts.sum(axis=0), ends)
        variance = float(tables.group_counts_error[0]) ** 2 * len(tables.group_counts)
        for column, rows in zip(numbers, parts, strict=True):
            yield column, rows, variance


def _margin(
    histogram: Histogram, bins: Integers, sums: Floats, precision: float, total: float
) -> Margin:
    """Return a histogram moved towards what tables say of its bins: sums, times their precision.

    Cells of the same bin and the same first cell grow together: their shares stay what they were.
    """
    member = (bins == np.arange(len(sums))[:, None]).astype(np.float64)
    noise = histogram.covariance(member)
    of_bins = member @ noise
    if not precision:
        return Margin(histogram, np.sqrt(np.diag(of_bins)))
    first = histogram.first.cells_of(histogram.edges[:-1])
    _, piece = np.unique(first * len(sums) + bins, return_inverse=True)
    own, together = np.bincount(piece, histogram.mass), _sum_by(piece, noise)
    both = of_bins + np.eye(len(sums)) / precision
    gap = sums / precision - member @ histogram.mass
    moved = on_simplex(own + together @ np.linalg.solve(both, gap), total)
    left = np.diag(of_bins - of_bins @ np.linalg.solve(both, of_bins))
    found = histogram.scale((moved / np.maximum(own, _LEAST_VARIANCE))[piece])
    return Margin(found, np.sqrt(np.maximum(left, 0)))


def _sum_by(piece: Integers, lines: Floats) -> Floats:
    """Return the sums of lines that belong to the same piece."""
    return np.array([np.bincount(piece, column) for column in lines.T]).T
