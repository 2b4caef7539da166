"""Checks of files beside the pages: they end in a data set, or in a sentence, and lose nothing."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

from privclust import AddRemoveRow, Box, Schema
from privclust.service.checks import Check, Checks
from privclust.service.errors import ConflictError, ServiceError
from privclust.service.registered import Dataset
from service.browser import Browser, message, signed_in
from service.serving import SCHEMA, Serving, register, write_rows


def ignore(act: str, what: str) -> None:
    """Note nothing."""


def draft(serving: Serving, name: str = "more") -> Dataset:
    write_rows(serving.settings.folder / f"{name}.csv", 30)
    return serving.datasets.draft(name, f"{name}.csv", SCHEMA, AddRemoveRow(), 100)


def wait_for(checks: Checks, begun: Check) -> tuple[Check, set[str]]:
    """Return how a check ended, and what it said meanwhile."""
    said = set()
    while (now := checks.one(begun.id)).state == "running":
        said.add(now.progress)
        time.sleep(0.02)
    return now, said


def dies(*_: Any) -> None:
    """End a process as one does that has no memory left."""
    os._exit(9)


def form_of(serving: Serving, name: str = "more", **changes: str) -> dict[str, str]:
    write_rows(serving.settings.folder / f"{name}.csv", 30)
    fields = {"name": name, "path": f"{name}.csv", "schema": SCHEMA.to_toml(), "most_rows": "100"}
    return {**fields, "unit": "add-remove-row", **changes}


def test_a_check_runs_in_a_process_and_says_how_far_it_is(any_serving: Serving) -> None:
    serving = any_serving
    checks = Checks(serving.database, serving.datasets, "here")
    begun = checks.begin("register", serving.steward, draft(serving), ignore)
    assert (begun.state, checks.running_checks()) == ("running", [(begun.id, "more")])
    ended, said = wait_for(checks, begun)
    assert (ended.state, ended.message, ended.report.rows) == ("done", "", 30)
    assert any("Trying" in words for words in said)
    assert [it.name for it in serving.datasets.all()] == ["more", "visits"]
    assert serving.datasets.by_id(ended.dataset_id).name == "more"


def test_a_check_whose_process_dies_is_told_in_one_sentence(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("privclust.service.checks._check_and_send", dies)
    checks = Checks(serving.database, serving.datasets, "here")
    ended, _ = wait_for(checks, checks.begin("register", serving.steward, draft(serving), ignore))
    assert ended.state == "refused"
    assert "lack of memory" in ended.message
    assert [it.name for it in serving.datasets.all()] == ["visits"]


def test_what_a_server_left_running_has_ended_when_it_starts_again(serving: Serving) -> None:
    checks = Checks(serving.database, serving.datasets, "here", own_process=False)
    begun = checks.begin("try", serving.steward, draft(serving), ignore)
    serving.database.write("UPDATE service_checks SET state = 'running'")
    Checks(serving.database, serving.datasets, "elsewhere").interrupt_left_over()
    assert checks.one(begun.id).state == "running"
    checks.interrupt_left_over()
    assert "start it again" in checks.one(begun.id).message


def test_a_check_alone_registers_nothing_and_keeps_what_was_typed(serving: Serving) -> None:
    sue = signed_in(serving, "sue")
    tried = sue.post("/steward/register", **form_of(serving), meanings="age: in years", act="try")
    page = sue.follow(tried).text
    assert "could be registered" in page
    assert "30 rows" in page
    assert [it.name for it in serving.datasets.all()] == ["visits"]
    form = sue.get(f"/steward/register?check={tried.headers['location'].split('/')[-1]}").text
    assert 'value="more.csv"' in form
    assert "age: in years</textarea>" in form


def test_a_refused_check_leads_back_to_what_was_typed(serving: Serving) -> None:
    sue = signed_in(serving, "sue")
    refused = sue.follow(sue.post("/steward/register", **form_of(serving, most_rows="10")))
    assert "more rows than the declared bound" in message(refused)
    check = refused.url.path.split("/")[-1]
    assert f"/steward/register?check={check}" in refused.text
    assert 'value="10"' in sue.get(f"/steward/register?check={check}").text


def test_the_form_lists_files_and_takes_a_schema_as_a_file(serving: Serving) -> None:
    sue = signed_in(serving, "sue")
    fields = form_of(serving, schema="")
    assert '<option value="more.csv">' in sue.get("/steward/register?kind=rows").text
    headers = {"Origin": "http://127.0.0.1:8000"}
    given = {**fields, "form": sue.token("/password")}
    upload = {"schema_file": ("schema.toml", SCHEMA.to_toml().encode())}
    sent = sue.client.post("/steward/register", data=given, files=upload, headers=headers)
    assert "is ready for questions" in sue.follow(sent).text


def test_what_columns_mean_is_shown_to_analysts(serving: Serving) -> None:
    sue = signed_in(serving, "sue")
    wrong = sue.post("/steward/register", **form_of(serving), meanings="height: in metres")
    assert "no column 'height'" in message(wrong)
    sue.post("/steward/register", **form_of(serving), meanings="age: in years, at admission")
    (more,) = [it for it in serving.datasets.all() if it.name == "more"]
    serving.datasets.grant(more, serving.ann, "1", "0", "")
    page = signed_in(serving, "ann").get(f"/datasets/{more.id}").text
    assert "in years, at admission" in page
    assert "a, b, c" in page  # the categories themselves


def test_a_copy_with_other_line_ends_has_no_budget_of_its_own(serving: Serving) -> None:
    copy = serving.settings.folder / "copy.csv"
    lines = (serving.settings.folder / "visits.csv").read_bytes()
    copy.write_bytes(lines.replace(b"\n", b"\r\n") + b"\r\n")
    with pytest.raises(ConflictError, match="has its own budget"):
        register(serving.datasets, "copy", "copy.csv", SCHEMA, AddRemoveRow(), 1000)


def test_bounds_that_no_computation_survives_are_refused(serving: Serving) -> None:
    schema = Schema({"x": Box(-1e100, 1e100, missing=0)})
    with pytest.raises(ServiceError, match="too wide to compute with"):
        serving.datasets.draft("wide", "visits.csv", schema, AddRemoveRow(), 1000)


def test_checks_are_for_stewards(serving: Serving) -> None:
    checks = Checks(serving.database, serving.datasets, "here", own_process=False)
    begun = checks.begin("try", serving.steward, draft(serving), ignore)
    ann: Browser = signed_in(serving, "ann")
    assert ann.get(f"/steward/checks/{begun.id}").status_code == 404
