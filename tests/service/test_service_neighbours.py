"""Neighbouring data sets are told apart by releases alone: complete transcripts, noise held fixed.

Two services differ in one row of their file, or in one count of their matrix, and in how long their
job took. An analyst does the same on both and writes down everything that can be fetched: status
codes, headers, texts, sizes, hashes. Every bit of noise and of chance is the same in both, ids and
tokens included, so that nothing has to be masked. What shows nothing of a release may not differ at
all; and when the release of one is put in the place of the other's, nothing may.
"""

from __future__ import annotations

import tempfile
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privclust.privacy.noise.bits import SeededBits
from privclust.privacy.noise.exact import ExactNoise
from privclust.service import clock
from privclust.service.clock import tick_after
from privclust.service.jobs import FinishedJob
from privclust.service.registered import Dataset
from privclust.service.worker import fit_question, run_at
from service.browser import Browser, services_on
from service.chances import with_counted_secrets
from service.clocks import FalseClock
from service.serving import Serving
from service.test_service_families import with_matrix

MOMENT = 1_900_000_000
ONE_MORE, BROKEN = "50,5,f,a", "old,1e999,nobody,"
FORMS: dict[str, dict[str, Any]] = {
    "distances": {"epsilon": "1", "columns": ["sex", "ward"]},
    "kmeans": {"epsilon": "1", "clusters": "2"},
    "source-target": {
        "epsilon": "1",
        "clusters": "2",
        "columns": ["age", "cost"],
        "targets": "10,1\n20,2\n60,5\n90,9",
        "lines-forbidden": "0",
    },
    "cocluster": {"epsilon": "1", "clusters": "2", "option-n_column_clusters": "2"},
}
ONE_COUNT = "one count more"

Transcript = dict[str, list[Any]]


class Analyst:
    """Somebody who fetches everything there is, and writes it down by address."""

    def __init__(self, serving: Serving, family: str, dataset: Dataset) -> None:
        self.seen: Transcript = {}
        self._probes = 0
        self._browser = Browser(services_on(serving))
        self._browser.sign_in("ann")
        token = serving.accounts.add_token(serving.ann, "program", "run", 1)
        self._token = {"Authorization": f"Bearer {token}"}
        self._job, self._dataset = "d" * 32, f"/datasets/{dataset.id}"
        self._ask = f"{self._dataset}/ask/{family}"
        self._fields = FORMS[family] | {"act": "run", "request": self._job}

    def ask(self) -> None:
        """Ask, or ask again; and ask something else, whose receipt hashes all that was before."""
        answer = self._browser.post(self._ask, self._ask, **self._fields)
        self._write("asked", answer)
        self._probes += 1
        name = f"e{self._probes:031}"
        probe = {**self._fields, "epsilon": f"0.000{self._probes}", "request": name}
        self._write("probed", self._browser.post(self._ask, self._ask, **probe))
        self._write(f"/jobs/{name}", self._browser.get(f"/jobs/{name}"))

    def look(self) -> None:
        """Fetch every page, and the same as a program does."""
        job = f"/jobs/{self._job}"
        plan = f"{self._ask}/plan?epsilon=1&clusters=2"
        paths = ["/", self._dataset, f"{self._dataset}/mock", self._ask, plan, "/jobs", job]
        for path in [*paths, "/tokens", "/releases", "/healthz", "/metrics"]:
            self._write(path, self._browser.get(path))
        for path in ("/datasets", self._dataset, "/jobs", job, "/releases"):
            answer = self._browser.client.get(f"/api/v1{path}", headers=self._token)
            self._write(f"/api/v1{path}", answer)
        done = self._browser.client.get(f"/api/v1{job}", headers=self._token).json().get("release")
        for part in ("", "/report", "/file"):
            self._write(f"/releases/#{part}", self._browser.get(f"/releases/{done}{part}"))

    def _write(self, path: str, answer: Any) -> None:
        line = answer.status_code, dict(answer.headers), answer.content
        self.seen.setdefault(path, []).append(line)


def with_fixed_chance(patch: pytest.MonkeyPatch) -> None:
    """Let every fit draw the same noise and make the same public choices."""

    def noise() -> ExactNoise:
        return ExactNoise(SeededBits(np.random.SeedSequence(5)))

    def chance(self: object) -> tuple[None, np.random.Generator]:
        return None, np.random.default_rng(5)

    patch.setattr("privclust.data.door.ExactNoise", noise)
    patch.setattr("privclust.estimator.PrivateEstimator._seeds", chance)


class Fixed(datetime):
    """A calendar that stands still; the ledger and the burn-down look at it."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.fromtimestamp(MOMENT, tz)


def seen_with(
    family: str, line: str = "", took: int = 0, instead: FinishedJob | None = None
) -> tuple[Transcript, FinishedJob]:
    """Return a transcript, and what was released.

    Parameters
    ----------
    family : str
    line : str
        A further line of the file; or that an entry of the matrix is one more.
    took : int
        The seconds until the job ends.
    instead : FinishedJob or None
        A release that is put in the place of the job's own, if given.
    """
    released: list[FinishedJob] = []

    def slow(*given: Any) -> FinishedJob:
        released.append(instead or fit_question(*given))
        clock.sleep_until(clock.now() + took)
        return released[-1]

    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        with_fixed_chance(patch)
        patch.setattr("privclust.service.planner._MOMENT", 60)
        # The steward's own trial of every family is seen by no analyst.
        patch.setattr("privclust.service.registration._try_offers", lambda *_: None)
        # Pictures are drawn from releases alone.
        patch.setattr("privclust.reports.svg._draw", lambda size, draw: "<svg></svg>")
        patch.setattr("privclust.service.worker.fit_question", slow)
        with_counted_secrets(patch)
        FalseClock(MOMENT).set_for(patch)
        for module in ("ledger.chain", "service.balance"):
            patch.setattr(f"privclust.{module}.datetime", Fixed)
        place = Path(folder)
        lines = (line,) if line and line != ONE_COUNT else ()
        serving = Serving.made(place, str(place / "service.db"), lines)
        of_matrix, more = family == "cocluster", int(line == ONE_COUNT)
        dataset = with_matrix(serving, more=more) if of_matrix else serving.visits
        analyst = Analyst(serving, family, dataset)
        analyst.look()
        analyst.ask()
        analyst.look()
        tick = tick_after(clock.now(), 60)
        clock.sleep_until(tick)
        shows = run_at(tick, serving.database, serving.settings)
        assert shows == tick + 60
        clock.sleep_until(tick + 59)
        analyst.look()
        analyst.ask()
        clock.sleep_until(shows)
        serving.queue.show(shows)
        analyst.look()
        analyst.ask()
        return analyst.seen, released[0]


@pytest.mark.parametrize(
    ("family", "line"),
    [
        ("distances", ONE_MORE),
        ("kmeans", BROKEN),
        ("source-target", BROKEN),
        ("cocluster", ONE_COUNT),
    ],
    ids=[
        "one more row",
        "a row that breaks every type",
        "one such place more",
        "one count more in a matrix",
    ],
)
def test_neighbours_are_told_apart_by_releases_alone(family: str, line: str) -> None:
    one, released = seen_with(family)
    other, its_own = seen_with(family, line, took=30)
    assert released.file != its_own.file  # the noise is the same, so the releases differ
    # The last probe's receipt is of a time when the release could be seen, and hashes its digest.
    shown = [path for path in one if "/releases" not in path and path != f"/jobs/e{3:031}"]
    assert len(shown) > 14
    for path in shown:
        assert one[path] == other[path], path
    exchanged, _ = seen_with(family, line, took=30, instead=released)
    assert exchanged == one
    assert [answer[0] for answer in one["/releases/#/report"]] == [404, 404, 404, 200]
