"""The clock: the time, the public grid of ticks, and limits of time.

How long a job runs depends on the rows. So it begins at a tick ``b``, a multiple of the unit since
1970, and its end shows at the first of ``b + t``, ``b + 2 t``, ``b + 4 t``, … that is not before
it. The next job begins no earlier. ``t`` is the unit times a power of two and comes from the
question and the declared bound on the rows alone. Anyone who watches any number of jobs, their own
or those that wait behind them, learns one power of two of each and nothing else.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


def now() -> int:
    """Return the current second."""
    return int(time.time())


def sleep_until(moment: int) -> None:
    """Return when a moment has come."""
    while (left := moment - time.time()) > 0:
        time.sleep(min(left, 60))  # the clock may be set meanwhile


# A reader, a fit and its report take about this long on a slow machine; only the order matters.
_SECONDS_AT_LEAST = 20.0
_VALUES_PER_SECOND = 200_000.0


def tick_after(moment: int, unit: int) -> int:
    """Return the first tick of the public grid after a moment."""
    return (moment // unit + 1) * unit


def first_tick_from(most_rows: int, n_columns: int, unit: int) -> int:
    """Return the seconds from beginning to the first tick, ``unit`` times a power of two.

    ``most_rows``: the declared bound on the number of rows. ``unit``: the shortest time between
    ticks, in seconds.
    """
    expected = _SECONDS_AT_LEAST * unit / 60 + most_rows * n_columns / _VALUES_PER_SECOND
    return int(unit * 2 ** max(0, math.ceil(math.log2(expected / unit))))


def next_tick(began: int, first: int, moment: int) -> int:
    """Return the first tick of a job that is not before a moment."""
    tick = first
    while began + tick < moment:
        tick *= 2
    return began + tick


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raise ``TimeoutError`` in the block after this many seconds.

    The system tells the main thread of a process alone; in another one, or where there is no such
    signal, the block takes as long as it takes.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "SIGALRM"):
        yield
        return

    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
