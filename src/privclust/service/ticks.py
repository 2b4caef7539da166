"""When a job may begin and when its end may show: at ticks of one public grid, never in between.

How long a job runs depends on the rows. So it begins at a tick ``b``, a multiple of the unit since
1970, and its end shows at the first of ``b + t``, ``b + 2 t``, ``b + 4 t``, … that is not before
it. The next job begins no earlier. ``t`` is the unit times a power of two and comes from the
question and the declared bound on the rows alone. Whoever watches any number of jobs, their own or
those that wait behind them, learns one power of two of each and nothing else.
"""

from __future__ import annotations

import math

# A reader, a fit and its report take about this long on a slow machine; only the order matters.
_SECONDS_AT_LEAST = 20.0
_VALUES_PER_SECOND = 200_000.0


def tick_after(moment: int, unit: int) -> int:
    """Return the first tick of the public grid after a moment."""
    return (moment // unit + 1) * unit


def first_tick(most_rows: int, n_columns: int, unit: int) -> int:
    """Return the seconds from beginning to the first tick, ``unit`` times a power of two.

    Parameters
    ----------
    most_rows : int
        The declared bound on the number of rows.
    n_columns : int
        The columns that are asked about.
    unit : int
        The shortest time between ticks, in seconds.
    """
    expected = _SECONDS_AT_LEAST * unit / 60 + most_rows * n_columns / _VALUES_PER_SECOND
    return int(unit * 2 ** max(0, math.ceil(math.log2(expected / unit))))


def next_tick(began: int, first: int, moment: int) -> int:
    """Return the first tick of a job that is not before a moment."""
    tick = first
    while began + tick < moment:
        tick *= 2
    return began + tick
