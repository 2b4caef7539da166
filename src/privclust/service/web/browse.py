"""Pages of an analyst: data sets, questions and their plans, jobs, releases, labels."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, ImmutableMultiDict
from starlette.responses import JSONResponse, Response

from privclust.exceptions import BudgetGoneError
from privclust.jobs.fit import sentence_of
from privclust.schema.facts import Categories
from privclust.service.accounts import Session, User
from privclust.service.balance import (
    balance_of,
    balance_with_curve,
    balances_of,
    cost_for,
    curve,
    granted_in_all,
)
from privclust.service.declared import Counts
from privclust.service.errors import NotFoundError, ServiceError
from privclust.service.fits import mock_data
from privclust.service.jobs import FAILED
from privclust.service.offers import OFFERS, offers_for, targets_in
from privclust.service.questions import FitQuestion, describe_question
from privclust.service.registered import Dataset
from privclust.service.releases import release_from
from privclust.service.services import Services
from privclust.service.web.pages import (
    CurrentSession,
    Form,
    NoterDep,
    Pager,
    ServicesDep,
    VerifiedForm,
    page,
    redirect,
    report_page,
)

router = APIRouter(include_in_schema=False)

# How the fields of options begin: those of one value, those of columns, and those of many lines,
# which the script for the live cost leaves out.
_OPTION, _COLUMNS, _LONG = "option-", "columns-", "lines-"
_MOCK_ROWS = 1000
_WIDE = 8  # columns of a table
_COMPARED = ("1/4", "1/2", "1", "2", "4")  # multiples of the ε asked for


@router.get("/")
def home(session: CurrentSession, services: ServicesDep) -> Response:
    """Show the data sets, with what is left of the reader's budget."""
    if session.user.role == "auditor":
        return redirect("/audit")
    user = session.user
    left = balances_of(services.database.ledger, user.name) if user.role == "analyst" else {}
    shown = [(it, left.get(it.name, [])) for it in services.datasets.visible_to(user)]
    steward = user.is_steward
    return page(
        "datasets",
        session,
        datasets=shown,
        requests=services.datasets.requests() if steward else [],
        checks=services.checks.running() if steward else [],
    )


@router.get("/datasets/{dataset_id}")
def dataset_page(dataset_id: str, session: CurrentSession, services: ServicesDep) -> Response:
    """Show one data set: what is declared, what is left, what can be asked."""
    user, ledger = session.user, services.database.ledger
    if user.role == "auditor":
        raise NotFoundError
    dataset = services.datasets.one(dataset_id, user)
    mine = balance_with_curve(ledger, dataset.name, user.name) if user.role == "analyst" else []
    return page(
        "dataset",
        session,
        dataset=dataset,
        balance=mine,
        offers=offers_for(dataset.schema),
        columns=describe_columns(dataset),
        asked=[it for it in services.datasets.requests(dataset) if it.user == user.name],
        **(grants_of(services, dataset) if user.is_steward else {}),
    )


def grants_of(services: Services, dataset: Dataset) -> dict[str, Any]:
    """Return what a steward sees of grants on a data set."""
    ledger, names = services.database.ledger, services.datasets.names_of_askers(dataset)
    people = [user.name for user, active in services.accounts.all() if active and user.is_analyst]
    return {
        "request_id": secrets.token_hex(16),
        "analysts": people,
        "asked_by": [(name, balance_of(ledger, dataset.name, name)) for name in names],
        "granted": granted_in_all(ledger, dataset.name),
        "requests": services.datasets.requests(dataset),
        "typed": Form(FormData()),
        "message": "",
    }


@router.get("/datasets/{dataset_id}/mock")
def mock(dataset_id: str, session: CurrentSession, services: ServicesDep) -> Response:
    """Give rows made up from what is declared, to write programs with."""
    if session.user.role == "auditor":
        raise NotFoundError
    dataset = services.datasets.one(dataset_id, session.user)
    name, file = mock_data(dataset.schema, dataset.unit, min(dataset.most_rows, _MOCK_ROWS))
    return file_response(file, name)


@router.post("/datasets/{dataset_id}/request")
def request_budget(
    dataset_id: str,
    session: CurrentSession,
    services: ServicesDep,
    form: VerifiedForm,
    note: NoterDep,
) -> Response:
    """Ask the stewards for budget."""
    dataset = _askable(services, dataset_id, session.user)
    epsilon, delta = form.text("epsilon"), form.text("delta") or "0"
    services.datasets.request_budget(dataset, session.user, epsilon, delta, form.text("reason"))
    note(session.user, "asked for budget", f"{dataset.name}: ε = {epsilon}, δ = {delta}")
    return redirect(f"/datasets/{dataset_id}")


@router.get("/datasets/{dataset_id}/ask/{family}")
def ask_page(
    dataset_id: str, family: str, session: CurrentSession, services: ServicesDep
) -> Response:
    """Show the form of a family."""
    dataset = _askable(services, dataset_id, session.user)
    question = FitQuestion.parse({"family": family, **_usual(dataset)}, dataset.schema)
    return _ask_page(session, services, dataset, question)


@router.get("/datasets/{dataset_id}/ask/{family}/plan")
async def live_plan(
    dataset_id: str, family: str, request: Request, session: CurrentSession, services: ServicesDep
) -> Response:
    """Return cost and expected error as JSON, for the script that shows them as one types."""
    # Public points are too many for an address: as one types, they are taken to lie anywhere.
    asked = {"family": family, **question_in_form(request.query_params)}
    dataset, question, cost = await run_in_threadpool(
        _priced, services, dataset_id, session.user, asked
    )
    plan = await services.planner.plan_soon(dataset, question, session.user.id)
    return JSONResponse({**cost, "ready": plan is not None, **(plan or {})})


@router.post("/datasets/{dataset_id}/ask/{family}")
async def ask(
    dataset_id: str, family: str, session: CurrentSession, services: ServicesDep, form: VerifiedForm
) -> Response:
    """Plan, compare budgets, try on made-up rows, or run: what the pressed button says."""
    dataset = await run_in_threadpool(_askable, services, dataset_id, session.user)
    points = targets_in(form.text("targets"))
    asked = question_in_form(form.data) | ({"targets": points} if points else {})
    try:
        question = FitQuestion.parse({"family": family, **asked}, dataset.schema)
    except ServiceError as error:  # what was typed stays in the form
        return await run_in_threadpool(
            _refused_page, session, services, dataset, family, asked, str(error)
        )
    act = form.text("act", "plan")
    if act == "run":
        request = form.text("request") or None
        try:
            answer = await run_in_threadpool(
                services.jobs.ask, session.user, dataset, question, request
            )
        except BudgetGoneError as error:  # what was typed stays in the form
            return await run_in_threadpool(
                _ask_page, session, services, dataset, question, message=str(error), status=409
            )
        return redirect(f"/jobs/{answer.job_id}{'?free=1' if answer.free else ''}")
    if act == "dry":
        html = await services.planner.dry_run(dataset, question, session.user.id)
        way = [
            (f"/datasets/{dataset.id}/ask/{family}", f"{question.offer.task.title}: {dataset.name}")
        ]
        return report_page(session, html, "Dry run", way)
    plan = await plan_with_cost(services, dataset, question, session.user)
    drawn = await _compared(services, dataset, question) if act == "compare" else None
    return await run_in_threadpool(
        _ask_page, session, services, dataset, question, plan=plan, drawn=drawn
    )


@router.get("/jobs")
def jobs_page(request: Request, session: CurrentSession, services: ServicesDep) -> Response:
    """Show the jobs of the reader, or all of them to a steward."""
    pager = Pager.of(request)
    jobs, pager = pager.cut(services.jobs.of(session.user, window=pager.window))
    return page("jobs", session, jobs=[(job, summarise(job.asked)) for job in jobs], pager=pager)


@router.get("/jobs/{job_id}")
def job_page(
    job_id: str, session: CurrentSession, services: ServicesDep, free: str = ""
) -> Response:
    """Show a job: that it waits, its release, or that it failed."""
    job = services.jobs.one(job_id, session.user)
    return page(
        "job",
        session,
        job=job,
        asked=describe_question(job.asked),
        words=summarise(job.asked),
        progress=services.progress_of(job) if session.user.is_steward else "",
        ready=services.jobs.ready_at(job),
        look=services.jobs.next_change_at(),
        free=bool(free) and job.state == "done",
        failed=FAILED,
        deleted=job.state == "done" and not services.releases.is_there(job.release_id),
        **_as_code(services, job.dataset_id, job.asked),
    )


def _as_code(services: Services, dataset_id: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Return a question as a program and as a command; empty if its family is gone."""
    url = f"{services.settings.url.rstrip('/')}/datasets/{dataset_id}"
    try:
        question = FitQuestion.parse(asked, services.datasets.by_id(dataset_id).schema)
    except ServiceError:
        return {"python": "", "command": ""}
    return {"python": question.to_python(url), "command": question.to_command(url)}


@router.post("/jobs/{job_id}/cancel")
def cancel(
    job_id: str, session: CurrentSession, services: ServicesDep, form: VerifiedForm, note: NoterDep
) -> Response:
    """End a job that has not begun."""
    services.queue.cancel(services.jobs.one(job_id, session.user).id, session.user)
    note(session.user, "cancelled job", job_id)
    return redirect(f"/jobs/{job_id}")


@router.get("/releases")
def releases_page(
    request: Request, session: CurrentSession, services: ServicesDep, dataset: str = ""
) -> Response:
    """Show the releases as cards, of one data set or of all."""
    pager = Pager.of(request)
    found, pager = pager.cut(services.releases.visible_to(session.user, dataset, pager.window))
    return page(
        "releases",
        session,
        releases=[(it, summarise(it.asked)) for it in found],
        pager=pager,
        names=services.releases.datasets_of(session.user),
        chosen=dataset,
    )


@router.get("/releases/{release_id}")
def release_page(release_id: str, session: CurrentSession, services: ServicesDep) -> Response:
    """Show a release: its question, centres, report, file, labels."""
    stored = services.releases.one(release_id, session.user)
    release = release_from(services.releases.file(release_id, session.user))
    return page(
        "release",
        session,
        release=stored,
        words=summarise(stored.asked),
        tables=[turn_if_wide(it.headings, it.lines) for it in release.facts().listings],
        signal=release.signal,
        warnings=release.parameters.get("warnings", ()),
        job=services.jobs.of_release(release_id, session.user),
        **_as_code(services, stored.dataset_id, stored.asked),
    )


def turn_if_wide(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return a table with a line for each column if it would be too wide for a page otherwise."""
    if len(headings) <= _WIDE or len(lines) >= len(headings):
        return {"headings": headings, "lines": lines}
    first, *others = zip(headings, *lines, strict=True)
    return {"headings": first, "lines": others}


@router.get("/releases/{release_id}/report")
def report(
    release_id: str, session: CurrentSession, services: ServicesDep, download: str = ""
) -> Response:
    """Show the report of a release, or give it as a file."""
    html = services.releases.report(release_id, session.user)
    if download:
        return file_response(html.encode(), "report.html", "text/html")
    stored = services.releases.one(release_id, session.user)
    way = [(f"/releases/{release_id}", f"Release: {stored.dataset}")]
    return report_page(session, html, "Report", way, f"/releases/{release_id}/report?download=1")


@router.get("/releases/{release_id}/file")
def release_file(release_id: str, session: CurrentSession, services: ServicesDep) -> Response:
    """Give the release as one file."""
    return file_response(services.releases.file(release_id, session.user), "release.privclust")


@router.post("/releases/{release_id}/labels")
def labels(
    release_id: str, session: CurrentSession, services: ServicesDep, form: VerifiedForm
) -> Response:
    """Label rows that the reader uploads; they are not kept."""
    release, upload = services.releases.file(release_id, session.user), form.file("rows")
    if upload is None:
        raise ServiceError("Choose a file with the columns of the release: CSV, Parquet or .npz.")
    made = services.labeller.labels(release, upload.file.read(), upload.filename or "")
    return file_response(made, "labels.csv", "text/csv")


def question_in_form(values: ImmutableMultiDict[str, Any]) -> dict[str, Any]:
    """Return the question in a form or in an address, as plain data; options have a prefix."""
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    given: dict[str, Any] = {
        name: texts[name].strip() for name in ("epsilon", "delta", "clusters") if name in texts
    }
    given["options"] = {
        name.removeprefix(prefix): values.getlist(name) if prefix == _COLUMNS else value
        for prefix in (_OPTION, _COLUMNS, _LONG)
        for name, value in texts.items()
        if name.startswith(prefix)
    }
    return given | ({"columns": values.getlist("columns")} if "columns" in values else {})


def summarise(asked: dict[str, Any]) -> str:
    """Return a question in one line, from the plain data that a job keeps."""
    offer, clusters = OFFERS.get(asked["family"]), asked.get("clusters")
    noun = "new centres" if offer and offer.takes_targets else "clusters"
    many = "" if clusters is None else f", {clusters} {noun}"
    where = f" of {', '.join(asked['columns'])}" if asked.get("columns") else ""
    delta = f", δ = {asked['delta']}" if asked["delta"] != "0" else ""
    return f"{offer.task.title if offer else asked['family']}{many}{where}; ε = {asked['epsilon']}{delta}"


def describe_columns(dataset: Dataset) -> list[dict[str, Any]]:
    """Return what is declared about every column, for readers."""
    if isinstance(dataset.schema, Counts):
        return []
    return [
        {
            "name": name,
            "meaning": dataset.meanings.get(name, ""),
            "declared": fact.describe(),
            "values": list(map(str, fact.values)) if isinstance(fact, Categories) else [],
            "rules": _rules(fact),
        }
        for name, fact in dataset.schema.columns.items()
    ]


def _rules(fact: Any) -> str:
    """Say what becomes of values that are missing, and of those that are not listed."""
    own = "are a category of their own"
    if not isinstance(fact, Categories):
        missing = fact.to_dict().get("missing", fact.missing)
        return (
            f"Missing values count as {missing:g}."
            if isinstance(missing, float)
            else (f"Missing values count as {missing}.")
        )
    if (fact.missing, fact.unknown) == ("category", "other"):
        return "Missing values are a category of their own, and so are values that are not listed."
    missing = own if fact.missing == "category" else f"count as “{fact.missing}”"
    other = own if fact.unknown == "other" else f"count as “{fact.unknown}”"
    return f"Missing values {missing}; values that are not listed {other}."


def _usual(dataset: Dataset) -> dict[str, str]:
    """Return what a form holds at first, where it is not the same for all."""
    return {"delta": "1e-6"} if getattr(dataset.unit, "whole_rows", False) else {}


async def plan_with_cost(
    services: Services, dataset: Dataset, question: FitQuestion, user: User
) -> dict[str, Any]:
    """Return a plan with what it costs its reader."""
    plan = await services.planner.plan(dataset, question, user.id)
    return {**plan, **await run_in_threadpool(_cost, services, dataset, question, user)}


def _priced(
    services: Services, dataset_id: str, user: User, asked: dict[str, Any]
) -> tuple[Dataset, FitQuestion, dict[str, Any]]:
    """Return a data set, the question about it that was asked, and what that costs."""
    dataset = _askable(services, dataset_id, user)
    question = FitQuestion.parse(asked, dataset.schema)
    return dataset, question, _cost(services, dataset, question, user)


def _cost(
    services: Services, dataset: Dataset, question: FitQuestion, user: User
) -> dict[str, Any]:
    try:
        budget = question.cost(dataset.schema, dataset.unit)
    except ValueError as error:
        raise ServiceError(sentence_of(error)) from None
    cost = cost_for(services.database.ledger, dataset.name, user.name, budget)
    return {"cost": cost.words, "covered": cost.covered, "left": cost.left}


def file_response(content: bytes, name: str, kind: str = "application/octet-stream") -> Response:
    """Return a file to be saved."""
    return Response(
        content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


def _askable(services: Services, dataset_id: str, user: User) -> Dataset:
    if user.role != "analyst":
        raise NotFoundError
    return services.datasets.one(dataset_id, user)


def _ask_page(
    session: Session,
    services: Services,
    dataset: Dataset,
    question: FitQuestion,
    plan: dict[str, Any] | None = None,
    drawn: Any = None,
    message: str = "",
    status: int = 200,
    typed: dict[str, str] | None = None,
) -> Response:
    numbers = {
        "epsilon": f"{float(question.budget.epsilon):g}",
        "delta": f"{float(question.budget.delta):g}",
        "clusters": question.clusters,
        **(typed or {}),
    }
    url = f"{services.settings.url.rstrip('/')}/datasets/{dataset.id}"
    return page(
        "ask",
        session,
        status,
        message=message,
        dataset=dataset,
        question=question,
        offer=question.offer,
        **numbers,
        targets="\n".join(", ".join(map(str, point)) for point in question.targets or ()),
        plan=plan,
        curve=drawn,
        python=question.to_python(url),
        command=question.to_command(url),
        request_id=secrets.token_hex(16),
        balance=balance_of(services.database.ledger, dataset.name, session.user.name),
    )


def _refused_page(
    session: Session,
    services: Services,
    dataset: Dataset,
    family: str,
    asked: dict[str, Any],
    words: str,
) -> Response:
    """Return the form as it was typed, with the sentence that refuses it."""
    typed: dict[str, str] = {
        name: asked.pop(name) for name in ("epsilon", "delta", "clusters") if name in asked
    }
    usual = {"family": family, **_usual(dataset)}
    try:
        question = FitQuestion.parse({**usual, **asked}, dataset.schema)
    except ServiceError:
        question = FitQuestion.parse(usual, dataset.schema)
    return _ask_page(session, services, dataset, question, message=words, status=400, typed=typed)


async def _compared(services: Services, dataset: Dataset, question: FitQuestion) -> Any:
    """Return the picture of the expected error for smaller and larger ε."""
    from fractions import Fraction

    points = []
    for times in _COMPARED:
        epsilon = question.budget.epsilon * Fraction(times)
        if epsilon <= 100:
            asked = question.to_dict() | {"epsilon": str(epsilon)}
            plan = await services.planner.plan(dataset, FitQuestion.parse(asked, dataset.schema))
            points.append((float(epsilon), float(plan["error_ratio"])))
    return curve(points)
