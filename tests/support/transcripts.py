"""The public kit of transcripts, and what tests need beside it: evidence, and pairs of views.

A :class:`Transcript` puts every question to both data sets of a pair and knows two things: the
*loss*, by how much an answer can ever tell the two apart, exact and without any sampling; and the
*evidence*, how much likelier the answers given are on the right than on the left.
"""

from __future__ import annotations

import math
from contextlib import contextmanager

import numpy as np
from scipy.special import log_softmax

from privclust.audit.transcripts import (
    DISTRIBUTIONS,
    MECHANISMS,
    SELECTIONS,
    DivergedError,
    Draw,
    allowed_change,
    loss_of,
    replay_draws,
    squared_lengths,
)
from privclust.audit.transcripts import measure_change as change
from privclust.audit.transcripts import record_draws as recorded_draws
from privclust.audit.transcripts import replace_draws as replaced_draws
from privclust.budget import Loss
from privclust.privacy.mechanisms import (
    BallLaplace,
    DiscreteGaussian,
    Exponential,
    NoisyTopK,
    PermuteAndFlip,
)
from support.distributions import permute_and_flip_probabilities

__all__ = [
    "DISTRIBUTIONS",
    "MECHANISMS",
    "Draw",
    "Transcript",
    "allowed_change",
    "amount_lost",
    "change",
    "log_ratio",
    "log_weight",
    "loss_between",
    "loss_of",
    "recorded_draws",
    "replaced_draws",
    "replayed_draws",
    "squared_lengths",
]


@contextmanager
def replayed_draws(answers):
    """Let mechanisms give these answers, in order, whatever the data; keep what they were asked."""
    try:
        with replay_draws(answers) as draws:
            yield draws
    except DivergedError as error:
        raise AssertionError(str(error)) from None


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
