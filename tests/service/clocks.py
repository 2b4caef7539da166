"""A clock that a test sets: nobody waits, and what is to happen meanwhile happens in order."""

from __future__ import annotations

import time
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count

import pytest

from privclust.service import clock
from privclust.service.clock import tick_after
from privclust.service.database import Database
from privclust.service.jobs import Queue
from privclust.service.settings import Settings
from privclust.service.worker import Progress, run_at


class FalseClock:
    """A clock that stands still unless somebody sleeps."""

    def __init__(self, moment: int) -> None:
        self.moment, self._order = moment, count()
        self._acts: list[tuple[int, int, Callable[[], object]]] = []

    def set_for(self, patch: pytest.MonkeyPatch) -> FalseClock:
        """Let the service look at this clock."""
        patch.setattr(clock, "now", lambda: self.moment)
        patch.setattr(clock, "sleep_until", self.sleep_until)
        return self

    def at(self, moment: int, act: Callable[[], object]) -> None:
        """Let something happen at a moment that is yet to come."""
        heappush(self._acts, (moment, next(self._order), act))

    def sleep_until(self, moment: int) -> None:
        """Let time pass, and with it everything that happens until then."""
        while self._acts and self._acts[0][0] <= moment:
            due, _, act = heappop(self._acts)
            self.moment = max(self.moment, due)
            act()
        self.moment = max(self.moment, moment)


def later(seconds: int = 3600) -> None:
    """Let time pass on the false clock of the test."""
    clock.sleep_until(clock.now() + seconds)


def run_one(database: Database, settings: Settings, telling: Progress | None = None) -> bool:
    """Let the worker run the next job at the next tick, and wait until its end shows."""
    tick = tick_after(clock.now(), settings.tick_seconds)
    clock.sleep_until(tick)
    shows = run_at(tick, database, settings, telling)
    if shows is not None:
        clock.sleep_until(shows)
        Queue(database, settings.instance).show(shows)
    return shows is not None


@pytest.fixture(autouse=True)
def false_clock(monkeypatch: pytest.MonkeyPatch) -> FalseClock:
    """The clock of every test here; servers that really run have the machine's."""
    return FalseClock(int(time.time())).set_for(monkeypatch)
