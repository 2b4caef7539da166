"""The empirical privacy audit: look for an event that a privacy claim forbids.

The runs of each pair of neighbouring data sets are made in three independent splits. On the
first a score is learned, on the second one event and its direction are chosen, and the third is
counted once, for that event alone. So the bound holds at the stated confidence whatever the first
two splits did. With several pairs the allowed error is divided by their number.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from privclust._typing import Floats
from privclust.audit.events import Event, Score, Side, choose_event, epsilon_bound
from privclust.audit.features import GROUPS, Feature, FeatureMap
from privclust.audit.neighbours import NeighbourPair
from privclust.audit.outputs import Outputs, RaisedError
from privclust.audit.runner import FeatureFunction, Subject, draw, is_estimator, takes_rng
from privclust.budget import Budget, Number

# What an audit returns: the bound, the verdict, and the event behind it.

Verdict = Literal["violated", "not refuted"]


@dataclass(frozen=True)
class Witness:
    """The event behind a bound.

    Attributes
    ----------
    pair : str
        Name of the neighbouring pair.
    event : str
        The event in words.
    likelier : {"left", "right"}
        The data set of the pair on which it happens more often.
    left_hits, right_hits : int
        How often it happened on each.
    runs : int
        Fresh runs on each.
    features : dict from str to (float, float)
        The features that decide whether it happens, the most important first, and the range of nine
        tenths of their values when it does; NaN if there is no such number.
    """

    pair: str
    event: str
    likelier: Side
    left_hits: int
    right_hits: int
    runs: int
    features: dict[str, tuple[float, float]]

    def __str__(self) -> str:
        return (
            f"pair '{self.pair}', event '{self.event}': {self.left_hits} of {self.runs} runs on "
            f"the left, {self.right_hits} of {self.runs} on the right"
        )


@dataclass(frozen=True)
class AuditReport:
    """What an audit found.

    Attributes
    ----------
    epsilon_lower : float
        With probability at least ``confidence``, the true ε at the claimed δ is not below this.
    confidence : float
    claimed : Budget
        The claim under audit.
    verdict : {"violated", "not refuted"}
        "violated" if ``epsilon_lower`` exceeds the claimed ε. "not refuted" is not a proof: a
        flaw may show on other data or after more runs.
    witness : Witness or None
        The event behind ``epsilon_lower``; None if all outputs were the same.
    epsilon_most : float
        The largest ε that this number of runs could have shown, on an event that always happens
        on one side and never on the other.
    """

    epsilon_lower: float
    confidence: float
    claimed: Budget
    verdict: Verdict
    witness: Witness | None
    epsilon_most: float = math.inf

    def __str__(self) -> str:
        delta = f", δ = {float(self.claimed.delta):g}" if self.claimed.delta else ""
        lines = [
            f"Privacy claim {self.verdict}: ε = {float(self.claimed.epsilon):g}{delta}",
            f"  found    ε >= {self.epsilon_lower:.3f} with {self.confidence:.4g} confidence",
            f"  power    this many runs show at most ε >= {self.epsilon_most:.3f}",
        ]
        if self.witness is None:
            lines.append("  witness  none: every run gave the same output")
        else:
            lines.append(f"  witness  {self.witness}")
            ranges = [_with_range(*item) for item in self.witness.features.items()]
            lines.append(f"  features {', '.join(ranges) or 'none stands out'}")
        return "\n".join(lines)


def _with_range(name: str, bounds: tuple[float, float]) -> str:
    low, high = bounds
    return name if math.isnan(low) else f"{name} (mostly {low:.4g} to {high:.4g})"


FeatureChoice = str | FeatureFunction

FEWEST_RUNS = 300
SCORE = Feature("learned score")


def audit(
    fit: Any,
    neighbours: NeighbourPair | tuple[Any, Any] | Iterable[NeighbourPair | tuple[Any, Any]],
    claimed: Budget | Number,
    runs: int = 30_000,
    confidence: float = 0.95,
    features: FeatureChoice | Iterable[FeatureChoice] = GROUPS,
    *,
    batch: bool = False,
    n_jobs: int = 1,
    random_state: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> AuditReport:
    """Bound the privacy loss of a mechanism from below by observing its outputs.

    Parameters
    ----------
    fit : callable or estimator
        A callable that takes a data set and returns its output, or an estimator, which is cloned
        and fitted afresh in each run and whose output is its attributes ``name_``. A callable
        with a parameter ``rng`` is passed a NumPy generator; see Notes.
    neighbours : NeighbourPair, (left, right) tuple, or iterable of those
        Data sets that differ in one record. Put several pairs in a list.
    claimed : Budget or number
        The claim; a number is ε with δ = 0.
    runs : int, default=30000
        Runs on each side of each pair, at least 300.
    confidence : float, default=0.95
        The probability, above 0 and below 1, with which the reported bound must hold.
    features : str, callable, or iterable of those, default=all groups
        What may be used: ``"exceptions"``, ``"shapes"``, ``"values"``, ``"low_bits"``, and
        callables from an output to numbers. Without ``"exceptions"`` an exception is not an
        output: it ends the audit.
    batch : bool, default=False
        Whether ``fit`` is called as ``fit(data, runs)`` and returns an array-like whose first
        axis is the run. Exceptions then always end the audit.
    n_jobs : int, default=1
        Number of processes; -1 means one for each core.
    random_state : int or None, default=None
        Seed of the learner and of the generators that the auditor passes on.
    progress : callable or None, default=None
        Called now and then with the runs done and the total; the total may not be reached, since an
        audit of a pair ends early if it shows nothing.

    Returns
    -------
    AuditReport

    Notes
    -----
    The bound is right if the runs are independent. A callable that takes ``rng`` and draws from
    it, or from the operating system, can run in several processes. One without ``rng`` may have a
    generator that processes would copy, and the copies would repeat each other, so it is refused
    with ``n_jobs`` other than 1. An estimator with a ``random_state`` gets a fresh one in each run.
    For seeded mechanisms the report does not depend on ``n_jobs``.

    Examples
    --------
    >>> def flawed(number, runs, rng):
    ...     return number + rng.laplace(scale=0.25, size=runs)
    >>> report = audit(flawed, (0, 1), claimed=1, runs=3000, batch=True, random_state=0)
    >>> report.verdict
    'violated'
    """
    pairs = _coerce_pairs(neighbours)
    budget = claimed if isinstance(claimed, Budget) else Budget(claimed)
    groups, functions = _coerce_features(features)
    _check_fit(fit, batch, n_jobs)
    _check_numbers(runs, confidence)
    one = _PairAudit(
        Subject(fit, batch, "exceptions" in groups, functions),
        groups,
        error=(1 - confidence) / len(pairs),
        delta=float(budget.delta),
        n_jobs=n_jobs,
        tell=_count_runs(progress, 2 * runs * len(pairs)),
    )
    seeds = np.random.SeedSequence(random_state).spawn(len(pairs))
    found = [one.bound(pair, runs, seed) for pair, seed in zip(pairs, seeds, strict=True)]
    failures = [result for result in found if isinstance(result, RaisedError)]
    if len(failures) == len(pairs):
        raise ValueError(
            f"Every run ended with {failures[0].type_name}: {failures[0].message} "
            "Make sure that fit accepts the data of the pairs."
        )
    bounds = [result for result in found if not isinstance(result, RaisedError)]
    epsilon, witness = max(bounds, key=lambda bound: bound[0])
    verdict: Verdict = "violated" if epsilon > budget.epsilon else "not refuted"
    return AuditReport(epsilon, confidence, budget, verdict, witness, one.most(runs))


def _count_runs(
    progress: Callable[[int, int], None] | None, total: int
) -> Callable[[int], None] | None:
    """Return a callback that adds up the runs of all chunks and reports the sum."""
    if progress is None:
        return None
    done = 0

    def tell(runs: int) -> None:
        nonlocal done
        done += runs
        progress(done, total)

    return tell


@dataclass(frozen=True)
class _PairAudit:
    """The audit of one pair, with its share of the allowed error."""

    subject: Subject
    groups: frozenset[str]
    error: float
    delta: float
    n_jobs: int
    tell: Callable[[int], None] | None

    def most(self, runs: int) -> float:
        """Return the bound on an event that all runs of one side show, and none of the other."""
        trials = runs - 2 * (runs // 3)
        return max(0.0, float(epsilon_bound(trials, 0, trials, self.error, self.delta)))

    def bound(
        self, pair: NeighbourPair, runs: int, seed: np.random.SeedSequence
    ) -> tuple[float, Witness | None] | RaisedError:
        """Return a bound on ε and its witness, or the exception that every run ended with."""
        learn_seed, choose_seed, confirm_seed, learner_seed = seed.spawn(4)
        third = runs // 3
        sides = (pair.left, pair.right)

        seen = draw(self.subject, sides, third, learn_seed, self.n_jobs, self.tell)
        together = Outputs.concatenate(seen)
        failure = _only_exception(together)
        if failure is not None:
            return failure
        feature_map = FeatureMap(together, self.groups)
        if not feature_map.features:
            return 0.0, None
        left, right = (feature_map.matrix(side) for side in seen)
        score = Score(left, right, int(learner_seed.generate_state(1)[0]))

        def fresh_matrices(count: int, split_seed: np.random.SeedSequence) -> list[Floats]:
            outputs = draw(self.subject, sides, count, split_seed, self.n_jobs, self.tell)
            matrices = [feature_map.matrix(side) for side in outputs]
            return [np.column_stack([matrix, score(matrix)]) for matrix in matrices]

        left, right = fresh_matrices(third, choose_seed)
        event, likelier = choose_event(left, right, self.error, self.delta)
        features = [*feature_map.features, SCORE]
        deciding = _features_that_decide(event, features, score, left, right)

        trials = runs - 2 * third
        left_hits, right_hits = (
            int(np.count_nonzero(event.holds(side)))
            for side in fresh_matrices(trials, confirm_seed)
        )
        words = event.describe(features[event.column])
        witness = Witness(pair.name, words, likelier, left_hits, right_hits, trials, deciding)
        hits = (left_hits, right_hits) if likelier == "left" else (right_hits, left_hits)
        epsilon = float(epsilon_bound(*hits, trials, self.error, self.delta))
        return max(0.0, epsilon), witness


def _features_that_decide(
    event: Event, features: list[Feature], score: Score, left: Floats, right: Floats
) -> dict[str, tuple[float, float]]:
    """Return the features that decide the event, with their usual range when it happens."""
    columns = [event.column]
    if features[event.column] == SCORE:
        columns = score.features_that_matter(left[:, :-1], right[:, :-1])
    pooled = np.concatenate([left, right])
    within = pooled[event.holds(pooled)]
    ranges = {}
    for column in columns:
        entries = within[~np.isnan(within[:, column]), column]
        is_number = len(entries) > 0 and not features[column].labels
        low, high = np.quantile(entries, [0.05, 0.95]) if is_number else (np.nan, np.nan)
        ranges[features[column].name] = (float(low), float(high))
    return ranges


def _only_exception(outputs: Outputs) -> RaisedError | None:
    """Return the exception that all runs ended with, if there is a single one."""
    if len(outputs.columns) != 1:
        return None
    ((_, kind), column) = next(iter(outputs.columns.items()))
    return column[0] if kind is RaisedError and len(set(column)) == 1 else None


def _coerce_pairs(neighbours: Any) -> list[NeighbourPair]:
    if isinstance(neighbours, NeighbourPair):
        return [neighbours]
    is_one_pair = isinstance(neighbours, tuple) and not any(
        isinstance(side, NeighbourPair) for side in neighbours
    )
    several = [neighbours] if is_one_pair else list(neighbours)
    if not several:
        raise ValueError("neighbours is empty; give at least one pair of data sets.")
    pairs = []
    for position, pair in enumerate(several, start=1):
        if isinstance(pair, tuple) and len(pair) == 2:
            pair = NeighbourPair(f"pair {position}", *pair)
        if not isinstance(pair, NeighbourPair):
            raise TypeError(
                "neighbours must be a NeighbourPair, a tuple (left, right), or a list of those; "
                f"entry {position} is neither."
            )
        pairs.append(pair)
    return pairs


def _coerce_features(features: Any) -> tuple[frozenset[str], tuple[FeatureFunction, ...]]:
    chosen = [features] if isinstance(features, str) or callable(features) else list(features)
    functions = tuple(feature for feature in chosen if callable(feature))
    groups = [feature for feature in chosen if not callable(feature)]
    unknown = [group for group in groups if group not in GROUPS]
    if unknown or not chosen:
        raise ValueError(
            f"features must be callables or names from {', '.join(GROUPS)}, at least one; "
            f"got {chosen!r}."
        )
    return frozenset(groups), functions


def _check_fit(fit: Any, batch: bool, n_jobs: int) -> None:
    if isinstance(fit, type) and hasattr(fit, "fit"):
        raise TypeError(f"fit is the class {fit.__name__}; pass an instance of it.")
    if is_estimator(fit):
        if batch:
            raise ValueError("An estimator answers for one run at a time; leave batch=False.")
        try:
            clone(fit)
        except (TypeError, RuntimeError) as error:
            raise TypeError(
                f"{type(fit).__name__} cannot be cloned; let its __init__ store its parameters "
                "unchanged, or pass a callable that makes and fits a new one."
            ) from error
    elif not callable(fit):
        raise TypeError("fit must be a callable that takes a data set, or an estimator.")
    elif n_jobs != 1 and not takes_rng(fit):
        raise ValueError(
            "Copies of fit in several processes could repeat each other's random draws; let fit "
            "take a parameter rng and draw from it (or ignore it, if it draws from the operating "
            "system), or use n_jobs=1."
        )


def _check_numbers(runs: int, confidence: float) -> None:
    if not isinstance(runs, numbers.Integral) or runs < FEWEST_RUNS:
        raise ValueError(f"runs must be an integer of at least {FEWEST_RUNS}, got {runs!r}.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be above 0 and below 1, got {confidence!r}.")
