"""From noisy pair tables to the best estimate of the true ones, with its uncertainty.

The estimate of a cell starts from independence, n_y n_x / N, and adds the residual of the noisy
table, shrunk by how much of it is likely to be noise (empirical Bayes). Two things keep it from
shrinking too much when there is little noise:

* what many tables agree on, the leading eigenvectors of all of them together, carries only a small
part of the noise and is shrunk separately;
* a cell that stands out more than noise does among as many cells keeps its value.

Everything here is computed from released values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats
from privclust.budget import Currency
from privclust.categories.dependence import (
    CONTEXT_STRENGTH,
    IndependentTables,
    Signal,
    Strengths,
    has_signal,
    strengths_by,
)
from privclust.categories.pair_tables import PairTableCells, calibrate_margins, number_of_rows
from privclust.data.public import Noisy
from privclust.data.table.public import NoisyTables, PairLayout

# The prior variance of a cell grows as this power of the two shares of rows.
_POWER = 1.5
# An eigenvalue above the edge of noise by this factor is signal.
_ABOVE_NOISE = 1.15
_MOST_VALUES = 1500  # beyond, the eigenvectors of all values would take too long
# Of the square of the largest noise to expect; beyond it a cell keeps its value.
_OUTSTANDING = 0.6
_OWN_WEIGHT = 0.3
# A value clearly occurs above this many standard errors. Below, it is assumed to have no rows ...
_CLEARLY_THERE = 2.0
# ... if a value with an equal share of the rows would be above this many times that.
_WOULD_SHOW = 2.0
_TINY = 1e-9


@dataclass(frozen=True)
class Estimate:
    """Estimated tables of pairs of attributes."""

    layout: PairLayout
    n_rows: float
    margins: Floats  # (n_values,): counts of all values
    # (layout.n_cells,): estimated counts of the cells, and how uncertain each is.
    counts: Floats
    variances: Floats
    # (n_pairs,): the share of each table's dependence that noise hides; 0 where the table is exact.
    unlearned: Floats
    # (n_pairs,): how strong the hidden dependence of each may be, as a share of the strongest
    # possible.
    credible: Floats | float = CONTEXT_STRENGTH
    margin_variances: Floats | float = 0.0  # (n_values,): how uncertain the margins are
    signal: Signal = "seen"  # whether any dependence stands out from noise

    def conditional(self, target: int, given: int) -> tuple[Floats, Floats]:
        """Return P(target | given), of shape (n_target, n_given), and the doubt about each column.

        A doubt of 0 is certainty; at 1 the column may be any with these probabilities as its mean.
        """
        counts = np.asarray(self.layout.table(self.counts, (target, given)), np.float64)
        spread = np.asarray(self.layout.table(self.variances, (target, given)), np.float64)
        sums = counts.sum(axis=0)
        shares = counts.sum(axis=1) / max(float(counts.sum()), _TINY)
        chances = np.where(sums > 0, counts / np.where(sums > 0, sums, 1), shares[:, None])
        rows = np.maximum(self._of(self.margins, given)[:, 0], 1.0)
        most = chances * (1 - chances)
        n_rows = max(self.n_rows, 1.0)
        uncertain = spread / rows**2 + self._of(self.margin_variances, target) / n_rows**2
        known = np.minimum(uncertain, most).sum(axis=0) / np.maximum(most.sum(axis=0), _TINY)
        place = self.layout.places[min(target, given), max(target, given)]
        credible = self.credible
        strongest = credible[place] if isinstance(credible, np.ndarray) else credible
        return chances, known + (1 - known) * (strongest * self.unlearned[place])

    def distinct_values(self, attribute: int) -> NDArray[np.bool_]:
        """Return which values of an attribute stand out from noise; all if noise hides most."""
        margins = self._of(self.margins, attribute)[:, 0]
        needed = _CLEARLY_THERE * np.sqrt(self._of(self.margin_variances, attribute)[:, 0])
        hidden = self.n_rows / len(margins) < _WOULD_SHOW * needed
        return np.asarray((margins >= needed) | hidden)

    def _of(self, values: Floats | float, attribute: int) -> Floats:
        """Return the part of a vector over all values for one attribute, as a column."""
        size = self.layout.sizes[attribute]
        if not isinstance(values, np.ndarray):  # the same for all
            return np.full((size, 1), float(values))
        start = self._starts[attribute]
        return values[start : start + size, None]

    @cached_property
    def _starts(self) -> list[int]:
        """Where the values of each attribute begin."""
        return [0, *accumulate(self.layout.sizes)]


def clip_tables(tables: NoisyTables) -> Estimate:
    """Return the noisy tables with negative counts set to zero."""
    cells = PairTableCells(tables.layout)
    counts = np.maximum(tables.cells, 0)
    n_tables = np.bincount(cells.pairs.ravel(), minlength=len(cells.sizes))
    margins = cells.margins(counts, np.ones(len(cells.pairs)))
    margins /= np.repeat(np.maximum(n_tables, 1), cells.sizes)
    total = float(np.mean(cells.per_table(counts)))
    nothing = np.zeros(len(cells.pairs))
    return Estimate(tables.layout, total, margins, counts, np.zeros_like(counts), nothing)


def shrink_tables(
    histograms: Noisy, tables: NoisyTables, currency: Currency, n_rows: float | None = None
) -> Estimate:
    """Return the empirical-Bayes estimate of the tables.

    ``n_rows``: the number of rows, if it is known exactly.
    """
    cells = PairTableCells(tables.layout)
    if n_rows is None:
        n_rows = number_of_rows(histograms, tables, cells)
    margins = calibrate_margins(histograms, tables, cells, n_rows)
    problem = _Problem(cells, margins.counts, n_rows, tables)
    residuals = problem.residuals(tables.cells)
    strengths = problem.strengths_beyond(problem.noise + problem.sampling)
    independent = IndependentTables(cells, margins, n_rows)
    signal = has_signal(residuals, strengths, independent, tables.standard_error, currency)
    known = partial(
        Estimate,
        tables.layout,
        n_rows,
        margins.counts,
        margin_variances=margins.variances,
        signal=signal,
    )
    if signal == "absent":
        nothing = np.zeros(len(cells.pairs))
        return known(problem.independent, np.zeros(len(residuals)), nothing)
    counts, variances, prior = problem.shrunk_in_parts(residuals)
    unlearned = cells.per_table(variances) / np.maximum(cells.per_table(prior), _TINY)
    return known(np.maximum(counts, 0), variances, unlearned, strengths(residuals).credible())


class _Shrunk(NamedTuple):
    """A part of the residuals after shrinking: its expectation and its uncertainty.

    ``prior`` is how uncertain it was before.
    """

    mean: Floats
    variance: Floats
    prior: Floats


class _Problem:
    """What is known about every cell before its noisy residual is used."""

    def __init__(
        self, cells: PairTableCells, margins: Floats, n_rows: float, tables: NoisyTables
    ) -> None:
        self.cells, self.margins, self.n_rows = cells, margins, n_rows
        first, second = margins[cells.first], margins[cells.second]
        self.independent = first * second / n_rows
        shares = np.maximum(margins / n_rows, 0.5 / n_rows)
        both = shares[cells.first] * shares[cells.second]
        neither = (1 - margins[cells.first] / n_rows) * (1 - margins[cells.second] / n_rows)
        # What sampling alone would add to independence, and the shape of real dependence.
        self.sampling = n_rows * both * np.maximum(neither, 1e-6)
        self.shape = n_rows**2 * both**_POWER
        smaller = np.maximum(np.minimum(cells.heights, cells.widths) - 1, 1)
        self.strongest = smaller / cells.per_table(self.shape / (n_rows**2 * both))
        # Fixing both margins takes one row and one column of noise out of every table.
        free = (1 - 1 / cells.heights) * (1 - 1 / cells.widths)
        self.noise = cells.spread(tables.standard_error**2 * free) + _TINY
        self.outstanding = (
            _OUTSTANDING * (tables.largest_noise / max(tables.standard_error, _TINY)) ** 2
        )

    def residuals(self, noisy: Floats) -> Floats:
        """Return the tables, made consistent with the margins, minus independence."""
        cells = self.cells
        widths, heights = cells.spread(cells.widths), cells.spread(cells.heights)
        level = noisy + (self.margins[cells.first] - cells.row_sums(noisy)) / widths
        level += (self.margins[cells.second] - cells.column_sums(level)) / heights
        return np.asarray(level - self.independent)

    def common_part(self, residuals: Floats) -> tuple[Floats, Floats | None]:
        """Return what the leading eigenvectors say about each cell, and their share of noise."""
        cells = self.cells
        if cells.n_values > _MOST_VALUES:
            return residuals, None
        row_noise = np.bincount(cells.first, self.noise, minlength=cells.n_values)
        row_noise += np.bincount(cells.second, self.noise, minlength=cells.n_values)
        edge = max(2 * math.sqrt(float(row_noise.mean())), math.sqrt(float(row_noise.max())))
        values, vectors = np.linalg.eigh(cells.square(residuals))
        signal = values > _ABOVE_NOISE * edge
        if not signal.any():
            return residuals, None
        # The eigenvalues of signal plus noise, minus what noise adds to them.
        strengths = np.sqrt(values[signal] ** 2 - edge**2)
        axes = vectors[:, signal]
        common = np.einsum("ik,ik->i", axes[cells.first] * strengths, axes[cells.second])
        own = (axes**2).sum(axis=1)
        a, b = own[cells.first], own[cells.second]
        return common, np.clip(a + b - a * b, 0, 1)

    def shrunk_in_parts(self, residuals: Floats) -> _Shrunk:
        """Return the tables: what many of them agree on is shrunk separately from the rest."""
        common, leverage = self.common_part(residuals)
        if leverage is None:
            parts = [self.shrunk(residuals, self.noise, self.sampling)]
        else:
            noise_in, noise_out = self.noise * leverage + _TINY, self.noise * (1 - leverage)
            parts = [
                self.shrunk(common, noise_in, np.zeros_like(common)),
                self.shrunk(residuals - common, noise_out + _TINY, self.sampling),
            ]
        mean, variance, prior = (np.asarray(sum(values)) for values in zip(*parts, strict=True))
        return _Shrunk(self.independent + mean, variance, prior)

    def strengths_beyond(self, other: Floats) -> Callable[[Floats], Strengths]:
        """Return a function of residuals: the dependence of each pair, beyond what explains it."""
        return strengths_by(other, self.shape, self.strongest, self.cells)

    def shrunk(self, residuals: Floats, noise: Floats, sampling: Floats) -> _Shrunk:
        """Keep of each residual what is more likely signal than noise."""
        strengths = self.strengths_beyond(noise + sampling)(residuals)
        prior = sampling + self.cells.spread(strengths.expected_strengths()) * self.shape
        beyond = np.maximum(residuals**2 - self.outstanding * noise, 0)
        prior = np.maximum(prior, (_OWN_WEIGHT * prior + beyond) / (_OWN_WEIGHT + 1))
        gain = prior / (prior + noise)
        return _Shrunk(gain * residuals, gain * noise, prior)
