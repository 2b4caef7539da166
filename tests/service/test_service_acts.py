"""The trail of acts, and grants that are one act."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from privclust.service.operations import Acts
from privclust.service.registered import Datasets
from service.browser import Browser, services_on, signed_in
from service.serving import Serving
from service.test_service_api import Api


def trail(serving: Serving) -> list[tuple[str, str, str, str]]:
    return [(it.who, it.address, it.act, it.what) for it in Acts(serving.database).all()]


def test_the_trail_says_who_did_what_from_where(any_serving: Serving) -> None:
    serving, place = any_serving, f"/datasets/{any_serving.visits.id}"
    Browser(services_on(serving), "192.0.2.66").sign_in("sue", "guess")
    sue = signed_in(serving, "sue")
    sue.post("/steward/users", name="cyd", role="analyst")
    cyd = serving.accounts.by_name("cyd")
    sue.confirm(f"/steward/users/{cyd.id}/reset")
    sue.confirm(f"/steward/users/{cyd.id}/close")
    sue.confirm(f"/steward{place}/grant", place, user="bob", epsilon="1", delta="0")
    sue.confirm(f"/steward{place}/revoke", place, user="bob")
    sue.confirm(f"/steward{place}/freeze", place, reason="a look")
    sue.post(f"/steward{place}/check", place)
    sue.post("/tokens", "/tokens", name="program", scope="read", days="1")
    sue.post("/sign-out")
    assert trail(serving) == [
        ("sue", "192.0.2.66", "sign-in failed", ""),
        *[
            ("sue", "192.0.2.1", act, what)
            for act, what in [
                ("signed in", ""),
                ("added user", "cyd, analyst"),
                ("reset password", "cyd"),
                ("closed account", "cyd"),
                ("granted", "visits to bob: ε = 1, δ = 0"),
                ("revoked access", "visits from bob"),
                ("froze", "visits: a look"),
                ("checked files", "visits, version 1"),
                ("made token", "program, read"),
                ("signed out", ""),
            ]
        ],
    ]


def test_programs_leave_the_same_trail(serving: Serving) -> None:
    steward, place = Api(serving, "sue", "steward"), f"/datasets/{serving.visits.id}"
    steward("POST", f"{place}/grants", {"user": "bob", "epsilon": 1})
    steward("DELETE", f"{place}/grants/bob")
    steward("POST", f"{place}/freeze")
    steward("POST", f"{place}/check")
    steward("POST", "/users", {"name": "cyd"})
    steward("POST", "/users/cyd/reset")
    steward("POST", "/users/cyd/close")
    acts = ["granted", "revoked access", "froze", "checked files", "added user", "reset password"]
    assert [act for *_, act, _ in trail(serving)] == [*acts, "closed account"]
    assert {who for who, *_ in trail(serving)} == {"sue"}


def test_auditors_export_the_trail_and_analysts_do_not_see_it(serving: Serving) -> None:
    password = serving.accounts.add("aud", "auditor")
    serving.accounts.change_password(
        serving.accounts.by_name("aud"), password, "a long enough password"
    )
    lines = signed_in(serving, "aud").get("/audit/acts").text.splitlines()
    assert json.loads(lines[-1])["act"] == "signed in"
    assert signed_in(serving, "ann").get("/audit/acts").status_code == 404
    assert Api(serving, "ann", "read")("GET", "/acts").status_code == 404
    assert Api(serving, "aud", "read")("GET", "/acts").json()[-1]["who"] == "ann"


def test_the_ledger_says_which_person_granted_and_asked(serving: Serving) -> None:
    sue, place = signed_in(serving, "sue"), f"/datasets/{serving.visits.id}"
    sue.confirm(f"/steward{place}/grant", place, user="bob", epsilon="1", delta="0")
    serving.jobs.ask(serving.bob, serving.visits, serving.question())
    entries = serving.database.ledger.history("visits", "bob")
    assert [(it.kind, it.actor) for it in entries] == [("grant", "sue"), ("charge", "bob")]


def test_a_grant_and_the_access_it_gives_are_one_act(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    from privclust.ledger.transaction import LedgerTransaction

    run = LedgerTransaction.run

    def broken(self: LedgerTransaction, sql: str, values: Any = ()) -> Any:
        if "service_access" in sql:
            raise RuntimeError("a crash")
        return run(self, sql, values)

    datasets = Datasets(serving.database, serving.settings.folder)
    monkeypatch.setattr(LedgerTransaction, "run", broken)
    with pytest.raises(RuntimeError):
        datasets.grant(serving.visits, serving.bob, "1", "0", "")
    assert serving.database.ledger.balance("visits", "bob") == []


def test_a_grant_that_is_sent_twice_is_one_grant(serving: Serving) -> None:
    sue, place = signed_in(serving, "sue"), f"/datasets/{serving.visits.id}"
    request = re.search(r'name="request" value="(\w{32})"', sue.get(place).text)
    assert request
    for _ in range(2):
        sent = {"user": "bob", "epsilon": "1", "delta": "0", "request": request[1]}
        sue.confirm(f"/steward{place}/grant", place, **sent)
    entries = serving.database.ledger.history("visits", "bob")
    assert [entry.kind for entry in entries] == ["grant"]
