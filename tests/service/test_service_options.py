"""Options that are lists, options of a fit, what they cost, and plans that are remembered."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from privclust import Person
from privclust.service.errors import ServiceError
from privclust.service.planner import Planner
from privclust.service.questions import FitQuestion, plan_of
from privclust.service.releases import release_from
from privclust.service.remote import RemoteError, question_of
from service.browser import message, signed_in
from service.clocks import run_one
from service.serving import SCHEMA, Serving
from service.test_service_api import Api
from support.variants import dilca, medoids

TOWNS = [[10.0, 1.0], [20.0, 2.0], [60.0, 5.0], [90.0, 9.0]]
PLACES = {"family": "source-target", "clusters": 2, "columns": ["age", "cost"], "targets": TOWNS}


def chosen_places(serving: Serving, **options: Any) -> list[int]:
    """Ask for new centres with options, run the job, and return the numbers of the chosen ones."""
    question = FitQuestion.parse({**PLACES, "options": options}, SCHEMA)
    answer = serving.jobs.ask(serving.ann, serving.visits, question)
    run_one(serving.database, serving.settings)
    job = serving.jobs.one(answer.job_id, serving.steward)
    assert job.state == "done", job.details
    release = release_from(serving.releases.file(job.release_id or "", serving.steward))
    found: list[int] = release.arrays["medoid_indices"].tolist()
    return found


def test_forced_forbidden_and_weighted_places_reach_the_fit(serving: Serving) -> None:
    found = chosen_places(serving, forced="1", forbidden=[0, 2], sample_weight=[1, 1, 1, 1])
    assert sorted(found) == [1, 3]


def test_new_centres_stand_at_candidates_if_there_are_any(serving: Serving) -> None:
    found = chosen_places(serving, candidates="11,1\n12,1\n13,1", forbidden=[0])
    assert sorted(found) == [1, 2]


@pytest.mark.parametrize(
    "options",
    [
        {"forced": [4]},
        {"forbidden": "0, 1, 2"},
        {"sample_weight": [1, 1]},
        {"sample_weight": [-1, 1, 1, 1]},
        {"sample_weight": [True, 1, 1, 1]},
        {"forced": ["x"]},
        {"forced": "0.5"},
        {"forced": 1},
        {"candidates": [[1.0]]},
        {"candidates": "1,2,3"},
        {"method": ["nna"]},
    ],
)
def test_wrong_lists_are_refused_in_one_sentence_before_the_charge(
    serving: Serving, options: dict[str, Any]
) -> None:
    with pytest.raises(ServiceError):
        chosen_places(serving, **options)
    assert serving.charges() == []


def test_a_list_of_columns_has_one_form() -> None:
    def asked(targets: Any) -> FitQuestion:
        given = {"family": "distances", "options": {"targets": targets}}
        return FitQuestion.parse(given, SCHEMA)

    assert asked("ward, sex") == asked(["sex", "ward", "ward"])
    assert FitQuestion.parse(asked(["ward"]).to_dict(), SCHEMA) == asked("ward")
    assert asked([]) == asked("") == FitQuestion.parse({"family": "distances"}, SCHEMA)
    for wrong in ("age", ["age"], [["ward"]], 3):
        with pytest.raises(ServiceError, match="list columns of the question"):
            asked(wrong)


def test_a_budget_for_each_column_is_charged_for_all_of_them(serving: Serving) -> None:
    model = dilca(epsilon=0.5, method="mean-su", budget_per_target=True)
    question = FitQuestion.parse(question_of(model), SCHEMA)
    answer = serving.jobs.ask(serving.ann, serving.visits, question)
    (pot,) = serving.database.ledger.balance("visits", "ann")
    assert pot.spent.epsilon == pot.granted.epsilon // 2  # half an ε for each of two columns
    run_one(serving.database, serving.settings)
    assert serving.jobs.one(answer.job_id, serving.steward).state == "done"


def test_the_live_cost_is_that_of_all_columns(serving: Serving) -> None:
    ann = signed_in(serving, "ann")
    path = f"/datasets/{serving.visits.id}/ask/distances/plan"
    given = {"epsilon": "0.5", "option-method": "mean-su", "option-budget_per_target": "yes"}
    assert ann.client.get(path, params=given).json()["cost"] == "ε = 1"
    given["columns-targets"] = "ward"
    assert ann.client.get(path, params=given).json()["cost"] == "ε = 0.5"


def test_lists_are_ticked_and_typed_in_forms_and_shown_with_the_job(serving: Serving) -> None:
    ann = signed_in(serving, "ann")
    path = f"/datasets/{serving.visits.id}/ask/distances"
    fields = {"columns-targets": ["ward"], "columns-ordinal": ["ward", "sex"]}
    planned = ann.post(path, path, epsilon="1", act="plan", **fields).text
    assert planned.count(" checked>") == 2 + 3
    ann.post(path, path, epsilon="1", act="run", request="a" * 32, **fields)
    path = f"/datasets/{serving.visits.id}/ask/source-target"
    lines = {"columns": ["age", "cost"], "targets": "10 1\n20 2\n60 5", "clusters": "1"}
    lines |= {"lines-forced": "2", "lines-candidates": "1 1\n2 2\n3 3"}
    ann.post(path, path, epsilon="1", act="run", request="b" * 32, **lines)
    asked = {job.id[0]: job.asked["options"] for job in serving.jobs.of(serving.steward)}
    assert asked["a"] == {"targets": ["ward"], "ordinal": ["sex", "ward"]}
    assert asked["b"] == {"forced": [2], "candidates": [[1, 1], [2, 2], [3, 3]]}
    assert "3 points" in ann.get(f"/jobs/{'b' * 32}").text
    lines |= {"lines-forced": "two"}
    assert "whole numbers" in message(ann.post(path, path, epsilon="1", act="plan", **lines))


def test_programs_send_lists_as_lists(serving: Serving) -> None:
    api = Api(serving)
    asked = {**PLACES, "options": {"forced": [1], "sample_weight": [1, 2, 3, 0.5]}}
    answer = api("POST", f"/datasets/{serving.visits.id}/jobs", asked)
    assert answer.status_code == 202, answer.text
    assert answer.json()["asked"]["sample_weight"] == "1.0, 2.0, 3.0, 0.5"


def test_the_client_takes_what_the_estimators_fit_takes() -> None:
    model = medoids(2)
    asked = question_of(model, ["age", "cost"], TOWNS, forced=[1], candidates=TOWNS)
    assert asked["options"] == {"forced": [1], "candidates": TOWNS}
    with pytest.raises(RemoteError, match="cannot be asked for"):
        question_of(model, None, TOWNS, source=TOWNS)


def test_new_centres_are_planned_where_people_are_protected() -> None:
    question = FitQuestion.parse({**PLACES, "clusters": "1"}, SCHEMA)
    assert plan_of(question, SCHEMA, Person("rider", 2), 50).budget == question.budget


# What is remembered.
def test_equal_questions_about_equal_facts_are_planned_once(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    def make(*public: Any) -> dict[str, Any]:
        made.append(public)
        return {}

    planner = Planner(own_process=False)
    monkeypatch.setattr("privclust.service.planner._make_plan", make)
    monkeypatch.setattr("privclust.service.planner._dry", make)

    async def ask() -> None:
        for epsilon in ("1", "1.0", "2"):
            await planner.plan(serving.visits, serving.question(epsilon=epsilon))
        for other in range(10, 40):
            await planner.dry_run(serving.visits, serving.question(epsilon=other))

    asyncio.run(ask())
    planner.close()
    assert len(made) == 2 + 30
    assert {what: len(kept) for what, kept in planner._kept.items()} == {"plan": 2, "dry run": 20}
