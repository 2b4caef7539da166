"""What pages tell their readers: questions as code, mock data, budgets, releases, confirmations."""

from __future__ import annotations

import io
import re
import shlex
from datetime import UTC, datetime
from html import unescape
from typing import Any

import numpy as np
import pytest

from privclust import AddRemoveRow, Box, Categories, MatrixCount, Person, PrivateKMeans, Schema
from privclust.cli.commands import app
from privclust.service import clock
from privclust.service.clock import tick_after
from privclust.service.declared import Counts
from privclust.service.offers import OFFERS
from privclust.service.planner import _in_plain_words
from privclust.service.questions import FitQuestion, mock_data
from privclust.service.remote import RemoteDataset, RemoteService, question_of
from privclust.service.web.browse import round_to_error
from service.browser import Browser, message, services_on, signed_in
from service.clocks import later, run_one
from service.serving import PASSWORD, SCHEMA, Serving
from service.test_service_families import MODELS
from support.command_line import CliRunner

DATED = Schema(
    {
        "age": Box(0, 100, missing=50),
        "day": Box("2020-01-01", "2021-01-01", missing="2020-06-01"),
        "at": Box("2020-01-01T00:00", "2021-01-01T00:00", missing="2020-06-01T00:00"),
        "sex": Categories(["f", "m"], missing="category", unknown="other"),
    }
)
URL = "http://127.0.0.1:8000/datasets/1f"


def released(serving: Serving, **asked: Any) -> tuple[Browser, str]:
    """Return the browser of ann, and the address of a release that she asked for."""
    ann, form = signed_in(serving, "ann"), f"/datasets/{serving.visits.id}/ask/kmeans"
    job = ann.post(form, form, **{"epsilon": "1", "clusters": "2", "act": "run", **asked})
    run_one(serving.database, serving.settings)
    later()
    found = re.search(r'href="(/releases/\w+)"', ann.follow(job).text)
    assert found
    return ann, found[1]


# Questions as code.
METHODS_OFFERED = [
    (name, method)
    for name, offer in OFFERS.items()
    for method in {it.name: it.choices for it in offer.options}.get("method", (None,))
]


@pytest.mark.parametrize(("family", "method"), METHODS_OFFERED)
def test_a_question_as_python_asks_the_same(
    family: str, method: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = Counts(30, 12, 6) if family == "cocluster" else SCHEMA
    asked: dict[str, Any] = {"family": family, "epsilon": "0.5", "delta": "1e-6"}
    options: dict[str, Any] = {} if method is None else {"method": method}
    if family == "kmeans":
        asked |= {"columns": ["age", "cost"]}
    if family == "source-target":
        asked |= {"targets": [[1, 2], [3, 4]]}
        options |= {"forbidden": [0]}
    question = FitQuestion.parse(asked | {"options": options}, declared)
    home = question.kind.__module__.rpartition(".")[0]
    if home.startswith("privclust.papers"):
        assert f"from {home} import {question.kind.__name__}\n" in question.to_python(URL)
    sent: list[dict[str, Any]] = []

    def fit(self: RemoteDataset, model: Any, columns: Any = None, **public: Any) -> None:
        sent.append(question_of(model, columns, **public))

    monkeypatch.setattr(RemoteDataset, "fit", fit)
    exec(question.to_python(URL), {"token": "x"})  # noqa: S102
    assert FitQuestion.parse(sent[0], declared) == question


def test_a_question_as_a_command_asks_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    given = {"epsilon": "1/3", "clusters": "auto", "options": {"method": "lloyd", "rescale": "no"}}
    question = FitQuestion.parse({"family": "kmeans", **given}, SCHEMA)
    sent: list[dict[str, Any]] = []

    def post(self: RemoteService, path: str, document: dict[str, Any]) -> dict[str, Any]:
        sent.append(document)
        return {"cost": "", "left": "", "sentence": "", "advice": "", "notes": []}

    monkeypatch.setattr(RemoteService, "post", post)
    command = shlex.split(question.to_command(URL))
    command[2] = "plan"  # which takes the same options, and waits for no answer
    ended = CliRunner().invoke(app, command[1:], env={"PRIVCLUST_TOKEN": "x"})
    assert ended.exit_code == 0, ended.output
    assert FitQuestion.parse(sent[0], SCHEMA) == question


def test_code_stands_on_the_form_the_job_and_the_release(serving: Serving) -> None:
    ann, release = released(serving)
    form = f"/datasets/{serving.visits.id}/ask/kmeans"
    for page in (form, release):
        code = unescape(ann.get(page).text)
        assert f'RemoteDataset("http://127.0.0.1:8000/datasets/{serving.visits.id}", token)' in code
        assert "privclust remote ask" in code
    assert set(MODELS) == set(OFFERS)


# Mock data.
@pytest.mark.parametrize("unit", [AddRemoveRow(), Person("rider", 2)])
def test_mock_data_are_read_by_the_schema(unit: Any, tmp_path: Any) -> None:
    name, file = mock_data(DATED, unit, 200)
    (tmp_path / name).write_bytes(file)
    people = {"id_column": "rider", "max_rows": 2} if isinstance(unit, Person) else {}
    report = DATED.check(str(tmp_path / name), **people)
    assert (report.rows, list(report.problems)) == (200, [])


def test_mock_counts_are_a_matrix() -> None:
    from scipy import sparse

    name, file = mock_data(Counts(30, 12, 6), MatrixCount(), 30)
    assert name == "mock.npz"
    assert sparse.load_npz(io.BytesIO(file)).shape == (30, 12)


def test_mock_data_are_for_those_who_may_ask(serving: Serving) -> None:
    place = f"/datasets/{serving.visits.id}/mock"
    assert signed_in(serving, "ann").get(place).text.startswith('"age","cost","sex","ward"')
    assert signed_in(serving, "bob").get(place).status_code == 404


# Budgets.
def test_an_analyst_asks_for_budget_and_the_steward_grants_it(any_serving: Serving) -> None:
    serving, place = any_serving, f"/datasets/{any_serving.visits.id}"
    ann, sue = signed_in(serving, "ann"), signed_in(serving, "sue")
    ann.post(f"{place}/request", place, epsilon="7", reason="too early")
    ann.post(f"{place}/request", place, epsilon="3", reason="the second wave")
    assert "You asked for ε = 3" in ann.get(place).text
    assert "ann asks for ε = 3" in sue.get("/").text
    (request,) = serving.datasets.requests(serving.visits)
    fields = {"user": "ann", "epsilon": request.epsilon, "delta": request.delta}
    sure = sue.post(f"/steward{place}/grant", place, **fields, request=request.id)
    assert "ann has ε = 2 left, and this is added to it" in unescape(sure.text)
    assert "All analysts together were granted ε = 2 so far" in unescape(sure.text)
    assert serving.datasets.requests()
    sue.confirm(f"/steward{place}/grant", place, **fields, request=request.id)
    assert serving.datasets.requests() == []
    assert "Left: ε = 5" in ann.get(place).text
    assert message(ann.post(f"{place}/request", place, epsilon="0"))


def test_a_request_is_declined_and_strangers_make_none(serving: Serving) -> None:
    place, sue = f"/datasets/{serving.visits.id}", signed_in(serving, "sue")
    bob = signed_in(serving, "bob")
    assert bob.post(f"{place}/request", epsilon="1").status_code == 404
    signed_in(serving, "ann").post(f"{place}/request", place, epsilon="1")
    (request,) = serving.datasets.requests()
    assert bob.post(f"/steward/requests/{request.id}/decline").status_code == 404
    sue.post(f"/steward/requests/{request.id}/decline")
    assert serving.datasets.requests() == []
    assert "Left: ε = 2" in signed_in(serving, "ann").get(place).text


def test_what_is_left_is_told_in_few_digits_and_rounded_down(serving: Serving) -> None:
    serving.jobs.ask(serving.ann, serving.visits, serving.question(epsilon="1/3"))
    assert "Left: ε = 1.6666<" in signed_in(serving, "ann").get("/").text


# Acts that cannot be undone.
@pytest.mark.parametrize(
    ("path", "table"),
    [
        ("/steward/datasets/{dataset}/freeze", "SELECT frozen FROM service_datasets"),
        ("/steward/datasets/{dataset}/delete", "SELECT deleted FROM service_datasets"),
        ("/steward/datasets/{dataset}/revoke", "SELECT count(*) FROM service_access"),
        ("/steward/users/{bob}/close", "SELECT sum(active) FROM service_users"),
        ("/steward/users/{bob}/reset", "SELECT sum(must_change) FROM service_users"),
        ("/steward/users/{bob}/delete", "SELECT sum(deleted) FROM service_users"),
        ("{release}/delete", "SELECT deleted FROM service_releases"),
    ],
)
def test_an_act_that_cannot_be_undone_is_asked_about_first(
    serving: Serving, path: str, table: str
) -> None:
    _, release = released(serving)
    sue, before = signed_in(serving, "sue"), serving.database.rows(table)
    known = {"dataset": serving.visits.id, "bob": serving.bob.id, "release": f"/steward{release}"}
    place = path.format(**known)
    asked = sue.post(place, user="ann")
    assert (asked.status_code, serving.database.rows(table)) == (200, before)
    assert 'name="sure" value="yes"' in asked.text
    assert f'action="{place}"' in asked.text
    assert sue.confirm(place, user="ann").status_code in (200, 303)
    assert serving.database.rows(table) != before


# Releases and jobs.
def test_a_release_says_what_was_asked_when_and_what_came_of_it(serving: Serving) -> None:
    ann, release = released(serving, columns=["age", "cost"])
    page = ann.get(release).text
    assert "Clusters (k-means), 2 clusters of age, cost; ε = 1" in page
    assert "<th>age</th>" in page
    assert re.search(r"<td>\d+ ± \d+</td>", page)
    assert re.search(r'href="/jobs/\w{32}">the job', page)
    assert "version of the data" in page
    listed = ann.get("/releases").text
    assert "2 clusters of age, cost" in listed
    assert "<time datetime=" in listed


def test_a_useless_release_says_so(serving: Serving) -> None:
    ann, release = released(serving, epsilon="0.001")
    assert "This says nothing about the rows." in ann.get(release).text
    assert "Says nothing about the rows" in ann.get("/releases").text


def test_releases_are_filtered_by_data_set(serving: Serving) -> None:
    ann, release = released(serving)
    assert release in ann.get("/releases?dataset=visits").text
    assert release not in ann.get("/releases?dataset=others").text


def test_a_report_stands_within_the_site_and_can_be_downloaded(serving: Serving) -> None:
    ann, release = released(serving)
    page = ann.get(f"{release}/report")
    assert 'aria-label="Main"' in page.text
    assert page.text.count("<main") == 1
    assert f'href="{release}"' in page.text
    policy = page.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe-inline" not in policy.partition("style-src-attr")[0]
    alone = ann.get(f"{release}/report?download=1")
    assert "attachment" in alone.headers["content-disposition"]
    assert 'aria-label="Main"' not in alone.text


def test_a_release_is_dated_by_the_day_its_job_began(serving: Serving) -> None:
    from privclust.service.releases import release_from

    later(40 * 86400)  # for the queue; the fit looks at the machine's clock
    began = datetime.fromtimestamp(tick_after(clock.now(), 60), UTC)
    serving.jobs.ask(serving.ann, serving.visits, serving.question())
    run_one(serving.database, serving.settings)
    later()
    (stored,) = serving.releases.visible_to(serving.ann)
    release = release_from(serving.releases.file(stored.id, serving.ann))
    assert release.created == began.date().isoformat()
    assert release.digest == stored.digest
    settled = serving.database.ledger.history("visits")[-1]
    assert settled.digest == release.digest


def test_a_job_says_when_it_is_ready_at_the_earliest(serving: Serving) -> None:
    ann, form = signed_in(serving, "ann"), f"/datasets/{serving.visits.id}/ask/kmeans"
    page = ann.follow(ann.post(form, form, epsilon="1", clusters="3", act="run")).text
    (job,) = serving.jobs.of(serving.ann)
    ready = serving.jobs.ready_at(job)
    assert ready % 60 == 0
    assert ready >= job.asked_at + job.first_tick
    assert f'data-refresh-at="{serving.jobs.next_change_at()}"' in page
    assert "3 clusters of age, cost, sex, ward" in ann.get("/jobs").text


def test_after_the_first_password_nobody_signs_in_again(serving: Serving) -> None:
    password = serving.accounts.reset(serving.ann)
    ann = Browser(services_on(serving))
    ann.sign_in("ann", password)
    assert ann.post("/password", old=password, new=PASSWORD + "!").headers["location"] == "/"
    assert "visits" in ann.get("/").text


# Plans.
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (0.996, "as good as without privacy"),
        (1.11, "about 11 % larger than without privacy"),
        (3.4, "about 3.4 times that without privacy"),
    ],
)
def test_a_plan_is_told_in_plain_words(error: float, words: str) -> None:
    from privclust.clustering.plan import INERTIA

    class Made:
        measure, error_ratio = INERTIA, error

    told = _in_plain_words(Made(), 100)
    assert words in told
    assert "inertia" not in told


@pytest.mark.parametrize(
    ("error", "words"), [(0.05, "good."), (12, "to be used with care."), (30, "useless.")]
)
def test_a_plan_with_a_measure_of_its_own_says_first_what_to_expect(
    error: float, words: str
) -> None:
    from privclust.categories.plan import NOISE

    class Made:
        measure, error_ratio = NOISE, error

    assert _in_plain_words(Made(), 100).startswith(f"Expected result: {words}")


def test_a_comparison_says_where_more_budget_stops_to_help() -> None:
    from privclust.service.balance import curve

    verdict = curve([(0.5, 3.0), (1.0, 1.5), (2.0, 1.7)]).verdict
    assert "falls until ε = 1;" in verdict
    assert curve([(0.5, 3.0), (1.0, 1.5)]).verdict == "A larger ε has a smaller error."


def test_a_flat_comparison_is_not_drawn_as_a_trend() -> None:
    from privclust.service.balance import curve

    flat = curve([(0.5, 1.0), (1.0, 1.01), (2.0, 0.99)])
    assert "about the same" in flat.verdict
    heights = np.array([point.y for point in flat.points])
    assert np.ptp(heights) < 60
    steep = curve([(0.5, 3.0), (1.0, 2.0)])
    assert [point.y for point in steep.points] == [0, 160]


def test_the_model_of_a_page_is_one_of_ours() -> None:
    assert PrivateKMeans.__name__ in FitQuestion.parse({"epsilon": "1"}, SCHEMA).to_python(URL)


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("2.776e-17 ± 0.2", "0.0 ± 0.2"),
        ("-3e-05 ± 0.04", "0.00 ± 0.04"),
        ("79.18 ± 4", "79 ± 4"),
        ("0.6347 ± 0.15", "0.63 ± 0.15"),
        ("1,140 ± 94", "1,140 ± 94"),
        ("older, low cost; 139 ± 94 rows", "older, low cost; 139 ± 94 rows"),
    ],
)
def test_a_number_has_the_digits_of_its_error(cell: str, shown: str) -> None:
    assert round_to_error(cell) == shown
