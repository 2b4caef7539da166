"""Events that distinguish neighbours: learn a score, choose an event, bound ε from its counts.

An event that happens with probability p on one data set and q on its neighbour refutes every
(ε, δ) with p > e^ε q + δ. The auditor counts the event in independent runs on both sides, bounds
p from below and q from above with the exact interval of Clopper and Pearson, each with half of
the allowed error, and reports ln((p - δ) / q).

An event is a condition on one column of the feature matrix, whose last column is a learned score:
the estimated probability that a run came from the right data set. By the lemma of Neyman and
Pearson the best events are the upper and lower ends of the likelihood ratio, which the score
approximates; conditions on a single feature are tried too, because they find exact traces (an
exception, an exact zero, an impossible last bit) and are easy to read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv
from sklearn.ensemble import HistGradientBoostingClassifier

from privclust._typing import Floats
from privclust.audit.features import Feature

# From counts to a bound on ε: the only statistics behind the confidence of an audit.


def probability_below(hits: ArrayLike, trials: int, error: float) -> Floats:
    """Return a lower bound on a probability, wrong with probability at most ``error``.

    ``error``: probability, above 0 and below 1, that the bound exceeds the true probability.
    """
    counts = np.asarray(hits, dtype=np.float64)
    bound = betaincinv(np.maximum(counts, 1), trials - counts + 1, error)
    return np.where(counts > 0, bound, 0.0)


def probability_above(hits: ArrayLike, trials: int, error: float) -> Floats:
    """Return an upper bound on a probability, wrong with probability at most ``error``.

    The parameters are those of :func:`probability_below`.
    """
    return 1.0 - probability_below(trials - np.asarray(hits), trials, error)


def epsilon_bound(
    likely_hits: ArrayLike, unlikely_hits: ArrayLike, trials: int, error: float, delta: float = 0.0
) -> Floats:
    """Return a lower bound on ε at ``delta``, wrong with probability at most ``error``.

    ``likely_hits``, ``unlikely_hits``: how often the event happened on the data set where it is
    likelier, and on its neighbour. ``trials``: number of independent runs on each of the two.
    ``error``: total error probability; half of it goes to each of the two probabilities, so the
    bound holds whether or not the two sides are independent of each other. ``delta``: the δ at
    which ε is bounded. May be negative or minus infinity, which says nothing about ε but still
    ranks events.
    """
    p = probability_below(likely_hits, trials, error / 2)
    q = probability_above(unlikely_hits, trials, error / 2)
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(p - delta, 0.0)) - np.log(q)


# Finding an event that distinguishes two neighbouring data sets: a score, then an event.

Relation = Literal["==", "!=", ">=", "<="]
Side = Literal["left", "right"]

RELATIONS: tuple[Relation, ...] = ("==", "!=", ">=", "<=")
SIDES: tuple[Side, ...] = ("left", "right")

LEVELS = np.concatenate([[0.001, 0.002, 0.005], np.linspace(0.01, 0.99, 50), [0.995, 0.998, 0.999]])
"""Quantiles of a column at which thresholds are tried."""

COMMON_VALUES = 5
"""How many of a column's most common values are tried for equality."""

MOST_EVENTS = 2 * len(RELATIONS) * (len(LEVELS) + COMMON_VALUES + 1)
"""Events that can be tried on one column, each for both directions."""

EXAMINED_RUNS = 500
"""Runs on each side used to find the features that matter to a score."""


@dataclass(frozen=True)
class Event:
    """The condition that ``column`` of the feature matrix is in ``relation`` to ``value``.

    A missing entry is NaN; it equals the value NaN and is not ordered relative to numbers.
    """

    column: int
    relation: Relation
    value: float

    def holds(self, matrix: Floats) -> NDArray[np.bool_]:
        """Return for each run whether the event happened."""
        entries = matrix[:, self.column]
        if self.relation == ">=":
            return entries >= self.value
        if self.relation == "<=":
            return entries <= self.value
        equal = np.isnan(entries) if np.isnan(self.value) else entries == self.value
        return equal if self.relation == "==" else ~equal

    def describe(self, feature: Feature) -> str:
        """Put the event in words, given the feature in its column."""
        if np.isnan(self.value):
            return f"{feature.name} is {'missing' if self.relation == '==' else 'present'}"
        if feature.labels:
            codes = np.arange(len(feature.labels), dtype=np.float64)[:, np.newaxis]
            labels = np.array(feature.labels)[replace(self, column=0).holds(codes)]
            return f"{feature.name} is {' or '.join(labels[:3])}{' ...' * (len(labels) > 3)}"
        return f"{feature.name} {self.relation} {self.value:.6g}"


class Score:
    """A learned estimate of which side a run came from.

    ``left``, ``right``: (runs, features).
    """

    def __init__(self, left: Floats, right: Floats, seed: int) -> None:
        learner = HistGradientBoostingClassifier(
            max_iter=60,
            max_leaf_nodes=8,
            min_samples_leaf=max(10, len(left) // 200),
            early_stopping=False,
            random_state=seed,
        )
        sides = np.repeat([0, 1], [len(left), len(right)])
        self._learner = learner.fit(np.concatenate([left, right]), sides)

    def __call__(self, matrix: Floats) -> Floats:
        """Return the estimated probability of the right side for each run."""
        return np.asarray(self._learner.predict_proba(matrix)[:, 1], dtype=np.float64)

    def features_that_matter(self, left: Floats, right: Floats, most: int = 3) -> list[int]:
        """Return the columns without which the score separates the sides worse.

        Each column in turn is replaced by that of other runs, which keeps its distribution and
        removes its dependence on the side.
        """
        pooled = np.concatenate([left[:EXAMINED_RUNS], right[:EXAMINED_RUNS]])
        sign = np.repeat([-1.0, 1.0], [len(left[:EXAMINED_RUNS]), len(right[:EXAMINED_RUNS])])
        separation = np.mean(sign * self(pooled))
        losses = []
        for column in range(pooled.shape[1]):
            blurred = pooled.copy()
            # Taking every second entry first gives each run one from either side equally often.
            blurred[:, column] = np.concatenate([pooled[::2, column], pooled[1::2, column]])
            losses.append(separation - np.mean(sign * self(blurred)))
        ranked = np.argsort(losses)[::-1][:most]
        return [int(column) for column in ranked if losses[column] > 0]


def choose_event(left: Floats, right: Floats, error: float, delta: float) -> tuple[Event, Side]:
    """Choose the event that promises the largest bound on ε, and the side where it is likelier.

    ``left``, ``right``: (runs, columns), runs on the two data sets, of equal number and with at
    least one column. They must not be reused for the bound itself. ``error``: the error
    probability of the bound to come. Events compete with a smaller one, divided by their number, so
    that none wins by luck. ``delta``: the δ at which ε will be bounded.
    """
    strict_error = error / (left.shape[1] * MOST_EVENTS)
    best_bound, best = -np.inf, (Event(0, "!=", np.nan), SIDES[0])
    for column in range(left.shape[1]):
        values, hits = _candidates(left[:, column], right[:, column])
        # The second row answers for events that are likelier on the right.
        bounds = epsilon_bound(hits, hits[::-1], len(left), strict_error, delta)
        if bounds.max() > best_bound:
            best_bound = bounds.max()
            side, relation, value = np.unravel_index(np.argmax(bounds), bounds.shape)
            event = Event(column, RELATIONS[relation], float(values[value]))
            best = event, SIDES[side]
    return best


def _candidates(left: Floats, right: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Return values to compare a column with, and how often each comparison held.

    Returns ``values``: (values,), thresholds, common values, and NaN at the end. Returns ``hits``:
    (2 sides, 4 relations, values).
    """
    values = _values_to_try(np.concatenate([left, right]))
    return values, np.stack([_hits(left, values), _hits(right, values)])


def _values_to_try(entries: Floats) -> Floats:
    distinct, counts = np.unique(entries[~np.isnan(entries)], return_counts=True)
    if len(distinct) > len(LEVELS):
        common = distinct[np.argsort(counts)[-COMMON_VALUES:]]
        positions = np.searchsorted(np.cumsum(counts), LEVELS * counts.sum())
        distinct = np.union1d(distinct[positions], common)
    return np.append(distinct, np.nan)


def _hits(entries: Floats, values: Floats) -> NDArray[np.int64]:
    # NaN is sorted behind all numbers, so the ranks of the value NaN count the missing entries.
    ordered = np.sort(entries)
    present = len(entries) - np.count_nonzero(np.isnan(entries))
    below = np.searchsorted(ordered, values, "left")
    up_to = np.searchsorted(ordered, values, "right")
    equal = up_to - below
    in_order = ~np.isnan(values)
    return np.stack([equal, len(entries) - equal, in_order * (present - below), in_order * up_to])
