"""Tiny targets, views of sources behind them, and a record of what mechanisms were asked.

Everything exact that can leave the door passes through ``draw`` of a mechanism, so that is where
the tests look.
"""

import math
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import ClassVar
from unittest.mock import patch

import numpy as np

from privclust.budget import Budget
from privclust.data.contribution import bounded
from privclust.data.encode import Domain
from privclust.data.reading import open_rows
from privclust.data.sites.view import Rings, SitesView, TargetSpace
from privclust.privacy.mechanisms import BallLaplace, DiscreteGaussian, DiscreteLaplace
from privclust.privacy.meter import Meter
from privclust.privacy.noise import ExactNoise
from privclust.schema import Schema
from privclust.unit import AddRemoveRow, Person

MECHANISMS = (DiscreteLaplace, DiscreteGaussian, BallLaplace)
TARGETS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
RINGS = Rings(np.array([0, 0.4, 1.0]), (TARGETS[:2], TARGETS[2:]))


class HalvedNoise(ExactNoise):
    """The planted flaw: noise of half the standard deviation that was paid for."""

    def laplace(self, scale, count):
        return super().laplace(scale / 2, count)

    def gaussian(self, variance, count):
        return super().gaussian(variance / 4, count)

    def ball(self, scale, count, dimension):
        return super().ball(scale / 2, count, dimension)


def view_of(rows, budget, *, targets=TARGETS, unit=None, noise=None, block_rows=None, space=None):
    """Return a view of source rows in bounds of -3 to 4, and what it may spend."""
    unit = unit or AddRemoveRow()
    id_column = unit.id_column if isinstance(unit, Person) else None
    source = open_rows(rows, id_column=id_column, block_rows=block_rows)
    schema = Schema.from_bounds(-3, 4, n_columns=source.n_columns)
    domain, meter = Domain.from_schema(schema), Meter(budget)
    view = SitesView(
        bounded(source, unit, domain.rows, np.random.SeedSequence(0)),
        domain,
        space or TargetSpace(targets),
        unit,
        meter,
        noise or ExactNoise(),
    )
    return view, budget.whole


def ask(view, question, share):
    """Ask one of the questions about the tiny targets and return the noisy numbers."""
    sites = TARGETS[:2]
    if question == "histogram":
        return view.histogram("bins", RINGS, share).value
    if question == "cells":
        counts, sums = share.split([1, 1])
        answer = view.cells("cells", sites, counts=counts, sums=sums)
        return np.column_stack([answer.counts.value, answer.sums.value])
    if question == "nearest":  # of one site, so that one row can change the answer to the full
        return view.nearest_averages("nearest", view.space.targets[:1], 1, share).value
    return view.nearest_averages("averages", sites, 2, share).value


@contextmanager
def replaced_draws(draw):
    """Let ``draw(original, mechanism, exact, noise)`` stand for ``draw`` of every mechanism."""

    def method(kind):
        original = kind.draw
        return lambda self, exact, noise: draw(original, self, exact, noise)

    with ExitStack() as stack:
        for kind in MECHANISMS:
            stack.enter_context(patch.object(kind, "draw", method(kind)))
        yield


@contextmanager
def recorded_draws():
    """Keep every mechanism, what it was asked and what it answered."""
    draws = []

    def draw(original, mechanism, exact, noise):
        answer = original(mechanism, exact, noise)
        draws.append((mechanism, exact.copy(), answer.copy()))
        return answer

    with replaced_draws(draw):
        yield draws


@contextmanager
def replayed_draws(answers):
    """Let mechanisms give these answers, in order, whatever they are asked."""
    left = list(answers)
    with replaced_draws(lambda original, mechanism, exact, noise: left.pop(0)):
        yield left


def loss_between(mechanism, exact, other):
    """Return the ε or ρ by which an answer can tell these two exact values apart."""
    gaps = (exact - other).astype(object)
    if isinstance(mechanism, DiscreteLaplace):
        return Fraction(int(abs(gaps).sum())) / mechanism.scale
    if isinstance(mechanism, DiscreteGaussian):
        return Fraction(int((gaps**2).sum())) / (2 * mechanism.variance)
    lengths = [math.isqrt(int((row**2).sum()) << 80) for row in gaps]  # rounded down a little
    return Fraction(sum(lengths), 2**40) / mechanism.scale


BUDGETS = {"pure": Budget(1), "zcdp": Budget(1, 1e-6)}


def log_ratio(mechanism, seen, left, right):
    """Return the logarithm of how much likelier an answer is on the right than on the left."""
    before, after = (np.asarray(seen - exact, float) for exact in (left, right))
    if isinstance(mechanism, DiscreteLaplace):
        return float((abs(before) - abs(after)).sum() / float(mechanism.scale))
    if isinstance(mechanism, DiscreteGaussian):
        return float((before**2 - after**2).sum() / (2 * float(mechanism.variance)))
    lengths = np.linalg.norm(before, axis=1) - np.linalg.norm(after, axis=1)
    return float(lengths.sum() / float(mechanism.scale))


class SourceTranscript:
    """A view of one source of a pair that weighs, at every answer, for which of them it speaks.

    The guarantee covers all answers of a fit, not only what an estimator keeps of them. Each
    question is put to the other source as well, where mechanisms repeat the answer, so that the
    exact values of both are known. It works within ``replaced_draws(SourceTranscript.draw)``.
    """

    QUESTIONS = ("histogram", "size", "cells", "nearest_averages")
    _answered: ClassVar[list] = []
    _asked_again: ClassVar[list | None] = None

    def __init__(self, views, side):
        self._view, self._twin = views[side], views[1 - side]
        self._sign = 1 if side == 0 else -1
        self.evidence = 0.0

    def __getattr__(self, name):
        if name not in self.QUESTIONS:
            return getattr(self._view, name)
        return lambda *args, **kwargs: self._asked(name, args, kwargs)

    @classmethod
    def draw(cls, original, mechanism, exact, noise):
        """Answer, or repeat the answer to the other source."""
        if cls._asked_again is not None:
            cls._asked_again.append(exact)
            return cls._answered[len(cls._asked_again) - 1][2]
        answer = original(mechanism, exact, noise)
        cls._answered.append((mechanism, exact, answer))
        return answer

    def _asked(self, question, args, kwargs):
        kind = type(self)
        kind._answered, kind._asked_again = [], None
        answer = getattr(self._view, question)(*args, **kwargs)
        kind._asked_again = []
        getattr(self._twin, question)(*args, **kwargs)
        for (mechanism, exact, seen), other in zip(kind._answered, kind._asked_again, strict=True):
            self.evidence += self._sign * log_ratio(mechanism, seen, exact, other)
        return answer
