"""How far a running job is: the worker tells its server, stewards see it, nothing is stored.

Numbers of rows are private. They go through a pipe into the server's memory, and analysts see
nothing of them.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection

_APART = 0.5  # seconds


@dataclass(frozen=True)
class Progress:
    """Rows read in the current pass over the data, and in all if that is known."""

    rows: int
    of: int | None

    @property
    def words(self) -> str:
        """The progress as a steward reads it."""
        whole = "" if self.of is None else f" of {self.of:,}"
        return f"{self.rows:,}{whole} rows read in the current pass"


class Telling:
    """The worker's end of the pipe; called with rows read and rows in all, as a fit does.

    Parameters
    ----------
    pipe : Connection or None
        Where to tell; nobody listens if not given.
    """

    def __init__(self, pipe: Connection | None = None) -> None:
        self._pipe, self._job, self._last = pipe, "", 0.0

    def begin(self, job_id: str) -> None:
        """Tell of this job from now on."""
        self._job, self._last = job_id, 0.0

    def __call__(self, rows: int, of: int | None) -> None:
        """Tell how far the job is, at most twice a second."""
        if self._pipe is None or time.monotonic() < self._last + _APART:
            return
        self._last = time.monotonic()
        try:
            self._pipe.send((self._job, rows, of))
        except OSError:  # the server is gone, and this process soon too
            self._pipe = None


class Hearing:
    """The server's end of the pipe: remembers the newest line.

    Parameters
    ----------
    pipe : Connection
    """

    def __init__(self, pipe: Connection) -> None:
        self._pipe, self._newest = pipe, ("", Progress(0, None))
        threading.Thread(target=self._listen, daemon=True).start()

    def of(self, job_id: str) -> Progress | None:
        """Return how far a job is, if it is the one that was last heard of."""
        job, progress = self._newest
        return progress if job == job_id else None

    def _listen(self) -> None:
        try:
            while True:
                job, rows, of = self._pipe.recv()
                self._newest = (job, Progress(rows, of))
        except (EOFError, OSError):
            self._pipe.close()
