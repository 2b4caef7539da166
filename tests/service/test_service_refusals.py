"""Whatever is typed is answered in one sentence, and whatever breaks is logged without values."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from privclust.service.errors import ServiceError
from privclust.service.settings import Settings, log_to_stderr
from privclust.service.web.app import make_app
from service.browser import Browser, message, services_on, signed_in
from service.serving import PASSWORD, Serving
from service.test_service_api import Api

# What one sees of a number while it is typed, and what no budget can be.
EPSILONS = [
    "0",
    "0.",
    "0.0",
    "0.00001",
    ".",
    "",
    "-1",
    "1e-5",
    "1e-99",
    "101",
    "nan",
    "inf",
    "1/0",
    "٣",
]
DELTAS = ["1", "2", "1.", "-1", "1e9", "x"]
BUDGETS = [(epsilon, "0") for epsilon in EPSILONS] + [("1", delta) for delta in DELTAS]


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_a_budget_that_is_none_is_refused_in_one_sentence(
    serving: Serving, epsilon: str, delta: str
) -> None:
    ann, sue = signed_in(serving, "ann"), signed_in(serving, "sue")
    place = f"/datasets/{serving.visits.id}"
    form = f"{place}/ask/kmeans"
    budget = {"epsilon": epsilon, "delta": delta}
    answers = [
        ann.client.get(f"{form}/plan", params={**budget, "clusters": "2"}),
        ann.post(form, form, clusters="2", act="plan", **budget),
        ann.post(form, form, clusters="2", act="run", **budget),
        sue.post(f"/steward{place}/grant", place, user="ann", **budget),
    ]
    program, steward = Api(serving, "ann", "run"), Api(serving, "sue", "steward")
    answers += [program("POST", f"{place}/{what}", budget) for what in ("plan", "jobs")]
    answers += [steward("POST", f"{place}/grants", {"user": "ann", **budget})]
    for answer in answers:
        assert answer.status_code == 400
        assert "went wrong" not in answer.text
    sentences = [it.json()["message"] for it in answers[-3:]]
    assert all(len(it.split(". ")) == 1 and it.endswith(" it.") for it in sentences), sentences
    assert serving.charges() == []


@pytest.mark.parametrize("epsilon", [True, False])
def test_true_is_no_number(serving: Serving, epsilon: bool) -> None:
    place, program = f"/datasets/{serving.visits.id}", Api(serving, "ann", "run")
    for given in ({"epsilon": epsilon}, {"epsilon": "1", "clusters": epsilon}):
        assert program("POST", f"{place}/jobs", given).status_code == 422
    assert serving.charges() == []


@pytest.fixture(autouse=True)
def loggers_as_before() -> Iterator[None]:
    """Other tests have another stream for errors, and this one is closed by then."""
    names = ("privclust.service", "uvicorn", "uvicorn.error", "asyncio")
    before = [(logging.getLogger(n), vars(logging.getLogger(n)).copy()) for n in names]
    yield
    for logger, state in before:
        logger.handlers, logger.propagate = state["handlers"], state["propagate"]
        logger.setLevel(state["level"])


def test_what_breaks_is_logged_without_values(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the private value 4711")

    monkeypatch.setattr("privclust.service.jobs.Jobs.of", broken)
    monkeypatch.setattr(sys, "stderr", sys.stdout)
    ann = signed_in(serving, "ann")
    log_to_stderr()
    # Nothing is left for the server to print: it would print the traceback.
    ann.client._transport.raise_server_exceptions = True  # type: ignore[attr-defined]
    assert ann.get("/jobs").status_code == 500
    logging.getLogger("uvicorn.error").error("failed", exc_info=RuntimeError("4711"))
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {"a request failed", "failed"} <= {line["message"] for line in lines}
    assert "4711" not in json.dumps(lines)


def posted_form() -> dict[str, Any]:
    """Return what a server knows of a form before its body arrives."""
    headers = [(b"origin", b"http://127.0.0.1:8000"), (b"host", b"127.0.0.1:8000")]
    headers += [(b"content-type", b"application/x-www-form-urlencoded")]
    return {
        "type": "http", "method": "POST", "path": "/sign-in", "query_string": b"",
        "headers": headers, "client": ("192.0.2.1", 1), "server": ("127.0.0.1", 8000),
        "scheme": "http", "root_path": "", "http_version": "1.1",
    }  # fmt: skip


def test_a_sender_who_goes_away_leaves_one_line(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", sys.stdout)
    log_to_stderr()

    async def gone() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        return

    asyncio.run(make_app(services_on(serving))(posted_form(), gone, send))  # type: ignore[arg-type]
    assert len(capsys.readouterr().out.splitlines()) == 1


@pytest.mark.parametrize("host", ["localhost:8000", "example.org"])
def test_pages_under_another_name_lead_to_the_right_one(serving: Serving, host: str) -> None:
    browser = Browser(services_on(serving))
    answer = browser.client.get("/sign-in?x=1", headers={"Host": host})
    assert answer.status_code == 307
    assert answer.headers["location"] == "http://127.0.0.1:8000/sign-in?x=1"
    assert browser.client.get("/healthz", headers={"Host": host}).status_code == 200
    assert browser.client.head("/healthz").status_code == 200


def test_a_form_from_another_name_says_where_to_go(serving: Serving) -> None:
    browser = Browser(services_on(serving))
    answer = browser.client.post("/sign-in", headers={"Origin": "http://localhost:8000"})
    assert answer.status_code == 403
    assert "http://127.0.0.1:8000" in message(answer)


def test_a_stranger_locks_nobody_out(serving: Serving) -> None:
    stranger, ann = Browser(services_on(serving), "192.0.2.66"), Browser(services_on(serving))
    ann.client.app.state.attempts = stranger.client.app.state.attempts  # type: ignore[attr-defined]
    for _ in range(6):
        refused = stranger.sign_in("ann", "guess")
    assert refused.status_code == 429
    assert ann.sign_in("ann").status_code == 303


def test_the_current_password_cannot_be_guessed_from_a_session(serving: Serving) -> None:
    ann = signed_in(serving, "ann")
    tries = [ann.post("/password", old=f"guess {n}", new="another long one") for n in range(6)]
    assert [it.status_code for it in tries] == [400] * 4 + [429] * 2


def test_an_auditor_plans_nothing(serving: Serving) -> None:
    password = serving.accounts.add("aud", "auditor")
    serving.accounts.change_password(serving.accounts.by_name("aud"), password, PASSWORD)
    place, auditor = f"/datasets/{serving.visits.id}", Api(serving, "aud", "read")
    assert auditor("POST", f"{place}/plan", {"epsilon": "1"}).status_code == 404
    assert auditor("GET", place).json() == {"id": serving.visits.id, "name": "visits"}
    assert auditor("GET", f"{place}/mock").status_code == 404
    assert signed_in(serving, "aud").get(place).status_code == 404


def test_an_auditor_is_not_told_where_the_database_lies(serving: Serving) -> None:
    page = signed_in(serving, "sue").get(f"/audit/{serving.visits.id}").text
    assert "service.db" in page
    assert str(serving.settings.folder.parent) not in page


def test_a_body_that_never_ends_is_given_up(serving: Serving) -> None:
    app = make_app(services_on(serving, body_seconds=1))
    answers: list[Any] = []
    begun = [{"type": "http.request", "body": b"name=", "more_body": True}]

    async def slow() -> dict[str, Any]:
        if begun:
            return begun.pop()
        await asyncio.sleep(5)
        raise AssertionError

    async def send(message: Any) -> None:
        answers.append(message)

    asyncio.run(app(posted_form(), slow, send))  # type: ignore[arg-type]
    assert answers[0]["status"] == 408


def test_a_client_may_wait_long_for_an_answer(serving: Serving) -> None:
    """Only sending is limited: who has sent everything waits as long as it takes."""
    from privclust.service.web.pages import Guard

    settings = dataclasses.replace(serving.settings, body_seconds=1)
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.extend([await receive(), await receive()])

    sent = [{"type": "http.request", "body": b"x"}]

    async def receive() -> dict[str, Any]:
        if sent:
            return sent.pop()
        await asyncio.sleep(1.2)
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        return

    guard = Guard(app, settings, services_on(serving).metrics, lambda *_: None)  # type: ignore[arg-type]
    asyncio.run(guard(posted_form(), receive, send))  # type: ignore[arg-type]
    assert seen[1] == {"type": "http.disconnect"}


def test_a_port_that_is_none_is_told_in_one_sentence() -> None:
    with pytest.raises(ServiceError, match="65535"):
        Settings(port=99_999)
