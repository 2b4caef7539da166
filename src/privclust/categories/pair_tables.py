"""Pair tables: their cells as flat vectors, how strong each is, and one consistent set of margins.

Ordinary arithmetic on released values. A flat vector has one number per cell of every table, in the
order of a :class:`PairLayout`; it takes the memory of the tables, whatever their shapes.

Strengths are shares of the strongest possible. They are assumed to be exponentially distributed
around a mean that is itself learned from all measurements (empirical Bayes). Ordinary arithmetic on
released values.

Noise makes the frequencies of values look more unequal than they are. So the margins of each
attribute are shrunk towards equal ones by as much as noise explains (empirical Bayes), and their
remaining uncertainty is kept. Everything here is computed from released values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from privclust._typing import Floats, Indices
from privclust.data.public import Noisy
from privclust.data.table.public import NoisyTables, PairLayout

# The cells of many pair tables as flat vectors: sums over tables, rows and columns of tables.


class PairTableCells:
    """Where every cell belongs.

    ``offsets``: (n_attributes + 1,), where the values of each attribute start in a vector of all
    values. ``pair``: (n_cells,). ``first``, ``second``: (n_cells,), the values, numbered over all
    attributes, that the cell counts together.
    """

    def __init__(self, layout: PairLayout) -> None:
        self.layout = layout
        self.sizes = np.array(layout.sizes, np.intp)
        self.offsets: Indices = np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.intp)
        self.pairs = np.array(layout.pairs, np.intp).reshape(-1, 2)
        self.heights, self.widths = self.sizes[self.pairs[:, 0]], self.sizes[self.pairs[:, 1]]
        n_cells = np.diff(layout.starts)
        self.pair: Indices = np.repeat(np.arange(len(self.pairs)), n_cells)
        inside = np.arange(layout.n_cells) - np.repeat(layout.starts[:-1], n_cells)
        row, column = np.divmod(inside, self.widths[self.pair])
        self.first: Indices = self.offsets[self.pairs[self.pair, 0]] + row
        self.second: Indices = self.offsets[self.pairs[self.pair, 1]] + column
        # Every row and every column of every table has a number of its own.
        self._row = (np.cumsum(self.heights) - self.heights)[self.pair] + row
        self._column = (np.cumsum(self.widths) - self.widths)[self.pair] + column

    @property
    def n_values(self) -> int:
        """Number of values of all attributes."""
        return int(self.offsets[-1])

    def per_table(self, values: Floats) -> Floats:
        """Return the sum over each table."""
        return np.asarray(np.bincount(self.pair, values, minlength=len(self.pairs)), np.float64)

    def spread(self, per_table: NDArray[Any]) -> Floats:
        """Give every cell the number of its table."""
        return np.asarray(per_table[self.pair], np.float64)

    def row_sums(self, values: Floats) -> Floats:
        """Return the sum over its row, for every cell."""
        return np.asarray(np.bincount(self._row, values)[self._row])

    def column_sums(self, values: Floats) -> Floats:
        """Return the sum over its column, for every cell."""
        return np.asarray(np.bincount(self._column, values)[self._column])

    def margins(self, values: Floats, weights: Floats) -> Floats:
        """Return, for every value, the weighted sum over tables of its row or column sums."""
        weighted = values * weights[self.pair]
        return np.asarray(
            np.bincount(self.first, weighted, minlength=self.n_values)
            + np.bincount(self.second, weighted, minlength=self.n_values),
            np.float64,
        )

    def subtract_means(self, values: Floats) -> Floats:
        """Return numbers of all values minus their mean over each attribute."""
        means = np.add.reduceat(values, self.offsets[:-1]) / self.sizes
        return np.asarray(values - np.repeat(means, self.sizes))

    def square(self, values: Floats) -> Floats:
        """Return the symmetric matrix over all values, zero where there is no table."""
        matrix = np.zeros((self.n_values, self.n_values))
        matrix[self.first, self.second] = values
        matrix[self.second, self.first] = values
        return matrix

    def slice(self, attribute: int) -> slice:
        """Return the slice of an attribute in a vector of all values."""
        return slice(int(self.offsets[attribute]), int(self.offsets[attribute + 1]))


# How strong things are, judged by many noisy and unbiased measurements.

_ROUNDS = 5

# From true strengths to the standard errors of all measurements, one column for each.
Doubt = Callable[[Floats], Floats]


def typical_level(found: Floats, doubt: Doubt, *, default: float, least: float) -> float:
    """Return the mean strength, shrunk towards a default where little is known.

    Measurements are weighted by their uncertainty at the mean strength, never at the one found:
    that would favour those that happen to look weak.
    """
    usual, own = default, 1 / default**2
    for _ in range(_ROUNDS):
        weights = 1 / (doubt(np.array([usual]))[:, 0] ** 2 + usual**2)
        weight = float(weights.sum())
        mean = (float(weights @ found) + default * own) / (weight + own)
        usual = max(mean, least)
    return usual


def signal_probabilities(found: Floats, doubt: Doubt, levels: Floats, usual: float) -> Floats:
    """Return how likely each of some strengths is, of shape (n_found, n_levels)."""
    errors = doubt(levels)
    fit = -0.5 * ((found[:, None] - levels) / errors) ** 2 - np.log(errors)
    prior = np.gradient(levels) * np.exp(-levels / usual)
    weights = np.exp(fit - fit.max(axis=1, keepdims=True)) * prior
    return np.asarray(weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300))


# One consistent set of margins from noisy histograms and noisy tables.

# The expected inequality of margins, as a share of the largest possible.
_USUAL_INEQUALITY = 0.35
_INEQUALITIES = np.concatenate([[0.0], np.logspace(-5, 0, 100)])
_LEAST_LEARNED = 1e-3
# Margins whose inequality noise explains are equal, if any above this share would show ...
_LEAST_INEQUALITY = 0.02
# ... by this many standard errors; Laplace noise has heavy tails.
_CLEARLY = 4.0
_TINY = 1e-12


class Margins(NamedTuple):
    """Counts of all values, and how uncertain each is."""

    counts: Floats
    variances: Floats


def number_of_rows(histograms: Noisy, tables: NoisyTables, cells: PairTableCells) -> float:
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
    found = float((totals / variances).sum() / (1 / variances).sum())
    return max(1.0, _positive_mean(found, float((1 / variances).sum() ** -0.5)))


def _positive_mean(found: float, error: float) -> float:
    """Return the expectation of a positive number measured with an error."""
    place = found / error
    return found + error * math.exp(float(norm.logpdf(place) - norm.logcdf(place)))


def combine_margins(
    histograms: Noisy, tables: NoisyTables, cells: PairTableCells, n_rows: float
) -> Floats:
    """Return the counts of all values: weighted by precision, none negative, adding up to N."""
    noisy = _precision_weighted(histograms, tables, cells, n_rows).counts
    return np.concatenate(
        [project_on_simplex(noisy[cells.slice(a)], n_rows) for a in range(len(cells.sizes))]
    )


def calibrate_margins(
    histograms: Noisy, tables: NoisyTables, cells: PairTableCells, n_rows: float
) -> Margins:
    """Return the same, corrected for the inequality that noise adds, with their uncertainty."""
    noisy, variances = _precision_weighted(histograms, tables, cells, n_rows)
    own = np.repeat(np.arange(len(cells.sizes)), cells.sizes)
    even = np.repeat(n_rows / cells.sizes, cells.sizes)
    squares = np.asarray(np.bincount(own, (noisy - even) ** 2), np.float64)
    by_attribute = variances[cells.offsets[:-1]]
    gains = _gains(squares, by_attribute, cells.sizes, n_rows)[own]
    counts = combine_margins(histograms, tables, cells, n_rows)
    return Margins(even + gains * (counts - even), gains * variances)


def _precision_weighted(
    histograms: Noisy, tables: NoisyTables, cells: PairTableCells, n_rows: float
) -> Margins:
    """Return noisy margins that add up to N, by precision.

    A table of w columns gives a margin with w times the variance of its cells.
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
        counts[part] = noisy + (n_rows - noisy.sum()) / len(noisy)
    return Margins(counts, np.repeat(1 / (precision + own), cells.sizes))


def _gains(squares: Floats, variances: Floats, sizes: Indices, n_rows: float) -> Floats:
    """Return for each attribute the share of its inequality that is likely not noise.

    ``squares``: (n_attributes,), squared distances of the noisy margins from equal ones.
    ``variances``: (n_attributes,). ``sizes``: (n_attributes,).
    """
    most = np.maximum(n_rows**2 * (1 - 1 / sizes), _TINY)
    noise, free = variances / most, sizes - 1
    found = squares / most - free * noise

    def doubt(inequality: Floats) -> Floats:
        constant = 2 * (free * noise**2)[:, None]
        return np.asarray(np.sqrt(constant + 4 * noise[:, None] * inequality) + _TINY)

    error = float(np.sqrt((doubt(np.zeros(1)) ** 2).sum()))
    unclear = float(found.sum()) < _CLEARLY * error
    if unclear and float(found.sum()) + _CLEARLY * error < _LEAST_INEQUALITY * len(sizes):
        return np.zeros(len(sizes))
    least = _LEAST_LEARNED * _USUAL_INEQUALITY
    usual = typical_level(found, doubt, default=_USUAL_INEQUALITY, least=least)
    gains = _INEQUALITIES / (_INEQUALITIES + (free * noise)[:, None] + _TINY)
    return np.asarray(
        (signal_probabilities(found, doubt, _INEQUALITIES, usual) * gains).sum(axis=1)
    )


def project_on_simplex(values: Floats, total: float) -> Floats:
    """Return the nearest non-negative vector that adds up to ``total``."""
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    last = int(np.flatnonzero(falling - excess > 0)[-1])
    return np.asarray(np.maximum(values - excess[last], 0))
