"""What mechanisms were asked, and what an attacker who sees every answer can tell from it.

Everything exact that can leave the door passes through ``draw`` of a mechanism, so that is where
the tests look. The guarantee covers all answers of a fit, not only what an estimator keeps of them.
A :class:`Transcript` puts every question to both data sets of a pair and knows two things: the
*loss*, by how much an answer can ever tell the two apart, exact and without any sampling; and the
*evidence*, how much likelier the answers given are on the right than on the left.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np
from scipy.special import log_softmax

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
from support.distributions import permute_and_flip_probabilities
from support.noise import MECHANISMS

SELECTIONS = (Exponential, PermuteAndFlip, NoisyTopK)
DISTRIBUTIONS = (
    "laplace", "gaussian", "ball", "exponential_rows", "permute_and_flip_rows", "top_k_rows",
)  # fmt: skip


@dataclass(frozen=True)
class Draw:
    """One answer of a mechanism.

    ``drawn`` is the mechanism with the noise that the source drew in fact, which is not what the
    mechanism asked for if the source is flawed, and None if nothing was drawn.
    """

    mechanism: Any
    exact: np.ndarray
    answer: np.ndarray
    drawn: Any = None


@contextmanager
def replaced_draws(draw):
    """Let ``draw(original, mechanism, exact, noise)`` stand for ``draw`` of every mechanism."""

    def method(original):
        return lambda self, exact, noise: draw(original, self, exact, noise)

    with _replaced([(kind, "draw") for kind in MECHANISMS], method):
        yield


@contextmanager
def _replaced(methods, replacement):
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
def recorded_draws():
    """Keep every answer that mechanisms give."""
    draws = []
    with replaced_draws(_keeping(draws)), _watched_noise():
        yield draws


@contextmanager
def replayed_draws(answers):
    """Let mechanisms give these answers, in order, whatever the data; keep what they were asked."""
    draws = []

    def draw(original, mechanism, exact, noise):
        assert len(draws) < len(answers), "More was asked than there are answers."
        draws.append(Draw(mechanism, exact.copy(), answers[len(draws)]))
        return draws[-1].answer

    with replaced_draws(draw):
        yield draws


_amounts_drawn: list[Fraction] = []
# Where each distribution takes its scale or variance, which are the only fractions among arguments.
_PLACES = {
    name: [kind.annotation for kind in signature(getattr(ExactNoise, name)).parameters.values()]
    .index("Fraction") for name in DISTRIBUTIONS
}  # fmt: skip


def _keeping(draws):
    def draw(original, mechanism, exact, noise):
        _amounts_drawn.clear()
        answer = original(mechanism, exact, noise)
        draws.append(Draw(mechanism, exact.copy(), answer.copy(), _drawn(mechanism)))
        return answer

    return draw


@contextmanager
def _watched_noise():
    """Note the scale or variance of whatever exact noise is drawn, behind any flaw before it."""

    def method(original):
        place = _PLACES[original.__name__]

        @wraps(original)
        def draw(*arguments):
            _amounts_drawn.append(arguments[place])
            return original(*arguments)

        return draw

    with _replaced([(ExactNoise, name) for name in DISTRIBUTIONS], method):
        yield


def _drawn(mechanism):
    if not _amounts_drawn:
        return None
    (amount,) = _amounts_drawn
    if isinstance(mechanism, DiscreteGaussian):
        return replace(mechanism, variance=amount)
    if isinstance(mechanism, SELECTIONS):
        return replace(mechanism, epsilon=mechanism.score_range / amount)
    return replace(mechanism, scale=amount)


def squared_lengths(vectors):
    """Return the squared length of each row as a Python integer."""
    rows = np.atleast_2d(vectors).tolist()
    return [sum(int(value) ** 2 for value in row) for row in rows]


def change(mechanism, exact, other):
    """Return how far two exact answers are apart, in the sense of the mechanism's sensitivity."""
    difference = exact.astype(object) - other.astype(object)
    if isinstance(mechanism, DiscreteLaplace):
        return Fraction(int(abs(difference).sum()))
    if isinstance(mechanism, DiscreteGaussian):
        return Fraction(int((difference**2).sum()))
    if isinstance(mechanism, BallLaplace):
        # Lengths are rounded down, by less than 2^-40.
        lengths = [math.isqrt(square << 80) for square in squared_lengths(difference)]
        return Fraction(sum(lengths), 2**40)
    return sum(_ranges(difference), Fraction(0))


def _ranges(difference):
    """Return, for each row of scores, by how much the changes of two of them differ."""
    return [Fraction(int(row.max() - row.min())) for row in difference]


def allowed_change(mechanism):
    """Return the sensitivity that the mechanism was made for."""
    if isinstance(mechanism, DiscreteLaplace):
        return mechanism.l1_sensitivity
    if isinstance(mechanism, DiscreteGaussian):
        return mechanism.squared_l2_sensitivity
    if isinstance(mechanism, BallLaplace):
        return mechanism.length_sensitivity
    return mechanism.score_range


def loss_of(mechanism, exact, other):
    """Return the loss by which an answer can tell these two exact values apart."""
    if isinstance(mechanism, DiscreteGaussian):
        return Loss(None, change(mechanism, exact, other) / (2 * mechanism.variance))
    if not isinstance(mechanism, SELECTIONS):
        return Loss.of_pure(change(mechanism, exact, other) / mechanism.scale)
    one = Loss.of_pure if isinstance(mechanism, PermuteAndFlip) else Loss.of_bounded_range
    picks = getattr(mechanism, "k", 1)
    ranges = _ranges(exact.astype(object) - other.astype(object))
    return Loss.total(one(size / mechanism.scale).times(picks) for size in ranges)


def amount_lost(loss, currency):
    """Return a loss as an amount of a currency."""
    return loss.pure if currency == "pure" else loss.rho


def log_ratio(mechanism, seen, left, right):
    """Return the logarithm of how much likelier an answer is on the right than on the left."""
    return log_weight(mechanism, seen, right) - log_weight(mechanism, seen, left)


def log_weight(mechanism, seen, exact):
    """Return the logarithm of how likely an answer is, up to a constant of the mechanism."""
    if isinstance(mechanism, SELECTIONS):
        chances = _PICKED[type(mechanism)]
        scale = float(mechanism.scale)
        return sum(chances(row, pick, scale) for row, pick in zip(exact, seen, strict=True))
    gaps = np.asarray(seen - exact, float)
    if isinstance(mechanism, DiscreteGaussian):
        return -float((gaps**2).sum()) / (2 * float(mechanism.variance))
    sizes = np.linalg.norm(gaps, axis=1) if isinstance(mechanism, BallLaplace) else abs(gaps)
    return -float(sizes.sum()) / float(mechanism.scale)


def _exponential(scores, pick, scale):
    return float(log_softmax(scores / scale)[pick])


def _permute_and_flip(scores, pick, scale):
    return math.log(permute_and_flip_probabilities(scores, scale)[pick])


def _top_k(scores, picks, scale):
    left, total = scores / scale, 0.0
    for pick in picks:
        total += float(log_softmax(left)[pick])
        left = np.where(np.arange(len(left)) == pick, -np.inf, left)
    return total


_PICKED = {Exponential: _exponential, PermuteAndFlip: _permute_and_flip, NoisyTopK: _top_k}


class Transcript:
    """A view of one data set of a pair that puts each question to the other one too.

    There, mechanisms repeat the answer, so that the exact values of both are known. It stands for
    the view in a run of an algorithm.

    Parameters
    ----------
    views : pair of views
        Of the left and of the right data set, with budgets that last.
    side : 0 or 1
        Which of them the algorithm sees.
    """

    def __init__(self, views, side=0):
        self._view, self._twin = views[side], views[1 - side]
        self._sign = 1 if side == 0 else -1
        self.draws, self.twins = [], []

    def __getattr__(self, name):
        found = getattr(self._view, name)
        return self._question(name, found) if callable(found) else found

    def _question(self, name, ask):
        def question(*arguments, **keywords):
            with recorded_draws() as draws:
                answer = ask(*arguments, **keywords)
            if draws:
                with replayed_draws([draw.answer for draw in draws]) as twins:
                    getattr(self._twin, name)(*arguments, **keywords)
                assert [d.mechanism for d in draws] == [t.mechanism for t in twins]
                self.draws += draws
                self.twins += twins
            return answer

        return question

    @property
    def evidence(self):
        """The logarithm of how much likelier all answers are on the right, if noise is as told."""
        return self._sign * sum(
            log_ratio(draw.mechanism, draw.answer, draw.exact, twin.exact)
            for draw, twin in zip(self.draws, self.twins, strict=True)
        )

    @property
    def loss(self):
        """By how much all answers can tell the pair apart, with the noise that was drawn."""
        return loss_between(self.draws, self.twins)

    @property
    def cost(self):
        """What the noise that was drawn would cost, whatever the pair: the price of the answers."""
        return Loss.total(draw.drawn.loss for draw in self.draws)


def loss_between(draws, twins):
    """Return by how much answers can tell two data sets apart, with the noise that was drawn."""
    assert all(draw.drawn is not None for draw in draws), "An answer was given without noise."
    assert [draw.mechanism for draw in draws] == [twin.mechanism for twin in twins]
    return Loss.total(
        loss_of(draw.drawn, draw.exact, twin.exact) for draw, twin in zip(draws, twins, strict=True)
    )
