"""What mechanisms were asked, what they answered, and how well an answer tells two data sets apart.

Everything exact that can leave the door passes through ``draw`` of a mechanism, so that is where
this looks. The guarantee covers all answers of a fit, not only what an estimator keeps of them.
Answers are recorded on one data set and given again on another: then the exact values of both are
known, and with them the loss, exactly and without any sampling. Nothing here draws noise; it
watches what is drawn, behind any flaw before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from privclust._typing import AnyArray, Integers
from privclust.budget import Loss
from privclust.privacy.mechanisms import (
    BallLaplace,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    NoisyTopK,
    PermuteAndFlip,
)
from privclust.privacy.noise.exact import ExactNoise

SELECTIONS = (Exponential, PermuteAndFlip, NoisyTopK)
MECHANISMS = (DiscreteLaplace, DiscreteGaussian, BallLaplace, *SELECTIONS)
DISTRIBUTIONS = (
    "laplace", "gaussian", "ball", "exponential_rows", "permute_and_flip_rows", "top_k_rows",
)  # fmt: skip


class DivergedError(BaseException):
    """A replay asked for what was not recorded; no handler of the code under audit may hide it."""


@dataclass(frozen=True, eq=False)
class Draw:
    """One answer of a mechanism.

    ``drawn`` is the mechanism with the noise that the source drew in fact, which is not what the
    mechanism asked for if the source is flawed, and None if nothing was drawn.
    """

    mechanism: Any
    exact: AnyArray
    answer: AnyArray
    drawn: Any = None

    @property
    def title(self) -> str:
        """The mechanism in words."""
        return str(self.mechanism.title)

    @property
    def allowed(self) -> Fraction | None:
        """By how much neighbours may change the exact values, as the mechanism was told."""
        return allowed_change(self.mechanism)

    def asks_like(self, twin: Draw) -> bool:
        """Return whether both were asked alike, whatever the exact values."""
        return bool(self.mechanism == twin.mechanism and self.exact.shape == twin.exact.shape)

    def change(self, twin: Draw) -> Fraction:
        """Return how far the exact values of the two are apart."""
        return measure_change(self.mechanism, self.exact, twin.exact)

    def loss(self, twin: Draw) -> Loss | None:
        """Return by how much the answer can tell the two apart; None if with certainty."""
        if self.drawn is None:
            return None if self.change(twin) else Loss.total([])
        return loss_of(self.drawn, self.exact, twin.exact)


DrawMethod = Callable[[Any, Any, Integers, Any], Integers]


@contextmanager
def replace_draws(draw: DrawMethod) -> Iterator[None]:
    """Let ``draw(original, mechanism, exact, noise)`` stand for ``draw`` of every mechanism."""

    def method(original: Any) -> Any:
        return lambda self, exact, noise: draw(original, self, exact, noise)

    with replace_methods([(kind, "draw") for kind in MECHANISMS], method):
        yield


@contextmanager
def replace_methods(
    methods: Iterable[tuple[Any, str]], replacement: Callable[[Any], Any]
) -> Iterator[None]:
    """Replace methods of classes for a while; many times quicker than ``unittest.mock``."""
    originals = [(kind, name, vars(kind)[name]) for kind, name in methods]
    try:
        for kind, name, original in originals:
            setattr(kind, name, replacement(original))
        yield
    finally:
        for kind, name, original in originals:
            setattr(kind, name, original)


@contextmanager
def record_draws() -> Iterator[list[Draw]]:
    """Keep every answer that mechanisms give."""
    draws: list[Draw] = []
    amounts: list[Fraction] = []

    def draw(original: Any, mechanism: Any, exact: Integers, noise: Any) -> Integers:
        amounts.clear()
        answer: Integers = original(mechanism, exact, noise)
        drawn = _with_amount(mechanism, amounts)
        draws.append(Draw(mechanism, exact.copy(), answer.copy(), drawn))
        return answer

    with replace_draws(draw), _watch_noise(amounts):
        yield draws


@contextmanager
def replay_draws(answers: Sequence[Integers]) -> Iterator[list[Draw]]:
    """Let mechanisms give these answers, in order, whatever the data; keep what they were asked."""
    draws: list[Draw] = []

    def draw(original: Any, mechanism: Any, exact: Integers, noise: Any) -> Integers:
        if len(draws) == len(answers):
            raise DivergedError("More was asked than there are answers.")
        draws.append(Draw(mechanism, exact.copy(), answers[len(draws)]))
        return answers[len(draws) - 1]

    with replace_draws(draw):
        yield draws


# Where each distribution takes its scale or variance, which are the only fractions among arguments.
_PLACES = {
    name: [kind.annotation for kind in signature(getattr(ExactNoise, name)).parameters.values()]
    .index("Fraction") for name in DISTRIBUTIONS
}  # fmt: skip


@contextmanager
def _watch_noise(amounts: list[Fraction]) -> Iterator[None]:
    """Note the scale or variance of whatever exact noise is drawn, behind any flaw before it."""

    def method(original: Any) -> Any:
        place = _PLACES[original.__name__]

        @wraps(original)
        def draw(*arguments: Any) -> Any:
            amounts.append(arguments[place])
            return original(*arguments)

        return draw

    with replace_methods([(ExactNoise, name) for name in DISTRIBUTIONS], method):
        yield


def _with_amount(mechanism: Any, amounts: list[Fraction]) -> Any:
    if not amounts:
        return None
    (amount,) = amounts
    if isinstance(mechanism, DiscreteGaussian):
        return replace(mechanism, variance=amount)
    if isinstance(mechanism, SELECTIONS):
        return replace(mechanism, epsilon=mechanism.score_range / amount)
    return replace(mechanism, scale=amount)


def squared_lengths(vectors: Integers) -> list[int]:
    """Return the squared length of each row as a Python integer."""
    rows = np.atleast_2d(vectors).tolist()
    return [sum(int(value) ** 2 for value in row) for row in rows]


def measure_change(mechanism: Any, exact: Integers, other: Integers) -> Fraction:
    """Return how far two exact answers are apart, in the sense of the mechanism's sensitivity."""
    difference: Any = exact.astype(object) - other.astype(object)
    if isinstance(mechanism, DiscreteLaplace):
        return Fraction(int(abs(difference).sum()))
    if isinstance(mechanism, DiscreteGaussian):
        return Fraction(int((difference**2).sum()))
    if isinstance(mechanism, BallLaplace):
        # Lengths are rounded down, by less than 2^-40.
        lengths = [math.isqrt(square << 80) for square in squared_lengths(difference)]
        return Fraction(sum(lengths), 2**40)
    return sum(_ranges(difference), Fraction(0))


def _ranges(difference: Any) -> list[Fraction]:
    """Return, for each row of scores, by how much the changes of two of them differ."""
    return [Fraction(int(row.max() - row.min())) for row in difference]


def allowed_change(mechanism: Any) -> Fraction:
    """Return the sensitivity that the mechanism was made for."""
    if isinstance(mechanism, DiscreteLaplace):
        return mechanism.l1_sensitivity
    if isinstance(mechanism, DiscreteGaussian):
        return mechanism.squared_l2_sensitivity
    if isinstance(mechanism, BallLaplace):
        return mechanism.length_sensitivity
    return Fraction(mechanism.score_range)


def loss_of(mechanism: Any, exact: Integers, other: Integers) -> Loss:
    """Return the loss by which an answer can tell these two exact values apart."""
    if isinstance(mechanism, DiscreteGaussian):
        return Loss(None, measure_change(mechanism, exact, other) / (2 * mechanism.variance))
    if not isinstance(mechanism, SELECTIONS):
        return Loss.of_pure(measure_change(mechanism, exact, other) / mechanism.scale)
    one = Loss.of_pure if isinstance(mechanism, PermuteAndFlip) else Loss.of_bounded_range
    picks = getattr(mechanism, "k", 1)
    ranges = _ranges(exact.astype(object) - other.astype(object))
    return Loss.total(one(size / mechanism.scale).times(picks) for size in ranges)
