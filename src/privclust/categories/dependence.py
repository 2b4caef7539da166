"""Do noisy tables show that columns depend on each other? Their strengths compared with chance.

The strength is the part of a table beyond independence that neither noise nor sampling explains, as
a share of the largest possible. Ordinary arithmetic on released values.

Tables without any dependence, with the same noise, margins and number of rows, are simulated; what
stands out from all of them is signal. If nothing does, either noise hides any dependence, or the
noise is so small that any useful dependence would show, and then there is none. Post-processing
only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from privclust._typing import Floats
from privclust.budget import Currency
from privclust.categories.pair_tables import (
    Margins,
    PairTableCells,
    signal_probabilities,
    typical_level,
)
from privclust.distributions import noise_like
from privclust.notes import Note

# How strongly the attributes of each pair depend on each other, by moments of their tables.

# The strength of dependence to expect of a pair, as a share of the strongest possible.
_USUAL_STRENGTH = 0.08
_LEAST_STRENGTH = 0.02
# Contexts are the attributes most informative about a target: the assumed strength of a dependence
# that noise hides, as a share of the strongest possible. It was 0.3 to 0.95 on four public data
# sets.
CONTEXT_STRENGTH = 0.3
_LEVELS = np.concatenate([[0.0], np.logspace(-4, 0, 80)])
_TINY = 1e-9


@dataclass(frozen=True)
class Strengths:
    """Measured strengths of all pairs."""

    found: Floats  # (n_pairs,): unbiased, so that some are below zero
    # (n_pairs,): the variance of each, for a true strength t, is a polynomial in t.
    terms: tuple[Floats, Floats, Floats]
    strongest: Floats  # (n_pairs,): what a strength of one is in the units of the prior

    def uncertainty(self, strengths: Floats) -> Floats:
        """Return the standard errors at some true strengths, of shape (n_pairs, n_strengths)."""
        constant, linear, square = (term[:, None] for term in self.terms)
        absolute = strengths * self.strongest[:, None]
        variance = constant + 2 * linear * absolute + square * absolute**2
        return np.asarray(np.sqrt(variance) + _TINY)

    def expected_strengths(self) -> Floats:
        """Return the expectation for each pair in the units of the prior, shared among pairs."""
        usual = typical_level(
            self.found, self.uncertainty, default=_USUAL_STRENGTH, least=_LEAST_STRENGTH
        )
        return np.asarray(self._means(usual) * self.strongest)

    def credible(self) -> Floats:
        """Return how strong each pair in a context may be: as usual, or as noise allows."""
        return self._means(CONTEXT_STRENGTH)

    def _means(self, usual: float) -> Floats:
        return np.asarray(
            signal_probabilities(self.found, self.uncertainty, _LEVELS, usual) @ _LEVELS
        )


def strengths_by(
    other: Floats, shape: Floats, strongest: Floats, cells: PairTableCells
) -> Callable[[Floats], Strengths]:
    """Return a function of residuals: the strengths that explain their squares.

    Residuals are the tables minus independence, an array of shape (n_cells,).

    ``other``: (n_cells,), the variance that noise and sampling explain. ``shape``: (n_cells,), the
    variance that dependence adds, up to its strength. ``strongest``: (n_pairs,).
    """
    scale = cells.per_table(shape**2) * strongest
    constant, linear, square = (
        2 * cells.per_table(shape ** (2 + power) * other ** (2 - power)) / scale**2
        for power in range(3)
    )

    def strengths(residuals: Floats) -> Strengths:
        found = cells.per_table(shape * (residuals**2 - other)) / scale
        return Strengths(found, (constant, linear, square), strongest)

    return strengths


Signal = Literal["seen", "hidden", "absent"]

# This many sets of tables are simulated, and signal must exceed all of them by this factor.
_MADE_UP, _MARGIN = 79, 1.15
# If pairs could be stronger than this on average and not be seen, noise hides them; it is the
# expected strength of a pair.
_USUAL = 0.08
# Eigenvalues of more values than these would take too long.
_MOST_VALUES = 300

_ABSENT = Note(
    "columns-independent",
    "The columns seem to be independent: nothing stands out from the noise, although any usual "
    "dependence would, so the distances only show how common the values are; do not compare rows "
    "by them.",
)
_HIDDEN = Note(
    "columns-hidden",
    "Noise hides how the columns depend on each other, so the distances show little beyond how "
    "common the values are; raise epsilon, set delta, group rare values or gather more rows.",
)


@dataclass(frozen=True)
class IndependentTables:
    """Tables of attributes that do not depend on each other, with given margins."""

    cells: PairTableCells
    margins: Margins
    n_rows: float

    def residuals(self, noise: Floats, rng: np.random.Generator) -> Floats:
        """Simulate the residuals of such tables, with noise."""
        cells, expected = self.cells, self._expected
        level = noise + rng.poisson(expected) - expected
        level -= cells.row_sums(level) / self._widths
        level -= cells.column_sums(level) / self._heights
        # If margins are wrong, so are the tables that independence implies.
        wrong = cells.subtract_means(rng.normal(0, self._margin_errors))
        of_first, of_second = self._worst_case
        level += wrong[cells.first] * of_first
        level += wrong[cells.second] * of_second
        return np.asarray(level)

    # These are the same for all simulated tables.

    @cached_property
    def _shares(self) -> Floats:
        return self.margins.counts / self.n_rows

    @cached_property
    def _expected(self) -> Floats:
        shares = self._shares
        return np.asarray(self.n_rows * shares[self.cells.first] * shares[self.cells.second])

    @cached_property
    def _widths(self) -> Floats:
        return self.cells.spread(self.cells.widths)

    @cached_property
    def _heights(self) -> Floats:
        return self.cells.spread(self.cells.heights)

    @cached_property
    def _margin_errors(self) -> Floats:
        return np.asarray(np.sqrt(self.margins.variances))

    @cached_property
    def _worst_case(self) -> tuple[Floats, Floats]:
        shares, cells = self._shares, self.cells
        of_first = 1 / self._widths - shares[cells.second]
        return of_first, 1 / self._heights - shares[cells.first]


def has_signal(
    residuals: Floats,
    strengths: Callable[[Floats], Strengths],
    independent: IndependentTables,
    error: float,
    currency: Currency,
) -> Signal:
    """Return whether the dependence of any pair, or of all together, stands out from chance.

    ``residuals``: (n_cells,). ``strengths``: from residuals to the strengths of all pairs.
    ``error``: the standard error of the noise on a cell. ``currency``: what the tables were paid
    for in, which says what noise they have.
    """
    rng = np.random.default_rng(0)  # public, and the same for all: it protects nothing

    def stand_out(values: Floats) -> Floats:
        return _stand_out(values, strengths(values), independent.cells)

    found = stand_out(residuals)
    by_chance = np.full_like(found, -np.inf)
    for _ in range(_MADE_UP):
        noise = noise_like(currency, error, residuals.shape, rng)
        by_chance = np.maximum(by_chance, stand_out(independent.residuals(noise, rng)))
        # What chance has exceeded once is not signal, whatever else is simulated.
        if not (found > _MARGIN * by_chance).any():
            strength = float(strengths(residuals).credible().mean())
            return "absent" if strength < _USUAL else "hidden"
    return "seen"


def signal_warning(signal: Signal) -> tuple[Note, ...]:
    """Return the warning about a metric learned from such tables."""
    return {"seen": (), "hidden": (_HIDDEN,), "absent": (_ABSENT,)}[signal]


def _stand_out(residuals: Floats, strengths: Strengths, cells: PairTableCells) -> Floats:
    """Return how clear the clearest pair is, all pairs together, and their common part."""
    clear = strengths.found / strengths.uncertainty(np.zeros(1))[:, 0]
    common = 0.0
    if cells.n_values <= _MOST_VALUES:
        common = float(np.linalg.eigvalsh(cells.square(residuals))[-1])
    return np.array([clear.max(initial=0), max(float(clear.sum()), 0), common])
