"""Pages of stewards and auditors: registering, granting, freezing, users, jobs, statements."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Request
from starlette.datastructures import FormData
from starlette.responses import Response

from privclust.service.accounts import ROLES, Session, User
from privclust.service.balance import balance_of, granted_in_all
from privclust.service.declared import declared_in
from privclust.service.errors import NotFoundError, ServiceError
from privclust.service.operations import set_maintenance
from privclust.service.questions import budget_of
from privclust.service.registered import Dataset
from privclust.service.registration import files_below
from privclust.service.services import Services
from privclust.service.web.browse import describe_columns, grants_of
from privclust.service.web.pages import (
    Form,
    Noter,
    NoterDep,
    ServicesDep,
    StewardSession,
    VerifiedForm,
    ask_first,
    page,
    redirect,
)
from privclust.unit import Unit, unit_from

router = APIRouter(include_in_schema=False)

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


# Registering.
@router.get("/steward/register")
def register_page(
    session: StewardSession, services: ServicesDep, kind: str = "", check: str = ""
) -> Response:
    """Show the kinds of data, or the form for one of them; what was typed before stays in it."""
    typed = Form(FormData())
    if check:
        typed = Form(FormData(list(services.checks.one(check).typed.items())))
        kind = _kind(typed.text("unit", "add-remove-row"))
    if kind not in KINDS:
        return page("register_kind", session)
    return _register_page(session, services, kind, typed)


def _kind(unit: str) -> str:
    return next((kind for kind, units in KINDS.items() if unit in units), "rows")


def _register_page(
    session: Session,
    services: Services,
    kind: str,
    typed: Form,
    message: str = "",
    status: int = 200,
) -> Response:
    files = files_below(services.settings.folder)
    shown: dict[str, Any] = {"kind": kind, "units": KINDS[kind], "files": files}
    return page("register", session, status, typed=typed, message=message, **shown)


@router.post("/steward/register")
def register(
    session: StewardSession, services: ServicesDep, form: VerifiedForm, note: NoterDep
) -> Response:
    """Begin to check the files; what was typed stays in the form if it is refused."""
    try:
        typed = _typed(form)
        draft = services.datasets.draft(
            typed["name"],
            typed["path"],
            declared_in(typed["schema"]),
            _unit(form),
            form.number("most_rows"),
            typed["note"],
            _meanings(typed["meanings"]),
        )
        act: Literal["try", "register"] = "try" if form.text("act") == "try" else "register"
        check = services.checks.begin(act, session.user, draft, _by(note, session.user), typed)
    except ServiceError as error:
        kind = _kind(form.text("unit", "add-remove-row"))
        return _register_page(session, services, kind, form, str(error), error.status)
    return redirect(f"/steward/checks/{check.id}")


def _typed(form: Form) -> dict[str, str]:
    """Return what was typed; a schema that was uploaded stands for the text."""
    names = ("name", "path", "schema", "unit", "id_column", "max_rows", "n_rows", "unreadable")
    typed = {name: form.text(name) for name in (*names, "cap", "most_rows", "note", "meanings")}
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
        raise ServiceError("Say what columns mean in lines such as age: in years; correct them.")
    return {name.strip(): words.strip() for name, _, words in lines}


def _by(note: Noter, user: User) -> Any:
    return lambda act, what: note(user, act, what)


@router.get("/steward/checks/{check_id}")
def check_page(check_id: str, session: StewardSession, services: ServicesDep) -> Response:
    """Show how far a check is, or what it found."""
    return page("check", session, check=services.checks.one(check_id))


@router.post("/steward/datasets/{dataset_id}/check")
def check(
    dataset_id: str,
    session: StewardSession,
    services: ServicesDep,
    form: VerifiedForm,
    note: NoterDep,
) -> Response:
    """Begin to check the files again, after which the data set is open."""
    dataset = services.datasets.one(dataset_id, session.user)
    begun = services.checks.begin("check", session.user, dataset, _by(note, session.user))
    return redirect(f"/steward/checks/{begun.id}")


@router.post("/steward/datasets/{dataset_id}/freeze")
def freeze(
    dataset_id: str,
    request: Request,
    session: StewardSession,
    services: ServicesDep,
    form: VerifiedForm,
    note: NoterDep,
) -> Response:
    """Let nothing be asked."""
    dataset = services.datasets.one(dataset_id, session.user)
    words = "Nothing can be asked of it until its files have been checked again."
    asked = ask_first(session, request, form, f"Freeze {dataset.name}?", words, "Freeze")
    if asked is not None:
        return asked
    reason = form.text("reason") or f"frozen by {session.user.name}"
    services.datasets.freeze(dataset, reason)
    services.webhook.send([{"event": "data set frozen", "dataset": dataset.name}])
    note(session.user, "froze", f"{dataset.name}: {reason}")
    return redirect(f"/datasets/{dataset_id}")


@router.post("/steward/datasets/{dataset_id}/delete")
def delete_dataset(
    dataset_id: str,
    request: Request,
    session: StewardSession,
    services: ServicesDep,
    form: VerifiedForm,
    note: NoterDep,
) -> Response:
    """Delete a data set and its releases."""
    dataset = services.datasets.one(dataset_id, session.user)
    words = (
        "Its releases are deleted with it, for everybody. Its files stay where they are, and so "
        "does its account in the ledger; neither its name nor its rows can be registered again."
    )
    asked = ask_first(session, request, form, f"Delete {dataset.name}?", words, "Delete")
    if asked is not None:
        return asked
    services.datasets.delete(dataset)
    note(session.user, "deleted data set", dataset.name)
    return redirect("/")


# Budgets.
@router.post("/steward/datasets/{dataset_id}/grant")
def grant(
    dataset_id: str,
    request: Request,
    session: StewardSession,
    services: ServicesDep,
    form: VerifiedForm,
    note: NoterDep,
) -> Response:
    """Grant budget to an analyst, after a look at what that comes to."""
    dataset = services.datasets.one(dataset_id, session.user)
    epsilon, delta = form.text("epsilon"), form.text("delta") or "0"
    try:
        user = services.accounts.by_name(form.text("user"))
        budget_of(epsilon, delta)
        title = f"Grant ε = {epsilon}{f', δ = {delta}' if delta != '0' else ''} to {user.name}?"
        words = _consequences(services, dataset, user)
        asked = ask_first(session, request, form, title, words, "Grant")
        if asked is not None:
            return asked
        given = (dataset, user, epsilon, delta, form.text("note"), form.text("request") or None)
        grant_by(services, note, session.user, *given)
    except ServiceError as error:  # what was typed stays in the form
        shown: dict[str, Any] = grants_of(services, dataset)
        shown |= {"typed": form, "message": str(error), "dataset": dataset, "balance": []}
        columns = describe_columns(dataset)
        return page("dataset", session, error.status, columns=columns, offers=[], asked=[], **shown)
    return redirect(f"/datasets/{dataset_id}")


def _consequences(services: Services, dataset: Dataset, user: User) -> str:
    """Say what is granted already, to the analyst and to all."""
    ledger = services.database.ledger
    left = "; ".join(pot.left for pot in balance_of(ledger, dataset.name, user.name))
    own = f"{user.name} has {left} left, and this is added to it. " if left else ""
    total = granted_in_all(ledger, dataset.name)
    many = f"All analysts together were granted {total} so far. " if total else ""
    return (
        f"{own}{many}If analysts share what they learn, or somebody sees all releases, protection "
        "is that of all grants added up. A grant cannot be taken back; access can be revoked."
    )


def grant_by(
    services: Services,
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
    services.datasets.grant(dataset, user, epsilon, delta, words, steward.name, request)
    note(steward, "granted", f"{dataset.name} to {user.name}: ε = {epsilon}, δ = {delta}")


@router.post("/steward/datasets/{dataset_id}/revoke")
def revoke(
    dataset_id: str,
    request: Request,
    session: StewardSession,
    services: ServicesDep,
    form: VerifiedForm,
    note: NoterDep,
) -> Response:
    """Let an analyst ask no more."""
    dataset = services.datasets.one(dataset_id, session.user)
    user = services.accounts.by_name(form.text("user"))
    title = f"Revoke {user.name}'s access to {dataset.name}?"
    words = (
        "What is left of the budget stays in the ledger, and comes back on top if you grant "
        "something again."
    )
    asked = ask_first(session, request, form, title, words, "Revoke")
    if asked is not None:
        return asked
    services.datasets.revoke(dataset, user)
    note(session.user, "revoked access", f"{dataset.name} from {user.name}")
    return redirect(f"/datasets/{dataset_id}")


@router.post("/steward/requests/{request_id}/decline")
def decline(
    request_id: str,
    session: StewardSession,
    services: ServicesDep,
    form: VerifiedForm,
    note: NoterDep,
) -> Response:
    """Close a request for budget without a grant."""
    declined = services.datasets.decline(request_id)
    note(session.user, "declined budget", f"{declined.dataset} to {declined.user}")
    return redirect(f"/datasets/{declined.dataset_id}")


# Users, jobs, releases, the service.
@router.get("/steward/users")
def users_page(session: StewardSession, services: ServicesDep) -> Response:
    """Show all users."""
    return _users(session, services)


@router.post("/steward/users")
def add_user(
    session: StewardSession, services: ServicesDep, form: VerifiedForm, note: NoterDep
) -> Response:
    """Make an account, and show its one-time password, once."""
    name, role = form.text("name"), form.text("role")
    try:
        password = services.accounts.add(name, role)
    except (ServiceError, ValueError) as error:  # what was typed stays in the form
        status = getattr(error, "status", 400)
        return _users(session, services, typed=form, message=str(error), status=status)
    note(session.user, "added user", f"{name}, {role}")
    return _users(session, services, name, password)


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


@router.post("/steward/users/{user_id}/{act}")
def change_user(
    user_id: str,
    act: str,
    request: Request,
    session: StewardSession,
    services: ServicesDep,
    form: VerifiedForm,
    note: NoterDep,
) -> Response:
    """Give a new one-time password, or open, close or delete an account."""
    user = services.accounts.by_id(user_id)
    if act not in _ACTS_ON_USERS:
        raise NotFoundError
    title, words, button = _ACTS_ON_USERS[act]
    asked = ask_first(session, request, form, title.format(user.name), words, button)
    if asked is not None:
        return asked
    if act == "reset":
        password = services.accounts.reset(user)
        note(session.user, "reset password", user.name)
        return _users(session, services, user.name, password)
    if act == "delete":
        services.accounts.delete(user, session.user)
        note(session.user, "deleted account", user.name)
    else:
        services.accounts.set_active_by(session.user, user, active=act == "open")
        note(session.user, "opened account" if act == "open" else "closed account", user.name)
    return redirect("/steward/users")


def _users(
    session: Session,
    services: Services,
    name: str = "",
    password: str = "",
    typed: Form | None = None,
    message: str = "",
    status: int = 200,
) -> Response:
    shown: dict[str, Any] = {"people": services.accounts.all(), "roles": ROLES, "new": name}
    shown |= {"typed": typed or Form(FormData()), "message": message, "password": password}
    return page("users", session, status, **shown)


@router.post("/steward/jobs/{job_id}/{act}")
def decide(
    job_id: str,
    act: str,
    session: StewardSession,
    services: ServicesDep,
    form: VerifiedForm,
    note: NoterDep,
) -> Response:
    """Decide what becomes of an interrupted job."""
    if act not in ("again", "give-up"):
        raise NotFoundError
    (services.queue.put_back if act == "again" else services.queue.give_up)(job_id)
    note(session.user, "ran job again" if act == "again" else "gave job up", job_id)
    return redirect(f"/jobs/{job_id}")


@router.post("/steward/releases/{release_id}/delete")
def delete_release(
    release_id: str,
    request: Request,
    session: StewardSession,
    services: ServicesDep,
    form: VerifiedForm,
    note: NoterDep,
) -> Response:
    """Delete what a release holds."""
    release = services.releases.one(release_id, session.user)
    words = (
        "It is gone for everybody. Its charge and its digest stay in the ledger, and the same "
        "question costs budget again."
    )
    title = f"Delete this release of {release.dataset}?"
    asked = ask_first(session, request, form, title, words, "Delete")
    if asked is not None:
        return asked
    services.releases.delete(release_id)
    note(session.user, "deleted release", release_id)
    return redirect("/releases")


@router.get("/steward/service")
def service_page(session: StewardSession, services: ServicesDep) -> Response:
    """Show maintenance, retention and what else concerns the whole service."""
    return page("service", session, settings=services.settings)


@router.post("/steward/service/maintenance")
def change_maintenance(
    session: StewardSession, services: ServicesDep, form: VerifiedForm, note: NoterDep
) -> Response:
    """Begin or end maintenance."""
    text = form.text("text") if form.text("act") == "begin" else ""
    if form.text("act") == "begin" and not text:
        raise ServiceError("Say in a few words why nothing can be asked, and until when.")
    set_maintenance(services.database, text)
    note(session.user, "began maintenance" if text else "ended maintenance", text)
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
