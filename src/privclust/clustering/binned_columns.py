"""Noisy histograms of columns: where their cells lie, which are divided, and what noise leaves.

Every column lies on a line: numbers as they are, categories as their codes. Whole numbers have
edges halfway between them, so that each can have a cell of its own. Everything here is computed
from public facts and released counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from privclust._typing import Floats, Indices, Integers
from privclust.schema.coordinates import project_shares
from privclust.schema.facts import Box, Fact
from privclust.schema.schema import Schema

# A column of numbers is cut into this many cells, one of whole numbers into at most that many
# single ones; a cell with this share of the rows is divided.
_FAN, _MOST_SINGLE, _HEAVY = 64, 512, 1 / 32
# Cleaning, in standard errors: what empties a run, makes it even, or stands out in it; and the
# shortest run that is emptied.
_EMPTY, _EVEN, _STANDS_OUT, _SHORTEST = 2.0, 1.5, 4.0, 4
_FEWEST_ROWS = 50.0
# Up to here halves are exact.
_MOST_EXACT = 2.0**50


@dataclass(frozen=True)
class Axis:
    """The line of a column."""

    # Where it begins and ends.
    low: float
    high: float
    whole: bool  # whether it has whole numbers only
    ordered: bool  # whether neighbours are alike, as numbers are and categories are not

    @classmethod
    def of(cls, fact: Fact) -> Axis:
        """Return the line of a declared column."""
        if not isinstance(fact, Box):
            return cls(-0.5, fact.size - 0.5 + (fact.missing == "omit"), True, False)
        exact = max(abs(fact.low), abs(fact.high)) < _MOST_EXACT
        if fact.form in ("integer", "date") and exact:
            return cls(fact.low - 0.5, fact.high + 0.5, True, True)
        return cls(fact.low, fact.high, False, True)

    @property
    def single(self) -> bool:
        """Whether every value has a cell of its own from the beginning."""
        return self.whole and (not self.ordered or self.high - self.low <= _MOST_SINGLE)

    def edges(self) -> Floats:
        """Return the edges of the first cells."""
        if self.single:
            return np.arange(self.low, self.high + 0.5)
        return self.subdivide(self.low, self.high)

    def subdivide(self, low: float, high: float) -> Floats:
        """Return the edges of the parts of a cell."""
        if not self.whole:
            return low + (high / 2 - low / 2) * (np.arange(_FAN + 1) / (_FAN / 2))
        width = max(1, -(-int(high - low) // _FAN))
        return np.append(np.arange(low, high, width), high)

    def middles(self, edges: Floats) -> Floats:
        """Return the middles of cells."""
        return np.asarray(edges[:-1] / 2 + edges[1:] / 2)

    def drawn(self, low: Floats, high: Floats, rng: np.random.Generator) -> Floats:
        """Return a value of each of some cells."""
        inside = low + rng.random(len(low)) * (high - low)
        return np.asarray(np.minimum(np.floor(inside + 0.5), high - 0.5) if self.whole else inside)


def axes_of(schema: Schema) -> list[Axis]:
    """Return the lines of all columns, in the order of the schema."""
    return [Axis.of(fact) for fact in schema.columns.values()]


@dataclass(frozen=True)
class HistogramCounts:
    """Raw noisy counts of cells, a line each; later levels divide cells of earlier ones."""

    # (n_cells,): the column, in the order of the schema, and the level, from 0.
    columns: Integers
    levels: Integers
    # (n_cells,): where the cell lies on the line of its column.
    low: Floats
    high: Floats
    # (n_cells,): the noisy number of rows, and the standard error of the noise.
    counts: Floats
    counts_error: Floats

    def __add__(self, other: HistogramCounts) -> HistogramCounts:
        names = [field.name for field in fields(self)]
        parts = ([getattr(self, name), getattr(other, name)] for name in names)
        return HistogramCounts(*map(np.concatenate, parts))

    def of(self, column: int, level: int) -> HistogramCounts:
        """Return the lines of one column and level, from the lowest cell on."""
        (places,) = np.nonzero((self.columns == column) & (self.levels == level))
        places = places[np.argsort(self.low[places], kind="stable")]
        return HistogramCounts(*(getattr(self, field.name)[places] for field in fields(self)))

    @property
    def error(self) -> float:
        """The standard error of the counts of the first level."""
        return float(self.counts_error[self.levels == 0].max())

    def total(self, n_rows: float, n_rows_error: float) -> float:
        """Return the number of rows that all first histograms and a noisy number suggest."""
        first = self.levels == 0
        sums = np.bincount(self.columns[first], self.counts[first])
        variances = np.bincount(self.columns[first], self.counts_error[first] ** 2)
        weights = 1 / np.maximum([*variances, n_rows_error**2], 1e-9)
        return max(float(weights @ [*sums, n_rows] / weights.sum()), _FEWEST_ROWS)


@dataclass(frozen=True)
class Histogram:
    """About how many rows lie in each cell of a column: never below zero, all rows together."""

    axis: Axis
    edges: Floats  # (n_cells + 1,)
    mass: Floats  # (n_cells,)
    errors: Floats  # (n_cells,): the standard error of the count that a cell goes by
    undivided: Histogram | None = None  # what it was before some of its cells were divided

    def heavy(self) -> Indices:
        """Return the cells that hold much of the column and can be divided."""
        widest = 1 if self.axis.whole else 1e-12 * (self.axis.high - self.axis.low)
        wide = np.diff(self.edges) > widest
        return np.flatnonzero((self.mass > _HEAVY * self.mass.sum()) & wide)

    def refine(self, parts: HistogramCounts) -> Histogram:
        """Return the histogram with some cells divided; their parts share what the cell has."""
        if not len(parts.low):
            return self
        owner = self.cells_of(parts.low)
        mass = np.array([])
        for cell in np.unique(owner):
            counts, whole = parts.counts[owner == cell], self.mass[cell]
            even = counts + (whole - counts.sum()) / len(counts)
            mass = np.append(mass, on_simplex(even, whole))
        kept = np.setdiff1d(np.arange(len(self.mass)), owner)
        low = np.append(self.edges[kept], parts.low)
        errors = np.append(self.errors[kept], parts.counts_error)
        order = np.argsort(low, kind="stable")
        edges = np.append(low[order], self.edges[-1])
        mass = np.append(self.mass[kept], mass)[order]
        return Histogram(self.axis, edges, mass, errors[order], self)

    def scale(self, factors: Floats) -> Histogram:
        """Return the histogram with the mass of each cell times a factor."""
        return replace(self, mass=self.mass * factors)

    @property
    def first(self) -> Histogram:
        """What it was before any cell was divided."""
        return self if self.undivided is None else self.undivided.first

    def covariance(self, sums: Floats) -> Floats:
        """Return how noise moves each cell together with some sums, of shape (n_cells, n_sums).

        ``sums``: (n_sums, n_cells), how much of each cell belongs to each. Cells that were emptied
        have no noise, and all together have none; parts of a cell share what noise does to it.
        """
        alive = (self.mass > 0) | (not self.axis.ordered)
        before = self.undivided
        whole = (
            np.zeros(len(alive), np.intp) if before is None else before.cells_of(self.edges[:-1])
        )
        n_parts = np.maximum(np.bincount(whole, alive), 1)
        shared = np.array([np.bincount(whole, one * alive) / n_parts for one in sums])
        own = (alive * self.errors**2)[:, None] * (sums - shared[:, whole]).T
        if before is None:
            return np.asarray(own)
        of_whole = before.covariance(shared)[whole]
        return np.asarray(own + of_whole * (alive / n_parts[whole])[:, None])

    def cells_of(self, places: Floats) -> Indices:
        """Return the cells in which some places lie."""
        return np.searchsorted(self.edges[1:-1], places, side="right")


def histograms_from(counts: HistogramCounts, axes: Sequence[Axis], total: float) -> list[Histogram]:
    """Return the histograms that raw counts suggest, each of ``total`` rows."""
    found = []
    for column, axis in enumerate(axes):
        first = counts.of(column, 0)
        edges = np.append(first.low, first.high[-1:])
        histogram = Histogram(axis, edges, _clean(first, axis, total), first.counts_error)
        for level in range(1, int(counts.levels.max()) + 1):
            histogram = histogram.refine(counts.of(column, level))
        found.append(histogram)
    return found


def divided_cells(histogram: Histogram) -> Floats:
    """Return where the parts of heavy cells begin and end, of shape (n_parts, 2)."""
    edges = [histogram.edges[cell : cell + 2] for cell in histogram.heavy()]
    cut = [histogram.axis.subdivide(*ends) for ends in edges]
    return np.concatenate([np.empty((0, 2)), *(np.column_stack([c[:-1], c[1:]]) for c in cut)])


def _clean(counts: HistogramCounts, axis: Axis, total: float) -> Floats:
    """Return counts without what is likely noise, coarse runs first, on the simplex.

    Noise in empty tails would inflate variances and dilute correlations.
    """
    value, error = counts.counts, float(counts.counts_error.max(initial=0))
    if not axis.ordered:
        return on_simplex(value, total)
    cleaned, kept = value.copy(), np.ones(len(value), bool)
    for start, end, even in _quiet_runs(value, error):
        cleaned[start:end] = value[start:end].mean()
        kept[start:end] = even
    if not kept.any():
        return np.full(len(value), total / len(value))
    mass = np.zeros(len(value))
    mass[kept] = on_simplex(cleaned[kept], total)
    return mass


def _quiet_runs(value: Floats, error: float) -> Iterator[tuple[int, int, bool]]:
    """Yield runs in which nothing stands out of the noise, and whether they have rows at all."""
    waiting = [(0, len(value))]
    while waiting:
        start, end = waiting.pop()
        size, run = end - start, value[start:end]
        of_sum, middle = error * size**0.5, (start + end) // 2
        if size >= _SHORTEST and run.sum() < _EMPTY * of_sum:
            yield start, end, False
        elif size > 1:
            left, right = value[start:middle], value[middle:end]
            gap = left.sum() - right.sum() * len(left) / len(right)
            faint = run.sum() < _EVEN * error * size and run.max() < _STANDS_OUT * error
            if faint and abs(gap) < _EMPTY * of_sum:
                yield start, end, True
            else:
                waiting += [(start, middle), (middle, end)]


def on_simplex(vector: Floats, total: float) -> Floats:
    """Return the nearest vector without negative entries that adds up to ``total``."""
    if not total > 0:
        return np.zeros(len(vector))
    return np.asarray(project_shares(vector[None] / total)[0] * total)
