"""Every family through the service: forms, options, plans, dry runs, jobs, reports, the client."""

from __future__ import annotations

import inspect
import secrets
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from privclust import (
    MatrixCount,
    MatrixEntry,
    MatrixRow,
    PrivateDensity,
    PrivateGaussianMixture,
    PrivateKMeans,
    PrivateSummary,
)
from privclust.coclustering.estimator import PrivateCoclustering
from privclust.service.declared import Counts, parse_declaration
from privclust.service.errors import ServiceError
from privclust.service.labelling import Labeller, Limits
from privclust.service.offers import OFFERS, Option, offers_for
from privclust.service.questions import FitQuestion, check_question, plan_of, synthetic_fit
from privclust.service.registered import Dataset
from privclust.service.registration import check_files
from privclust.service.releases import release_from
from privclust.service.remote import RemoteError, question_of
from privclust.source_target.estimator import SourceTargetEstimator
from privclust.unit import Unit
from privclust.unit.rows import AddRemoveRow, Person
from service.browser import Browser, message, services_on
from service.clocks import run_one
from service.serving import SCHEMA, Serving, register
from service.test_service_rules import FAR
from support.variants import dilca, medoids

COUNTS = Counts(30, 12, 6)
TOWNS = [[10.0, 1.0], [20.0, 2.0], [60.0, 5.0], [90.0, 9.0]]
# The service's own parameters: what is declared, the budget, noise and charge.
OWN = {
    "epsilon", "delta", "budget", "schema", "bounds", "unit", "shape",
    "random_state", "ledger", "dataset",
}  # fmt: skip
# What a fit takes beside its options: rows, and points that every question has.
ROWS = {"self", "X", "y", "target", "source"}
MODELS = {
    "kmeans": PrivateKMeans(2, epsilon=0.5, method="lloyd"),
    "summarise": PrivateSummary(epsilon=0.5, profile_share=0.1),
    "density": PrivateDensity(epsilon=0.5),
    "mixture": PrivateGaussianMixture(2, epsilon=0.5, covariance_type="diag"),
    "distances": dilca(epsilon=0.5, context_size=1, targets=["ward"], ordinal=("ward",)),
    "source-target": medoids(2, epsilon=0.5, method="nna", pull=False),
    "cocluster": PrivateCoclustering(2, 3, epsilon=0.5, rule="tau"),
}


def with_matrix(serving: Serving, unit: Unit | None = None, more: int = 0) -> Dataset:
    """Register a small matrix, with so much more in one entry, and let ann ask it."""
    rng = np.random.default_rng(1)
    dense = rng.poisson(0.5, COUNTS.shape)
    dense[3, 4] += more
    counts = sparse.csr_array(dense)
    sparse.save_npz(serving.settings.folder / "baskets.npz", counts)
    made = register(
        serving.datasets, "baskets", "baskets.npz", COUNTS, unit or MatrixCount(), COUNTS.rows
    )
    serving.datasets.grant(made, serving.ann, "2", "1e-5", "")
    return made


def asked_by(model: Any) -> dict[str, Any]:
    takes_targets = isinstance(model, SourceTargetEstimator)
    columns = ["age", "cost"] if takes_targets else None
    return question_of(model, columns, TOWNS if takes_targets else None)


@pytest.mark.parametrize("family", OFFERS)
def test_every_parameter_is_an_option_or_the_services_own(family: str) -> None:
    offer = OFFERS[family]
    known = {option.name for option in offer.options} | OWN | {offer.task.clusters}
    kinds: list[Any] = [variant.kind for variant in offer.task.variants if variant.in_service]
    takers = [it for kind in kinds for it in (kind, kind.fit)]
    parameters = {name for it in takers for name in inspect.signature(it).parameters} - ROWS
    assert parameters - known == set()
    assert known - OWN - parameters <= {""}


@pytest.mark.parametrize(
    ("family", "option"),
    [(offer.name, option) for offer in OFFERS.values() for option in offer.options],
)
def test_an_option_is_what_the_estimator_takes(family: str, option: Option) -> None:
    record = OFFERS[family].task.parameters(in_service=True).get(option.name)
    check = None if record is None else record.check
    for choice in option.choices or ("1",):
        value = option.parse(choice, ["1"])
        methods = option.name == "method"
        if check is not None and not methods and (option.choices or option.kind == "whole"):
            check(value)
        assert option.parse(option.show(value), ["1"]) == value
    assert option.parse("") == option.default


@pytest.mark.parametrize(
    "options",
    [{"method": "magic"}, {"seed": 1}, {"profile_share": "-1"}, {"profile_share": "1e999"}, [1]],
)
def test_a_wrong_option_is_refused_in_one_sentence(options: Any) -> None:
    with pytest.raises(ServiceError):
        FitQuestion.parse({"family": "kmeans", "options": options}, SCHEMA)


def test_an_option_at_its_default_is_the_same_question() -> None:
    plain = FitQuestion.parse({"family": "kmeans"}, SCHEMA)
    said = FitQuestion.parse({"family": "kmeans", "options": {"method": "auto"}}, SCHEMA)
    other = FitQuestion.parse({"family": "kmeans", "options": {"method": "lloyd"}}, SCHEMA)
    assert plain.digest_on("x", "y") == said.digest_on("x", "y") != other.digest_on("x", "y")
    assert FitQuestion.parse(other.to_dict(), SCHEMA) == other


@pytest.mark.parametrize("family", OFFERS)
def test_every_family_is_planned_and_tried_on_made_up_data(family: str) -> None:
    matrix = family == "cocluster"
    declared, unit = (COUNTS, MatrixCount()) if matrix else (SCHEMA, AddRemoveRow())
    question = FitQuestion.parse(asked_by(MODELS[family]), declared)
    assert plan_of(question, declared, unit, 100).budget == question.budget
    release = synthetic_fit(question, declared, unit, 100).make_release()
    assert "ε = 0.5" in release.to_html()


@pytest.mark.parametrize("family", OFFERS)
def test_every_family_is_asked_run_and_released(serving: Serving, family: str) -> None:
    dataset = with_matrix(serving) if family == "cocluster" else serving.visits
    model = MODELS[family]
    question = FitQuestion.parse(asked_by(model), dataset.schema)
    answer = serving.jobs.ask(serving.ann, dataset, question)
    assert run_one(serving.database, serving.settings)
    job = serving.jobs.one(answer.job_id, serving.steward)
    assert job.state == "done", job.details
    release = release_from(serving.releases.file(job.release_id or "", serving.steward))
    assert (release.privacy.receipt, str(release.privacy.epsilon)) == (job.receipt, "1/2")
    assert release.kind == type(model)._kind
    assert serving.releases.report(job.release_id or "", serving.steward).startswith("<!doctype")


@pytest.mark.parametrize(
    ("given", "unit"),
    [
        ({"family": "source-target", "columns": ["age", "cost"]}, None),
        ({"family": "source-target", "columns": ["age", "cost"], "targets": TOWNS}, None),
        ({"family": "kmeans", "clusters": "auto", "options": {"method": "lloyd"}}, None),
        ({"family": "cocluster"}, MatrixRow()),
        ({"family": "cocluster", "delta": "1e-6", "options": {"rule": "tau"}}, MatrixRow()),
    ],
)
def test_what_no_fit_could_answer_is_refused_before_the_charge(
    serving: Serving, given: dict[str, Any], unit: Unit | None
) -> None:
    """No points; eight centres of four points; options that do not go together; a missing δ."""
    dataset = serving.visits if unit is None else with_matrix(serving, unit)
    with pytest.raises(ServiceError):
        serving.jobs.ask(serving.ann, dataset, FitQuestion.parse(given, dataset.schema))
    assert serving.jobs.of(serving.steward) == []


def test_a_question_that_can_be_answered_passes_the_check() -> None:
    given = {"family": "cocluster", "delta": "1e-6"}
    check_question(FitQuestion.parse(given, COUNTS), COUNTS, MatrixRow())


# Matrices.
def test_a_matrix_is_declared_in_toml_or_json() -> None:
    text = "[matrix]\nrows = 30\ncolumns = 12\nrow_total = 6\n"
    assert parse_declaration(text) == parse_declaration(COUNTS.to_json()) == COUNTS
    for wrong in ("[matrix]\nrows = 0\ncolumns = 1\n", "[matrix]\nrows = 1\n", '{"matrix": 3}'):
        with pytest.raises(ServiceError, match="declared by whole numbers"):
            parse_declaration(wrong)
    assert [offer.name for offer in offers_for(COUNTS)] == ["cocluster"]


@pytest.mark.parametrize(
    ("declared", "unit", "said"),
    [
        (Counts(29, 12), MatrixCount(), "declared number of rows"),
        (Counts(30, 13), MatrixCount(), "columns where"),
        (COUNTS, AddRemoveRow(), "protected by count, entry or row"),
        (SCHEMA, MatrixEntry(), "protected by count, entry or row"),
    ],
)
def test_a_matrix_that_is_not_as_declared_is_refused(
    serving: Serving, declared: Any, unit: Unit, said: str
) -> None:
    with_matrix(serving)
    with pytest.raises(ServiceError, match=said):
        check_files(serving.settings.folder / "baskets.npz", declared, unit, 30)


def test_whole_rows_of_a_matrix_are_protected_too(serving: Serving) -> None:
    dataset = with_matrix(serving, MatrixRow())
    question = FitQuestion.parse({"family": "cocluster", "delta": "1e-6"}, dataset.schema)
    answer = serving.jobs.ask(serving.ann, dataset, question)
    run_one(serving.database, serving.settings)
    assert serving.jobs.one(answer.job_id, serving.ann, FAR).state == "done"


# Pages.
def test_the_form_of_a_family_has_its_options_and_runs_with_them(serving: Serving) -> None:
    dataset = with_matrix(serving)
    ann = Browser(services_on(serving))
    ann.sign_in("ann")
    path = f"/datasets/{dataset.id}/ask/cocluster"
    text = ann.get(path).text
    assert 'name="option-n_column_clusters"' in text
    assert "30 rows and 12 columns" in ann.get(f"/datasets/{dataset.id}").text
    fields = {"clusters": "2", "option-n_column_clusters": "3", "option-rule": "tau"}
    planned = ann.post(path, path, epsilon="1", act="plan", **fields)
    assert "Cost: ε = 1" in planned.text
    assert 'value="3"' in planned.text
    live = ann.client.get(f"{path}/plan", params={"epsilon": "1", **fields}).json()
    assert live["cost"] == "ε = 1"
    ran = ann.post(path, path, epsilon="1", act="run", request="e" * 32, **fields)
    assert ran.headers["location"] == f"/jobs/{'e' * 32}"
    (job,) = serving.jobs.of(serving.steward)
    assert job.asked["options"] == {"n_column_clusters": 3, "rule": "tau"}
    assert "n_column_clusters" in ann.get(f"/jobs/{job.id}").text
    refused = ann.post(path, path, epsilon="1", act="run", **{"option-rule": "magic"})
    assert message(refused) == "How rows are labelled is one of prototypes, tau; choose one."


def test_points_are_typed_into_the_form(serving: Serving) -> None:
    ann = Browser(services_on(serving))
    ann.sign_in("ann")
    path = f"/datasets/{serving.visits.id}/ask/source-target"
    points = "age, cost\n10,1\n20; 2\n60 5\n\n90,9\n"
    fields = {"clusters": "2", "columns": ["age", "cost"], "targets": points}
    dry = ann.post(path, path, epsilon="1", act="dry", **fields)
    assert "Dry run on synthetic rows" in dry.text
    ran = ann.post(path, path, epsilon="1", act="run", request=secrets.token_hex(16), **fields)
    assert ran.status_code == 303
    (job,) = serving.jobs.of(serving.steward)
    assert job.asked["targets"] == TOWNS
    assert "4 points" in ann.get(f"/jobs/{job.id}").text
    fields["targets"] = "10,1\nx,2\n"
    assert "one for each chosen column" in message(ann.post(path, path, act="plan", **fields))


def test_labels_by_a_release_of_a_matrix_are_of_an_uploaded_matrix(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    dataset = with_matrix(serving)
    question = FitQuestion.parse({"family": "cocluster"}, dataset.schema)
    answer = serving.jobs.ask(serving.ann, dataset, question)
    run_one(serving.database, serving.settings)
    job = serving.jobs.one(answer.job_id, serving.steward)
    file = serving.releases.file(job.release_id or "", serving.steward)
    own = tmp_path / "own.npz"
    sparse.save_npz(own, sparse.csr_array(np.ones((4, 12), dtype=int)))
    assert len(Labeller(Limits()).labels(file, own.read_bytes(), "own.npz").split()) == 5


def test_the_client_refuses_what_is_no_offer() -> None:
    from privclust.papers.tau.private import PrivateTauCoclustering

    with pytest.raises(RemoteError, match="offers"):
        question_of(PrivateTauCoclustering())


@pytest.mark.parametrize("who", ["abc", ""])
def test_ids_that_a_rule_makes_people_of_their_own_are_no_problem(
    who: str, serving: Serving
) -> None:
    rows = [f"{number}.5,1,f,a,{number}" for number in range(30)]
    path = serving.settings.folder / "people.csv"
    path.write_text("\n".join(["age,cost,sex,ward,who", *rows, f"1,1,f,a,{who}", ""]))
    with pytest.raises(ServiceError, match="ids"):
        check_files(path, SCHEMA, Person("who", 2, "number"), 100)
    check_files(path, SCHEMA, Person("who", 2, "number", "separate"), 100)
