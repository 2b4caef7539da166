"""Pages of an analyst: data sets, questions and their plans, jobs, releases, labels."""

from __future__ import annotations

import secrets
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import ImmutableMultiDict
from starlette.responses import HTMLResponse, JSONResponse, Response

from privclust.exceptions import BudgetGoneError
from privclust.jobs.fit import sentence_of
from privclust.service.balance import balance_of, balances_of, cost_for, drawn_balance_of
from privclust.service.datasets import Dataset
from privclust.service.errors import NotFoundError, ServiceError
from privclust.service.jobs import FAILED
from privclust.service.offers import offers_for
from privclust.service.people import Session, User
from privclust.service.questions import FitQuestion, described
from privclust.service.site import Site
from privclust.service.targets import targets_in
from privclust.service.web.pages import Here, Noting, Posted, Signed, page, see
from privclust.service.web.pictures import curve
from privclust.service.web.security import REPORT_POLICY

router = APIRouter(include_in_schema=False)

# How the fields of options begin: those of one value, those of columns, and those of many lines,
# which the script for the live cost leaves out.
_OPTION, _COLUMNS, _LONG = "option-", "columns-", "lines-"
_COMPARED = ("1/4", "1/2", "1", "2", "4")  # multiples of the ε asked for


@router.get("/")
def home(session: Signed, site: Here) -> Response:
    """Show the data sets, with what is left of the reader's budget."""
    if session.user.role == "auditor":
        return see("/audit")
    user = session.user
    left = balances_of(site.database.ledger, user.name) if user.role == "analyst" else {}
    shown = [(it, left.get(it.name, [])) for it in site.datasets.seen_by(user)]
    return page("datasets", session, datasets=shown)


@router.get("/datasets/{dataset_id}")
def dataset_page(dataset_id: str, session: Signed, site: Here) -> Response:
    """Show one data set: what is declared, what is left, what can be asked."""
    user, ledger = session.user, site.database.ledger
    dataset = site.datasets.one(dataset_id, user)
    mine = drawn_balance_of(ledger, dataset.name, user.name) if user.role == "analyst" else []
    names = site.datasets.asked_by(dataset) if user.is_steward else []
    return page(
        "dataset",
        session,
        dataset=dataset,
        balance=mine,
        offers=offers_for(dataset.schema),
        request_id=secrets.token_hex(16),
        asked_by=[(name, balance_of(ledger, dataset.name, name)) for name in names],
    )


@router.get("/datasets/{dataset_id}/ask/{family}")
def ask_page(dataset_id: str, family: str, session: Signed, site: Here) -> Response:
    """Show the form of a family."""
    dataset = _askable(site, dataset_id, session.user)
    question = FitQuestion.parsed({"family": family, **_usual(dataset)}, dataset.schema)
    return _ask_page(session, site, dataset, question)


@router.get("/datasets/{dataset_id}/ask/{family}/plan")
async def live_plan(
    dataset_id: str, family: str, request: Request, session: Signed, site: Here
) -> Response:
    """Return cost and expected error as JSON, for the script that shows them as one types."""
    # Public points are too many for an address: as one types, they are taken to lie anywhere.
    asked = {"family": family, **asked_in(request.query_params)}
    dataset, question, cost = await run_in_threadpool(
        _priced, site, dataset_id, session.user, asked
    )
    plan = await site.planner.plan_soon(dataset, question, session.user.id)
    return JSONResponse({**cost, "ready": plan is not None, **(plan or {})})


@router.post("/datasets/{dataset_id}/ask/{family}")
async def ask(dataset_id: str, family: str, session: Signed, site: Here, form: Posted) -> Response:
    """Plan, compare budgets, try on made-up rows, or run: what the pressed button says."""
    dataset = await run_in_threadpool(_askable, site, dataset_id, session.user)
    points = targets_in(form.text("targets"))
    asked = asked_in(form.data) | ({"targets": points} if points else {})
    try:
        question = FitQuestion.parsed({"family": family, **asked}, dataset.schema)
    except ServiceError as error:  # what was typed stays in the form
        return await run_in_threadpool(
            _refused_page, session, site, dataset, family, asked, str(error)
        )
    act = form.text("act", "plan")
    if act == "run":
        request = form.text("request") or None
        try:
            answer = await run_in_threadpool(
                site.jobs.ask, session.user, dataset, question, request
            )
        except BudgetGoneError as error:  # what was typed stays in the form
            return await run_in_threadpool(
                _ask_page, session, site, dataset, question, message=str(error), status=409
            )
        return see(f"/jobs/{answer.job_id}{'?free=1' if answer.free else ''}")
    if act == "dry":
        html = await site.planner.dry_run(dataset, question, session.user.id)
        return report_response(html)
    plan = await plan_with_cost(site, dataset, question, session.user)
    drawn = await _compared(site, dataset, question) if act == "compare" else None
    return await run_in_threadpool(
        _ask_page, session, site, dataset, question, plan=plan, drawn=drawn
    )


@router.get("/jobs")
def jobs_page(session: Signed, site: Here) -> Response:
    """Show the jobs of the reader, or all of them to a steward."""
    return page("jobs", session, jobs=site.jobs.of(session.user))


@router.get("/jobs/{job_id}")
def job_page(job_id: str, session: Signed, site: Here, free: str = "") -> Response:
    """Show a job: that it waits, its release, or that it failed."""
    job = site.jobs.one(job_id, session.user)
    return page(
        "job",
        session,
        job=job,
        asked=described(job.asked),
        progress=site.progress_of(job) if session.user.is_steward else "",
        look=site.jobs.next_look(),
        free=bool(free) and job.state == "done",
        failed=FAILED,
    )


@router.post("/jobs/{job_id}/cancel")
def cancel(job_id: str, session: Signed, site: Here, form: Posted, note: Noting) -> Response:
    """End a job that has not begun."""
    site.queue.cancel(site.jobs.one(job_id, session.user).id, session.user)
    note(session.user, "cancelled job", job_id)
    return see(f"/jobs/{job_id}")


@router.get("/releases")
def releases_page(session: Signed, site: Here) -> Response:
    """Show the releases as cards."""
    return page("releases", session, releases=site.releases.seen_by(session.user))


@router.get("/releases/{release_id}")
def release_page(release_id: str, session: Signed, site: Here) -> Response:
    """Show a release: facts, report, file, labels."""
    stored = site.releases.one(release_id, session.user)
    return page("release", session, release=stored)


@router.get("/releases/{release_id}/report")
def report(release_id: str, session: Signed, site: Here) -> Response:
    """Show the report of a release."""
    return report_response(site.releases.report(release_id, session.user))


@router.get("/releases/{release_id}/file")
def release_file(release_id: str, session: Signed, site: Here) -> Response:
    """Give the release as one file."""
    return file_response(site.releases.file(release_id, session.user), "release.privclust")


@router.post("/releases/{release_id}/labels")
def labels(release_id: str, session: Signed, site: Here, form: Posted) -> Response:
    """Label rows that the reader uploads; they are not kept."""
    release, upload = site.releases.file(release_id, session.user), form.file("rows")
    if upload is None:
        raise ServiceError("Choose a file with the columns of the release: CSV, Parquet or .npz.")
    made = site.labeller.labels(release, upload.file.read(), upload.filename or "")
    return file_response(made, "labels.csv", "text/csv")


def asked_in(values: ImmutableMultiDict[str, Any]) -> dict[str, Any]:
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


def _usual(dataset: Dataset) -> dict[str, str]:
    """Return what a form holds at first, where it is not the same for all."""
    return {"delta": "1e-6"} if getattr(dataset.unit, "whole_rows", False) else {}


async def plan_with_cost(
    site: Site, dataset: Dataset, question: FitQuestion, user: User
) -> dict[str, Any]:
    """Return a plan with what it costs its reader."""
    plan = await site.planner.plan(dataset, question, user.id)
    return {**plan, **await run_in_threadpool(_cost, site, dataset, question, user)}


def _priced(
    site: Site, dataset_id: str, user: User, asked: dict[str, Any]
) -> tuple[Dataset, FitQuestion, dict[str, Any]]:
    """Return a data set, the question about it that was asked, and what that costs."""
    dataset = _askable(site, dataset_id, user)
    question = FitQuestion.parsed(asked, dataset.schema)
    return dataset, question, _cost(site, dataset, question, user)


def _cost(site: Site, dataset: Dataset, question: FitQuestion, user: User) -> dict[str, Any]:
    try:
        budget = question.cost(dataset.schema, dataset.unit)
    except ValueError as error:
        raise ServiceError(sentence_of(error)) from None
    cost = cost_for(site.database.ledger, dataset.name, user.name, budget)
    return {"cost": cost.words, "covered": cost.covered, "left": cost.left}


def report_response(html: str) -> Response:
    """Return a report, which has its own style sheet and may do nothing."""
    return HTMLResponse(html, headers={"Content-Security-Policy": REPORT_POLICY})


def file_response(content: bytes, name: str, kind: str = "application/octet-stream") -> Response:
    """Return a file to be saved."""
    return Response(
        content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


def _askable(site: Site, dataset_id: str, user: User) -> Dataset:
    if user.role != "analyst":
        raise NotFoundError
    return site.datasets.one(dataset_id, user)


def _ask_page(
    session: Session,
    site: Site,
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
        request_id=secrets.token_hex(16),
        balance=balance_of(site.database.ledger, dataset.name, session.user.name),
    )


def _refused_page(
    session: Session, site: Site, dataset: Dataset, family: str, asked: dict[str, Any], words: str
) -> Response:
    """Return the form as it was typed, with the sentence that refuses it."""
    typed: dict[str, str] = {
        name: asked.pop(name) for name in ("epsilon", "delta", "clusters") if name in asked
    }
    usual = {"family": family, **_usual(dataset)}
    try:
        question = FitQuestion.parsed({**usual, **asked}, dataset.schema)
    except ServiceError:
        question = FitQuestion.parsed(usual, dataset.schema)
    return _ask_page(session, site, dataset, question, message=words, status=400, typed=typed)


async def _compared(site: Site, dataset: Dataset, question: FitQuestion) -> Any:
    """Return the picture of the expected error for smaller and larger ε."""
    from fractions import Fraction

    points = []
    for times in _COMPARED:
        epsilon = question.budget.epsilon * Fraction(times)
        if epsilon <= 100:
            asked = question.to_dict() | {"epsilon": str(epsilon)}
            plan = await site.planner.plan(dataset, FitQuestion.parsed(asked, dataset.schema))
            points.append((float(epsilon), float(plan["error_ratio"])))
    return curve(points)
