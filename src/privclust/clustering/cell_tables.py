"""What released cells say about each column, and how far noisy tables are trusted.

A table of a column has the rows of each cell in each bin of the column: the cell says where in the
column its rows are, the histogram of the column how often each bin occurs. Everything here is
computed from released values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from privclust._typing import Floats, Integers
from privclust.schema.coordinates import project_shares

_ROUNDS = 30
# So much of the margin is in the shares of each cell, that nothing is impossible in any; the spread
# of a number within cells keeps at least this part of all of it.
_MIXED, _LEAST_WITHIN = 0.01, 0.02
# Of the table that is expected, so much is added to one that was shrunk, and nothing stays at zero.
_TRACE = 1e-3
_STEEPEST, _STEPS, _NEWTON = 400.0, 12, 12
_TINY = 1e-300


@dataclass(frozen=True)
class CellColumn:
    """What cells and the histogram of a column of numbers know of it."""

    margin: Floats  # (n_bins,): the rows of each bin
    values: Floats  # (n_bins,): the mean number of each bin
    # (n_cells,): the number of each cell, and its standard error.
    means: Floats
    errors: Floats

    def spread(self) -> tuple[float, float]:
        """Return the mean of the column and its variance."""
        mean = float(self.margin @ self.values / self.margin.sum())
        return mean, float(self.margin @ (self.values - mean) ** 2 / self.margin.sum())

    def within(self, weights: Floats) -> float:
        """Return the variance within cells: what is left of all once the cells have theirs."""
        share, (_, variance) = weights / weights.sum(), self.spread()
        gaps = self.means - share @ self.means
        between = max(float(share @ gaps**2 - share @ self.errors**2), 0.0)
        return max(variance - between, _LEAST_WITHIN * variance)


def number_table(column: CellColumn, weights: Floats, within: float) -> Floats:
    """Return the table of a number: the histogram, tilted to each cell's mean.

    p(v | cell) is in proportion to margin(v) exp(a x_v - λ (x_v - mean)²), with a for each cell so
    that the mean is right, and one λ so that the mean variance within cells is ``within``.
    """
    share = weights / weights.sum()
    low, span = column.values.min(), max(float(np.ptp(column.values)), 1e-12)
    means = column.spread()[0] + column.means - share @ column.means
    places = (np.clip(means, low + 0.01 * span, low + 0.99 * span) - low) / span
    grid = (column.values - low) / span
    least = 1e-6 * column.margin.sum() / len(grid)
    logs = np.log(np.maximum(column.margin, least))
    flat, steep = 0.0, _STEEPEST
    for _ in range(_STEPS):
        width = (flat + steep) / 2
        chances, variances = _tilt(grid, logs, places, width)
        wide = float(share @ variances) * span**2 > within
        flat, steep = (width, steep) if wide else (flat, width)
    return rake(chances * weights[:, None], weights, column.margin)


def noise_part(places: Floats, errors: Floats, weights: Floats) -> float:
    """Return which part of the variance between cells is noise. All are of shape (n_cells, ...)."""
    share = weights / weights.sum()
    between = float((share @ (places - share @ places) ** 2).sum())
    return min(1.0, float((share @ errors**2).sum()) / max(between, _TINY))


def draw_to_independence(tables: Sequence[Floats], noise: Floats) -> list[Floats]:
    """Return tables of columns with as much of their cells as noise leaves in pairs of columns.

    What cells say of a pair is a sum over cells, in which their noise averages out: noise alone
    makes it as large as if gaps had random signs, or by a standard error more. A column keeps what
    goes beyond that in all of its pairs together. ``noise``: (n_columns,), the part of the variance
    between cells that is noise.
    """
    weights = tables[0].sum(axis=1)
    share = weights / weights.sum()
    gaps = [table / weights[:, None] - table.sum(axis=0) / weights.sum() for table in tables]
    squares = np.array([(gap**2).sum(axis=1) for gap in gaps])
    by_chance = np.outer(noise, noise) * ((squares * share**2) @ squares.T)
    by_chance *= 1 + np.sqrt(2 * (share**2).sum())
    found = np.zeros((len(gaps), len(gaps)))
    for i, j in combinations(range(len(gaps)), 2):
        found[i, j] = found[j, i] = ((gaps[i].T @ (gaps[j] * share[:, None])) ** 2).sum()
    np.fill_diagonal(by_chance, 0)
    left = 1 - by_chance.sum(axis=1) / np.maximum(found.sum(axis=1), _TINY)
    kept = np.sqrt(np.clip(left, 0, 1))
    return [
        part * table + (1 - part) * np.outer(share, table.sum(axis=0))
        for part, table in zip(kept, tables, strict=True)
    ]


def _tilt(grid: Floats, logs: Floats, places: Floats, width: float) -> tuple[Floats, Floats]:
    """Return p(v | cell) with the means at ``places``, by Newton's method, and the variances."""
    slopes = np.zeros(len(places))
    base = logs - width * (grid - places[:, None]) ** 2
    for _ in range(_NEWTON):
        powers = base + slopes[:, None] * grid
        chances = np.exp(powers - powers.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        means = chances @ grid
        variances = np.maximum(chances @ grid**2 - means**2, 1e-4)
        slopes = np.clip(slopes + np.clip((places - means) / variances, -10, 10), -200, 200)
    return chances, variances


def share_table(shares: Floats, bins: Integers, weights: Floats, margin: Floats) -> Floats:
    """Return the table of categories: the cell's shares, hardly mixed with the margin.

    They are not drawn towards it by their noise: what pairs of columns are made of is a sum over
    all cells, in which noise averages out, and what is taken off every cell does not.
    """
    chances = project_shares(shares) @ np.eye(len(margin))[bins]
    mixed = (1 - _MIXED) * chances + _MIXED * margin / margin.sum()
    return rake(mixed * weights[:, None], weights, margin)


def rake(table: Floats, rows: Floats, columns: Floats, rounds: int = _ROUNDS) -> Floats:
    """Return the table scaled, in turns, to the sums of its rows and of its columns."""
    for _ in range(rounds):
        table = table * (rows / np.maximum(table.sum(axis=1), _TINY))[:, None]
        table = table * (columns / np.maximum(table.sum(axis=0), _TINY))
    return table


@dataclass(frozen=True)
class Shrunk:
    """A noisy table that was drawn towards what is expected without it."""

    table: Floats
    hidden: bool  # whether noise explains all of the difference, so that nothing of it is believed
    error: float  # about how far it is off, as a part of all rows: total variation


def shrunk(noisy: Floats, expected: Floats, standard_error: float, *, sums_known: bool) -> Shrunk:
    """Return a table between a noisy one and the expected one, by what noise leaves of the gap.

    The variance that is expected of a gap is in proportion to the expected count, so that empty
    cells stay empty. The nearest point of the simplex takes noise out of empty cells; cutting off
    at zero would leave half of it there. ``sums_known``: the sums of rows and columns are expected
    better than the noisy table has them, so that its own are not looked at.
    """
    gaps, free, square = noisy - expected, noisy.size, standard_error**2
    if sums_known:
        gaps = gaps - gaps.mean(axis=0) - gaps.mean(axis=1, keepdims=True) + gaps.mean()
        free = (noisy.shape[0] - 1) * (noisy.shape[1] - 1)
    signal = max(float((gaps**2).sum()) - free * square, 0.0) / max(expected.sum(), _TINY)
    variances = signal * np.maximum(expected, 0)
    believed = expected + gaps * variances / (variances + square + _TINY)
    total = max(float(expected.sum()), _TINY)
    near = project_shares(believed.reshape(1, -1) / total).reshape(noisy.shape) * total
    left = np.sqrt(variances * square * (free / noisy.size) / (variances + square + _TINY))
    return Shrunk(near + _TRACE * expected, not signal, float(0.4 * left.sum() / total))
