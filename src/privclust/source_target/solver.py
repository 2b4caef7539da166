"""The medoid solver: lazy greedy, swaps, and a safeguard that relies on the source only if it pays.

Everything here is public or released. Objects are to be served, candidates can be chosen; the
existing service of an object is its *base* distance, and the cost of a choice is the weighted mean
over the objects of the smaller of the base and the distance to the nearest chosen candidate.

Greedy gains only shrink as more is chosen, so a gain that was computed earlier is an upper bound.
Lazy evaluation computes a gain again only while its bound is the largest, and finds exactly the
same order as plain greedy. Rounding does not disturb this: every step of the sum is monotone, so an
earlier gain is never below a later one in floating point either.

All of this is post-processing of released counts. Where the source truly is stays uncertain, and a
false bin leaves targets without a centre, which costs far more than a true one gains. Greedy orders
are also rough: one that knows a little about the source can be worse than one that knows nothing
about it. So several orders compete, from one that trusts the draws to one that ignores the source,
and each is judged by its worst draw, relative to ignoring the source. If none gains in all of them,
the source is ignored.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats, Indices, Singles

# The medoid solver: lazy greedy, and swaps in which the base distance is never removed.

_MOST_PASSES = 50
_TRIED = 32

# Swaps must lower the cost by more than this share of it, so that rounding cannot make them cycle.
_SMALLEST_GAIN = 1e-9


@dataclass(frozen=True)
class Problem:
    """Whom to serve, and from where."""

    distances: Singles  # (n_candidates, n_objects): one row per candidate
    # (n_objects,): distance to the existing service; infinite where there is none.
    base: Floats | Singles
    weights: Floats  # (n_objects,): none of them negative

    @property
    def finite_base(self) -> Floats:
        """The base, with infinite distances put farther away than any candidate."""
        farthest = 2 * float(self.distances.max(initial=0)) + 1
        return np.minimum(self.base, farthest)


@dataclass(frozen=True)
class GreedyOrder:
    """Candidates in the order of their choice."""

    chosen: Indices  # (n_chosen,)
    costs: Floats  # (n_chosen + 1,): cost after the first 0, 1, 2, ... of them
    evaluations: int  # how many gains were computed


class Gains:
    """By how much each candidate lowers the sum of weighted distances, in single precision."""

    def __init__(self, problem: Problem) -> None:
        self.served: Singles = problem.finite_base.astype(np.float32)
        self._distances = problem.distances
        self._weights = problem.weights.astype(np.float32)
        self._closer = np.empty_like(self.served)

    def of(self, candidate: int) -> float:
        """Return the gain of a candidate in addition to the chosen ones."""
        np.subtract(self.served, self._distances[candidate], out=self._closer)
        np.maximum(self._closer, 0, out=self._closer)
        return float(self._closer @ self._weights)

    def choose(self, candidate: int) -> None:
        """Serve objects from the candidate where it is nearer."""
        np.minimum(self.served, self._distances[candidate], out=self.served)


def lazy_greedy(problem: Problem, n_chosen: int) -> GreedyOrder:
    """Choose, one after the other, the candidate that lowers the cost most; ties by number."""
    gains = Gains(problem)
    heap = [(-gains.of(candidate), candidate, 0) for candidate in range(len(problem.distances))]
    heapq.heapify(heap)
    evaluations, costs = len(heap), [_mean(problem.finite_base, problem.weights)]
    chosen: list[int] = []
    while len(chosen) < n_chosen:
        _, candidate, computed_at = heap[0]
        if computed_at < len(chosen):
            heapq.heapreplace(heap, (-gains.of(candidate), candidate, len(chosen)))
            evaluations += 1
            continue
        heapq.heappop(heap)
        chosen.append(candidate)
        gains.choose(candidate)
        costs.append(_mean(gains.served.astype(np.float64), problem.weights))
    return GreedyOrder(np.array(chosen, np.intp), np.array(costs), evaluations)


def improve_by_swaps(problem: Problem, chosen: Indices, passes: int = _MOST_PASSES) -> Indices:
    """Swap chosen candidates for others as long as that lowers the cost.

    After FasterPAM (Schubert and Rousseeuw 2021): each candidate is compared with the removal of
    every chosen one at once, and the best swap is made as soon as it helps. The base acts as a
    centre that is never removed.
    """
    if not len(chosen):
        return chosen
    state = _Assignment(problem, chosen)
    unchanged, candidate, n_candidates = 0, 0, len(problem.distances)
    for _ in range(passes * n_candidates):
        # The next candidates are tried together; after a swap the rest of them are tried again.
        tried = np.arange(candidate, min(candidate + _TRIED, n_candidates))
        swapped = state.swap_first_that_helps(tried)
        candidate = int(tried[-1] if swapped is None else swapped) + 1
        candidate = 0 if candidate == n_candidates else candidate
        unchanged = unchanged + len(tried) if swapped is None else 0
        if unchanged >= n_candidates:
            break
    return state.chosen


def solution_cost(problem: Problem, chosen: Indices) -> float:
    """Return the weighted mean distance to the nearest of the base and the chosen candidates."""
    nearest = problem.distances[chosen].min(axis=0, initial=np.inf)
    return _mean(np.minimum(problem.base, nearest), problem.weights)


class _Assignment:
    """Nearest and second nearest centre of each object; centre ``k`` is the base."""

    def __init__(self, problem: Problem, chosen: Indices) -> None:
        self._distances, self._weights = problem.distances, problem.weights
        self._base = problem.finite_base
        self.chosen = chosen.copy()
        self.is_chosen = np.zeros(len(problem.distances), bool)
        self.is_chosen[chosen] = True
        n_objects, self._k = len(self._base), len(chosen)
        self._first, self._second = np.empty(n_objects, np.intp), np.empty(n_objects, np.intp)
        self._nearest, self._next = np.empty(n_objects), np.empty(n_objects)
        self._reassign(np.arange(n_objects))
        self._sum_up()

    def swap_first_that_helps(self, candidates: Indices) -> int | None:
        """Make the first swap that lowers the cost, and return its candidate, if there is one.

        A candidate replaces the centre whose removal costs least.
        """
        changes, out = self._changes(candidates)
        (helpful,) = np.nonzero(changes < -_SMALLEST_GAIN * self._total)
        if not len(helpful):
            return None
        first = int(candidates[helpful[0]])
        self._swap(int(out[helpful[0]]), first, self._distances[first])
        return first

    def _changes(self, candidates: Indices) -> tuple[Floats, Indices]:
        """Return what the best swap with each candidate costs, and the centre to drop for it."""
        rows = self._distances[candidates[0] : candidates[-1] + 1]
        # Found and gathered in one flat array, which NumPy does several times faster than in two
        # dimensions.
        near = np.flatnonzero(rows < self._reach)
        lines, objects = np.divmod(near, rows.shape[1])
        distances, nearest = rows.ravel()[near].astype(np.float64), self._nearest[objects]
        weights = self._weights[objects]
        gained = np.bincount(lines, weights * np.minimum(distances - nearest, 0), len(rows))
        # An object that loses its centre goes to the candidate if that is nearer than its second.
        kept = weights * (np.maximum(distances, nearest) - self._next[objects])
        width = self._k + 1
        places = lines * width + self._first[objects]
        table = np.bincount(places, kept, len(rows) * width).reshape(len(rows), width)
        losses = self._losses + table[:, : self._k]
        out = losses.argmin(axis=1)
        changes = gained + losses[np.arange(len(rows)), out]
        changes[self.is_chosen[candidates]] = 0
        return changes, out

    def _swap(self, out: int, candidate: int, row: Singles) -> None:
        self.is_chosen[self.chosen[out]] = False
        self.is_chosen[candidate] = True
        self.chosen[out] = candidate
        orphaned = (self._first == out) | (self._second == out)
        (closest,) = np.nonzero(~orphaned & (row < self._nearest))
        (second,) = np.nonzero(~orphaned & (row >= self._nearest) & (row < self._next))
        self._second[closest], self._next[closest] = self._first[closest], self._nearest[closest]
        self._first[closest], self._nearest[closest] = out, row[closest]
        self._second[second], self._next[second] = out, row[second]
        self._reassign(np.flatnonzero(orphaned))
        self._sum_up()

    def _reassign(self, objects: Indices) -> None:
        """Find the two nearest centres of some objects among all of them."""
        table = np.empty((self._k + 1, len(objects)))
        table[:-1] = self._distances[self.chosen[:, None], objects]
        table[-1] = self._base[objects]
        columns = np.arange(len(objects))
        first = table.argmin(axis=0)
        self._first[objects], self._nearest[objects] = first, table[first, columns]
        table[first, columns] = np.inf
        second = table.argmin(axis=0)
        self._second[objects], self._next[objects] = second, table[second, columns]

    def _sum_up(self) -> None:
        """Add up what the removal of each centre would cost, and how near a candidate matters."""
        missed = self._weights * (self._next - self._nearest)
        self._losses = np.bincount(self._first, missed, self._k + 1)[: self._k]
        self._reach = np.where(self._first == self._k, self._nearest, self._next).astype(np.float32)
        self._total = float(self._weights @ self._nearest)


def _mean(distances: Floats, weights: Floats) -> float:
    # Not np.average: an infinite distance of an object without weight must not become NaN.
    with_weight = weights > 0
    total = weights[with_weight].sum()
    return float(distances[with_weight] @ weights[with_weight] / total) if total > 0 else 0.0


# The safeguard: centres rely on the source only if that lowers the cost in every draw.

# Rows of a table that are changed at a time.
_ROWS = 256
# How many centres are first placed as if there were no source.
_PLACED_ALONE = 1, 2, 5, 10, 20, 50
# The prior probabilities that there is no source at all.
_NO_SOURCE = 0.25, 0.5, 0.75
# An order of k centres is judged by its first k/20 to k, at numbers of the series 1, 2, 5, 10, ...
_FEWEST_JUDGED = 20


@dataclass(frozen=True)
class SafeguardedChoice:
    """Chosen candidates: a greedy order, and as many improved by swaps."""

    order: Indices
    improved: Indices


def to_expected_costs(distances: Singles, draws: Floats, weights: Floats) -> Problem:
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


def choose_with_safeguard(
    ignoring: Problem, draws: Floats, judges: Floats, n_chosen: int
) -> SafeguardedChoice:
    """Choose centres, given an uncertain source.

    ``draws``, ``judges``: (n_draws, n_objects), possible distances to the existing service: those
    to solve for, and others for validation.
    """
    alone = lazy_greedy(ignoring, n_chosen).chosen
    improved_alone = improve_by_swaps(ignoring, alone)
    everything = np.concatenate([draws, judges])
    if n_chosen == 0 or (everything >= ignoring.base).all():
        return SafeguardedChoice(alone, improved_alone)
    problem = to_expected_costs(ignoring.distances.copy(), draws, ignoring.weights)
    trusting = lazy_greedy(problem, n_chosen).chosen
    improved = improve_by_swaps(problem, trusting)
    orders = [alone, trusting, *_after_first_alone(problem, alone)]
    orders += _alternatives(problem, ignoring, n_chosen)
    numbers = _validated_counts(n_chosen)
    jury = _ValidationDraws(ignoring, everything)
    gains = [jury.least_gain(order, alone, numbers) for order in orders]
    whole = np.array([n_chosen])
    pays = jury.least_gain(improved, improved_alone, whole) > 0
    return SafeguardedChoice(orders[int(np.argmax(gains))], improved if pays else improved_alone)


def _validated_counts(n_chosen: int) -> Indices:
    powers = 10 ** np.arange(len(str(n_chosen)))
    series = np.outer(powers, [1, 2, 5]).ravel()
    inside = (series * _FEWEST_JUDGED >= n_chosen) & (series < n_chosen)
    return np.append(series[inside], n_chosen)


def _after_first_alone(problem: Problem, alone: Indices) -> Iterator[Indices]:
    """Yield orders that begin as if there were no source and then use it."""
    for count in _PLACED_ALONE:
        if count < len(alone):
            first = alone[:count]
            served = np.minimum(problem.base, problem.distances[first].min(axis=0))
            rest = Problem(problem.distances, served, problem.weights)
            yield np.concatenate([first, lazy_greedy(rest, len(alone) - count).chosen])


def _alternatives(problem: Problem, ignoring: Problem, n_chosen: int) -> Iterator[Indices]:
    """Yield greedy orders for costs that allow for no source; mutates ``problem``."""
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


class _ValidationDraws:
    """Draws of the existing service, with which choices are compared."""

    def __init__(self, ignoring: Problem, draws: Floats) -> None:
        self._distances, self._weights = ignoring.distances, ignoring.weights
        self._draws = np.minimum(draws, ignoring.finite_base)

    def least_gain(self, order: Indices, other: Indices, numbers: Indices) -> float:
        """Return the smallest gain of one order over another, over all draws.

        Costs are added up over the first few of the orders, for each of ``numbers``.
        """
        return float((self._costs(other, numbers) - self._costs(order, numbers)).min())

    def _costs(self, order: Indices, numbers: Indices) -> Floats:
        nearest = np.minimum.accumulate(self._distances[order], axis=0)[numbers - 1]
        costs = [np.minimum(line, self._draws) @ self._weights for line in nearest]
        return np.asarray(np.sum(costs, axis=0))
