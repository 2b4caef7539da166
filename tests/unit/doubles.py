"""Test doubles of the noise, and a record of what mechanisms were asked.

Everything exact that can leave the door passes through ``draw`` of a mechanism, so that is where
the tests look: with :func:`recorded_draws` they see each mechanism, the exact integers it was given
and the answer it gave.
"""

import math
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np

from privclust.budget import Budget
from privclust.data.contribution import bounded
from privclust.data.encode import Domain
from privclust.data.points.view import PointsView
from privclust.data.reading import open_rows
from privclust.privacy.mechanisms import BallLaplace, DiscreteGaussian, DiscreteLaplace
from privclust.privacy.meter import Meter
from privclust.privacy.noise import ExactNoise
from privclust.schema import Schema
from privclust.unit import AddRemoveRow, Person

MECHANISMS = (DiscreteLaplace, DiscreteGaussian, BallLaplace)


class NoNoise:
    """A noise source that adds nothing."""

    private = False

    def laplace(self, scale, count):
        return np.zeros(count, np.int64)

    def gaussian(self, variance, count):
        return np.zeros(count, np.int64)

    def ball(self, scale, count, dimension):
        return np.zeros((count, dimension), np.int64)


class HalvedNoise(ExactNoise):
    """The planted flaw: noise of half the standard deviation that was paid for."""

    def laplace(self, scale, count):
        return super().laplace(scale / 2, count)

    def gaussian(self, variance, count):
        return super().gaussian(variance / 4, count)

    def ball(self, scale, count, dimension):
        return super().ball(scale / 2, count, dimension)


@dataclass(frozen=True)
class Draw:
    """One answer of a mechanism."""

    mechanism: Any
    exact: np.ndarray
    answer: np.ndarray


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
    """Keep every answer that mechanisms give."""
    draws = []

    def draw(original, mechanism, exact, noise):
        answer = original(mechanism, exact, noise)
        draws.append(Draw(mechanism, exact.copy(), answer.copy()))
        return answer

    with replaced_draws(draw):
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
    # Lengths are rounded down, by less than 2^-40.
    lengths = [math.isqrt(square << 80) for square in squared_lengths(difference)]
    return Fraction(sum(lengths), 2**40)


def allowed_change(mechanism):
    """Return the sensitivity that the mechanism was made for."""
    if isinstance(mechanism, DiscreteLaplace):
        return mechanism.l1_sensitivity
    if isinstance(mechanism, DiscreteGaussian):
        return mechanism.squared_l2_sensitivity
    return mechanism.length_sensitivity


def loss_of(mechanism, exact, other):
    """Return the ε or the ρ by which an answer can tell these two exact values apart."""
    apart = change(mechanism, exact, other)
    if isinstance(mechanism, DiscreteGaussian):
        return apart / (2 * mechanism.variance)
    return apart / mechanism.scale


def view_of(
    data, schema=None, unit=None, *, budget=None, noise=None, block_rows=None, rescale=False
):
    """Return a view of rows within (-1, 1), or within ``schema``."""
    unit = unit or AddRemoveRow()
    schema = schema or Schema.from_bounds(-1, 1, n_columns=data.shape[1])
    id_column = unit.id_column if isinstance(unit, Person) else None
    source = open_rows(data, schema.names, id_column=id_column, block_rows=block_rows)
    domain = Domain.from_schema(schema, rescale=rescale)
    meter = Meter(budget or Budget(1))
    rows = bounded(source, unit, domain.rows, np.random.SeedSequence(0))
    return PointsView(rows, domain, unit, meter, noise or NoNoise())
