"""Pages of stewards: data sets, budgets, users, jobs, the service; and the books, for auditors."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Depends
from starlette.datastructures import FormData
from starlette.responses import JSONResponse, Response

from privclust.reports.ledger_page import html_statement
from privclust.service.accounts import ROLES, User
from privclust.service.balance import balance_of, total_granted
from privclust.service.declared import parse_declaration
from privclust.service.errors import NotFoundError, ServiceError
from privclust.service.operations import set_maintenance
from privclust.service.questions import budget_of
from privclust.service.registered import Dataset
from privclust.service.registration import files_below
from privclust.service.services import Services
from privclust.service.web.browse import show_dataset
from privclust.service.web.pages import (
    Form,
    Pager,
    Sender,
    Visit,
    Visitor,
    check_is_steward,
    file_response,
    redirect,
    report_page,
)
from privclust.unit import Unit, unit_from

only_stewards = [Depends(check_is_steward)]
router = APIRouter(include_in_schema=False, prefix="/steward", dependencies=only_stewards)
books = APIRouter(include_in_schema=False, prefix="/audit")

# The kinds of data that a steward chooses from, and the units that protect them, in words.
KINDS: dict[str, dict[str, str]] = {
    "rows": {
        "add-remove-row": "that a row is there, and its content",
        "replace-row": "the content of a row",
    },
    "people": {"person": "one person with all rows"},
    "matrix": {
        "matrix-count": "one count",
        "matrix-entry": "one entry",
        "matrix-row": "one whole row",
    },
}
_FIELDS = (
    *("name", "path", "schema", "unit", "id_column", "max_rows", "n_rows", "unreadable", "cap"),
    *("most_rows", "note", "meanings"),
)
_FREEZING = "Nothing can be asked of it until its files have been checked again."
_DELETING = (
    "Its releases are deleted with it, for everybody. Its files stay where they are, and so does "
    "its account in the ledger; neither its name nor its rows can be registered again."
)
_REVOKING = (
    "What is left of the budget stays in the ledger, and comes back on top if you grant something "
    "again."
)
_DELETING_RELEASE = (
    "It is gone for everybody. Its charge and its digest stay in the ledger, and the same question "
    "costs budget again."
)


# Registering.
@router.get("/register")
def register_page(visit: Visitor, kind: str = "", check: str = "") -> Response:
    """Show the kinds of data, or the form for one of them; what was typed before stays in it."""
    typed = Form(FormData())
    if check:
        typed = Form(FormData(list(visit.services.checks.one(check).typed.items())))
        kind = _kind(typed)
    if kind not in KINDS:
        return visit.page("register_kind")
    return _register_page(visit, kind, typed)


def _kind(form: Form) -> str:
    unit = form.text("unit", "add-remove-row")
    return next((kind for kind, units in KINDS.items() if unit in units), "rows")


def _register_page(visit: Visit, kind: str, typed: Form, message: str = "") -> Response:
    shown: dict[str, Any] = {"kind": kind, "units": KINDS[kind], "typed": typed}
    files = files_below(visit.services.settings.folder)
    return visit.page("register", message=message, files=files, **shown)


@router.post("/register")
def register(visit: Sender) -> Response:
    """Begin to check the files; what was typed stays in the form if it is refused."""
    form = visit.form
    try:
        typed = _typed_fields(form)
        facts, unit = parse_declaration(typed["schema"]), _unit(form)
        about = (form.number("most_rows"), typed["note"], _meanings(typed["meanings"]))
        draft = visit.services.datasets.draft(typed["name"], typed["path"], facts, unit, *about)
        alone = form.text("act") == "try"
        check = visit.check_files("try" if alone else "register", draft, typed)
    except ServiceError as error:
        refused = _register_page(visit, _kind(form), form, str(error))
        refused.status_code = error.status
        return refused
    return redirect(f"/steward/checks/{check.id}")


def _typed_fields(form: Form) -> dict[str, str]:
    """Return what was typed; a schema that was uploaded stands for the text."""
    typed = {name: form.text(name) for name in _FIELDS}
    upload = form.file("schema_file")
    if upload is not None and not typed["schema"]:
        try:
            typed["schema"] = upload.file.read().decode("utf-8")
        except UnicodeDecodeError:
            raise ServiceError(
                "The schema must be a text file in UTF-8; save it as such."
            ) from None
    return typed


def _meanings(text: str) -> dict[str, str]:
    """Return what columns mean, from lines such as ``age: in years, at admission``."""
    lines = [line.partition(":") for line in text.splitlines() if line.strip()]
    if any(not colon for _, colon, _ in lines):
        raise ServiceError("Describe columns in lines such as “age: in years”; correct them.")
    return {name.strip(): words.strip() for name, _, words in lines}


@router.get("/checks/{check_id}")
def check_page(check_id: str, visit: Visitor) -> Response:
    """Show how far a check is, or what it found."""
    return visit.page("check", check=visit.services.checks.one(check_id))


@router.post("/datasets/{dataset_id}/check")
def check(dataset_id: str, visit: Sender) -> Response:
    """Begin to check the files again, after which the data set is open."""
    begun = visit.check_files("check", visit.dataset(dataset_id))
    return redirect(f"/steward/checks/{begun.id}")


@router.post("/datasets/{dataset_id}/freeze")
def freeze(dataset_id: str, visit: Sender) -> Response:
    """Let nothing be asked."""
    dataset = visit.dataset(dataset_id)
    visit.be_sure(f"Freeze {dataset.name}?", _FREEZING, "Freeze")
    visit.freeze(dataset, visit.form.text("reason"))
    return redirect(f"/datasets/{dataset_id}")


@router.post("/datasets/{dataset_id}/delete")
def delete_dataset(dataset_id: str, visit: Sender) -> Response:
    """Delete a data set and its releases."""
    dataset = visit.dataset(dataset_id)
    visit.be_sure(f"Delete {dataset.name}?", _DELETING, "Delete")
    visit.delete_dataset(dataset)
    return redirect("/")


# Budgets.
@router.post("/datasets/{dataset_id}/grant")
def grant(dataset_id: str, visit: Sender) -> Response:
    """Grant budget to an analyst, after a look at what that comes to."""
    dataset, form, services = visit.dataset(dataset_id), visit.form, visit.services
    epsilon, delta = form.text("epsilon"), form.text("delta") or "0"
    try:
        user = services.accounts.by_name(form.text("user"))
        budget_of(epsilon, delta)
        title = f"Grant ε = {epsilon}{f', δ = {delta}' if delta != '0' else ''} to {user.name}?"
        visit.be_sure(title, _consequences(services, dataset, user), "Grant")
        request = form.text("request") or None
        visit.grant(dataset, user, epsilon, delta, form.text("note"), request)
    except ServiceError as error:  # what was typed stays in the form
        return show_dataset(visit, dataset, str(error), error.status)
    return redirect(f"/datasets/{dataset_id}")


def _consequences(services: Services, dataset: Dataset, user: User) -> str:
    """Say what is granted already, to the analyst and to all."""
    ledger = services.database.ledger
    left = "; ".join(pot.left for pot in balance_of(ledger, dataset.name, user.name))
    own = f"{user.name} has {left} left, and this is added to it. " if left else ""
    total = total_granted(ledger, dataset.name)
    many = f"All analysts together were granted {total} so far. " if total else ""
    return (
        f"{own}{many}If analysts share what they learn, or somebody sees all releases, the "
        "protection is only that of all grants added up. A grant cannot be taken back; access can "
        "be revoked."
    )


@router.post("/datasets/{dataset_id}/revoke")
def revoke(dataset_id: str, visit: Sender) -> Response:
    """Let an analyst ask no more."""
    dataset = visit.dataset(dataset_id)
    user = visit.services.accounts.by_name(visit.form.text("user"))
    visit.be_sure(f"Revoke {user.name}'s access to {dataset.name}?", _REVOKING, "Revoke")
    visit.revoke(dataset, user)
    return redirect(f"/datasets/{dataset_id}")


@router.post("/requests/{request_id}/decline")
def decline(request_id: str, visit: Sender) -> Response:
    """Close a request for budget without a grant."""
    declined = visit.services.datasets.decline(request_id)
    visit.note("declined budget", f"{declined.dataset} to {declined.user}")
    return redirect(f"/datasets/{declined.dataset_id}")


# Users, jobs, releases, the service.
@router.get("/users")
def users_page(visit: Visitor) -> Response:
    """Show all users."""
    return _users(visit)


@router.post("/users")
def add_user(visit: Sender) -> Response:
    """Make an account, and show its one-time password, once."""
    name, role = visit.form.text("name"), visit.form.text("role")
    try:
        return _users(visit, new=name, password=visit.add_user(name, role))
    except (ServiceError, ValueError) as error:  # what was typed stays in the form
        status = getattr(error, "status", 400)
        return _users(visit, status, typed=visit.form, message=str(error))


_ACTS_ON_USERS = {
    "reset": (
        "New password for {}?",
        "The old password, all sessions and all tokens of the user end.",
        "New password",
    ),
    "close": ("Close the account of {}?", "All sessions and tokens of the user end.", "Close"),
    "open": ("Open the account of {}?", "The user can sign in again.", "Open"),
    "delete": (
        "Delete the account of {}?",
        "This is for good: password, sessions, tokens and access go. Ledger, trail and jobs keep "
        "the name, and nobody can have it again.",
        "Delete",
    ),
}


@router.post("/users/{user_id}/{act}")
def change_user(user_id: str, act: str, visit: Sender) -> Response:
    """Give a new one-time password, or open, close or delete an account."""
    user = visit.services.accounts.by_id(user_id)
    if act not in _ACTS_ON_USERS:
        raise NotFoundError
    title, words, button = _ACTS_ON_USERS[act]
    visit.be_sure(title.format(user.name), words, button)
    if act == "reset":
        return _users(visit, new=user.name, password=visit.reset_user(user))
    if act == "delete":
        visit.delete_user(user)
    else:
        visit.switch_user(user, active=act == "open")
    return redirect("/steward/users")


def _users(visit: Visit, status: int = 200, **shown: Any) -> Response:
    shown = {"new": "", "password": "", "message": "", "typed": Form(FormData())} | shown
    return visit.page("users", status, people=visit.services.accounts.all(), roles=ROLES, **shown)


@router.post("/jobs/{job_id}/{act}")
def decide(job_id: str, act: str, visit: Sender) -> Response:
    """Decide what becomes of an interrupted job."""
    if act not in ("again", "give-up"):
        raise NotFoundError
    queue = visit.services.queue
    (queue.put_back if act == "again" else queue.give_up)(job_id)
    visit.note("ran job again" if act == "again" else "gave job up", job_id)
    return redirect(f"/jobs/{job_id}")


@router.post("/releases/{release_id}/delete")
def delete_release(release_id: str, visit: Sender) -> Response:
    """Delete what a release holds."""
    release = visit.services.releases.one(release_id, visit.user)
    visit.be_sure(f"Delete this release of {release.dataset}?", _DELETING_RELEASE, "Delete")
    visit.delete_release(release_id)
    return redirect("/releases")


@router.get("/service")
def service_page(visit: Visitor) -> Response:
    """Show maintenance, retention and what else concerns the whole service."""
    return visit.page("service", settings=visit.services.settings)


@router.post("/service/maintenance")
def change_maintenance(visit: Sender) -> Response:
    """Begin or end maintenance."""
    begins = visit.form.text("act") == "begin"
    text = visit.form.text("text") if begins else ""
    if begins and not text:
        raise ServiceError("Say in a few words why nothing can be asked, and until when.")
    set_maintenance(visit.services.database, text)
    visit.note("began maintenance" if text else "ended maintenance", text)
    return redirect("/steward/service")


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


# The books, for auditors too.
@books.get("")
def audit_page(visit: Visitor) -> Response:
    """Show the data sets whose statements can be read."""
    visit.check_reads_books()
    return visit.page("audit", datasets=visit.services.datasets.accounts())


@books.get("/acts")
def acts(visit: Visitor, after: int = 0) -> Response:
    """Give the trail of acts, one JSON object per line."""
    lines = [json.dumps(asdict(it), ensure_ascii=False) + "\n" for it in visit.trail(after)]
    return file_response("acts.jsonl", "".join(lines).encode(), "application/jsonl")


@books.get("/trail")
def trail_page(visit: Visitor) -> Response:
    """Show the trail of acts, the newest first."""
    visit.check_reads_books()
    pager = Pager.of(visit.request)
    found, pager = pager.cut(visit.services.acts.newest(pager.window))
    return visit.page("trail", acts=found, pager=pager)


@books.get("/{dataset_id}")
def statement(dataset_id: str, visit: Visitor, download: str = "") -> Response:
    """Show the statement of a data set, or give it as a file."""
    html = html_statement(visit.statement(dataset_id))
    if download:
        return file_response("statement.html", html.encode(), "text/html")
    way = [("/audit", "Audit")]
    return report_page(visit, html, "Statement", way, f"/audit/{dataset_id}?download=1")


@books.get("/{dataset_id}/export")
def export(dataset_id: str, visit: Visitor) -> Response:
    """Give the statement as JSON."""
    plain = visit.statement(dataset_id).to_dict()
    return JSONResponse(plain, headers={"Content-Disposition": "attachment"})
