"""A limit of time on work in a process of its own."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raise ``TimeoutError`` in the block after so many seconds.

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
