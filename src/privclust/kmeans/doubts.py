"""What released centres and sizes give reason to doubt: post-processing, which costs nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from privclust._typing import Floats
from privclust.budget import Budget
from privclust.data.view import Noisy
from privclust.schema import Schema
from privclust.schema.coordinates import Coordinates

__all__ = ["bounds_in_doubt", "delta_in_doubt"]

# Centres of a column that all lie this near to one of its bounds, in widths, look cut off.
_AT_THE_BOUND = 0.002
# So many columns are named one by one.
_NAMED = 3
# How many standard errors a noisy number of rows may be too large by.
_CAUTION = 2


def bounds_in_doubt(centres: Floats, sizes: Noisy, schema: Schema) -> Iterator[str]:
    """Yield a doubt for each column whose released centres all lie at one of its bounds.

    Many such columns share one doubt. A centre whose noisy size does not stand out may have no
    rows, and says nothing about them.
    """
    centres = centres[sizes.value > _CAUTION * sizes.standard_error]
    if not len(centres):
        return
    centres = centres[:, Coordinates(schema).numbers]
    least, most = schema.low, schema.high
    slack = _AT_THE_BOUND * (most - least)
    low = centres.max(axis=0) <= least + slack
    high = centres.min(axis=0) >= most - slack
    names, doubted = schema.numeric, np.flatnonzero(low | high)
    places = [
        f"the {'lower' if low[number] else 'upper'} bound of the column {names[number]!r}"
        for number in doubted[:_NAMED]
    ]
    if len(doubted) > _NAMED:
        places = [f"a bound of each of {len(doubted)} columns, such as {names[doubted[0]]!r}"]
    for place in places:
        yield (
            f"All centres lie at {place}: if values lie beyond the bound they were cut off there, "
            "and if they crowd near it the bounds are too wide; declare bounds that fit."
        )


def delta_in_doubt(sizes: Noisy, budget: Budget) -> Iterator[str]:
    """Yield a doubt if δ is above one in the number of rows, judging by the noisy sizes.

    A mechanism that publishes a random row satisfies such a δ and protects nobody.
    """
    error = sizes.standard_error * math.sqrt(len(sizes.value))
    n_rows = float(sizes.value.sum()) - _CAUTION * error
    if n_rows >= 1 and float(budget.delta) * n_rows > 1:
        yield (
            "δ is above one in the number of rows, judging by the noisy sizes, and would allow "
            "somebody's row to be published; choose a delta far below one in the number of rows."
        )
