"""The guard: centres that rely on the source only where that pays in every draw.

All of this is post-processing of released counts. Where the source truly is stays uncertain, and a
false bin leaves targets without a centre, which costs far more than a true one gains. Greedy orders
are also rough: one that knows a little about the source can be worse than one that knows nothing
about it. So several orders compete, from one that trusts the draws to one that ignores the source,
and each is judged by the draw in which it gains least over ignoring the source. If none gains in
all of them, the source is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats, Indices, Singles
from privclust.source_target.solver import Problem, improved_by_swaps, lazy_greedy

__all__ = ["GuardedChoice", "expected_problem", "guarded_choice"]


# Rows of a table that are changed at a time.
_ROWS = 256
# How many centres are first placed as if there were no source.
_PLACED_ALONE = 1, 2, 5, 10, 20, 50
# The chances given to there being no source at all.
_NO_SOURCE = 0.25, 0.5, 0.75
# An order of k centres is judged by its first k/20 to k, at numbers of the series 1, 2, 5, 10, ...
_FEWEST_JUDGED = 20


@dataclass(frozen=True)
class GuardedChoice:
    """Chosen candidates: a greedy order, and as many that are improved by swaps."""

    order: Indices
    improved: Indices


def expected_problem(distances: Singles, draws: Floats, weights: Floats) -> Problem:
    """Change the distances, in place, into mean costs over draws of the existing service."""
    nowhere = float(distances.max(initial=0)) or 1.0
    served = np.minimum(draws, nowhere).astype(np.float32)
    for start in range(0, len(distances), _ROWS):
        piece = distances[start : start + _ROWS]
        mean = np.zeros_like(piece)
        for draw in served:
            mean += np.minimum(piece, draw)
        distances[start : start + _ROWS] = mean / len(served)
    return Problem(distances, served.mean(axis=0, dtype=np.float64), weights)


def guarded_choice(
    ignoring: Problem, draws: Floats, judges: Floats, n_chosen: int
) -> GuardedChoice:
    """Choose centres beside an uncertain source.

    Parameters
    ----------
    ignoring : Problem
        The same without the source.
    draws, judges : ndarray of shape (n_draws, n_objects)
        Possible distances to the existing service: those to solve for, and others to judge by.
    n_chosen : int
    """
    alone = lazy_greedy(ignoring, n_chosen).chosen
    improved_alone = improved_by_swaps(ignoring, alone)
    everything = np.concatenate([draws, judges])
    if n_chosen == 0 or (everything >= ignoring.base).all():
        return GuardedChoice(alone, improved_alone)
    problem = expected_problem(ignoring.distances.copy(), draws, ignoring.weights)
    trusting = lazy_greedy(problem, n_chosen).chosen
    improved = improved_by_swaps(problem, trusting)
    orders = [alone, trusting, *_after_some_alone(problem, alone)]
    orders += _hedged(problem, ignoring, n_chosen)
    numbers = _judged_numbers(n_chosen)
    jury = _Jury(ignoring, everything)
    gains = [jury.least_gain(order, alone, numbers) for order in orders]
    whole = np.array([n_chosen])
    pays = jury.least_gain(improved, improved_alone, whole) > 0
    return GuardedChoice(orders[int(np.argmax(gains))], improved if pays else improved_alone)


def _judged_numbers(n_chosen: int) -> Indices:
    powers = 10 ** np.arange(len(str(n_chosen)))
    series = np.outer(powers, [1, 2, 5]).ravel()
    inside = (series * _FEWEST_JUDGED >= n_chosen) & (series < n_chosen)
    return np.append(series[inside], n_chosen)


def _after_some_alone(problem: Problem, alone: Indices) -> Iterator[Indices]:
    """Yield orders that begin as if there were no source and then go on with it."""
    for count in _PLACED_ALONE:
        if count < len(alone):
            first = alone[:count]
            served = np.minimum(problem.base, problem.distances[first].min(axis=0))
            rest = Problem(problem.distances, served, problem.weights)
            yield np.concatenate([first, lazy_greedy(rest, len(alone) - count).chosen])


def _hedged(problem: Problem, ignoring: Problem, n_chosen: int) -> Iterator[Indices]:
    """Yield orders for mean costs in which there may be no source; changes the problem."""
    distances, base, so_far = problem.distances, problem.base, 0.0
    nowhere = np.minimum(ignoring.base, float(ignoring.distances.max(initial=0)) or 1.0)
    for chance in _NO_SOURCE:
        step = np.float32((chance - so_far) / (1 - so_far))
        for start in range(0, len(distances), _ROWS):
            piece = slice(start, start + _ROWS)
            distances[piece] += step * (ignoring.distances[piece] - distances[piece])
        base = base + float(step) * (nowhere - base)
        so_far = chance
        yield lazy_greedy(Problem(distances, base, problem.weights), n_chosen).chosen


class _Jury:
    """Draws of the existing service, by which choices are compared."""

    def __init__(self, ignoring: Problem, draws: Floats) -> None:
        self._distances, self._weights = ignoring.distances, ignoring.weights
        self._draws = np.minimum(draws, ignoring.finite_base)

    def least_gain(self, order: Indices, other: Indices, numbers: Indices) -> float:
        """Return by how much one order costs less than another where it does so least.

        Costs are added up over the first few of the orders, for each of ``numbers``.
        """
        return float((self._costs(other, numbers) - self._costs(order, numbers)).min())

    def _costs(self, order: Indices, numbers: Indices) -> Floats:
        nearest = np.minimum.accumulate(self._distances[order], axis=0)[numbers - 1]
        costs = [np.minimum(line, self._draws) @ self._weights for line in nearest]
        return np.asarray(np.sum(costs, axis=0))
