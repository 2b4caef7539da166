"""Pages of an account: signing in and out, the password, tokens for programs."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.responses import Response

from privclust.service import clock
from privclust.service.accounts import SCOPES, SHORTEST_PASSWORD
from privclust.service.errors import ForbiddenError, NotFoundError, ServiceError, TooManyError
from privclust.service.oidc import Provider
from privclust.service.services import Services
from privclust.service.web.pages import (
    AnonymousForm,
    Sender,
    ServicesDep,
    Visit,
    Visitor,
    address_of,
    cookie_name,
    page,
    redirect,
)

router = APIRouter(include_in_schema=False)

_WRONG = "The name or the password is wrong; try again."
_TOO_MANY = "Too many attempts to sign in; wait a minute and try again."
_OTHER = "The form is out of date; open the page again and send it once more."


class Attempts:
    """How often an address may try to sign in: by one name, and in all.

    A name alone is not counted: anyone who knows it could then lock its owner out.
    """

    def __init__(self, per_minute: int) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._name = RateLimitItemPerMinute(per_minute)
        self._address = RateLimitItemPerMinute(4 * per_minute)

    def count(self, name: str, address: str) -> None:
        """Count one attempt, or refuse it."""
        by_name = self._limiter.hit(self._name, "name", name.casefold()[:200], address)
        self.count_address(address)
        if not by_name:
            raise TooManyError(_TOO_MANY)

    def count_address(self, address: str) -> None:
        """Count one attempt of an address, or refuse it."""
        if not self._limiter.hit(self._address, "address", address):
            raise TooManyError(_TOO_MANY)


def _set(response: Response, services: Services, name: str, value: str) -> None:
    response.set_cookie(
        cookie_name(services, name),
        value,
        max_age=services.settings.session_hours * 3600,
        secure=services.settings.secure,
        httponly=True,
        samesite="lax",
        path="/",
    )


@router.get("/sign-in")
def sign_in_page(request: Request, services: ServicesDep) -> Response:
    """Show the form to sign in."""
    visitor = request.cookies.get(cookie_name(services, "visitor")) or secrets.token_urlsafe(32)
    response = _sign_in_page(request, visitor)
    _set(response, services, "visitor", visitor)
    return response


def _sign_in_page(request: Request, visitor: str, message: str = "", status: int = 200) -> Response:
    services: Services = request.app.state.services
    by_provider = request.app.state.provider is not None
    shown: dict[str, Any] = {"visitor": visitor, "message": message, "by_provider": by_provider}
    return page("sign_in", status=status, by_password=services.settings.passwords, **shown)


def _check_passwords(services: Services) -> None:
    if not services.settings.passwords:
        raise NotFoundError


@router.post("/sign-in")
def sign_in(request: Request, services: ServicesDep, form: AnonymousForm) -> Response:
    """Begin a session with a new cookie, whatever cookie came along."""
    _check_passwords(services)
    visitor = request.cookies.get(cookie_name(services, "visitor"), "")
    if not visitor or not secrets.compare_digest(visitor.encode(), form.text("form").encode()):
        raise ForbiddenError(_OTHER)
    attempts: Attempts = request.app.state.attempts
    name = form.text("name")
    attempts.count(name, address_of(request))
    password: Any = form.data.get("password", "")
    cookie = services.accounts.sign_in(name, password if isinstance(password, str) else "")
    _note_sign_in(request, name, cookie)
    if cookie is None:
        return _sign_in_page(request, visitor, _WRONG, 403)
    return _open_session(request, services, cookie)


@router.get("/sign-in/provider")
async def sign_in_at_provider(request: Request, services: ServicesDep) -> Response:
    """Send the browser to the provider that the operator chose."""
    response, attempt = await _provider(request).send_there(request)
    _set(response, services, "provider", attempt)
    return response


async def _vouched_name(request: Request, services: ServicesDep) -> tuple[str, str | None]:
    """Return whom the provider vouches for, and the role that comes with it."""
    attempts: Attempts = request.app.state.attempts
    attempts.count_address(address_of(request))
    attempt = request.cookies.get(cookie_name(services, "provider"), "")
    return await _provider(request).vouched_name(request, attempt)


@router.get("/sign-in/provider/back")
def sign_in_from_provider(
    request: Request,
    services: ServicesDep,
    vouched: Annotated[tuple[str, str | None], Depends(_vouched_name)],
) -> Response:
    """Begin a session of the user the provider vouches for, if there is an account."""
    name, role = vouched
    cookie = services.accounts.sign_in_external(name, role)
    _note_sign_in(request, name, cookie)
    if cookie is None:
        raise ForbiddenError("There is no account for you here; ask the steward for one.")
    response = _open_session(request, services, cookie)
    response.delete_cookie(
        cookie_name(services, "provider"), path="/", secure=services.settings.secure
    )
    return response


def _note_sign_in(request: Request, name: str, cookie: str | None) -> None:
    services: Services = request.app.state.services
    act = "sign-in failed" if cookie is None else "signed in"
    services.acts.add(name, address_of(request), act)


def _provider(request: Request) -> Provider:
    provider: Provider | None = request.app.state.provider
    if provider is None:
        raise NotFoundError
    return provider


def _open_session(request: Request, services: Services, cookie: str) -> Response:
    """Send the browser to its data sets with a new cookie; the session it had ends."""
    old = request.cookies.get(cookie_name(services, "session"))
    if old:
        services.accounts.sign_out(old)
    response = redirect("/")
    _set(response, services, "session", cookie)
    return response


@router.post("/sign-out")
def sign_out(visit: Sender) -> Response:
    """End the session."""
    visit.note("signed out")
    name = cookie_name(visit.services, "session")
    visit.services.accounts.sign_out(visit.request.cookies.get(name, ""))
    response = redirect("/sign-in")
    response.delete_cookie(name, path="/", secure=visit.services.settings.secure)
    return response


@router.get("/password")
def password_page(visit: Visitor) -> Response:
    """Show the form for a new password."""
    _check_passwords(visit.services)
    return visit.page("password", shortest=SHORTEST_PASSWORD)


@router.post("/password")
def change_password(visit: Sender) -> Response:
    """Set a new password; all other sessions end."""
    _check_passwords(visit.services)
    attempts: Attempts = visit.request.app.state.attempts
    attempts.count(visit.user.name, visit.address)
    old, new = (str(visit.form.data.get(name, "")) for name in ("old", "new"))
    cookie = visit.services.accounts.change_password(visit.user, old, new)
    visit.note("changed password")
    return _open_session(visit.request, visit.services, cookie)


@router.get("/tokens")
def tokens_page(visit: Visitor) -> Response:
    """Show the user's tokens."""
    return _tokens(visit)


@router.post("/tokens")
def add_token(visit: Sender) -> Response:
    """Create a token and show it, once."""
    form = visit.form
    name, scope, days = form.text("name"), form.text("scope"), form.number("days")
    try:
        made = visit.services.accounts.add_token(visit.user, name, scope, days)
    except (ServiceError, ValueError) as error:  # what was typed stays in the form
        return _tokens(visit, getattr(error, "status", 400), message=str(error))
    visit.note("made token", f"{name}, {scope}")
    return _tokens(visit, new=made)


@router.post("/tokens/{token_id}/revoke")
def revoke_token(token_id: str, visit: Sender) -> Response:
    """End a token."""
    visit.services.accounts.revoke(visit.user, token_id)
    visit.note("revoked token", token_id)
    return redirect("/tokens")


def _tokens(visit: Visit, status: int = 200, new: str = "", message: str = "") -> Response:
    scopes = SCOPES if visit.user.is_steward else SCOPES[:2]
    shown: dict[str, Any] = {"new": new, "message": message, "typed": visit.form}
    tokens = visit.services.accounts.tokens(visit.user)
    return visit.page("tokens", status, tokens=tokens, scopes=scopes, now=clock.now(), **shown)
