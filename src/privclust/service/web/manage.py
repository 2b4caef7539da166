"""Pages of stewards and auditors: registering, granting, freezing, users, jobs, statements."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from privclust.reports.ledger_page import html_statement
from privclust.service.declared import declared_in
from privclust.service.errors import NotFoundError, ServiceError
from privclust.service.people import ROLES, Session
from privclust.service.web.browse import report_response
from privclust.service.web.pages import Form, Here, Posted, Signed, Stewarded, page, see
from privclust.unit import Unit, unit_from

__all__ = ["router", "unit_from_plain"]

router = APIRouter(include_in_schema=False)


@router.get("/steward/register")
def register_page(session: Stewarded) -> Response:
    """Show the form to register a data set."""
    return page("register", session)


@router.post("/steward/register")
def register(session: Stewarded, site: Here, form: Posted) -> Response:
    """Check the files and register them."""
    made, checked = site.datasets.register(
        form.text("name"),
        form.text("path"),
        declared_in(form.text("schema")),
        _unit(form),
        form.number("most_rows"),
        form.text("note"),
    )
    return page("checked", session, dataset=made, report=checked.report)


@router.post("/steward/datasets/{dataset_id}/check")
def check(dataset_id: str, session: Stewarded, site: Here, form: Posted) -> Response:
    """Check the files again, and open the data set."""
    dataset = site.datasets.one(dataset_id, session.user)
    checked = site.datasets.check_again(dataset)
    return page("checked", session, dataset=dataset, report=checked.report)


@router.post("/steward/datasets/{dataset_id}/freeze")
def freeze(dataset_id: str, session: Stewarded, site: Here, form: Posted) -> Response:
    """Let nothing be asked."""
    site.datasets.freeze(site.datasets.one(dataset_id, session.user), form.text("reason"))
    return see(f"/datasets/{dataset_id}")


@router.post("/steward/datasets/{dataset_id}/grant")
def grant(dataset_id: str, session: Stewarded, site: Here, form: Posted) -> Response:
    """Grant budget to an analyst."""
    dataset, user = (
        site.datasets.one(dataset_id, session.user),
        site.people.named(form.text("user")),
    )
    note = f"by {session.user.name}" + (f": {form.text('note')}" if form.text("note") else "")
    site.datasets.grant(dataset, user, form.text("epsilon"), form.text("delta"), note)
    return see(f"/datasets/{dataset_id}")


@router.post("/steward/datasets/{dataset_id}/revoke")
def revoke(dataset_id: str, session: Stewarded, site: Here, form: Posted) -> Response:
    """Let an analyst ask no more."""
    dataset = site.datasets.one(dataset_id, session.user)
    site.datasets.revoke(dataset, site.people.named(form.text("user")))
    return see(f"/datasets/{dataset_id}")


@router.get("/steward/users")
def users_page(session: Stewarded, site: Here) -> Response:
    """Show all users."""
    return _users(session, site)


@router.post("/steward/users")
def add_user(session: Stewarded, site: Here, form: Posted) -> Response:
    """Make an account, and show its one-time password, once."""
    name = form.text("name")
    return _users(session, site, name, site.people.add(name, form.text("role")))


@router.post("/steward/users/{user_id}/reset")
def reset_user(user_id: str, session: Stewarded, site: Here, form: Posted) -> Response:
    """Give a new one-time password."""
    user = site.people.by_id(user_id)
    return _users(session, site, user.name, site.people.reset(user))


@router.post("/steward/users/{user_id}/{act}")
def switch_user(user_id: str, act: str, session: Stewarded, site: Here, form: Posted) -> Response:
    """Open or close an account."""
    user = site.people.by_id(user_id)
    if act not in ("open", "close"):
        raise NotFoundError
    site.people.switch_by(session.user, user, active=act == "open")
    return see("/steward/users")


@router.post("/steward/jobs/{job_id}/{act}")
def decide(job_id: str, act: str, session: Stewarded, site: Here, form: Posted) -> Response:
    """Decide what becomes of an interrupted job."""
    if act not in ("again", "give-up"):
        raise NotFoundError
    (site.queue.put_back if act == "again" else site.queue.give_up)(job_id)
    return see(f"/jobs/{job_id}")


@router.get("/audit")
def audit_page(session: Signed, site: Here) -> Response:
    """Show the data sets whose statements can be read."""
    _check_reader(session)
    return page("audit", session, datasets=site.datasets.all())


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
