"""The same for programs: JSON below ``/api/v1``, with a token in place of a session."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, Response

from privclust.service.accounts import User
from privclust.service.balance import balance_of
from privclust.service.checks import Check
from privclust.service.database import Window
from privclust.service.declared import Declared, declared_from
from privclust.service.errors import ForbiddenError, NotFoundError, ServiceError
from privclust.service.fits import mock_data
from privclust.service.jobs import FAILED, Job
from privclust.service.offers import offers_for
from privclust.service.questions import FIELDS, FitQuestion, describe_question
from privclust.service.registered import Dataset
from privclust.service.services import Services
from privclust.service.web.audit import statement_of
from privclust.service.web.browse import file_response, plan_with_cost
from privclust.service.web.manage import grant_by, unit_from_plain
from privclust.service.web.pages import REPORT_POLICY, NoterDep, ServicesDep

_Value = str | int | float | bool
_Number = str | StrictInt | StrictFloat  # and not true, which would be read as 1


class QuestionBody(BaseModel):
    """A question. Bounds and unit are those of the data set, and there is no seed."""

    model_config = ConfigDict(extra="forbid")
    family: str | None = Field(None, max_length=40)
    epsilon: _Number = "1"
    delta: _Number = "0"
    clusters: int | str | None = None
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


class Registration(BaseModel):
    """A data set to be registered."""

    model_config = ConfigDict(extra="forbid")
    name: str
    path: str
    facts: dict[str, Any] = Field(alias="schema")
    unit: str | dict[str, Any] = "add-remove-row"
    most_rows: int
    note: str = ""
    meanings: dict[str, str] = Field({}, description="What columns mean, by their names.")
    only_check: bool = Field(False, description="Whether nothing is registered.")


class Grant(BaseModel):
    """Budget for an analyst."""

    model_config = ConfigDict(extra="forbid")
    user: str
    epsilon: _Number
    delta: _Number = "0"
    note: str = ""
    request: str | None = Field(None, max_length=100, description="Names this one grant.")


class BudgetBody(BaseModel):
    """Budget that an analyst asks for."""

    model_config = ConfigDict(extra="forbid")
    epsilon: _Number
    delta: _Number = "0"
    reason: str = Field("", max_length=300)


class NewUser(BaseModel):
    """An account to be made."""

    model_config = ConfigDict(extra="forbid")
    name: str
    role: str = "analyst"


router = APIRouter(prefix="/api/v1")
_bearer = HTTPBearer(auto_error=False, description="A token from the page Tokens.")


class NoTokenError(ServiceError):
    """The request holds no good token."""

    status = 401


class TokenWithScope:
    """Whoever holds a token with one of these scopes."""

    def __init__(self, *scopes: str) -> None:
        self._scopes = scopes

    def __call__(
        self,
        services: ServicesDep,
        given: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    ) -> User:
        """Return the user of the token."""
        found = None if given is None else services.accounts.holder_of(given.credentials)
        if found is None:
            raise NoTokenError("The token is missing, wrong or out of date; make a new one.")
        user, scope = found
        if scope not in self._scopes:
            raise ForbiddenError(f"This needs a token with the scope {self._scopes[0]!r}.")
        if "steward" in self._scopes[:1] and not user.is_steward:
            raise NotFoundError
        return user


Limit = Annotated[int, Query(ge=1, le=1000)]
Offset = Annotated[int, Query(ge=0, le=10**9)]
Reader = Annotated[User, Depends(TokenWithScope("read", "run", "steward"))]
Runner = Annotated[User, Depends(TokenWithScope("run"))]
Canceller = Annotated[User, Depends(TokenWithScope("run", "steward"))]
Steward = Annotated[User, Depends(TokenWithScope("steward"))]


@router.get("/datasets")
def datasets(user: Reader, services: ServicesDep) -> list[dict[str, Any]]:
    """List the data sets that you may ask about."""
    return [_dataset(services, dataset, user) for dataset in services.datasets.visible_to(user)]


@router.post("/datasets", status_code=202)
def register(
    given: Registration, user: Steward, services: ServicesDep, note: NoterDep
) -> dict[str, Any]:
    """Begin to check files below the data folder; they are registered if they pass. For stewards.

    Ask ``/checks/{check_id}`` how it ended.
    """
    draft = services.datasets.draft(
        given.name,
        given.path,
        declared_from(given.facts),
        unit_from_plain(given.unit),
        given.most_rows,
        given.note,
        given.meanings,
    )
    act: Literal["try", "register"] = "try" if given.only_check else "register"
    return _check(services.checks.begin(act, user, draft, lambda *it: note(user, *it)))


@router.get("/checks/{check_id}")
def check_state(check_id: str, user: Steward, services: ServicesDep) -> dict[str, Any]:
    """Tell how far a check of files is, or how it ended. For stewards; NOT PRIVATE."""
    return _check(services.checks.one(check_id))


@router.get("/datasets/{dataset_id}")
def dataset(dataset_id: str, user: Reader, services: ServicesDep) -> dict[str, Any]:
    """Tell what is public about a data set, and what is left of your budget."""
    return _dataset(services, services.datasets.one(dataset_id, user), user)


@router.post("/datasets/{dataset_id}/plan")
async def plan(
    dataset_id: str, asked: QuestionBody, user: Reader, services: ServicesDep
) -> dict[str, Any]:
    """Tell what a question would ask, cost and achieve; nothing is spent."""
    if user.role == "auditor":  # who reads statements, and asks nothing
        raise NotFoundError
    found = await run_in_threadpool(services.datasets.one, dataset_id, user)
    return await plan_with_cost(services, found, asked.question(found.schema), user)


@router.post("/datasets/{dataset_id}/jobs", status_code=202)
def ask(dataset_id: str, asked: JobBody, user: Runner, services: ServicesDep) -> dict[str, Any]:
    """Charge a question and queue it, or answer it from a stored release at no cost."""
    found = services.datasets.one(dataset_id, user)
    answer = services.jobs.ask(user, found, asked.question(found.schema), asked.request)
    return {**_job(services, services.jobs.one(answer.job_id, user), user), "free": answer.free}


@router.post("/datasets/{dataset_id}/grants", status_code=201)
def grant(
    dataset_id: str, given: Grant, user: Steward, services: ServicesDep, note: NoterDep
) -> dict[str, Any]:
    """Grant budget to an analyst. For stewards."""
    found, whom = services.datasets.one(dataset_id, user), services.accounts.by_name(given.user)
    epsilon, delta = str(given.epsilon), str(given.delta)
    grant_by(services, note, user, found, whom, epsilon, delta, given.note, given.request)
    pots = services.database.ledger.balance(found.name, whom.name)
    return {"balance": [pot.to_dict() for pot in pots]}


@router.delete("/datasets/{dataset_id}/grants/{name}", status_code=204)
def revoke(
    dataset_id: str, name: str, user: Steward, services: ServicesDep, note: NoterDep
) -> Response:
    """Let an analyst ask no more. For stewards."""
    found, whom = services.datasets.one(dataset_id, user), services.accounts.by_name(name)
    services.datasets.revoke(found, whom)
    note(user, "revoked access", f"{found.name} from {whom.name}")
    return Response(status_code=204)


@router.post("/datasets/{dataset_id}/freeze", status_code=204)
def freeze(dataset_id: str, user: Steward, services: ServicesDep, note: NoterDep) -> Response:
    """Let nothing be asked of a data set. For stewards."""
    found = services.datasets.one(dataset_id, user)
    services.datasets.freeze(found, f"by {user.name}")
    services.webhook.send([{"event": "data set frozen", "dataset": found.name}])
    note(user, "froze", found.name)
    return Response(status_code=204)


@router.post("/datasets/{dataset_id}/check", status_code=202)
def check(dataset_id: str, user: Steward, services: ServicesDep, note: NoterDep) -> dict[str, Any]:
    """Begin to check the files again; the data set is open if they pass. For stewards."""
    found = services.datasets.one(dataset_id, user)
    return _check(services.checks.begin("check", user, found, lambda *it: note(user, *it)))


@router.delete("/datasets/{dataset_id}", status_code=204)
def delete_dataset(
    dataset_id: str, user: Steward, services: ServicesDep, note: NoterDep
) -> Response:
    """Delete a data set and its releases; ledger and files stay. For stewards."""
    found = services.datasets.one(dataset_id, user)
    services.datasets.delete(found)
    note(user, "deleted data set", found.name)
    return Response(status_code=204)


@router.get("/datasets/{dataset_id}/mock")
def mock(dataset_id: str, user: Reader, services: ServicesDep) -> Response:
    """Give rows made up from what is declared, to write programs with."""
    if user.role == "auditor":
        raise NotFoundError
    found = services.datasets.one(dataset_id, user)
    name, file = mock_data(found.schema, found.unit, min(found.most_rows, 1000))
    return file_response(file, name)


@router.post("/datasets/{dataset_id}/requests", status_code=201)
def request_budget(
    dataset_id: str, given: BudgetBody, user: Runner, services: ServicesDep, note: NoterDep
) -> dict[str, Any]:
    """Ask the stewards for budget; it takes the place of your open request."""
    if not user.is_analyst:
        raise NotFoundError
    found, amounts = services.datasets.one(dataset_id, user), (str(given.epsilon), str(given.delta))
    services.datasets.request_budget(found, user, *amounts, given.reason)
    note(user, "asked for budget", f"{found.name}: ε = {amounts[0]}, δ = {amounts[1]}")
    return {"state": "open"}


@router.get("/requests")
def requests(user: Steward, services: ServicesDep) -> list[dict[str, Any]]:
    """List the open requests for budget. For stewards."""
    return [asdict(it) for it in services.datasets.requests()]


@router.get("/datasets/{dataset_id}/statement")
def statement(dataset_id: str, user: Reader, services: ServicesDep) -> dict[str, Any]:
    """Give the verified statement of the ledger. For stewards and auditors."""
    return statement_of(user, services, dataset_id).to_dict()


@router.get("/acts")
def acts(user: Reader, services: ServicesDep, after: int = 0) -> list[dict[str, Any]]:
    """Give the trail of acts: who did what, when and from where. For stewards and auditors.

    With ``after``, only acts with greater numbers.
    """
    if not user.reads_ledger:
        raise NotFoundError
    return [act.to_dict() for act in services.acts.all(after)]


@router.get("/users")
def users(user: Steward, services: ServicesDep) -> list[dict[str, Any]]:
    """List the users. For stewards."""
    return [
        {"name": it.name, "role": it.role, "open": active} for it, active in services.accounts.all()
    ]


@router.post("/users", status_code=201)
def add_user(
    given: NewUser, user: Steward, services: ServicesDep, note: NoterDep
) -> dict[str, Any]:
    """Make an account, and give its one-time password, once. For stewards."""
    password = services.accounts.add(given.name, given.role)
    note(user, "added user", f"{given.name}, {given.role}")
    return {"name": given.name, "role": given.role, "password": password}


@router.post("/users/{name}/reset")
def reset_user(name: str, user: Steward, services: ServicesDep, note: NoterDep) -> dict[str, Any]:
    """Give a new one-time password; sessions and tokens of the user end. For stewards."""
    whom = services.accounts.by_name(name)
    password = services.accounts.reset(whom)
    note(user, "reset password", whom.name)
    return {"name": whom.name, "password": password}


@router.delete("/users/{name}", status_code=204)
def delete_user(name: str, user: Steward, services: ServicesDep, note: NoterDep) -> Response:
    """Delete an account for good; ledger and trail keep its name. For stewards."""
    services.accounts.delete(services.accounts.by_name(name), user)
    note(user, "deleted account", name)
    return Response(status_code=204)


@router.post("/users/{name}/{act}", status_code=204)
def switch_user(
    name: str, act: Literal["open", "close"], user: Steward, services: ServicesDep, note: NoterDep
) -> Response:
    """Open or close an account. For stewards."""
    services.accounts.set_active_by(user, services.accounts.by_name(name), active=act == "open")
    note(user, "opened account" if act == "open" else "closed account", name)
    return Response(status_code=204)


@router.get("/jobs")
def jobs(
    user: Reader, services: ServicesDep, limit: Limit = 1000, offset: Offset = 0
) -> list[dict[str, Any]]:
    """List your jobs, the newest first."""
    found = services.jobs.of(user, window=Window(offset, limit))
    return [_job(services, job, user) for job in found]


@router.get("/jobs/{job_id}")
def job(job_id: str, user: Reader, services: ServicesDep) -> dict[str, Any]:
    """Tell whether a job waits, is done, or failed; ``next_look`` says when that can change."""
    return _job(services, services.jobs.one(job_id, user), user)


@router.post("/jobs/{job_id}/cancel", status_code=204)
def cancel(job_id: str, user: Canceller, services: ServicesDep, note: NoterDep) -> Response:
    """End a job that has not begun; its cost stays charged."""
    services.queue.cancel(services.jobs.one(job_id, user).id, user)
    note(user, "cancelled job", job_id)
    return Response(status_code=204)


@router.get("/releases")
def releases(
    user: Reader, services: ServicesDep, limit: Limit = 1000, offset: Offset = 0
) -> list[dict[str, Any]]:
    """List the releases that you may see, the newest first."""
    return [
        {
            "id": it.id,
            "dataset": it.dataset,
            "version": it.version,
            "digest": it.digest,
            "card": it.card,
        }
        for it in services.releases.visible_to(user, window=Window(offset, limit))
    ]


@router.get("/releases/{release_id}/file")
def release_file(release_id: str, user: Reader, services: ServicesDep) -> Response:
    """Give a release as one file."""
    return file_response(services.releases.file(release_id, user), "release.privclust")


@router.get("/releases/{release_id}/report")
def report(release_id: str, user: Reader, services: ServicesDep) -> Response:
    """Give the report of a release."""
    html = services.releases.report(release_id, user)
    return HTMLResponse(html, headers={"Content-Security-Policy": REPORT_POLICY})


@router.delete("/releases/{release_id}", status_code=204)
def delete_release(
    release_id: str, user: Steward, services: ServicesDep, note: NoterDep
) -> Response:
    """Delete what a release holds, for everybody. For stewards."""
    services.releases.delete(services.releases.one(release_id, user).id)
    note(user, "deleted release", release_id)
    return Response(status_code=204)


@router.post("/releases/{release_id}/labels")
async def labels(
    release_id: str, request: Request, user: Reader, services: ServicesDep
) -> Response:
    """Label rows in the body, CSV, Parquet or a matrix as .npz; they are not kept."""
    body, kind = await request.body(), request.headers.get("content-type", "")
    name = next((f"rows.{it}" for it in ("parquet", "npz") if it in kind), "rows.csv")
    file = await run_in_threadpool(services.releases.file, release_id, user)
    made = await run_in_threadpool(services.labeller.labels, file, body, name)
    return file_response(made, "labels.csv", "text/csv")


def _check(check: Check) -> dict[str, Any]:
    report = None if check.report is None else check.report.to_dict()
    shown = asdict(replace(check, report=None)) | {"dataset": check.dataset_id or None}
    kept = ("id", "act", "name", "state", "message", "progress", "dataset")
    return {name: shown[name] for name in kept} | {"report": report}


def _dataset(services: Services, dataset: Dataset, user: User) -> dict[str, Any]:
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
    if user.role != "analyst":
        return public
    ledger = services.database.ledger
    balance = balance_of(ledger, dataset.name, user.name)
    return {**public, "balance": [{"granted": it.granted, "left": it.left} for it in balance]}


def _job(services: Services, job: Job, user: User) -> dict[str, Any]:
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
    if not user.is_steward:
        return shown
    told = {"details": job.details, "user": job.user, "progress": services.progress_of(job)}
    return {**shown, **told}
