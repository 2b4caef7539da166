"""Neighbouring data sets are told apart by releases alone: complete transcripts, noise held fixed.

Two services differ in one row of their file. An analyst does the same on both and writes down
everything that can be fetched: status codes, headers, texts, sizes. The noise is the same in both,
and the releases are taken out; then nothing may differ.
"""

from __future__ import annotations

import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from privclust.service.jobs import Finished
from privclust.service.worker import fitted, run_one
from service.browser import Browser, site_on
from service.serving import Serving
from service.test_service_rules import later

# What is random or clocks, and therefore differs between any two services.
RANDOM = re.compile(r"[0-9a-f]{32,64}|[0-9a-f]{16}\b|\d\d:\d\d(:\d\d)?|\d{10}|[\w-]{43}")
EXTRA = {
    "one row more": "50,5,f,a",
    "a row that breaks every type": "old,1e999,nobody,",
}


def transcript(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return everything that an analyst sees before, while and after a job runs."""
    browser = Browser(site_on(serving))
    browser.sign_in("ann")
    dataset = f"/datasets/{serving.visits.id}"
    ask = f"{dataset}/ask/distances"
    fields = {"epsilon": "1", "columns": ["sex", "ward"], "act": "run", "request": "d" * 32}
    job = f"/jobs/{'d' * 32}"

    def seen() -> list[Any]:
        paths = ("/", dataset, ask, "/jobs", job, "/releases", f"{ask}/plan?epsilon=1", "/tokens")
        return [_plain(browser.get(path)) for path in paths]

    answers = [*seen(), _plain(browser.post(ask, ask, **fields)), *seen()]
    assert run_one(serving.database, serving.settings)
    answers += [*seen(), _plain(browser.post(ask, ask, **fields))]
    later(monkeypatch)
    return [*answers, *seen(), _plain(browser.post(ask, ask, **fields))]


def _plain(answer: Any) -> tuple[Any, ...]:
    headers = {name: RANDOM.sub("#", value) for name, value in answer.headers.items()}
    return answer.status_code, headers, RANDOM.sub("#", answer.text), len(answer.text)


def without_release(taken: Any, dataset: Any, data: str) -> Finished:
    """Fit for real, on whatever the file holds, and leave out what was released."""
    fitted(taken, dataset, data)
    card = {"title": "t", "facts": [], "bars": [], "epsilon": "1"}
    return Finished("f" * 64, b"PK", "<p>report</p>", card)


@cache
def seen_with(*lines: str) -> list[Any]:
    """Return the transcript of a service whose file has these lines more, at one moment."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr("privclust.service.worker.fitted", without_release)
        patch.setattr("privclust.service.planner._MOMENT", 60)
        patch.setattr("privclust.release.Release.to_html", lambda self: "")
        for module in ("database", "jobs", "queue", "releases", "people", "web.browse"):
            patch.setattr(f"privclust.service.{module}.now", lambda: 1_900_000_000)
        place = Path(folder)
        return transcript(Serving.made(place, str(place / "service.db"), lines), patch)


@pytest.mark.parametrize("extra", EXTRA.values(), ids=EXTRA)
def test_neighbours_are_told_apart_by_releases_alone(extra: str) -> None:
    assert len(seen_with()) > 30
    assert seen_with() == seen_with(extra)
