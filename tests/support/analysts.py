"""The worst that any adaptive analyst can do, by backward induction over all of them.

An analyst sees every answer before she chooses the next question among those that an accountant
allows, and stops when she likes. What she has learned is a loss, the logarithm of P/Q of all
answers so far. Here losses lie on a lattice, so that what she does best is computed for every loss
at once, from the last question to the first, and exactly but for the rounding of floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TypeVar

import numpy as np

STEP, REACH = 1 / 32, 1024
LOSSES = STEP * np.arange(-REACH, REACH + 1)

State = TypeVar("State", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Law:
    """What one answer loses under P: chances of lattice points around 0, and of an endless loss."""

    chances: np.ndarray
    endless: float = 0.0

    @property
    def losses(self) -> np.ndarray:
        """The points of the lattice that the chances belong to."""
        return STEP * (np.arange(len(self.chances)) - len(self.chances) // 2)


SILENT = Law(np.ones(1))  # an act that answers nothing


def two_losses(high: Fraction, low: Fraction) -> Law:
    """Return the law of an answer that loses ``high``, above zero, or ``low``, below it."""
    up, down = (round(loss / Fraction(STEP)) for loss in (high, low))
    assert (up * STEP, down * STEP) == (high, low)
    width = max(up, -down)
    chances = np.zeros(2 * width + 1)
    chances[width + up] = math.expm1(-low) / (math.exp(-low) - math.exp(-high))
    chances[width + down] = 1 - chances[width + up]
    return Law(chances)


def randomised_response(epsilon: Fraction) -> Law:
    """Return the law that attains pure ε on both sides."""
    return two_losses(epsilon, -epsilon)


def gaussian(rho: Fraction | float) -> Law:
    """Return the law of Gaussian noise, which attains ρ at every order."""
    mean = float(rho)
    width = int(12 * math.sqrt(2 * mean) / STEP)
    points = STEP * np.arange(-width, width + 1)
    weights = np.exp(-((points - mean) ** 2) / (4 * mean))
    return Law(weights / weights.sum())


def or_everything(law: Law, delta: Fraction) -> Law:
    """Return the law of an answer that tells all with chance δ and follows ``law`` otherwise."""
    return Law(law.chances * (1 - float(delta)), float(delta))


def excess(epsilon: Fraction) -> np.ndarray:
    """Return (1 - e^(ε - L))₊ for every loss L: what has to be below δ in the mean."""
    return np.maximum(0, -np.expm1(np.minimum(0, float(epsilon) - LOSSES)))


def answered(value: np.ndarray, law: Law) -> np.ndarray:
    """Return for every loss so far the mean of ``value`` after one more answer."""
    padded = np.pad(value, len(law.chances) // 2, mode="edge")
    return np.correlate(padded, law.chances, "valid") + law.endless


def worst_excess(
    start: State,
    allowed: Callable[[State], Iterable[tuple[Law, State]]],
    epsilon: Fraction,
    turns: int,
) -> float:
    """Return the largest mean excess over ε of any analyst: the least δ that covers all of them.

    ``allowed`` lists, for a state of the accountant, the laws of the answers that may be had next
    and the state after each of them.
    """

    @cache
    def value(state: State, left: int) -> np.ndarray:
        best = excess(epsilon)
        for law, after in allowed(state) if left else ():
            best = np.maximum(best, answered(value(after, left - 1), law))
        return best

    return float(value(start, turns)[REACH])
