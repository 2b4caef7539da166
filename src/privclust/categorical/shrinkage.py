"""From noisy pair tables to the best guess of the true ones, with what is still uncertain.

The guess of a cell starts from independence, n_y n_x / N, and adds what the noisy table says beyond
it, shrunk by how much of that is likely to be noise (empirical Bayes). Two things keep it from
shrinking too much when there is little noise:

* what many tables agree on, the leading eigenvectors of all of them together, carries only a small
  part of the noise and is shrunk by itself;
* a cell that stands out further than noise ever does among that many cells keeps its value.

Everything here is computed from released values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privclust._typing import Floats
from privclust.categorical.cells import Cells
from privclust.categorical.margins import combined_margins, number_of_rows
from privclust.data.table.public import NoisyTables, PairLayout
from privclust.data.view import Noisy

__all__ = ["Estimate", "plain_estimate", "shrunk_estimate"]


# The prior variance of a cell grows as this power of the two shares of rows.
_POWER = 1.5
# The strength of dependence to expect of a pair, as a share of the strongest possible.
_USUAL_STRENGTH = 0.08
_LEAST_STRENGTH = 0.02
_STRENGTHS = np.concatenate([[0.0], np.logspace(-4, 0, 80)])
# An eigenvalue above the edge of noise by this factor is signal.
_ABOVE_NOISE = 1.15
_MOST_VALUES = 1500  # beyond, the eigenvectors of all values would take too long
# Of the square of the largest noise to expect; beyond it a cell keeps its value.
_OUTSTANDING = 0.6
_OWN_WEIGHT = 0.3
# Contexts are the attributes that tell most of a target: how strong to take a dependence that noise
# hides, as a share of the strongest possible. It was 0.3 to 0.95 on four public data sets.
_CONTEXT_STRENGTH = 0.3
_ROUNDS = 5
_TINY = 1e-9


@dataclass(frozen=True)
class Estimate:
    """Estimated tables of pairs of attributes.

    Attributes
    ----------
    layout : PairLayout
    n_rows : float
    margins : ndarray of shape (n_values,)
        Counts of all values.
    counts, variances : ndarray of shape (layout.n_cells,)
        Estimated counts of the cells, and how uncertain each is.
    unlearned : ndarray of shape (n_pairs,)
        The share of each table's dependence that noise hides; 0 where the table is exact.
    """

    layout: PairLayout
    n_rows: float
    margins: Floats
    counts: Floats
    variances: Floats
    unlearned: Floats

    def conditional(self, target: int, given: int) -> tuple[Floats, Floats]:
        """Return P(target | given), of shape (n_target, n_given), and the doubt about each column.

        A doubt of 0 is certainty; at 1 the column may be any that has these chances as its mean.
        """
        counts = np.asarray(self.layout.table(self.counts, (target, given)), np.float64)
        spread = np.asarray(self.layout.table(self.variances, (target, given)), np.float64)
        sums = counts.sum(axis=0)
        shares = counts.sum(axis=1) / max(float(counts.sum()), _TINY)
        chances = np.where(sums > 0, counts / np.where(sums > 0, sums, 1), shares[:, None])
        rows = np.maximum(self._margin(given), 1.0)
        most = chances * (1 - chances)
        known = np.minimum(spread / rows**2, most).sum(axis=0) / np.maximum(most.sum(axis=0), _TINY)
        place = self.layout.places[min(target, given), max(target, given)]
        return chances, known + (1 - known) * _CONTEXT_STRENGTH * self.unlearned[place]

    def _margin(self, attribute: int) -> Floats:
        start = sum(self.layout.sizes[:attribute])
        return self.margins[start : start + self.layout.sizes[attribute]]


def plain_estimate(tables: NoisyTables) -> Estimate:
    """Return the noisy tables as they are, negative counts set to zero."""
    cells = Cells(tables.layout)
    counts = np.maximum(tables.cells, 0)
    n_tables = np.bincount(cells.pairs.ravel(), minlength=len(cells.sizes))
    margins = cells.margins(counts, np.ones(len(cells.pairs)))
    margins /= np.repeat(np.maximum(n_tables, 1), cells.sizes)
    total = float(np.mean(cells.per_table(counts)))
    nothing = np.zeros(len(cells.pairs))
    return Estimate(tables.layout, total, margins, counts, np.zeros_like(counts), nothing)


def shrunk_estimate(
    histograms: Noisy, tables: NoisyTables, n_rows: float | None = None
) -> Estimate:
    """Return the empirical-Bayes estimate of the tables.

    Parameters
    ----------
    histograms : Noisy
        Noisy counts of all values.
    tables : NoisyTables
    n_rows : float or None
        The number of rows, if it is known exactly.
    """
    cells = Cells(tables.layout)
    if n_rows is None:
        n_rows = number_of_rows(histograms, tables, cells)
    margins = combined_margins(histograms, tables, cells, n_rows)
    problem = _Problem(cells, margins, n_rows, tables)
    residuals = problem.residuals(tables.cells)
    common, leverage = problem.common_part(residuals)
    if leverage is None:
        parts = [problem.shrunk(residuals, problem.noise, problem.sampling)]
    else:
        noise_in, noise_out = problem.noise * leverage + _TINY, problem.noise * (1 - leverage)
        parts = [
            problem.shrunk(common, noise_in, np.zeros_like(common)),
            problem.shrunk(residuals - common, noise_out + _TINY, problem.sampling),
        ]
    counts = problem.independent + sum(part.mean for part in parts)
    variances = np.asarray(sum(part.variance for part in parts))
    prior = cells.per_table(np.asarray(sum(part.prior for part in parts)))
    unlearned = cells.per_table(variances) / np.maximum(prior, _TINY)
    return Estimate(tables.layout, n_rows, margins, np.maximum(counts, 0), variances, unlearned)


class _Shrunk(NamedTuple):
    """A part of the residuals after shrinking: what is expected of it, and how uncertain that is.

    ``prior`` is how uncertain it was before.
    """

    mean: Floats
    variance: Floats
    prior: Floats


class _Problem:
    """What is known about every cell before its noisy residual is looked at."""

    def __init__(self, cells: Cells, margins: Floats, n_rows: float, tables: NoisyTables) -> None:
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
        """Return what the leading eigenvectors say of each cell, and their share of its noise."""
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
        # The eigenvalues of signal plus noise, less what noise adds to them.
        strengths = np.sqrt(values[signal] ** 2 - edge**2)
        axes = vectors[:, signal]
        common = np.einsum("ik,ik->i", axes[cells.first] * strengths, axes[cells.second])
        own = (axes**2).sum(axis=1)
        a, b = own[cells.first], own[cells.second]
        return common, np.clip(a + b - a * b, 0, 1)

    def shrunk(self, residuals: Floats, noise: Floats, sampling: Floats) -> _Shrunk:
        """Keep of each residual what is more likely signal than noise."""
        strength = self._strengths(residuals, noise, sampling)
        prior = sampling + self.cells.spread(strength) * self.shape
        beyond = np.maximum(residuals**2 - self.outstanding * noise, 0)
        prior = np.maximum(prior, (_OWN_WEIGHT * prior + beyond) / (_OWN_WEIGHT + 1))
        gain = prior / (prior + noise)
        return _Shrunk(gain * residuals, gain * noise, prior)

    def _strengths(self, residuals: Floats, noise: Floats, sampling: Floats) -> Floats:
        """Return the strength of dependence of each pair: by moments, then shared among pairs."""
        cells, shape, other = self.cells, self.shape, noise + sampling
        squares = cells.per_table(shape**2)
        scale = squares * self.strongest
        found = cells.per_table(shape * (residuals**2 - other)) / scale
        # The variance of what is found, for a true strength t, is a polynomial in t.
        terms = [
            2 * cells.per_table(shape ** (2 + power) * other ** (2 - power)) / scale**2
            for power in range(3)
        ]

        def doubt(strengths: Floats) -> Floats:
            constant, linear, square = (term[:, None] for term in terms)
            absolute = strengths * self.strongest[:, None]
            variance = constant + 2 * linear * absolute + square * absolute**2
            return np.asarray(np.sqrt(variance) + _TINY)

        usual = _usual_strength(found, doubt)
        # The posterior mean on a grid: an exponential prior, a normal likelihood.
        errors = doubt(_STRENGTHS)
        fit = -0.5 * ((found[:, None] - _STRENGTHS) / errors) ** 2 - np.log(errors)
        prior = np.gradient(_STRENGTHS) * np.exp(-_STRENGTHS / usual)
        weights = np.exp(fit - fit.max(axis=1, keepdims=True)) * prior
        mean = weights @ _STRENGTHS / np.maximum(weights.sum(axis=1), 1e-300)
        return np.asarray(mean * self.strongest)


def _usual_strength(found: Floats, doubt: Callable[[Floats], Floats]) -> float:
    """Return the mean strength of all pairs, drawn towards a default where little is known.

    Pairs are weighed by how uncertain they would be at the mean strength, never at the one found:
    that would give the most weight to those that happen to look weak.
    """
    usual, own = _USUAL_STRENGTH, 1 / _USUAL_STRENGTH**2
    for _ in range(_ROUNDS):
        weights = 1 / (doubt(np.array([usual]))[:, 0] ** 2 + usual**2)
        weight = float(weights.sum())
        mean = (float(weights @ found) + _USUAL_STRENGTH * own) / (weight + own)
        usual = max(mean, _LEAST_STRENGTH)
    return usual
