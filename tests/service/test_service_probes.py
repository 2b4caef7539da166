"""Cheap probes are no clock: whatever an analyst asks meanwhile, a job tells one power of two.

An analyst asks a question and then, every few seconds, a probe that costs next to nothing, and
writes down all that shows: states, receipts, releases, the ledger's balance. The queue and the
worker are the real ones, only the clock is false and a fit takes as long as the test says.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from privclust.service import clock
from privclust.service.clock import tick_after
from privclust.service.errors import ConflictError
from privclust.service.jobs import FinishedJob
from privclust.service.worker import run_at
from service.chances import with_counted_secrets
from service.clocks import FalseClock
from service.serving import Serving

BEGIN = 1_800_000_007  # between two ticks
CARD = {"title": "", "facts": [], "bars": [], "epsilon": "1"}


class Prober:
    """An analyst with a stop watch."""

    def __init__(self, serving: Serving) -> None:
        self._serving, self._asked = serving, 0
        self.seen: list[Any] = []
        self.refused: list[Any] = []

    def ask(self, epsilon: str) -> None:
        """Ask something that was not asked before."""
        self._asked += 1
        serving = self._serving
        columns = ["sex", "ward", "age", "cost"]
        question = {"family": "kmeans", "clusters": self._asked, "epsilon": epsilon}
        asked = serving.question(**question, columns=columns)
        try:
            serving.jobs.ask(serving.ann, serving.visits, asked)
        except ConflictError as error:  # frozen
            self.refused.append((clock.now(), str(error)))

    def look(self) -> None:
        """Write down everything that shows, and when."""
        serving, ann = self._serving, self._serving.ann
        shown = [dataset.frozen for dataset in serving.datasets.visible_to(ann)]
        jobs = [(j.id, j.state, j.receipt, j.release_id) for j in serving.jobs.of(ann)]
        releases = [(it.id, it.digest) for it in serving.releases.visible_to(ann)]
        self.seen.append((clock.now(), shown, jobs, releases, len(self.refused)))


def transcript(folder: Path, seconds: int, *, breaks: bool = False) -> list[Any]:
    """Return what the prober saw beside a job that takes so long, or breaks after so long."""
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        false = FalseClock(BEGIN).set_for(patch)
        with_counted_secrets(patch)
        patch.setattr("privclust.ledger.operations.utc_minute", lambda: str(clock.now() // 60))
        patch.setattr("privclust.service.registration._try_offers", lambda *_: None)
        lengths = iter([seconds] + [1] * 100)

        def fit_question(taken: Any, *_: Any) -> FinishedJob:
            clock.sleep_until(clock.now() + next(lengths))
            if breaks:
                write_more(folder)
            return FinishedJob(taken.id[::-1] * 2, b"x", "<p>", CARD, "", 1)

        patch.setattr("privclust.service.worker.fit_question", fit_question)
        serving = Serving.made(folder, str(folder / "service.db"))
        prober = Prober(serving)
        prober.ask("0.01")
        for after in range(0, 900, 5):
            if after < 240 and after % 15 == 0:
                false.at(BEGIN + after, lambda: prober.ask("0.0001"))
            false.at(BEGIN + after + 1, prober.look)
        tick: int | None = None
        while clock.now() < BEGIN + 900:
            tick = tick or tick_after(clock.now(), 60)
            clock.sleep_until(tick)
            tick = run_at(tick, serving.database, serving.settings)
    return prober.seen + prober.refused


def write_more(folder: Path) -> None:
    with (folder / "data" / "visits.csv").open("a") as file:
        file.write("1,1,f,a\n")


def test_probes_beside_a_job_tell_one_power_of_two(tmp_path: Path) -> None:
    seen = {
        seconds: transcript(tmp_path / str(seconds), seconds) for seconds in (63, 91, 118, 40, 130)
    }
    states = {state for _, _, jobs, *_ in seen[63] for _, state, *_ in jobs}
    assert states == {"waiting", "done"}
    for seconds in (91, 118):
        assert seen[seconds] == seen[63]
    for seconds in (40, 130):  # another power of two
        assert seen[seconds] != seen[63]


def test_probes_tell_no_moment_at_which_a_data_set_is_found_changed(tmp_path: Path) -> None:
    one = transcript(tmp_path / "one", 63, breaks=True)
    assert "frozen" in one[-1][1]
    assert transcript(tmp_path / "other", 100, breaks=True) == one
