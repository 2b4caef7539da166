"""Private tables on a few rows, with noise sources that tell what they were asked."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from privclust.budget import Budget
from privclust.data.reading import open_rows
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.view import TableView
from privclust.privacy.meter import Meter
from privclust.privacy.noise import ExactNoise, SeededBits
from privclust.schema import Categories, Schema
from privclust.unit import AddRemoveRow


class NoNoise:
    """Adds nothing, picks the best, and remembers scales and scores."""

    private = False

    def __init__(self):
        self.scale = None
        self.scores = []

    def laplace(self, scale, count):
        self.scale = scale
        return np.zeros(count, np.int64)

    def gaussian(self, variance, count):
        self.scale = variance
        return np.zeros(count, np.int64)

    def exponential_rows(self, scores, scale):
        self.scale = scale
        self.scores.append(scores[0])
        return scores.argmax(axis=1)

    def top_k_rows(self, scores, scale, k):
        self.scale = scale
        self.scores.append(scores[0])
        return np.argsort(-scores, axis=1, kind="stable")[:, :k]


class HalvedNoise(ExactNoise):
    """A planted flaw: half the noise that was asked for."""

    def laplace(self, scale, count):
        return super().laplace(scale / 2, count)

    def gaussian(self, variance, count):
        return super().gaussian(variance / 4, count)

    def exponential_rows(self, scores, scale):
        return super().exponential_rows(scores, scale / 2)

    def top_k_rows(self, scores, scale, k):
        return super().top_k_rows(scores, scale / 2, k)


def schema_of(sizes):
    """Integer categories, one attribute per size."""
    return Schema({f"a{i}": Categories(list(range(size))) for i, size in enumerate(sizes)})


def view_of(rows, sizes, *, unit=None, budget=None, noise=None):
    """A private table over rows of codes."""
    schema = schema_of(sizes)
    return TableView(
        open_rows(np.asarray(rows, np.int64), schema.names),
        CategoryCoder(schema),
        unit or AddRemoveRow(),
        Meter(budget or Budget(10**6)),
        noise or NoNoise(),
    )


def seeded(rng, flawed=False):
    """Exact noise from a generator, with or without the planted flaw."""
    bits = SeededBits(np.random.SeedSequence(int(rng.integers(2**63))))
    return HalvedNoise(bits) if flawed else ExactNoise(bits)


ONE = Fraction(1)
