"""Pages of stewards and auditors: registering, granting, freezing, users, jobs, statements."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter
from starlette.datastructures import FormData
from starlette.responses import JSONResponse, Response

from privclust.reports.ledger_page import html_statement
from privclust.service.datasets import Dataset
from privclust.service.declared import declared_in
from privclust.service.errors import NotFoundError, ServiceError
from privclust.service.people import ROLES, Session, User
from privclust.service.site import Site
from privclust.service.web.browse import report_response
from privclust.service.web.pages import (
    Form,
    Here,
    Noter,
    Noting,
    Posted,
    Signed,
    Stewarded,
    page,
    see,
)
from privclust.unit import Unit, unit_from

router = APIRouter(include_in_schema=False)


@router.get("/steward/register")
def register_page(session: Stewarded) -> Response:
    """Show the form to register a data set."""
    return page("register", session, typed=Form(FormData()), message="")


@router.post("/steward/register")
def register(session: Stewarded, site: Here, form: Posted, note: Noting) -> Response:
    """Check the files and register them; what was typed stays in the form if they are refused."""
    try:
        return _registered(session, site, form, note)
    except ServiceError as error:
        return page("register", session, error.status, typed=form, message=str(error))


def _registered(session: Session, site: Site, form: Form, note: Noter) -> Response:
    made, checked = site.datasets.register(
        form.text("name"),
        form.text("path"),
        declared_in(form.text("schema")),
        _unit(form),
        form.number("most_rows"),
        form.text("note"),
        session.user.name,
    )
    note(session.user, "registered", made.name)
    return page("checked", session, dataset=made, report=checked.report)


@router.post("/steward/datasets/{dataset_id}/check")
def check(dataset_id: str, session: Stewarded, site: Here, form: Posted, note: Noting) -> Response:
    """Check the files again, and open the data set."""
    dataset = site.datasets.one(dataset_id, session.user)
    checked = site.datasets.check_again(dataset)
    version = site.datasets.by_id(dataset_id).version
    note(session.user, "checked files", f"{dataset.name}, version {version}")
    return page("checked", session, dataset=dataset, report=checked.report)


@router.post("/steward/datasets/{dataset_id}/freeze")
def freeze(dataset_id: str, session: Stewarded, site: Here, form: Posted, note: Noting) -> Response:
    """Let nothing be asked."""
    dataset = site.datasets.one(dataset_id, session.user)
    site.datasets.freeze(dataset, form.text("reason"))
    note(session.user, "froze", f"{dataset.name}: {form.text('reason')}")
    return see(f"/datasets/{dataset_id}")


@router.post("/steward/datasets/{dataset_id}/grant")
def grant(dataset_id: str, session: Stewarded, site: Here, form: Posted, note: Noting) -> Response:
    """Grant budget to an analyst."""
    dataset = site.datasets.one(dataset_id, session.user)
    user = site.people.named(form.text("user"))
    epsilon, delta = form.text("epsilon"), form.text("delta") or "0"
    grant_by(
        site,
        note,
        session.user,
        dataset,
        user,
        epsilon,
        delta,
        form.text("note"),
        form.text("request") or None,
    )
    return see(f"/datasets/{dataset_id}")


def grant_by(
    site: Site,
    note: Noter,
    steward: User,
    dataset: Dataset,
    user: User,
    epsilon: str,
    delta: str,
    reason: str,
    request: str | None = None,
) -> None:
    """Grant budget in the name of a steward, and write it down."""
    words = f"by {steward.name}" + (f": {reason}" if reason else "")
    site.datasets.grant(dataset, user, epsilon, delta, words, steward.name, request)
    note(steward, "granted", f"{dataset.name} to {user.name}: ε = {epsilon}, δ = {delta}")


@router.post("/steward/datasets/{dataset_id}/revoke")
def revoke(dataset_id: str, session: Stewarded, site: Here, form: Posted, note: Noting) -> Response:
    """Let an analyst ask no more."""
    dataset = site.datasets.one(dataset_id, session.user)
    user = site.people.named(form.text("user"))
    site.datasets.revoke(dataset, user)
    note(session.user, "revoked access", f"{dataset.name} from {user.name}")
    return see(f"/datasets/{dataset_id}")


@router.get("/steward/users")
def users_page(session: Stewarded, site: Here) -> Response:
    """Show all users."""
    return _users(session, site)


@router.post("/steward/users")
def add_user(session: Stewarded, site: Here, form: Posted, note: Noting) -> Response:
    """Make an account, and show its one-time password, once."""
    name, role = form.text("name"), form.text("role")
    password = site.people.add(name, role)
    note(session.user, "added user", f"{name}, {role}")
    return _users(session, site, name, password)


@router.post("/steward/users/{user_id}/reset")
def reset_user(
    user_id: str, session: Stewarded, site: Here, form: Posted, note: Noting
) -> Response:
    """Give a new one-time password."""
    user = site.people.by_id(user_id)
    password = site.people.reset(user)
    note(session.user, "reset password", user.name)
    return _users(session, site, user.name, password)


@router.post("/steward/users/{user_id}/{act}")
def switch_user(
    user_id: str, act: str, session: Stewarded, site: Here, form: Posted, note: Noting
) -> Response:
    """Open or close an account."""
    user = site.people.by_id(user_id)
    if act not in ("open", "close"):
        raise NotFoundError
    site.people.switch_by(session.user, user, active=act == "open")
    note(session.user, "opened account" if act == "open" else "closed account", user.name)
    return see("/steward/users")


@router.post("/steward/jobs/{job_id}/{act}")
def decide(
    job_id: str, act: str, session: Stewarded, site: Here, form: Posted, note: Noting
) -> Response:
    """Decide what becomes of an interrupted job."""
    if act not in ("again", "give-up"):
        raise NotFoundError
    (site.queue.put_back if act == "again" else site.queue.give_up)(job_id)
    note(session.user, "ran job again" if act == "again" else "gave job up", job_id)
    return see(f"/jobs/{job_id}")


@router.get("/audit")
def audit_page(session: Signed, site: Here) -> Response:
    """Show the data sets whose statements can be read."""
    _check_reader(session)
    return page("audit", session, datasets=site.datasets.all())


@router.get("/audit/acts")
def acts(session: Signed, site: Here) -> Response:
    """Give the trail of acts, one JSON object per line."""
    _check_reader(session)
    lines = [json.dumps(act.to_dict(), ensure_ascii=False) + "\n" for act in site.acts.all()]
    headers = {"Content-Disposition": 'attachment; filename="acts.jsonl"'}
    return Response("".join(lines), media_type="application/jsonl", headers=headers)


@router.get("/audit/{dataset_id}")
def statement(dataset_id: str, session: Signed, site: Here) -> Response:
    """Show the statement of a data set."""
    _check_reader(session)
    name = site.datasets.one(dataset_id, session.user).name
    return report_response(html_statement(site.database.ledger.statement(name)))


@router.get("/audit/{dataset_id}/export")
def export(dataset_id: str, session: Signed, site: Here) -> Response:
    """Give the statement as JSON."""
    _check_reader(session)
    name = site.datasets.one(dataset_id, session.user).name
    plain = site.database.ledger.statement(name).to_dict()
    return JSONResponse(plain, headers={"Content-Disposition": "attachment"})


def unit_from_plain(plain: Any) -> Unit:
    """Return the unit that plain data stand for."""
    try:
        return unit_from(plain)
    except (ValueError, TypeError, AttributeError) as error:
        raise ServiceError(str(error)) from None


def _unit(form: Form) -> Unit:
    plain: dict[str, Any] = {"name": form.text("unit", "add-remove-row")}
    if plain["name"] == "person":
        plain |= {"id_column": form.text("id_column"), "max_rows": form.number("max_rows")}
    elif plain["name"] == "replace-row":
        plain |= {"n_rows": form.number("n_rows") or None}
    elif plain["name"].startswith("matrix-"):
        plain |= {"unreadable": form.text("unreadable", "error")}
    if plain["name"] == "matrix-entry":
        plain |= {"cap": form.number("cap") or 1}
    return unit_from_plain(plain)


def _users(session: Session, site: Any, name: str = "", password: str = "") -> Response:
    people = site.people.all()
    return page("users", session, people=people, roles=ROLES, new=name, password=password)


def _check_reader(session: Session) -> None:
    if not session.user.reads_ledger:
        raise NotFoundError
