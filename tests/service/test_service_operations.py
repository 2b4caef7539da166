"""What an operator needs: metrics, a webhook, deletion, retention, maintenance, pages of lists."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from privclust.service import clock
from privclust.service.clock import tick_after
from privclust.service.errors import ConflictError, NotFoundError, ServiceError
from privclust.service.operations import Acts, Webhook, delete_expired, set_maintenance
from privclust.service.settings import Settings
from privclust.service.worker import run_at
from service.browser import Browser, message, services_on, signed_in
from service.clocks import later, run_one
from service.serving import SCHEMA, Serving, write_rows
from service.test_service_api import Api

TOKEN = "a token for metrics alone"  # noqa: S105
SECRET = "a secret that signs"  # noqa: S105


def ask(serving: Serving, **changes: object) -> str:
    """Ask, let the job end and show, and return its id."""
    answer = serving.jobs.ask(serving.ann, serving.visits, serving.question(**changes))
    run_one(serving.database, serving.settings)
    later()
    return answer.job_id


def release_of(serving: Serving, job_id: str) -> str:
    return str(serving.jobs.one(job_id, serving.ann).release_id)


# Metrics.
def test_metrics_have_a_token_of_their_own(any_serving: Serving) -> None:
    serving = any_serving
    ask(serving)
    browser = Browser(services_on(serving, metrics_token=TOKEN))
    browser.get("/sign-in")
    for wrong in ("", "Bearer", "Bearer x", TOKEN):
        refused = browser.client.get("/metrics", headers={"Authorization": wrong})
        assert refused.status_code == 404
    answer = browser.client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    lines = answer.text.splitlines()
    assert 'privclust_requests_total{method="GET",route="/sign-in",status="200"} 1.0' in lines
    assert 'privclust_jobs{state="done"} 1.0' in lines
    assert 'privclust_request_seconds_bucket{le="+Inf"} 5.0' in lines
    assert "privclust_worker_up 1.0" in lines
    told = re.compile(r"# (HELP|TYPE) \w+ [\w ]+|\w+(\{[^}]*\})? [\d.]+(e-\d+)?")
    assert all(told.fullmatch(line) for line in lines)
    assert "visits" not in answer.text  # no name and no value


def test_without_a_token_there_are_no_metrics(serving: Serving) -> None:
    browser = Browser(services_on(serving))
    answer = browser.client.get("/metrics", headers={"Authorization": "Bearer "})
    assert answer.status_code == 404


# The webhook.
@pytest.fixture
def listener() -> Iterator[tuple[str, list[tuple[dict[str, Any], str]]]]:
    heard: list[tuple[dict[str, Any], str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
            assert signature == self.headers["X-Privclust-Signature"]
            heard.append((json.loads(body), signature))
            self.send_response(503 if len(heard) == 1 else 200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", heard
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_webhook_hears_of_a_job_at_its_tick_and_tries_again(
    any_serving: Serving, listener: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    serving, (url, heard) = any_serving, listener
    threads: list[threading.Thread | None] = []

    def send(self: Webhook, events: Any) -> None:
        threads.append(Webhook(settings, (0, 0, 0))._send(events))

    settings = replace(serving.settings, webhook_url=url, webhook_secret=SECRET)
    monkeypatch.setattr(Webhook, "_send", Webhook.send, raising=False)
    monkeypatch.setattr(Webhook, "send", send)
    answer = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    tick = tick_after(clock.now(), 60)
    clock.sleep_until(tick)
    shows = run_at(tick, serving.database, settings)
    assert shows is not None
    assert threads == [None]  # the job has ended, and nobody was told
    clock.sleep_until(shows)
    run_at(shows, serving.database, settings)
    assert threads[1] is not None
    threads[1].join()
    event = {"event": "job ended", "job": answer.job_id, "dataset": "visits", "user": "ann"}
    assert [it for it, _ in heard] == [event | {"state": "done", "at": shows}] * 2


def test_a_changed_file_is_told_of_and_written_down(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(Webhook, "send", lambda self, events: told.extend(events))
    serving.jobs.ask(serving.ann, serving.visits, serving.question())
    write_rows(serving.settings.folder / "visits.csv", 41)
    tick = tick_after(clock.now(), 60)
    clock.sleep_until(tick)
    shows = run_at(tick, serving.database, serving.settings)
    assert shows is not None
    assert told == []
    clock.sleep_until(shows)
    run_at(shows, serving.database, serving.settings)
    assert told[-1] == {"event": "data set frozen", "dataset": "visits"}
    act = Acts(serving.database).all()[-1]
    assert (act.who, act.act) == ("the service", "froze")


@pytest.mark.parametrize(
    "given",
    [
        {"webhook_url": "http://elsewhere.example", "webhook_secret": SECRET},
        {"webhook_url": "https://elsewhere.example", "webhook_secret": "short"},
        {"metrics_token": "short"},
        {"passwords": False},
        {"release_days": -1},
        {"oidc_issuer": "https://x.example", "oidc_client_id": "c", "oidc_role_claim": "groups"},
    ],
)
def test_settings_that_protect_nothing_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ServiceError, match=r"\.$"):
        Settings(**given)


# Deletion and retention.
def test_a_deleted_release_is_gone_and_the_question_costs_again(any_serving: Serving) -> None:
    serving = any_serving
    job = ask(serving)
    release = release_of(serving, job)
    ann, steward = Api(serving), Api(serving, "sue", "steward")
    assert ann("DELETE", f"/releases/{release}").status_code in (403, 404)
    assert steward("DELETE", f"/releases/{release}").status_code == 204
    for path in ("file", "report"):
        assert ann("GET", f"/releases/{release}/{path}").status_code == 404
    ((kept, report),) = serving.database.rows("SELECT file, report FROM service_releases")
    assert (bytes(kept), report) == (b"", "")
    browser = signed_in(serving, "ann")
    assert "was deleted" in browser.get(f"/jobs/{job}").text
    answer = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    assert not answer.free
    assert len(serving.charges()) == 2
    serving.database.ledger.verify()


def test_a_release_that_nobody_sees_yet_cannot_be_deleted(serving: Serving) -> None:
    serving.jobs.ask(serving.ann, serving.visits, serving.question())
    tick = tick_after(clock.now(), 60)
    clock.sleep_until(tick)
    run_at(tick, serving.database, serving.settings)
    ((release,),) = serving.database.rows("SELECT id FROM service_releases")
    with pytest.raises(NotFoundError):
        serving.releases.delete(release)


def test_a_deleted_data_set_leaves_its_account_and_its_rows_stay_paid_for(
    any_serving: Serving,
) -> None:
    serving = any_serving
    ask(serving)
    place = f"/datasets/{serving.visits.id}"
    steward, ann = Api(serving, "sue", "steward"), Api(serving)
    assert steward("DELETE", place).status_code == 204
    assert (ann("GET", "/datasets").json(), ann("GET", "/releases").json()) == ([], [])
    for who in (ann, steward):
        assert who("GET", place).status_code == 404
    assert steward("GET", f"{place}/statement").json()["dataset"] == "visits"
    given = {"path": "visits.csv", "schema": SCHEMA.to_dict(), "most_rows": 1000}
    again = steward("POST", "/datasets", {"name": "again", **given}).json()
    assert "has its own budget" in again["message"]
    assert steward("POST", "/datasets", {"name": "visits", **given}).status_code == 409


def test_a_data_set_with_jobs_is_not_deleted(serving: Serving) -> None:
    serving.jobs.ask(serving.ann, serving.visits, serving.question())
    with pytest.raises(ConflictError, match="waiting or running"):
        serving.datasets.delete(serving.visits)


def test_a_deleted_account_is_nobodys_and_its_name_stays_taken(any_serving: Serving) -> None:
    serving = any_serving
    ann, steward = Api(serving), Api(serving, "sue", "steward")
    browser = signed_in(serving, "ann")
    assert steward("DELETE", "/users/sue").status_code == 400
    assert steward("DELETE", "/users/ann").status_code == 204
    assert ann("GET", "/datasets").status_code == 401
    assert browser.get("/").headers["location"] == "/sign-in"
    assert Browser(services_on(serving)).sign_in("ann").status_code == 403
    assert [it["name"] for it in steward("GET", "/users").json()] == ["bob", "sue"]
    assert steward("POST", "/users", {"name": "ann"}).status_code == 409
    assert steward("POST", "/users/ann/open").status_code == 404


def test_what_is_older_than_it_is_kept_is_deleted(any_serving: Serving) -> None:
    serving = any_serving
    release = release_of(serving, ask(serving))
    acts = Acts(serving.database)
    acts.add("sue", "-", "old")
    settings = replace(serving.settings, release_days=2, act_days=1)
    later(86400 + 60)
    acts.add("sue", "-", "new")
    delete_expired(serving.database, serving.settings)
    assert len(acts.all()) == 2
    delete_expired(serving.database, settings)
    assert [it.act for it in acts.all()] == ["new"]
    assert serving.releases.is_there(release)
    later(86400)
    delete_expired(serving.database, settings)
    assert not serving.releases.is_there(release)


# Maintenance.
def test_during_maintenance_nothing_is_asked_and_no_job_begins(any_serving: Serving) -> None:
    serving = any_serving
    sue = signed_in(serving, "sue")
    before = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    began = {"act": "begin", "text": "New rows until six."}
    sue.post("/steward/service/maintenance", "/steward/service", **began)
    with pytest.raises(ServiceError, match="New rows until six"):
        serving.jobs.ask(serving.ann, serving.visits, serving.question(epsilon="0.5"))
    assert not run_one(serving.database, serving.settings)
    assert "New rows until six." in signed_in(serving, "ann").get("/").text
    ask_page = f"/datasets/{serving.visits.id}/ask/distances"
    fields = {"epsilon": "0.5", "columns": ["sex", "ward"], "act": "run"}
    assert signed_in(serving, "ann").post(ask_page, ask_page, **fields).status_code == 503
    sue.post("/steward/service/maintenance", "/steward/service", act="end")
    assert run_one(serving.database, serving.settings)
    assert serving.jobs.one(before.job_id, serving.ann).state == "done"
    assert len(serving.charges()) == 1


def test_only_stewards_begin_maintenance(serving: Serving) -> None:
    ann = signed_in(serving, "ann")
    assert ann.post("/steward/service/maintenance", act="begin", text="x").status_code == 404
    assert "Maintenance" not in ann.get("/").text


# Lists.
def test_long_lists_have_pages(any_serving: Serving) -> None:
    serving = any_serving
    job = ask(serving)
    others = (
        "dataset_id, user_id, question, asked, receipt, state, first_tick, asked_at, finished_at, "
        "release_id, details, worker"
    )
    for number in range(120):
        serving.database.write(
            f"INSERT INTO service_jobs (id, {others}) SELECT ?, {others} "  # noqa: S608
            "FROM service_jobs WHERE id = ?",
            f"{number:032x}",
            job,
        )
    ann = signed_in(serving, "ann")
    seen = [re.findall(r'href="/jobs/(\w{32})"', ann.get(f"/jobs?page={it}").text) for it in "1234"]
    assert list(map(len, seen)) == [50, 50, 21, 0]
    assert len({it for page in seen for it in page}) == 121
    assert 'href="/jobs?page=2" rel="next"' in ann.get("/jobs").text
    assert "rel=" not in ann.get("/jobs?page=0").text.replace('rel="next"', "").split("<body>")[1]
    api = Api(serving)
    assert len(api("GET", "/jobs?limit=100").json()) == 100
    assert len(api("GET", "/jobs?limit=100&offset=100").json()) == 21
    assert api("GET", "/jobs?limit=0").status_code == 422


def test_the_trail_is_paged_and_exported_from_a_number_on(any_serving: Serving) -> None:
    serving = any_serving
    for number in range(60):
        Acts(serving.database).add("sue", "-", f"act {number}")
    sue = signed_in(serving, "sue")
    assert "act 59" in sue.get("/audit/trail").text
    assert "act 59" not in sue.get("/audit/trail?page=2").text
    assert len(sue.get("/audit/acts?after=59").text.splitlines()) == 2
    assert message(sue.get("/audit/acts?after=x"))


def test_maintenance_ends_with_an_empty_text(serving: Serving) -> None:
    set_maintenance(serving.database, "a")
    set_maintenance(serving.database, "b")
    set_maintenance(serving.database, "")
    assert serving.database.rows("SELECT * FROM service_notices") == []
