"""Test doubles for k-means with zones: views of rows, and noise that is too small.

A view answers with seeded noise, so that each test is decided by its seed.
"""

import numpy as np

from privclust.budget import Budget
from privclust.data.contribution import bounded
from privclust.data.encode import Domain
from privclust.data.points.view import PointsView
from privclust.data.reading import open_rows
from privclust.privacy.meter import Meter
from privclust.privacy.noise import ExactNoise, SeededBits
from privclust.schema import Schema
from privclust.unit import AddRemoveRow, Person


class HalvedNoise(ExactNoise):
    """The planted flaw: half the noise that was paid for, in sums and in selections."""

    def laplace(self, scale, count):
        return super().laplace(scale / 2, count)

    def gaussian(self, variance, count):
        return super().gaussian(variance / 4, count)

    def ball(self, scale, count, dimension):
        return super().ball(scale / 2, count, dimension)

    def exponential_rows(self, scores, scale):
        return super().exponential_rows(scores, scale / 2)

    def permute_and_flip_rows(self, scores, scale):
        return super().permute_and_flip_rows(scores, scale / 2)


def view_of(data, *, budget=None, unit=None, noise=None, seed=0, kind=PointsView, **source):
    """Return a view of rows within (-1, 1) in each column."""
    unit, budget = unit or AddRemoveRow(), budget or Budget(1)
    person = unit.id_column if isinstance(unit, Person) else None
    schema = Schema.from_bounds(-1, 1, n_columns=data.shape[1] - (person is not None))
    rows = open_rows(data, schema.names, id_column=person, **source)
    noise = (noise or ExactNoise)(SeededBits(seed))
    domain = Domain.from_schema(schema)
    counted = bounded(rows, unit, domain.rows, np.random.SeedSequence(0))
    return kind(counted, domain, unit, Meter(budget), noise)
