"""What the private views share: a question is paid for before rows are read, then noised once.

A view is a short closed list of questions. Each of them says what one record can change, turns that
into a mechanism within its share of the budget, debits the meter, and only then reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privclust.budget import Share
from privclust.privacy.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    additive_noise,
)
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.unit import ReplaceRow, Unit

__all__ = ["Noisy", "Question", "RowView", "View"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Noisy:
    """A released value and the standard deviation of the noise on each of its entries."""

    value: Floats
    standard_error: float


@dataclass(frozen=True)
class Question:
    """An integer statistic on its way out.

    Attributes
    ----------
    name : str
        What the question is called in the privacy statement.
    noise : AdditiveNoise
        What is added to it.
    step : float
        What one step of the integers means.
    dimension : int
        The number of entries that are noised together, for noise on vectors.
    """

    name: str
    noise: AdditiveNoise
    step: float = 1.0
    dimension: int = 1

    @property
    def standard_error(self) -> float:
        """The standard error of each entry, once noised."""
        return self.noise.standard_error(self.dimension) * self.step


class View:
    """Data that answer questions only through noise.

    Parameters
    ----------
    meter : Meter
        What is debited.
    noise : NoiseSource
        Where the noise comes from.
    """

    def __init__(self, meter: Meter, noise: NoiseSource) -> None:
        self._meter = meter
        self._noise = noise

    def _debit(self, *asked: Question) -> None:
        """Pay, before anything is read."""
        for statistic in asked:
            words = f"{statistic.noise.words}, standard error {statistic.standard_error:.3g}"
            self._meter.charge(statistic.name, statistic.noise.loss, words)

    def _noised(self, asked: Question, exact: Integers) -> Noisy:
        """Let a statistic that was paid for leave."""
        noisy = asked.noise.draw(exact, self._noise).astype(np.float64)
        return Noisy(noisy * asked.step, asked.standard_error)


class RowView(View):
    """Rows that answer questions only through noise.

    Parameters
    ----------
    unit : Unit
        The privacy unit.
    meter : Meter
        What is debited.
    noise : NoiseSource
        Where the noise comes from.
    """

    def __init__(self, unit: Unit, meter: Meter, noise: NoiseSource) -> None:
        super().__init__(meter, noise)
        self._unit = unit

    def _changed(self, size: int) -> Fraction:
        """Return what one step between neighbours changes if a row changes so much by itself."""
        return Fraction(self._unit.rows_changed * size)

    def _counting_noise(
        self, share: Share, n_tables: int = 1
    ) -> DiscreteLaplace | DiscreteGaussian:
        """Return the noise of tables of counts, in each of which a row stands in one cell."""
        changed = self._changed(1)
        # A replaced row leaves one cell and joins another: (1, -1) has a squared length of 2.
        squared = Fraction(2) if isinstance(self._unit, ReplaceRow) else changed**2
        return additive_noise(
            share, l1_sensitivity=changed * n_tables, squared_l2_sensitivity=squared * n_tables
        )
