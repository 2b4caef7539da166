"""When an analyst may see that a job has ended: at ticks of a public grid, never in between.

How long a job runs depends on the rows. So its end is shown only at the first of the moments
``asked + t``, ``asked + 2 t``, ``asked + 4 t``, … that is not before it; ``t`` comes from
the question and the declared bound on the rows alone.
"""

from __future__ import annotations

import math

__all__ = ["first_tick", "next_tick"]

# A reader, a fit and its report take about this long on a slow machine; only the order matters.
_SECONDS_AT_LEAST = 20.0
_VALUES_PER_SECOND = 200_000.0


def first_tick(most_rows: int, n_columns: int, unit: int) -> int:
    """Return the seconds from asking to the first tick, ``unit`` times a power of two.

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


def next_tick(asked: int, first: int, moment: int) -> int:
    """Return the first tick that is not before a moment."""
    waited = max(moment - asked, 1)
    return int(asked + first * 2 ** max(0, math.ceil(math.log2(waited / first))))
