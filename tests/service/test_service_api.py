"""The interface for programs, and the settings."""

from __future__ import annotations

from typing import Any

import pytest

from privclust.service.errors import ServiceError
from privclust.service.settings import Settings
from service.browser import Browser, services_on
from service.clocks import later, run_one
from service.serving import SCHEMA, Serving, write_rows


class Api:
    """A program with a token."""

    def __init__(self, serving: Serving, name: str = "ann", scope: str = "run") -> None:
        self.token = serving.accounts.add_token(serving.accounts.by_name(name), "program", scope, 1)
        self.client = Browser(services_on(serving)).client

    def __call__(self, method: str, path: str, given: Any = None, **headers: str) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"} | headers
        return self.client.request(method, f"/api/v1{path}", json=given, headers=headers)


def test_programs_see_plan_and_ask_what_people_do(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    api, dataset = Api(serving), f"/datasets/{serving.visits.id}"
    (seen,) = api("GET", "/datasets").json()
    assert (seen["name"], seen["balance"][0]["left"]) == ("visits", "ε = 2")
    assert not {"path", "digest"} & set(seen)
    asked = {"family": "distances", "epsilon": 1, "columns": ["sex", "ward"]}
    assert api("POST", f"{dataset}/plan", asked).json()["cost"] == "ε = 1"
    job = api("POST", f"{dataset}/jobs", asked).json()
    assert (job["state"], job["charged"], job["release"]) == ("waiting", True, None)
    run_one(serving.database, serving.settings)
    later()
    done = api("GET", f"/jobs/{job['id']}").json()
    assert done["state"] == "done"
    assert api("GET", f"/releases/{done['release']}/file").content[:2] == b"PK"
    assert "What was protected" in api("GET", f"/releases/{done['release']}/report").text
    assert api("POST", f"{dataset}/jobs", asked).json()["free"]


def test_stewards_register_grant_and_freeze_by_program(serving: Serving) -> None:
    api = Api(serving, "sue", "steward")
    write_rows(serving.settings.folder / "more.csv", 30)
    given = {"name": "more", "path": "more.csv", "schema": SCHEMA.to_dict(), "most_rows": 100}
    made = api("POST", "/datasets", given)
    assert made.status_code == 202
    assert api("GET", f"/checks/{made.json()['id']}").json() == made.json()
    assert (made.json()["state"], made.json()["report"]["rows"]) == ("done", 30)
    place = f"/datasets/{made.json()['dataset']}"
    granted = api("POST", f"{place}/grants", {"user": "bob", "epsilon": "0.5"}).json()
    assert granted["balance"][0]["left"]["epsilon"] == "0.5"
    assert [it["name"] for it in Api(serving, "bob", "read")("GET", "/datasets").json()] == ["more"]
    assert api("DELETE", f"{place}/grants/bob").status_code == 204
    assert Api(serving, "bob", "read")("GET", "/datasets").json() == []
    assert api("POST", f"{place}/freeze").status_code == 204
    assert api("GET", place).json()["frozen"]
    assert api("GET", f"{place}/statement").json()["dataset"] == "more"


def test_a_token_does_what_its_scope_says_and_nothing_after_its_revocation(
    serving: Serving,
) -> None:
    reader, dataset = Api(serving, "ann", "read"), f"/datasets/{serving.visits.id}"
    assert reader("POST", f"{dataset}/jobs", {}).status_code == 403
    assert reader("POST", "/datasets", {"name": "x"}).status_code in (403, 422)
    assert reader("GET", f"{dataset}/statement").status_code == 404
    (token,) = serving.accounts.tokens(serving.ann)
    serving.accounts.revoke(serving.ann, token.id)
    refused = reader("GET", "/datasets")
    assert (refused.status_code, list(refused.json())) == (401, ["message"])
    for wrong in ("", "Bearer", "Bearer x", "Basic x"):
        assert reader("GET", "/datasets", Authorization=wrong).status_code == 401


def test_a_session_is_no_token(serving: Serving) -> None:
    browser = Browser(services_on(serving))
    browser.sign_in("ann")
    assert browser.get("/api/v1/datasets").status_code == 401


def test_a_steward_of_a_token_alone_is_none(serving: Serving) -> None:
    """A token outlives no change of role: scope and role are both looked at."""
    api = Api(serving, "sue", "steward")
    serving.database.write("UPDATE service_users SET role = 'analyst' WHERE name = 'sue'")
    assert api("POST", f"/datasets/{serving.visits.id}/freeze").status_code == 404


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"seed": 1}', b"\xff", b"[" * 10_000])
def test_a_malformed_body_is_told_in_one_sentence(serving: Serving, body: bytes) -> None:
    api = Api(serving)
    answer = api.client.post(
        f"/api/v1/datasets/{serving.visits.id}/jobs",
        content=body,
        headers={"Authorization": f"Bearer {api.token}", "Content-Type": "application/json"},
    )
    assert answer.status_code in (400, 422)
    assert list(answer.json()) == ["message"]
    assert serving.charges() == []


def test_the_interface_describes_itself(serving: Serving) -> None:
    browser = Browser(services_on(serving))
    document = browser.get("/api/v1/openapi.json").json()
    assert "/api/v1/datasets/{dataset_id}/jobs" in document["paths"]
    assert all(path.startswith("/api/v1/") for path in document["paths"])
    assert "POST /api/v1/datasets/{dataset_id}/plan" in browser.get("/api").text


# Settings.
def test_the_environment_stands_above_the_file(tmp_path: Any) -> None:
    file = tmp_path / "service.toml"
    file.write_text('url = "https://clusters.example.org"\nport = 8001\ntick_seconds = 120\n')
    read = Settings.read(file, {"PRIVCLUST_SERVICE_PORT": "8002"}, database="x.db")
    assert (read.origin, read.port, read.tick_seconds) == (
        "https://clusters.example.org",
        8002,
        120,
    )
    assert read.secure


@pytest.mark.parametrize(
    "text",
    ['url = "http://clusters.example.org"', "port = 'x'", "prot = 1", "tick_seconds = 0", "["],
)
def test_wrong_settings_are_told_in_one_sentence(tmp_path: Any, text: str) -> None:
    file = tmp_path / "service.toml"
    file.write_text(text)
    with pytest.raises(ServiceError):
        Settings.read(file, {})
