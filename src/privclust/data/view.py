"""What the private views share: a question is paid for before rows are read, then noised once.

A view is a short closed list of questions. Each of them says what one record can change, turns that
into a mechanism within its share of the budget, debits the meter, and only then reads. What it read
leaves in one of two ways, :meth:`View._noised` and :meth:`View._picked`; mechanisms are drawn from
nowhere else. There the exact integers are held to what their rows can add up to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from privclust._typing import Integers
from privclust.budget import Share
from privclust.data.noisy import Noisy
from privclust.data.terms import Term
from privclust.privacy.loss import Loss
from privclust.privacy.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    Selection,
    additive_noise,
)
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.unit import RowUnit

__all__ = ["Noisy", "Pick", "Question", "RowView", "View"]


# What the samplers take as scores; some 10^9 rows of entropies are beyond.
_LARGEST_SCORE = 2**52


@dataclass(frozen=True)
class Question:
    """An integer statistic on its way out.

    Attributes
    ----------
    name : str
        What the question is called in the privacy statement.
    noise : AdditiveNoise
        What is added to it.
    term : Term
        What one row can add to each of its entries.
    step : float
        What one step of the integers means.
    dimension : int
        The number of entries that are noised together, for noise on vectors.
    asks : str
        What it asks, in plain words.
    """

    name: str
    noise: AdditiveNoise
    term: Term
    step: float = 1.0
    dimension: int = 1
    asks: str = field(kw_only=True)

    @property
    def standard_error(self) -> float:
        """The standard error of each entry, once noised."""
        return self.noise.standard_error(self.dimension) * self.step

    @property
    def loss(self) -> Loss:
        """What the answer costs."""
        return self.noise.loss

    @property
    def words(self) -> str:
        """The noise, for the privacy statement."""
        return f"{self.noise.title}, standard error {self.standard_error:.3g}"


@dataclass(frozen=True)
class Pick:
    """A choice among candidates by exact scores.

    Attributes
    ----------
    name : str
        What the question is called in the privacy statement.
    mechanism : Selection
        What picks.
    term : Term
        What one row can add to each score.
    words : str
        How it is picked, for the privacy statement.
    picks : int
        How often it picks in turn, about the same rows.
    asks : str
        What it asks, in plain words.
    """

    name: str
    mechanism: Selection
    term: Term
    words: str
    picks: int = 1
    asks: str = field(kw_only=True)

    @property
    def loss(self) -> Loss:
        """What all picks cost together."""
        return self.mechanism.loss.times(self.picks)


class View:
    """Data that answer questions only through noise.

    Parameters
    ----------
    meter : Meter
        What is debited.
    noise : NoiseSource
        Where the noise comes from.

    Attributes
    ----------
    asks : dict
        What each question asks in plain words, by the name of its method or of the part of the
        answer; plans, statements and reports show it, and the reference lists it.
    """

    asks: ClassVar[dict[str, str]] = {}

    def __init__(self, meter: Meter, noise: NoiseSource) -> None:
        self._meter = meter
        self._noise = noise

    def pure_instead(self, share: Share) -> Share | None:
        """Return pure ε that may be spent in place of ``share``, or None; see the meter."""
        return self._meter.pure_instead(share)

    def _debit(self, *asked: Question | Pick) -> None:
        """Pay, before anything is read."""
        for question in asked:
            self._meter.charge(question.name, question.loss, question.words, question.asks)

    def _noised(self, asked: Question, exact: Integers, n_terms: int) -> Noisy:
        """Release a statistic of this many rows, which was paid for."""
        held = asked.term.saturated(exact, n_terms)
        noisy = asked.noise.draw(held, self._noise).astype(np.float64)
        return Noisy(noisy * asked.step, asked.standard_error)

    def _picked(self, asked: Pick, scores: Integers, n_terms: int) -> Integers:
        """Release a choice by scores of this many rows, which was paid for.

        Scores are cut off at what the samplers take, because an error would reveal something. No
        score changes by more after the cut than before, and none in the other direction.
        """
        held = asked.term.saturated(scores, n_terms)
        cut = np.clip(held, -_LARGEST_SCORE, _LARGEST_SCORE)
        return asked.mechanism.draw(cut, self._noise)


class RowView(View):
    """Rows that answer questions only through noise.

    Parameters
    ----------
    unit : RowUnit
        The privacy unit.
    meter : Meter
        What is debited.
    noise : NoiseSource
        Where the noise comes from.
    """

    def __init__(self, unit: RowUnit, meter: Meter, noise: NoiseSource) -> None:
        super().__init__(meter, noise)
        self._unit = unit

    def _counting_noise(
        self, share: Share, n_tables: int = 1
    ) -> DiscreteLaplace | DiscreteGaussian:
        """Return the noise of tables of counts, in each of which a row stands in one cell."""
        return additive_noise(
            share,
            l1_sensitivity=self._unit.change(1) * n_tables,
            squared_l2_sensitivity=self._unit.squared_change_of_counts() * n_tables,
        )
