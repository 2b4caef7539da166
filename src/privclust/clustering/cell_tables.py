"""What released cells say about each column, and how far noisy tables are trusted.

A table of a column has the rows of each cell in each bin of the column: the cell says where in the
column its rows are, the histogram of the column how often each bin occurs. Everything here is
computed from released values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats, Integers
from privclust.schema.coordinates import project_shares

_ROUNDS = 30
# A cell's shares are mixed with the margin by their error, between these; the spread of a number
# within cells keeps at least this part of all of it.
_LEAST_MIXED, _MOST_MIXED, _LEAST_WITHIN = 0.01, 0.5, 0.02
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
    seen = _visible(column.means[:, None], column.errors[:, None], share)
    return _shrink_to_margin(chances, seen, weights, column.margin)


def _visible(places: Floats, errors: Floats, share: Floats) -> float:
    """Return which part of the variance between cells is not noise."""
    between = float((share @ (places - share @ places) ** 2).sum())
    noise = float((share @ errors**2).sum())
    return max(0.0, 1 - noise / max(between, _TINY))


def _shrink_to_margin(chances: Floats, seen: float, weights: Floats, margin: Floats) -> Floats:
    """Return the table of a column, drawn towards independence by what noise makes of the cells."""
    mixed = seen * chances + (1 - seen) * margin / margin.sum()
    return rake(mixed * weights[:, None], weights, margin)


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


def share_table(
    shares: Floats, errors: Floats, bins: Integers, weights: Floats, margin: Floats
) -> Floats:
    """Return the table of categories: the cell's shares, mixed with the margin by their error."""
    binned = project_shares(shares) @ np.eye(len(margin))[bins]
    mixed = np.clip(errors.mean(axis=1, keepdims=True), _LEAST_MIXED, _MOST_MIXED)
    chances = (1 - mixed) * binned + mixed * margin / margin.sum()
    return rake(chances * weights[:, None], weights, margin)


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


def shrunk(noisy: Floats, expected: Floats, standard_error: float) -> Shrunk:
    """Return a table between a noisy one and the expected one, by what noise leaves of the gap.

    The variance that is expected of a gap is in proportion to the expected count, so that empty
    cells stay empty. The nearest point of the simplex takes noise out of empty cells; cutting off
    at zero would leave half of it there.
    """
    gaps, square = noisy - expected, standard_error**2
    signal = max(float((gaps**2).sum()) - noisy.size * square, 0.0) / max(expected.sum(), _TINY)
    variances = signal * np.maximum(expected, 0)
    believed = expected + gaps * variances / (variances + square + _TINY)
    total = max(float(expected.sum()), _TINY)
    near = project_shares(believed.reshape(1, -1) / total).reshape(noisy.shape) * total
    left = np.sqrt(variances * square / (variances + square + _TINY))
    return Shrunk(near + _TRACE * expected, not signal, float(0.4 * left.sum() / total))
