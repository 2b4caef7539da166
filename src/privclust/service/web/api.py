"""The same for programs: JSON below ``/api/v1``, with a token in place of a session."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from privclust.service.balance import balance_of
from privclust.service.datasets import Dataset
from privclust.service.declared import declared_from
from privclust.service.errors import ForbiddenError, NotFoundError, ServiceError
from privclust.service.jobs import FAILED, Job
from privclust.service.offers import offers_for
from privclust.service.people import User
from privclust.service.questions import described
from privclust.service.site import Site
from privclust.service.web.bodies import Asked, Grant, NewUser, Registration, Requested
from privclust.service.web.browse import file_response, plan_with_cost, report_response
from privclust.service.web.manage import grant_by, unit_from_plain
from privclust.service.web.pages import Here, Noting

router = APIRouter(prefix="/api/v1")
_bearer = HTTPBearer(auto_error=False, description="A token from the page Tokens.")


class NoTokenError(ServiceError):
    """The request holds no good token."""

    status = 401


class Scoped:
    """Whoever holds a token with one of these scopes."""

    def __init__(self, *scopes: str) -> None:
        self._scopes = scopes

    def __call__(
        self, site: Here, given: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
    ) -> User:
        """Return the user of the token."""
        found = None if given is None else site.people.holder_of(given.credentials)
        if found is None:
            raise NoTokenError("The token is missing, wrong or out of date; make a new one.")
        user, scope = found
        if scope not in self._scopes:
            raise ForbiddenError(f"This needs a token with the scope {self._scopes[0]!r}.")
        if "steward" in self._scopes[:1] and not user.is_steward:
            raise NotFoundError
        return user


Reader = Annotated[User, Depends(Scoped("read", "run", "steward"))]
Runner = Annotated[User, Depends(Scoped("run"))]
Canceller = Annotated[User, Depends(Scoped("run", "steward"))]
Steward = Annotated[User, Depends(Scoped("steward"))]


@router.get("/datasets")
def datasets(user: Reader, site: Here) -> list[dict[str, Any]]:
    """List the data sets that you may ask about."""
    return [_dataset(site, dataset, user) for dataset in site.datasets.seen_by(user)]


@router.post("/datasets", status_code=201)
def register(given: Registration, user: Steward, site: Here, note: Noting) -> dict[str, Any]:
    """Check files below the data folder, and register them. For stewards; NOT PRIVATE."""
    made, checked = site.datasets.register(
        given.name,
        given.path,
        declared_from(given.facts),
        unit_from_plain(given.unit),
        given.most_rows,
        given.note,
        user.name,
    )
    note(user, "registered", made.name)
    return {**_dataset(site, made, user), "check": checked.report.to_dict()}


@router.get("/datasets/{dataset_id}")
def dataset(dataset_id: str, user: Reader, site: Here) -> dict[str, Any]:
    """Tell what is public about a data set, and what is left of your budget."""
    return _dataset(site, site.datasets.one(dataset_id, user), user)


@router.post("/datasets/{dataset_id}/plan")
async def plan(dataset_id: str, asked: Asked, user: Reader, site: Here) -> dict[str, Any]:
    """Tell what a question would ask, cost and achieve; nothing is spent."""
    if user.role == "auditor":  # who reads statements, and asks nothing
        raise NotFoundError
    found = await run_in_threadpool(site.datasets.one, dataset_id, user)
    return await plan_with_cost(site, found, asked.question(found.schema), user)


@router.post("/datasets/{dataset_id}/jobs", status_code=202)
def ask(dataset_id: str, asked: Requested, user: Runner, site: Here) -> dict[str, Any]:
    """Charge a question and queue it, or answer it from a stored release at no cost."""
    found = site.datasets.one(dataset_id, user)
    answer = site.jobs.ask(user, found, asked.question(found.schema), asked.request)
    return {**_job(site, site.jobs.one(answer.job_id, user), user), "free": answer.free}


@router.post("/datasets/{dataset_id}/grants", status_code=201)
def grant(dataset_id: str, given: Grant, user: Steward, site: Here, note: Noting) -> dict[str, Any]:
    """Grant budget to an analyst. For stewards."""
    found, whom = site.datasets.one(dataset_id, user), site.people.named(given.user)
    epsilon, delta = str(given.epsilon), str(given.delta)
    grant_by(site, note, user, found, whom, epsilon, delta, given.note, given.request)
    pots = site.database.ledger.balance(found.name, whom.name)
    return {"balance": [pot.to_dict() for pot in pots]}


@router.delete("/datasets/{dataset_id}/grants/{name}", status_code=204)
def revoke(dataset_id: str, name: str, user: Steward, site: Here, note: Noting) -> Response:
    """Let an analyst ask no more. For stewards."""
    found, whom = site.datasets.one(dataset_id, user), site.people.named(name)
    site.datasets.revoke(found, whom)
    note(user, "revoked access", f"{found.name} from {whom.name}")
    return Response(status_code=204)


@router.post("/datasets/{dataset_id}/freeze", status_code=204)
def freeze(dataset_id: str, user: Steward, site: Here, note: Noting) -> Response:
    """Let nothing be asked of a data set. For stewards."""
    found = site.datasets.one(dataset_id, user)
    site.datasets.freeze(found, f"by {user.name}")
    note(user, "froze", found.name)
    return Response(status_code=204)


@router.post("/datasets/{dataset_id}/check")
def check(dataset_id: str, user: Steward, site: Here, note: Noting) -> dict[str, Any]:
    """Check the files again and open the data set. For stewards; NOT PRIVATE."""
    found = site.datasets.one(dataset_id, user)
    checked = site.datasets.check_again(found)
    note(user, "checked files", f"{found.name}, version {site.datasets.by_id(found.id).version}")
    plain: dict[str, Any] = checked.report.to_dict()
    return plain


@router.get("/datasets/{dataset_id}/statement")
def statement(dataset_id: str, user: Reader, site: Here) -> dict[str, Any]:
    """Give the verified statement of the ledger. For stewards and auditors."""
    if not user.reads_ledger:
        raise NotFoundError
    return site.database.ledger.statement(site.datasets.one(dataset_id, user).name).to_dict()


@router.get("/acts")
def acts(user: Reader, site: Here) -> list[dict[str, Any]]:
    """Give the trail of acts: who did what, when and from where. For stewards and auditors."""
    if not user.reads_ledger:
        raise NotFoundError
    return [act.to_dict() for act in site.acts.all()]


@router.get("/users")
def users(user: Steward, site: Here) -> list[dict[str, Any]]:
    """List the users. For stewards."""
    return [{"name": it.name, "role": it.role, "open": active} for it, active in site.people.all()]


@router.post("/users", status_code=201)
def add_user(given: NewUser, user: Steward, site: Here, note: Noting) -> dict[str, Any]:
    """Make an account, and give its one-time password, once. For stewards."""
    password = site.people.add(given.name, given.role)
    note(user, "added user", f"{given.name}, {given.role}")
    return {"name": given.name, "role": given.role, "password": password}


@router.post("/users/{name}/reset")
def reset_user(name: str, user: Steward, site: Here, note: Noting) -> dict[str, Any]:
    """Give a new one-time password; sessions and tokens of the user end. For stewards."""
    whom = site.people.named(name)
    password = site.people.reset(whom)
    note(user, "reset password", whom.name)
    return {"name": whom.name, "password": password}


@router.post("/users/{name}/{act}", status_code=204)
def switch_user(
    name: str, act: Literal["open", "close"], user: Steward, site: Here, note: Noting
) -> Response:
    """Open or close an account. For stewards."""
    site.people.switch_by(user, site.people.named(name), active=act == "open")
    note(user, "opened account" if act == "open" else "closed account", name)
    return Response(status_code=204)


@router.get("/jobs")
def jobs(user: Reader, site: Here) -> list[dict[str, Any]]:
    """List your jobs."""
    return [_job(site, job, user) for job in site.jobs.of(user)]


@router.get("/jobs/{job_id}")
def job(job_id: str, user: Reader, site: Here) -> dict[str, Any]:
    """Tell whether a job waits, is done, or failed; ``next_look`` says when that can change."""
    return _job(site, site.jobs.one(job_id, user), user)


@router.post("/jobs/{job_id}/cancel", status_code=204)
def cancel(job_id: str, user: Canceller, site: Here, note: Noting) -> Response:
    """End a job that has not begun; its cost stays charged."""
    site.queue.cancel(site.jobs.one(job_id, user).id, user)
    note(user, "cancelled job", job_id)
    return Response(status_code=204)


@router.get("/releases")
def releases(user: Reader, site: Here) -> list[dict[str, Any]]:
    """List the releases that you may see."""
    return [
        {
            "id": it.id,
            "dataset": it.dataset,
            "version": it.version,
            "digest": it.digest,
            "card": it.card,
        }
        for it in site.releases.seen_by(user)
    ]


@router.get("/releases/{release_id}/file")
def release_file(release_id: str, user: Reader, site: Here) -> Response:
    """Give a release as one file."""
    return file_response(site.releases.file(release_id, user), "release.privclust")


@router.get("/releases/{release_id}/report")
def report(release_id: str, user: Reader, site: Here) -> Response:
    """Give the report of a release."""
    return report_response(site.releases.report(release_id, user))


@router.post("/releases/{release_id}/labels")
async def labels(release_id: str, request: Request, user: Reader, site: Here) -> Response:
    """Label rows in the body, CSV, Parquet or a matrix as .npz; they are not kept."""
    body, kind = await request.body(), request.headers.get("content-type", "")
    name = next((f"rows.{it}" for it in ("parquet", "npz") if it in kind), "rows.csv")
    file = await run_in_threadpool(site.releases.file, release_id, user)
    made = await run_in_threadpool(site.labeller.labels, file, body, name)
    return file_response(made, "labels.csv", "text/csv")


def _dataset(site: Site, dataset: Dataset, user: User) -> dict[str, Any]:
    public = {
        "id": dataset.id,
        "name": dataset.name,
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
    ledger = site.database.ledger
    balance = balance_of(ledger, dataset.name, user.name)
    return {**public, "balance": [{"granted": it.granted, "left": it.left} for it in balance]}


def _job(site: Site, job: Job, user: User) -> dict[str, Any]:
    shown = {
        "id": job.id,
        "dataset": job.dataset_id,
        "asked": described(job.asked),
        "state": job.state,
        "charged": job.was_charged,
        "asked_at": job.asked_at,
        "next_look": site.jobs.next_look() if job.state == "waiting" else None,
        "release": job.release_id,
        "message": FAILED if job.state == "failed" else "",
    }
    if not user.is_steward:
        return shown
    told = {"details": job.details, "user": job.user, "progress": site.progress_of(job)}
    return {**shown, **told}
