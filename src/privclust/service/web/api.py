"""The same for programs: JSON below ``/api/v1``, with a token in place of a session."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, Response

from privclust.service.balance import balance_of
from privclust.service.checks import Check
from privclust.service.database import Window
from privclust.service.declared import Declared, parse_facts
from privclust.service.errors import ForbiddenError, NotFoundError, ServiceError
from privclust.service.jobs import FAILED, Job
from privclust.service.offers import offers_for
from privclust.service.questions import FIELDS, FitQuestion, describe_question
from privclust.service.registered import Dataset
from privclust.service.services import Actor
from privclust.service.web.manage import unit_from_plain
from privclust.service.web.pages import REPORT_POLICY, ServicesDep, address_of, file_response

_Value = str | int | float | bool
_Number = str | StrictInt | StrictFloat  # and not true, which would be read as 1


class Body(BaseModel):
    """What a program sends; nothing else may be in it."""

    model_config = ConfigDict(extra="forbid")


class QuestionBody(Body):
    """A question. Bounds and unit are those of the data set, and there is no seed."""

    family: str | None = Field(None, max_length=40)
    epsilon: _Number = "1"
    delta: _Number = "0"
    clusters: str | StrictInt | None = None
    columns: list[str] | None = Field(None, max_length=10_000)
    options: dict[str, _Value | list[_Value] | list[list[float]] | None] = Field(
        {}, max_length=40, description="Parameters of the estimator and its fit, by their names."
    )
    targets: list[list[float]] | None = Field(
        None, max_length=5000, description="Public points, for the family source-target."
    )

    def question(self, declared: Declared) -> FitQuestion:
        """Return the question, checked."""
        return FitQuestion.parse({name: getattr(self, name) for name in FIELDS}, declared)


class JobBody(QuestionBody):
    """A question to be charged and run."""

    request: str | None = Field(None, description="32 hexadecimal digits; repeat them to be safe.")


class Registration(Body):
    """A data set to be registered."""

    name: str
    path: str
    facts: dict[str, Any] = Field(alias="schema")
    unit: str | dict[str, Any] = "add-remove-row"
    most_rows: int
    note: str = ""
    meanings: dict[str, str] = Field({}, description="What columns mean, by their names.")
    only_check: bool = Field(False, description="Whether nothing is registered.")


class Grant(Body):
    """Budget for an analyst."""

    user: str
    epsilon: _Number
    delta: _Number = "0"
    note: str = ""
    request: str | None = Field(None, max_length=100, description="Names this one grant.")


class BudgetBody(Body):
    """Budget that an analyst asks for."""

    epsilon: _Number
    delta: _Number = "0"
    reason: str = Field("", max_length=300)


class NewUser(Body):
    """An account to be made."""

    name: str
    role: str = "analyst"


router = APIRouter(prefix="/api/v1")
_bearer = HTTPBearer(auto_error=False, description="A token from the page Tokens.")


class NoTokenError(ServiceError):
    """The request has no valid token."""

    status = 401


class TokenWithScope:
    """The owner of a token with one of these scopes."""

    def __init__(self, *scopes: str) -> None:
        self._scopes = scopes

    def __call__(
        self,
        request: Request,
        services: ServicesDep,
        given: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    ) -> Actor:
        """Return the user of the token."""
        found = None if given is None else services.accounts.holder_of(given.credentials)
        if found is None:
            raise NoTokenError("The token is missing, wrong or out of date; make a new one.")
        user, scope = found
        if scope not in self._scopes:
            raise ForbiddenError(f"This needs a token with the scope {self._scopes[0]!r}.")
        if "steward" in self._scopes[:1] and not user.is_steward:
            raise NotFoundError
        return Actor(services, user, address_of(request))


Limit = Annotated[int, Query(ge=1, le=1000)]
Offset = Annotated[int, Query(ge=0, le=10**9)]
Reader = Annotated[Actor, Depends(TokenWithScope("read", "run", "steward"))]
Runner = Annotated[Actor, Depends(TokenWithScope("run"))]
Canceller = Annotated[Actor, Depends(TokenWithScope("run", "steward"))]
Steward = Annotated[Actor, Depends(TokenWithScope("steward"))]


# Data sets and questions.
@router.get("/datasets")
def datasets(caller: Reader) -> list[dict[str, Any]]:
    """List the data sets that you may ask about."""
    return [_dataset(caller, it) for it in caller.services.datasets.visible_to(caller.user)]


@router.get("/datasets/{dataset_id}")
def dataset(dataset_id: str, caller: Reader) -> dict[str, Any]:
    """Tell what is public about a data set, and what is left of your budget."""
    return _dataset(caller, caller.services.datasets.one(dataset_id, caller.user))


@router.get("/datasets/{dataset_id}/mock")
def mock(dataset_id: str, caller: Reader) -> Response:
    """Give rows made up from what is declared, to write programs with."""
    return file_response(*caller.mock(dataset_id))


@router.post("/datasets/{dataset_id}/plan")
async def plan(dataset_id: str, asked: QuestionBody, caller: Reader) -> dict[str, Any]:
    """Tell what a question would ask, cost and achieve; nothing is spent."""
    found = await run_in_threadpool(caller.dataset, dataset_id)
    return await caller.plan(found, asked.question(found.schema))


@router.post("/datasets/{dataset_id}/jobs", status_code=202)
def ask(dataset_id: str, asked: JobBody, caller: Runner) -> dict[str, Any]:
    """Charge a question and queue it, or answer it from a stored release at no cost."""
    found, jobs = caller.dataset(dataset_id), caller.services.jobs
    answer = jobs.ask(caller.user, found, asked.question(found.schema), asked.request)
    return {**_job(caller, jobs.one(answer.job_id, caller.user)), "free": answer.free}


@router.post("/datasets/{dataset_id}/requests", status_code=201)
def request_budget(dataset_id: str, given: BudgetBody, caller: Runner) -> dict[str, Any]:
    """Ask the stewards for budget; it takes the place of your open request."""
    found, amounts = caller.askable(dataset_id), (str(given.epsilon), str(given.delta))
    caller.request_budget(found, *amounts, given.reason)
    return {"state": "open"}


# Jobs and releases.
@router.get("/jobs")
def jobs(caller: Reader, limit: Limit = 1000, offset: Offset = 0) -> list[dict[str, Any]]:
    """List your jobs, the newest first."""
    found = caller.services.jobs.of(caller.user, window=Window(offset, limit))
    return [_job(caller, job) for job in found]


@router.get("/jobs/{job_id}")
def job(job_id: str, caller: Reader) -> dict[str, Any]:
    """Return whether a job waits, is done, or failed; ``next_look`` says when that can change."""
    return _job(caller, caller.services.jobs.one(job_id, caller.user))


@router.post("/jobs/{job_id}/cancel", status_code=204)
def cancel(job_id: str, caller: Canceller) -> None:
    """End a job that has not begun, or as a steward one that runs; its cost stays charged."""
    caller.cancel(job_id)


@router.get("/releases")
def releases(caller: Reader, limit: Limit = 1000, offset: Offset = 0) -> list[dict[str, Any]]:
    """List the releases that you may see, the newest first."""
    shown = ("id", "dataset", "version", "digest", "card")
    found = caller.services.releases.visible_to(caller.user, window=Window(offset, limit))
    return [{name: getattr(it, name) for name in shown} for it in found]


@router.get("/releases/{release_id}/file")
def release_file(release_id: str, caller: Reader) -> Response:
    """Give a release as one file."""
    file = caller.services.releases.file(release_id, caller.user)
    return file_response("release.privclust", file)


@router.get("/releases/{release_id}/report")
def report(release_id: str, caller: Reader) -> Response:
    """Give the report of a release."""
    html = caller.services.releases.report(release_id, caller.user)
    return HTMLResponse(html, headers={"Content-Security-Policy": REPORT_POLICY})


@router.post("/releases/{release_id}/labels")
async def labels(release_id: str, request: Request, caller: Reader) -> Response:
    """Label rows in the body, CSV, Parquet or a matrix as .npz; they are not kept."""
    body, kind = await request.body(), request.headers.get("content-type", "")
    name = next((f"rows.{it}" for it in ("parquet", "npz") if it in kind), "rows.csv")
    file = await run_in_threadpool(caller.services.releases.file, release_id, caller.user)
    made = await run_in_threadpool(caller.services.labeller.labels, file, body, name)
    return file_response("labels.csv", made, "text/csv")


# The books, for stewards and auditors.
@router.get("/datasets/{dataset_id}/statement")
def statement(dataset_id: str, caller: Reader) -> dict[str, Any]:
    """Give the verified statement of the ledger. For stewards and auditors."""
    return caller.statement(dataset_id).to_dict()


@router.get("/acts")
def acts(caller: Reader, after: int = 0) -> list[dict[str, Any]]:
    """Give the trail of acts: who did what, when and from where. For stewards and auditors.

    With ``after``, only acts with greater numbers.
    """
    return [asdict(act) for act in caller.trail(after)]


# For stewards.
@router.post("/datasets", status_code=202)
def register(given: Registration, caller: Steward) -> dict[str, Any]:
    """Begin to check files below the data folder; they are registered if they pass. For stewards.

    Ask ``/checks/{check_id}`` how it ended.
    """
    facts, unit = parse_facts(given.facts), unit_from_plain(given.unit)
    about = (given.most_rows, given.note, given.meanings)
    draft = caller.services.datasets.draft(given.name, given.path, facts, unit, *about)
    return _check(caller.check_files("try" if given.only_check else "register", draft))


@router.get("/checks/{check_id}")
def check_state(check_id: str, caller: Steward) -> dict[str, Any]:
    """Tell how far a check of files is, or how it ended. For stewards; NOT PRIVATE."""
    return _check(caller.services.checks.one(check_id))


@router.post("/datasets/{dataset_id}/check", status_code=202)
def check(dataset_id: str, caller: Steward) -> dict[str, Any]:
    """Begin to check the files again; the data set is open if they pass. For stewards."""
    return _check(caller.check_files("check", caller.dataset(dataset_id)))


@router.post("/datasets/{dataset_id}/freeze", status_code=204)
def freeze(dataset_id: str, caller: Steward) -> None:
    """Let nothing be asked of a data set. For stewards."""
    caller.freeze(caller.dataset(dataset_id))


@router.delete("/datasets/{dataset_id}", status_code=204)
def delete_dataset(dataset_id: str, caller: Steward) -> None:
    """Delete a data set and its releases; ledger and files stay. For stewards."""
    caller.delete_dataset(caller.dataset(dataset_id))


@router.post("/datasets/{dataset_id}/grants", status_code=201)
def grant(dataset_id: str, given: Grant, caller: Steward) -> dict[str, Any]:
    """Grant budget to an analyst. For stewards."""
    found, user = caller.dataset(dataset_id), caller.services.accounts.by_name(given.user)
    amounts = str(given.epsilon), str(given.delta)
    caller.grant(found, user, *amounts, given.note, given.request)
    pots = caller.services.database.ledger.balance(found.name, user.name)
    return {"balance": [pot.to_dict() for pot in pots]}


@router.delete("/datasets/{dataset_id}/grants/{name}", status_code=204)
def revoke(dataset_id: str, name: str, caller: Steward) -> None:
    """Let an analyst ask no more. For stewards."""
    caller.revoke(caller.dataset(dataset_id), caller.services.accounts.by_name(name))


@router.get("/requests")
def requests(caller: Steward) -> list[dict[str, Any]]:
    """List the open requests for budget. For stewards."""
    return [asdict(it) for it in caller.services.datasets.requests()]


@router.get("/users")
def users(caller: Steward) -> list[dict[str, Any]]:
    """List the users. For stewards."""
    found = caller.services.accounts.all()
    return [{"name": it.name, "role": it.role, "open": active} for it, active in found]


@router.post("/users", status_code=201)
def add_user(given: NewUser, caller: Steward) -> dict[str, Any]:
    """Make an account, and give its one-time password, once. For stewards."""
    password = caller.add_user(given.name, given.role)
    return {"name": given.name, "role": given.role, "password": password}


@router.post("/users/{name}/reset")
def reset_user(name: str, caller: Steward) -> dict[str, Any]:
    """Give a new one-time password; sessions and tokens of the user end. For stewards."""
    user = caller.services.accounts.by_name(name)
    return {"name": user.name, "password": caller.reset_user(user)}


@router.delete("/users/{name}", status_code=204)
def delete_user(name: str, caller: Steward) -> None:
    """Delete an account for good; ledger and trail keep its name. For stewards."""
    caller.delete_user(caller.services.accounts.by_name(name))


@router.post("/users/{name}/{act}", status_code=204)
def switch_user(name: str, act: Literal["open", "close"], caller: Steward) -> None:
    """Open or close an account. For stewards."""
    caller.switch_user(caller.services.accounts.by_name(name), active=act == "open")


@router.delete("/releases/{release_id}", status_code=204)
def delete_release(release_id: str, caller: Steward) -> None:
    """Delete what a release holds, for everybody. For stewards."""
    caller.delete_release(release_id)


def _check(check: Check) -> dict[str, Any]:
    report = None if check.report is None else check.report.to_dict()
    shown = asdict(replace(check, report=None)) | {"dataset": check.dataset_id or None}
    kept = ("id", "act", "name", "state", "message", "progress", "dataset")
    return {name: shown[name] for name in kept} | {"report": report}


def _dataset(caller: Actor, dataset: Dataset) -> dict[str, Any]:
    user = caller.user
    if user.role == "auditor":  # who reads statements, and no schema
        return {"id": dataset.id, "name": dataset.name}
    public = {
        "id": dataset.id,
        "name": dataset.name,
        "meanings": dict(dataset.meanings),
        "note": dataset.note,
        "schema": dataset.schema.to_dict(),
        "unit": dataset.unit.to_dict(),
        "protects": dataset.unit.describe(),
        "most_rows": dataset.most_rows,
        "version": dataset.version,
        "families": [offer.name for offer in offers_for(dataset.schema)],
        "frozen": bool(dataset.frozen),
    }
    if not user.is_analyst:
        return public
    balance = balance_of(caller.services.database.ledger, dataset.name, user.name)
    return {**public, "balance": [{"granted": it.granted, "left": it.left} for it in balance]}


def _job(caller: Actor, job: Job) -> dict[str, Any]:
    services = caller.services
    shown = {
        "id": job.id,
        "dataset": job.dataset_id,
        "asked": describe_question(job.asked),
        "state": job.state,
        "charged": job.was_charged,
        "asked_at": job.asked_at,
        "next_look": services.jobs.next_change_at() if job.state == "waiting" else None,
        "release": job.release_id,
        "message": FAILED if job.state == "failed" else "",
    }
    if not caller.user.is_steward:
        return shown
    told = {"details": job.details, "user": job.user, "progress": services.progress_of(job)}
    return {**shown, **told}
