"""Neighbouring data sets are told apart by releases alone: complete transcripts, noise held fixed.

Two services differ in one row of their file, or in one count of their matrix, and in how long their
job took. An analyst does the same on both and writes down everything that can be fetched: status
codes, headers, texts, sizes. Every bit of noise and of chance is the same in both. What shows
nothing of a release may not differ at all; and when the stored release of one is put in the place
of the other's, nothing may.
"""

from __future__ import annotations

import re
import tempfile
from datetime import datetime, tzinfo
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privclust.privacy.noise import ExactNoise, SeededBits
from privclust.service.datasets import Dataset
from privclust.service.worker import run_one
from service.browser import Browser, site_on
from service.serving import Serving
from service.test_service_families import with_matrix

# What is random or clocks, and therefore differs between any two services.
RANDOM = re.compile(r"[0-9a-f]{32,64}|[0-9a-f]{16}\b|\d\d:\d\d(:\d\d)?|\d{10}|[\w-]{43}")
MOMENT = 1_900_000_000
CLOCKS = ("database", "jobs", "queue", "releases", "people", "web.browse", "web.api")
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
        self._browser = Browser(site_on(serving))
        self._browser.sign_in("ann")
        token = serving.people.add_token(serving.ann, "program", "run", 1)
        self._token = {"Authorization": f"Bearer {token}"}
        self._job, self._dataset = "d" * 32, f"/datasets/{dataset.id}"
        self._ask = f"{self._dataset}/ask/{family}"
        self._fields = FORMS[family] | {"act": "run", "request": self._job}

    def ask(self) -> None:
        """Ask, or ask again."""
        answer = self._browser.post(self._ask, self._ask, **self._fields)
        self._write("asked", answer)

    def look(self) -> None:
        """Fetch every page, and the same as a program does."""
        job = f"/jobs/{self._job}"
        plan = f"{self._ask}/plan?epsilon=1&clusters=2"
        paths = ["/", self._dataset, self._ask, plan, "/jobs", job]
        for path in [*paths, "/tokens", "/releases", "/healthz"]:
            self._write(path, self._browser.get(path))
        for path in ("/datasets", self._dataset, "/jobs", job, "/releases"):
            answer = self._browser.client.get(f"/api/v1{path}", headers=self._token)
            self._write(f"/api/v1{path}", answer)
        done = self._browser.client.get(f"/api/v1{job}", headers=self._token).json().get("release")
        for part in ("", "/report", "/file"):
            self._write(f"/releases/#{part}", self._browser.get(f"/releases/{done}{part}"))

    def _write(self, path: str, answer: Any) -> None:
        headers = {name: RANDOM.sub("#", value) for name, value in answer.headers.items()}
        line = answer.status_code, headers, RANDOM.sub("#", answer.text), len(answer.content)
        self.seen.setdefault(RANDOM.sub("#", path), []).append(line)


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


def set_clocks(patch: pytest.MonkeyPatch, moment: int, names: tuple[str, ...] = CLOCKS) -> None:
    for name in names:
        patch.setattr(f"privclust.service.{name}.now", lambda: moment)


@cache
def seen_with(
    family: str, line: str = "", took: int = 0, stored: tuple[Any, ...] = ()
) -> tuple[Transcript, tuple[Any, ...]]:
    """Return a transcript, and what was stored as the release.

    Parameters
    ----------
    family : str
    line : str
        A further line of the file; or that an entry of the matrix is one more.
    took : int
        The seconds until the job ends.
    stored : tuple
        A release that is put in the place of the job's own, if given.
    """
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        with_fixed_chance(patch)
        patch.setattr("privclust.service.planner._MOMENT", 60)
        # The steward's own trial of every family is seen by no analyst.
        patch.setattr("privclust.service.checking._try_offers", lambda *_: None)
        # Pictures are drawn from releases alone.
        patch.setattr("privclust.reports.svg._drawn", lambda size, draw: "<svg></svg>")
        set_clocks(patch, MOMENT)
        for module in ("ledger.moments", "service.balance"):
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
        set_clocks(patch, MOMENT + took, ("queue",))
        assert run_one(serving.database, serving.settings)
        if stored:
            sql = "UPDATE service_releases SET digest = ?, file = ?, report = ?, card = ?"
            serving.database.write(sql, *stored)
        analyst.look()
        analyst.ask()
        set_clocks(patch, MOMENT + 3600)
        analyst.look()
        analyst.ask()
        (kept,) = serving.database.rows("SELECT digest, file, report, card FROM service_releases")
        return analyst.seen, tuple(kept)


@pytest.mark.parametrize(
    ("family", "line"),
    [
        ("distances", ONE_MORE),
        ("kmeans", BROKEN),
        ("source-target", BROKEN),
        ("cocluster", ONE_COUNT),
    ],
    ids=[
        "one row more",
        "a row that breaks every type",
        "one such place more",
        "one count more in a matrix",
    ],
)
def test_neighbours_are_told_apart_by_releases_alone(family: str, line: str) -> None:
    one, stored = seen_with(family)
    other, its_own = seen_with(family, line, took=30)
    assert stored[1] != its_own[1]  # the noise is the same, so the releases differ
    shown = [path for path in one if "/releases" not in path]
    assert len(shown) > 12
    for path in shown:
        assert one[path] == other[path], path
    exchanged, _ = seen_with(family, line, took=30, stored=stored)
    assert exchanged == one
    assert [answer[0] for answer in one["/releases/#/report"]] == [404, 404, 404, 200]
