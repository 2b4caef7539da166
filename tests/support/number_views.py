"""Views of columns of unknown range, of a few rows, for the tests of bounds."""

from __future__ import annotations

import numpy as np

from privclust.budget import Budget
from privclust.data.numbers.view import NumberRows
from privclust.opening.rows import open_numbers
from privclust.privacy.meter import Meter
from privclust.unit.rows import AddRemoveRow
from support.noise import NoNoise


def numbers_of(data, unit=None, *, budget=None, noise=None):
    """Return a view of all columns of the data but that of people."""
    unit = unit or AddRemoveRow()
    opened = open_numbers(data, unit=unit, total=True)
    door = NumberRows(opened, total=True, noise=noise or NoNoise())
    return door.private(Meter(budget or Budget(10**9)), np.random.SeedSequence(0))
