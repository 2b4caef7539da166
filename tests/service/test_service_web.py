"""The pages: the whole way without a screen, and attacks on them."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from privclust import MatrixCount, ReplaceRow
from privclust.service.jobs import FAILED
from service.browser import ORIGIN, Browser, message, services_on, signed_in
from service.clocks import later, run_one
from service.serving import PASSWORD, SCHEMA, Serving, write_rows

COUNTS = '{"matrix": {"rows": 30, "columns": 12, "row_total": 24}}'
NASTY = "<script>alert(1)</script>"
SQL = "x'); DROP TABLE service_users; --"


def released(serving: Serving, monkeypatch: pytest.MonkeyPatch, browser: Browser) -> str:
    """Let a browser ask a cheap question, and return the address of the release."""
    path = f"/datasets/{serving.visits.id}/ask/distances"
    asked = {"epsilon": "1", "columns": ["sex", "ward"], "act": "run"}
    job = browser.post(path, path, **asked).headers["location"]
    run_one(serving.database, serving.settings)
    later()
    found = re.search(r'href="(/releases/\w+)"', browser.get(job).text)
    assert found
    return found[1]


# The way.
def test_the_whole_way_of_a_steward_and_an_analyst(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    sue = signed_in(serving, "sue")
    made = sue.post("/steward/users", "/steward/users", name="cyd", role="analyst")
    password = re.search(r"data-secret>([^<]+)<", made.text)
    write_rows(serving.settings.folder / "more.csv", 30)
    registered = sue.post(
        "/steward/register",
        "/steward/register",
        name="more",
        path="more.csv",
        schema=SCHEMA.to_toml(),
        unit="add-remove-row",
        most_rows="100",
    )
    checked = sue.follow(registered).text
    assert "30 rows" in checked
    place = re.search(r"/datasets/\w+", checked)
    assert place
    assert password
    asked = sue.post(f"/steward{place[0]}/grant", place[0], user="cyd", epsilon="1", delta="0").text
    assert "Grant ε = 1 to cyd?" in asked
    sue.confirm(f"/steward{place[0]}/grant", place[0], user="cyd", epsilon="1", delta="0")
    cyd = Browser(services_on(serving))
    assert cyd.sign_in("cyd", password[1]).status_code == 303
    assert cyd.get("/").headers["location"] == "/password"
    assert cyd.post("/password", old=password[1], new=PASSWORD).headers["location"] == "/"
    assert "Left: ε = 1" in cyd.get("/").text
    page = f"{place[0]}/ask/distances"
    planned = cyd.post(page, page, epsilon="1", columns=["sex", "ward"], act="plan").text
    assert "Cost: ε = 1" in planned
    assert "Left afterwards: ε = 0" in planned
    job = cyd.post(page, page, epsilon="1", columns=["sex", "ward"], act="run")
    assert "is waiting for its answer" in cyd.get(job.headers["location"]).text
    run_one(serving.database, serving.settings)
    found = re.search(r'href="(/releases/\w+)"', cyd.get(job.headers["location"]).text)
    assert found
    assert "What was protected" in cyd.get(f"{found[1]}/report").text
    again = cyd.post(page, page, epsilon="1", columns=["sex", "ward"], act="run")
    assert "nothing was charged" in cyd.get(again.headers["location"]).text
    refused = cyd.post(page, page, epsilon="0.5", columns=["sex", "ward"], act="run")
    assert refused.status_code == 409
    assert "does not cover" in message(refused)
    assert "Granted to all analysts together: <strong>ε = 1<" in sue.get(place[0]).text


def test_the_report_the_file_and_the_labels_of_a_release(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = signed_in(serving, "ann")
    path = f"/datasets/{serving.visits.id}/ask/kmeans"
    asked = {"epsilon": "1", "clusters": "2", "columns": ["age", "cost"], "act": "run"}
    job = ann.post(path, path, **asked).headers["location"]
    run_one(serving.database, serving.settings)
    later()
    place = re.search(r"/releases/\w+", ann.get(job).text)
    assert place
    assert ann.get(f"{place[0]}/file").content[:2] == b"PK"
    labels = ann.client.post(
        f"{place[0]}/labels",
        data={"form": ann.token(place[0])},
        files={"rows": ("rows.csv", b"age,cost\n1,2\n90,9\n")},
        headers={"Origin": ORIGIN},
    )
    assert labels.text.splitlines()[0] == "cluster"
    assert len(labels.text.splitlines()) == 3
    assert 'class="bars"' in ann.get("/releases").text


def test_plans_cost_nothing_and_dry_runs_need_no_data(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    (serving.settings.folder / "visits.csv").unlink()
    ann = signed_in(serving, "ann")
    path = f"/datasets/{serving.visits.id}/ask/distances"
    monkeypatch.setattr("privclust.service.planner._MOMENT", 60)
    live = ann.get(f"{path}/plan?epsilon=1&columns=sex&columns=ward").json()
    assert (live["cost"], live["covered"], live["ready"]) == ("ε = 1", True, True)
    compared = ann.post(path, path, epsilon="1", columns=["sex", "ward"], act="compare").text
    assert "Expected error: " in compared
    assert "how many rows have each value of each column" in compared
    dry = ann.post(path, path, epsilon="1", columns=["sex", "ward"], act="dry").text
    assert "Dry run on synthetic rows" in dry
    assert serving.charges() == []


def test_an_auditor_reads_statements_and_nothing_else(serving: Serving) -> None:
    password = serving.accounts.add("olaf", "auditor")
    serving.accounts.change_password(serving.accounts.by_name("olaf"), password, PASSWORD)
    olaf = signed_in(serving, "olaf")
    assert olaf.get("/").headers["location"] == "/audit"
    assert "Privacy budget" in olaf.get(f"/audit/{serving.visits.id}").text
    assert olaf.get(f"/audit/{serving.visits.id}/export").json()["dataset"] == "visits"
    path = f"/datasets/{serving.visits.id}/ask/kmeans"
    assert olaf.get(path).status_code == 404
    assert olaf.get("/steward/users").status_code == 404


def test_the_steward_sees_why_a_job_failed_and_the_analyst_one_sentence(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = serving.jobs.ask(serving.ann, serving.visits, serving.question())
    write_rows(serving.settings.folder / "visits.csv", 41)
    run_one(serving.database, serving.settings)
    later()
    assert message(signed_in(serving, "ann").get(f"/jobs/{answer.job_id}")) == FAILED
    told = signed_in(serving, "sue").get(f"/jobs/{answer.job_id}").text
    assert "files changed" in told


# Attacks.
def test_without_a_session_every_page_leads_to_the_door(serving: Serving) -> None:
    browser = Browser(services_on(serving))
    for path in ("/", "/jobs", "/releases", "/tokens", "/audit", "/steward/users"):
        assert browser.get(path).headers["location"] == "/sign-in"


def test_what_belongs_to_others_is_not_there(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = released(serving, monkeypatch, signed_in(serving, "ann"))
    (job,) = serving.jobs.of(serving.ann)
    bob = signed_in(serving, "bob")
    nothing = bob.get("/jobs/nothing")
    dataset = f"/datasets/{serving.visits.id}"
    paths = [
        f"/jobs/{job.id}", release, f"{release}/report", f"{release}/file", dataset,
        f"{dataset}/ask/kmeans", f"{dataset}/ask/kmeans/plan?epsilon=1",
        f"/audit/{serving.visits.id}", f"/audit/{serving.visits.id}/export",
        "/steward/users", "/steward/register",
    ]  # fmt: skip
    for path in paths:
        answer = bob.get(path)
        assert (answer.status_code, answer.text) == (404, nothing.text)
    posts = [
        f"{dataset}/ask/kmeans", f"{release}/labels", "/steward/users", "/steward/register",
        f"/steward{dataset}/grant", f"/steward{dataset}/freeze", f"/steward/jobs/{job.id}/again",
        f"/steward/users/{serving.ann.id}/reset",
    ]  # fmt: skip
    for path in posts:
        assert bob.post(path).status_code == 404, path


def test_a_form_needs_its_token_and_its_origin(serving: Serving) -> None:
    ann = signed_in(serving, "ann")
    fields = {"name": "x", "scope": "read", "days": "1"}
    right = {"form": ann.token("/tokens"), **fields}
    for headers in ({}, {"Origin": "https://evil.example"}, {"Referer": "https://evil.example/"},
                    {"Origin": "null"}):  # fmt: skip
        assert ann.client.post("/tokens", data=right, headers=headers).status_code == 403
    for token in ("", "wrong", signed_in(serving, "bob").token("/tokens")):
        wrong = {"form": token, **fields}
        answer = ann.client.post("/tokens", data=wrong, headers={"Origin": ORIGIN})
        assert answer.status_code == 403
    assert serving.accounts.tokens(serving.ann) == []
    assert ann.client.post("/tokens", data=right, headers={"Referer": ORIGIN + "/x"}).is_success


def test_a_session_that_was_there_before_signing_in_is_not_taken_over(serving: Serving) -> None:
    browser = Browser(services_on(serving))
    browser.client.cookies.set("session", "fixed-by-somebody")
    browser.sign_in("ann")
    assert serving.accounts.session("fixed-by-somebody") is None
    values = [cookie.value for cookie in browser.client.cookies.jar if cookie.name == "session"]
    assert len(values) == 2
    assert any(serving.accounts.session(value or "") for value in values)


def test_signing_out_ends_the_session_on_the_server(serving: Serving) -> None:
    ann = signed_in(serving, "ann")
    cookie = ann.client.cookies["session"]
    ann.post("/sign-out")
    assert serving.accounts.session(cookie) is None


def test_passwords_cannot_be_guessed(serving: Serving) -> None:
    browser = Browser(services_on(serving))
    answers = [browser.sign_in("ann", f"guess {n}").status_code for n in range(6)]
    assert answers == [403] * 5 + [429]
    assert browser.sign_in("ann").status_code == 429
    assert browser.sign_in("bob").status_code == 303


def test_a_wrong_name_and_a_wrong_password_are_told_alike(serving: Serving) -> None:
    browser = Browser(services_on(serving))
    wrong = browser.sign_in("ann", "wrong")
    nobody = browser.sign_in("nobody", "wrong")
    assert (wrong.status_code, wrong.text) == (nobody.status_code, nobody.text)


def test_names_are_text_and_never_markup(serving: Serving) -> None:
    schema = {"columns": {NASTY: {"low": 0, "high": 1, "missing": 0}}}
    (serving.settings.folder / "x.csv").write_text(f"{NASTY}\n1\n")
    sue = signed_in(serving, "sue")
    registered = sue.post(
        "/steward/register",
        name=NASTY,
        path="x.csv",
        schema=json.dumps(schema),
        most_rows="9",
        note=NASTY,
        meanings=f"{NASTY}: {NASTY}",
    )
    registered = sue.follow(registered)
    place = re.search(r"/datasets/\w+", registered.text)
    assert place
    password = serving.accounts.add(NASTY, "analyst")
    user = serving.accounts.by_name(NASTY)
    serving.accounts.change_password(user, password, PASSWORD)
    confirmed = {"user": NASTY, "epsilon": "1", "note": NASTY}
    asked = sue.post(f"/steward{place[0]}/grant", place[0], **confirmed)
    sue.confirm(f"/steward{place[0]}/grant", place[0], **confirmed)
    mallory = signed_in(serving, NASTY)
    mallory.post(f"{place[0]}/request", place[0], epsilon="1", reason=NASTY)
    seen = ("/", place[0], "/steward/users", f"/audit{place[0][9:]}", "/audit/trail")
    pages = [registered, asked, *map(sue.get, seen)]
    pages += map(mallory.get, ("/", place[0], f"{place[0]}/ask/kmeans", "/password"))
    for page in pages:
        assert page.status_code == 200
        assert "<script>alert" not in page.text
    assert "&lt;script&gt;" in mallory.get(place[0]).text


def test_a_refused_form_leads_back_to_itself(serving: Serving) -> None:
    sue, place = signed_in(serving, "sue"), f"/datasets/{serving.visits.id}"
    refused = sue.post(f"/steward{place}/grant", place, user="ann", epsilon="-1")
    assert refused.status_code == 400
    assert 'name="epsilon" inputmode="decimal" value="-1"' in refused.text
    told = sue.post("/steward/service/maintenance", "/steward/service", act="begin", text="")
    assert '<a href="/steward/service">Back to the form</a>' in told.text
    assert "Back to the form" not in sue.get("/jobs/nowhere").text


@pytest.mark.parametrize(
    "page",
    [
        "https://elsewhere.example/x",
        f"{ORIGIN}//elsewhere.example",
        f"{ORIGIN}/\\elsewhere.example",
        "javascript:elsewhere",
    ],
)
def test_a_refused_form_leads_to_no_other_site(serving: Serving, page: str) -> None:
    sue = signed_in(serving, "sue")
    fields = {"form": sue.token("/steward/users"), "act": "begin"}
    headers = {"Origin": ORIGIN, "Referer": page}
    refused = sue.client.post("/steward/service/maintenance", data=fields, headers=headers)
    assert refused.status_code == 400
    assert "elsewhere" not in refused.text
    freeze = f"/steward/datasets/{serving.visits.id}/freeze"
    asked = sue.client.post(freeze, data=fields, headers=headers)
    assert "Freeze visits?" in asked.text
    assert "elsewhere" not in asked.text


def test_a_question_that_the_budget_does_not_cover_stays_in_its_form(serving: Serving) -> None:
    ann, ask = signed_in(serving, "ann"), f"/datasets/{serving.visits.id}/ask/distances"
    refused = ann.post(ask, ask, epsilon="77", columns=["sex", "ward"], act="run")
    assert refused.status_code == 409
    assert "does not cover" in message(refused)
    assert 'name="epsilon" inputmode="decimal" value="77"' in refused.text


def test_sql_in_a_field_is_text(serving: Serving) -> None:
    ann, sue = signed_in(serving, "ann"), signed_in(serving, "sue")
    dataset = f"/datasets/{serving.visits.id}"
    ask = f"{dataset}/ask/distances"
    for name in ("epsilon", "delta", "clusters", "columns", "request", "act"):
        fields = {"epsilon": "1", "columns": ["sex", "ward"], "act": "run", name: SQL}
        assert ann.post(ask, ask, **fields).status_code < 500
    ann.post("/tokens", name=SQL, scope=SQL, days=SQL)
    ann.post("/tokens", name=SQL, scope="read", days="1")
    for path in (f"/jobs/{SQL}", f"/releases/{SQL}", f"/datasets/{SQL}"):
        assert ann.get(path).status_code == 404
    sue.post(f"/steward{dataset}/grant", user=SQL, epsilon=SQL, delta=SQL, note=SQL)
    sue.post("/steward/register", name=SQL, path=SQL, schema=SQL, unit=SQL, most_rows=SQL)
    sue.post("/steward/users", name=SQL, role="analyst")
    Browser(services_on(serving)).sign_in(SQL, SQL)
    names = [user.name for user, _ in serving.accounts.all()]
    assert sorted(names) == sorted(["sue", "ann", "bob", SQL])
    assert serving.database.ledger.verify()


def test_a_path_at_registration_stays_below_the_folder(serving: Serving) -> None:
    sue = signed_in(serving, "sue")
    for path in ("../service.db", "/etc/passwd", "x/../../y.csv", "visits.csv\0.txt"):
        fields = {"name": "n", "path": path, "schema": SCHEMA.to_json(), "most_rows": "9"}
        answer = sue.post("/steward/register", **fields)
        assert answer.status_code == 400
        assert "below the data folder" in message(answer)


def test_large_and_broken_bodies_are_refused(serving: Serving) -> None:
    ann = signed_in(serving, "ann")
    headers = {"Origin": ORIGIN, "Content-Type": "application/x-www-form-urlencoded"}
    large = ann.client.post("/tokens", content=b"a=" + b"x" * 2**20, headers=headers)
    assert large.status_code == 413

    def parts():
        for _ in range(2**5):
            yield b"x" * 2**16

    assert ann.client.post("/tokens", content=parts(), headers=headers).status_code == 413
    lying = ann.client.post("/tokens", content=b"", headers=headers | {"Content-Length": "-1"})
    assert lying.status_code == 413
    multipart = headers | {"Content-Type": "multipart/form-data; boundary=x"}
    for content in (b"\xff\xfe", b"--x\r\n", b""):
        assert ann.client.post("/tokens", content=content, headers=multipart).status_code < 500
    many = "&".join(f"a{n}=1" for n in range(600)).encode()
    assert ann.client.post("/tokens", content=many, headers=headers).status_code == 400


def test_a_replayed_form_is_one_job(serving: Serving) -> None:
    ann = signed_in(serving, "ann")
    path = f"/datasets/{serving.visits.id}/ask/distances"
    fields = {"epsilon": "1", "columns": ["sex", "ward"], "act": "run", "request": "c" * 32}
    places = {ann.post(path, path, **fields).headers["location"] for _ in range(3)}
    assert places == {f"/jobs/{'c' * 32}"}
    assert serving.charges() == ["c" * 32]


def test_every_page_carries_the_headers_that_protect_it(serving: Serving) -> None:
    ann = signed_in(serving, "ann")
    for path in ("/", "/sign-in", "/nothing", "/api/v1/datasets", "/static/page.css"):
        headers = ann.get(path).headers
        policy = headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "content-encoding" not in headers
    assert ann.get("/").headers["cache-control"] == "no-store"
    (cookie,) = Browser(services_on(serving)).sign_in("ann").headers.get_list("set-cookie")
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))


def test_no_page_has_a_script_or_a_style_of_its_own(serving: Serving) -> None:
    ann = signed_in(serving, "ann")
    paths = ("/", "/tokens", f"/datasets/{serving.visits.id}/ask/kmeans", "/api", "/sign-in")
    for path in paths:
        text = ann.get(path).text
        assert not re.search(r"<script(?! src=)|<style|\son\w+=|javascript:", text)


def test_a_broken_page_says_one_sentence(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = signed_in(serving, "ann")

    def broken(*_: object) -> None:
        raise RuntimeError("the private value 4711")

    monkeypatch.setattr("privclust.service.jobs.Jobs.of", broken)
    answer = ann.get("/jobs")
    assert answer.status_code == 500
    assert "4711" not in answer.text
    assert "Traceback" not in answer.text


def test_the_server_says_whether_it_is_well(serving: Serving) -> None:
    assert Browser(services_on(serving)).get("/healthz").json() == {"status": "ok"}


def test_a_database_that_is_away_is_told_without_its_place(serving: Serving) -> None:
    ann = signed_in(serving, "ann")
    Path(serving.settings.database).unlink()
    answer = ann.get("/jobs")
    assert answer.status_code == 503
    assert "service.db" not in answer.text
    assert ann.get("/healthz").status_code == 503


def test_the_live_cost_does_not_wait_for_the_plan(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object) -> None:
        await asyncio.sleep(3600)

    ann = signed_in(serving, "ann")
    monkeypatch.setattr("privclust.service.planner._MOMENT", 0.01)
    monkeypatch.setattr("privclust.service.planner.Planner.plan", never)
    path = f"/datasets/{serving.visits.id}/ask/distances/plan?epsilon=1"
    live = ann.get(path).json()
    assert (live["cost"], live["covered"], live["ready"]) == ("ε = 1", True, False)


def test_a_form_declares_the_number_of_rows_and_the_rule_of_a_matrix(serving: Serving) -> None:
    sue = signed_in(serving, "sue")
    page = "/steward/register"
    fields = {"schema": SCHEMA.to_toml(), "most_rows": "100", "unit": "replace-row"}
    for name, count in {"town": 30, "village": 31, "wrong": 32}.items():
        write_rows(serving.settings.folder / f"{name}.csv", count)
    sue.post(page, page, name="town", path="town.csv", n_rows="30", **fields)
    sue.post(page, page, name="village", path="village.csv", **fields)
    wrong = sue.post(page, page, name="wrong", path="wrong.csv", n_rows="31", **fields)
    entries = np.random.default_rng(1).poisson(2.0, (30, 12)).astype(float)
    entries[3, 4] = -1
    sparse.save_npz(serving.settings.folder / "a.npz", sparse.csr_array(entries))
    matrix = {"path": "a.npz", "schema": COUNTS, "most_rows": "30", "unit": "matrix-count"}
    refused = sue.post(page, page, name="strict", **matrix)
    sue.post(page, page, name="total", unreadable="zero", **matrix)
    units = {made.name: made.unit for made in serving.datasets.all()}
    assert units["town"] == ReplaceRow(30)
    assert units["village"] == ReplaceRow()
    assert units["total"] == MatrixCount(unreadable="zero")
    assert not {"strict", "wrong"} & set(units)
    assert "Negative values" in message(sue.follow(refused))
    assert "a different number of rows" in message(sue.follow(wrong))
