"""How strongly the attributes of each pair depend on each other, by moments of their tables.

The strength is the part of a table beyond independence that neither noise nor sampling explains, as
a share of the most there can be. Ordinary arithmetic on released values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats
from privclust.categorical.cells import PairCells
from privclust.categorical.evidence import chances, usual_level

__all__ = ["Strengths", "strengths_by"]

# The strength of dependence to expect of a pair, as a share of the strongest possible.
_USUAL_STRENGTH = 0.08
_LEAST_STRENGTH = 0.02
# Contexts are the attributes that tell most about a target: how strong to take a dependence that
# noise hides, as a share of the strongest possible. It was 0.3 to 0.95 on four public data sets.
CONTEXT_STRENGTH = 0.3
_LEVELS = np.concatenate([[0.0], np.logspace(-4, 0, 80)])
_TINY = 1e-9


@dataclass(frozen=True)
class Strengths:
    """Measured strengths of all pairs.

    Attributes
    ----------
    found : ndarray of shape (n_pairs,)
        Unbiased, so that some are below zero.
    terms : tuple of three ndarray of shape (n_pairs,)
        The variance of each, for a true strength t, is a polynomial in t.
    strongest : ndarray of shape (n_pairs,)
        What a strength of one is in the units of the prior.
    """

    found: Floats
    terms: tuple[Floats, Floats, Floats]
    strongest: Floats

    def doubt(self, strengths: Floats) -> Floats:
        """Return the standard errors at some true strengths, of shape (n_pairs, n_strengths)."""
        constant, linear, square = (term[:, None] for term in self.terms)
        absolute = strengths * self.strongest[:, None]
        variance = constant + 2 * linear * absolute + square * absolute**2
        return np.asarray(np.sqrt(variance) + _TINY)

    def expected(self) -> Floats:
        """Return what to expect of each pair in the units of the prior, shared among pairs."""
        usual = usual_level(self.found, self.doubt, default=_USUAL_STRENGTH, least=_LEAST_STRENGTH)
        return np.asarray(self._means(usual) * self.strongest)

    def credible(self) -> Floats:
        """Return how strong each pair may be if a context has it: as usual, or as noise allows."""
        return self._means(CONTEXT_STRENGTH)

    def _means(self, usual: float) -> Floats:
        return np.asarray(chances(self.found, self.doubt, _LEVELS, usual) @ _LEVELS)


def strengths_by(
    other: Floats, shape: Floats, strongest: Floats, cells: PairCells
) -> Callable[[Floats], Strengths]:
    """Return a function of residuals: the strengths that explain their squares.

    Residuals are what the tables say beyond independence, an array of shape (n_cells,).

    Parameters
    ----------
    other : ndarray of shape (n_cells,)
        The variance that noise and sampling explain.
    shape : ndarray of shape (n_cells,)
        The variance that dependence adds, up to its strength.
    strongest : ndarray of shape (n_pairs,)
    cells : PairCells
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
