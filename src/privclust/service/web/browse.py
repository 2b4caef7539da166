"""Pages of an analyst: data sets, questions and their plans, jobs, releases."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import ImmutableMultiDict
from starlette.responses import JSONResponse, Response

from privclust.exceptions import BudgetGoneError
from privclust.schema.facts import Categories
from privclust.service.balance import (
    balance_of,
    balance_with_curve,
    balances_of,
    curve,
    total_granted,
)
from privclust.service.declared import Counts
from privclust.service.errors import NotFoundError, ServiceError
from privclust.service.jobs import FAILED
from privclust.service.offers import OFFERS, offers_for, targets_in
from privclust.service.questions import FitQuestion, describe_question
from privclust.service.registered import Dataset
from privclust.service.releases import release_from
from privclust.service.services import Services
from privclust.service.web.pages import (
    Pager,
    Sender,
    Visit,
    Visitor,
    file_response,
    redirect,
    report_page,
)

router = APIRouter(include_in_schema=False)

# How the fields of options begin: those of one value, those of columns, and those of many lines,
# which the script for the live cost leaves out.
_OPTION, _COLUMNS, _LONG = "option-", "columns-", "lines-"
_WIDE = 8  # columns of a table
_MEDIA = {".csv": "text/csv", ".parquet": "application/vnd.apache.parquet"}
_WITH_ERROR = re.compile(r"(-?[\d.]+(?:e[+-]\d+)?) ± ([\d.]+)")
_STOPPING = (
    "It ends without a release, and its cost stays charged. The analyst is told at a tick that it "
    "failed. Others wait a moment until the worker is there again."
)
_COMPARED = ("1/4", "1/2", "1", "2", "4")  # multiples of the ε asked for


@router.get("/")
def home(visit: Visitor) -> Response:
    """Show the data sets, with what is left of the reader's budget."""
    user, services = visit.user, visit.services
    if user.role == "auditor":
        return redirect("/audit")
    left = balances_of(services.database.ledger, user.name) if user.is_analyst else {}
    return visit.page(
        "datasets",
        datasets=[(it, left.get(it.name, [])) for it in services.datasets.visible_to(user)],
        requests=services.datasets.requests() if user.is_steward else [],
        checks=services.checks.running_checks() if user.is_steward else [],
    )


@router.get("/datasets/{dataset_id}")
def dataset_page(dataset_id: str, visit: Visitor) -> Response:
    """Show one data set: what is declared, what is left, what can be asked."""
    return show_dataset(visit, visit.dataset(dataset_id))


def show_dataset(visit: Visit, dataset: Dataset, message: str = "", status: int = 200) -> Response:
    """Return the page of a data set; what was typed into a refused form stays in it."""
    user, services, ledger = visit.user, visit.services, visit.services.database.ledger
    mine = balance_with_curve(ledger, dataset.name, user.name) if user.is_analyst else []
    return visit.page(
        "dataset",
        status,
        dataset=dataset,
        balance=mine,
        offers=offers_for(dataset.schema),
        columns=describe_columns(dataset),
        asked=[it for it in services.datasets.requests(dataset) if it.user == user.name],
        typed=visit.form,
        message=message,
        **(_grants(services, dataset) if user.is_steward else {}),
    )


def _grants(services: Services, dataset: Dataset) -> dict[str, Any]:
    """Return what a steward sees of grants on a data set."""
    ledger, names = services.database.ledger, services.datasets.names_of_askers(dataset)
    people = [user.name for user, active in services.accounts.all() if active and user.is_analyst]
    return {
        "request_id": secrets.token_hex(16),
        "analysts": people,
        "asked_by": [(name, balance_of(ledger, dataset.name, name)) for name in names],
        "granted": total_granted(ledger, dataset.name),
        "requests": services.datasets.requests(dataset),
    }


@router.get("/datasets/{dataset_id}/mock")
def mock(dataset_id: str, visit: Visitor) -> Response:
    """Give rows made up from what is declared, to write programs with."""
    return file_response(*visit.mock(dataset_id))


@router.post("/datasets/{dataset_id}/request")
def request_budget(dataset_id: str, visit: Sender) -> Response:
    """Ask the stewards for budget."""
    form, dataset = visit.form, visit.askable(dataset_id)
    given = form.text("epsilon"), form.text("delta") or "0", form.text("reason")
    try:
        visit.request_budget(dataset, *given)
    except ServiceError as error:
        return show_dataset(visit, dataset, str(error), error.status)
    return redirect(f"/datasets/{dataset_id}")


@router.get("/datasets/{dataset_id}/ask/{family}")
def ask_page(dataset_id: str, family: str, visit: Visitor) -> Response:
    """Show the form of a family."""
    dataset = visit.askable(dataset_id)
    question = FitQuestion.parse({"family": family, **_usual(dataset)}, dataset.schema)
    return _ask_page(visit, dataset, question)


@router.get("/datasets/{dataset_id}/ask/{family}/plan")
async def live_plan(dataset_id: str, family: str, visit: Visitor) -> Response:
    """Return cost and expected error as JSON, for the script that shows them as one types."""
    # Public points are too many for an address: as one types, they are taken to lie anywhere.
    asked = {"family": family, **question_in_form(visit.request.query_params)}
    dataset, question, cost = await run_in_threadpool(_price_question, visit, dataset_id, asked)
    plan = await visit.services.planner.plan_soon(dataset, question, visit.user.id)
    return JSONResponse({**cost, "ready": plan is not None, **(plan or {})})


@router.post("/datasets/{dataset_id}/ask/{family}")
async def ask(dataset_id: str, family: str, visit: Sender) -> Response:
    """Plan, compare budgets, try on synthetic rows, or run: what the pressed button says."""
    dataset = await run_in_threadpool(visit.askable, dataset_id)
    points = targets_in(visit.form.text("targets"))
    asked = question_in_form(visit.form.data) | ({"targets": points} if points else {})
    try:
        question = FitQuestion.parse({"family": family, **asked}, dataset.schema)
    except ServiceError as error:  # what was typed stays in the form
        return await run_in_threadpool(_refused_page, visit, dataset, family, asked, str(error))
    act = visit.form.text("act", "plan")
    if act == "run":
        return await run_in_threadpool(_run, visit, dataset, question)
    if act == "dry":
        html = await visit.services.planner.dry_run(dataset, question, visit.user.id)
        title = f"{question.offer.task.title}: {dataset.name}"
        way = [(f"/datasets/{dataset.id}/ask/{family}", title)]
        return report_page(visit, html, "Dry run", way)
    plan = await visit.plan(dataset, question)
    drawn = await _draw_comparison(visit.services, dataset, question) if act == "compare" else None
    return await run_in_threadpool(_ask_page, visit, dataset, question, plan=plan, drawn=drawn)


def _run(visit: Visit, dataset: Dataset, question: FitQuestion) -> Response:
    """Charge a question and lead to its job."""
    request = visit.form.text("request") or None
    try:
        answer = visit.services.jobs.ask(visit.user, dataset, question, request)
    except BudgetGoneError as error:  # what was typed stays in the form
        return _ask_page(visit, dataset, question, message=str(error), status=409)
    return redirect(f"/jobs/{answer.job_id}{'?free=1' if answer.free else ''}")


@router.get("/jobs")
def jobs_page(visit: Visitor) -> Response:
    """Show the jobs of the reader, or all of them to a steward."""
    pager = Pager.of(visit.request)
    jobs, pager = pager.cut(visit.services.jobs.of(visit.user, window=pager.window))
    return visit.page("jobs", jobs=[(job, summarise(job.asked)) for job in jobs], pager=pager)


@router.get("/jobs/{job_id}")
def job_page(job_id: str, visit: Visitor, free: str = "") -> Response:
    """Show a job: that it waits, its release, or that it failed."""
    services, job = visit.services, visit.services.jobs.one(job_id, visit.user)
    return visit.page(
        "job",
        job=job,
        asked=_in_words(job.asked),
        words=summarise(job.asked),
        progress=services.progress_of(job) if visit.user.is_steward else "",
        ready=services.jobs.ready_at(job),
        look=services.jobs.next_change_at(),
        free=bool(free) and job.state == "done",
        failed=FAILED,
        deleted=job.state == "done" and not services.releases.is_there(job.release_id),
        **_as_code(services, job.dataset_id, job.asked),
    )


def _in_words(asked: dict[str, Any]) -> dict[str, Any]:
    """Return a question under the names that forms have for its parts."""
    offer = OFFERS.get(asked["family"])
    labels = {option.name: option.label for option in offer.options} if offer else {}
    labels |= {"epsilon": "ε", "delta": "δ"}
    return {labels.get(name, name): value for name, value in describe_question(asked).items()}


def _as_code(services: Services, dataset_id: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Return a question that a job keeps as code; empty if its family is gone."""
    try:
        question = FitQuestion.parse(asked, services.datasets.by_id(dataset_id).schema)
    except ServiceError:
        return {"python": "", "command": ""}
    return _code(services, dataset_id, question)


def _code(services: Services, dataset_id: str, question: FitQuestion) -> dict[str, Any]:
    """Return a question as a program and as a command."""
    url = f"{services.settings.url.rstrip('/')}/datasets/{dataset_id}"
    return {"python": question.to_python(url), "command": question.to_command(url)}


@router.post("/jobs/{job_id}/cancel")
def cancel(job_id: str, visit: Sender) -> Response:
    """End a job that has not begun, or as a steward one that runs."""
    if visit.services.jobs.one(job_id, visit.user).state == "running":
        visit.be_sure("Stop this job?", _STOPPING, "Stop it")
    visit.cancel(job_id)
    return redirect(f"/jobs/{job_id}")


@router.get("/releases")
def releases_page(visit: Visitor, dataset: str = "") -> Response:
    """Show the releases as cards, of one data set or of all."""
    releases, pager = visit.services.releases, Pager.of(visit.request)
    found, pager = pager.cut(releases.visible_to(visit.user, dataset, pager.window))
    return visit.page(
        "releases",
        releases=[(it, summarise(it.asked)) for it in found],
        pager=pager,
        names=releases.datasets_of(visit.user),
        chosen=dataset,
    )


@router.get("/releases/{release_id}")
def release_page(release_id: str, visit: Visitor) -> Response:
    """Show a release: its question, centres, report, file, labels."""
    services = visit.services
    stored = services.releases.one(release_id, visit.user)
    release = release_from(services.releases.file(release_id, visit.user))
    return visit.page(
        "release",
        release=stored,
        words=summarise(stored.asked),
        tables=[
            turn_if_wide(it.headings, [[*map(round_to_error, line)] for line in it.lines])
            for it in release.facts().listings
        ],
        signal=release.signal,
        warnings=release.parameters.get("warnings", ()),
        draws_rows=release.kind == "summary",
        job=services.jobs.of_release(release_id, visit.user),
        **_as_code(services, stored.dataset_id, stored.asked),
    )


def round_to_error(cell: str) -> str:
    """Return a number without the digits that its error makes meaningless; other cells as is."""
    found = _WITH_ERROR.fullmatch(cell)
    if not found:
        return cell
    digits = len(found[2].partition(".")[2])
    return f"{float(found[1]):z.{digits}f} ± {found[2]}"


def turn_if_wide(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return a table with a line for each column if it would be too wide for a page otherwise."""
    if len(headings) <= _WIDE or len(lines) >= len(headings):
        return {"headings": headings, "lines": lines}
    first, *others = zip(headings, *lines, strict=True)
    return {"headings": first, "lines": others}


@router.get("/releases/{release_id}/report")
def report(release_id: str, visit: Visitor, download: str = "") -> Response:
    """Show the report of a release, or give it as a file."""
    html = visit.services.releases.report(release_id, visit.user)
    if download:
        return file_response("report.html", html.encode(), "text/html")
    stored = visit.services.releases.one(release_id, visit.user)
    way = [(f"/releases/{release_id}", f"Release: {stored.dataset}")]
    return report_page(visit, html, "Report", way, f"/releases/{release_id}/report?download=1")


@router.get("/releases/{release_id}/file")
def release_file(release_id: str, visit: Visitor) -> Response:
    """Give the release as one file."""
    return file_response("release.privclust", visit.services.releases.file(release_id, visit.user))


@router.get("/releases/{release_id}/rows")
def synthetic_rows(release_id: str, visit: Visitor, rows: str = "", kind: str = "") -> Response:
    """Draw synthetic rows from a summary, as a file."""
    release = visit.services.releases.file(release_id, visit.user)
    if release_from(release).kind != "summary":
        raise NotFoundError
    n_rows = int(rows) if rows.isdecimal() and len(rows) < 10 else 0
    suffix = ".parquet" if kind == "parquet" else ".csv"
    made = visit.services.labeller.synthetic_rows(release, n_rows, suffix)
    return file_response(f"rows{suffix}", made, _MEDIA[suffix])


@router.post("/releases/{release_id}/labels")
def labels(release_id: str, visit: Sender) -> Response:
    """Label rows that the reader uploads; they are not kept."""
    release = visit.services.releases.file(release_id, visit.user)
    upload = visit.form.file("rows")
    if upload is None:
        raise ServiceError("Choose a file with the columns of the release: CSV, Parquet or .npz.")
    made = visit.services.labeller.labels(release, upload.file.read(), upload.filename or "")
    return file_response("labels.csv", made, "text/csv")


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
    title = offer.task.title if offer else asked["family"]
    return f"{title}{many}{where}; ε = {asked['epsilon']}{delta}"


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


def _price_question(
    visit: Visit, dataset_id: str, asked: dict[str, Any]
) -> tuple[Dataset, FitQuestion, dict[str, Any]]:
    """Return a data set, the question about it that was asked, and what that costs."""
    dataset = visit.askable(dataset_id)
    question = FitQuestion.parse(asked, dataset.schema)
    return dataset, question, visit.cost(dataset, question)


def _ask_page(
    visit: Visit,
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
    services = visit.services
    return visit.page(
        "ask",
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
        balance=balance_of(services.database.ledger, dataset.name, visit.user.name),
        **_code(services, dataset.id, question),
    )


def _refused_page(
    visit: Visit, dataset: Dataset, family: str, asked: dict[str, Any], words: str
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
    return _ask_page(visit, dataset, question, message=words, status=400, typed=typed)


async def _draw_comparison(services: Services, dataset: Dataset, question: FitQuestion) -> Any:
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
