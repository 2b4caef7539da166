"""What all pages share: who is signed in, forms with their token, and templates."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, Request
from python_multipart.exceptions import FormParserError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from privclust.reports.page import render
from privclust.service.errors import ForbiddenError, NotFoundError
from privclust.service.people import Session, User
from privclust.service.site import Site

_MOST_FIELDS = 500
_NO_TOKEN = "The form is out of date; open the page again and send it once more."  # noqa: S105


class SignInNeededError(Exception):
    """The page is for those who are signed in; another page comes first."""

    def __init__(self, way: str = "/sign-in") -> None:
        super().__init__(way)
        self.way = way


@dataclass(frozen=True)
class Form:
    """What a form holds; every value is text."""

    data: FormData

    def text(self, name: str, usual: str = "") -> str:
        """Return a value, without blanks around it."""
        value = self.data.get(name, usual)
        return value.strip() if isinstance(value, str) else usual

    def texts(self, name: str) -> list[str]:
        """Return all values of a name."""
        return [value for value in self.data.getlist(name) if isinstance(value, str)]

    def number(self, name: str) -> int:
        """Return a whole number, or 0."""
        text = self.text(name)
        return int(text) if text.isascii() and text.isdigit() and len(text) < 15 else 0

    def file(self, name: str) -> UploadFile | None:
        """Return a file that was uploaded."""
        value = self.data.get(name)
        return value if isinstance(value, UploadFile) and value.filename else None


async def site_of(request: Request) -> Site:
    """Return what the pages stand on; at once, because a thread would cost every page time."""
    site: Site = request.app.state.site
    return site


Here = Annotated[Site, Depends(site_of)]


def address_of(request: Request) -> str:
    """Return where a request came from."""
    return request.client.host if request.client else "-"


@dataclass(frozen=True)
class Noter:
    """Writes what this request does into the trail of acts."""

    site: Site
    address: str

    def __call__(self, user: User | str, act: str, what: str = "") -> None:
        """Write down what was done, and by whom."""
        self.site.acts.add(user if isinstance(user, str) else user.name, self.address, act, what)


async def note_of(request: Request, site: Here) -> Noter:
    """Return what writes down the acts of a request."""
    return Noter(site, address_of(request))


Noting = Annotated[Noter, Depends(note_of)]


def cookie_name(site: Site, name: str) -> str:
    """Return the full name of a cookie; browsers keep the prefix to this host and https."""
    return f"__Host-{name}" if site.settings.secure else name


def session_of(request: Request, site: Here) -> Session:
    """Return the session of whoever is signed in; the others sign in first."""
    cookie = request.cookies.get(cookie_name(site, "session"), "")
    session = site.people.session(cookie) if cookie else None
    if session is None:
        raise SignInNeededError
    if session.user.must_change and request.url.path not in ("/password", "/sign-out"):
        raise SignInNeededError("/password")
    return session


Signed = Annotated[Session, Depends(session_of)]


def steward_of(session: Signed) -> Session:
    """Return the session of a steward; to others these pages do not exist."""
    if not session.user.is_steward:
        raise NotFoundError
    return session


Stewarded = Annotated[Session, Depends(steward_of)]


async def form_of(request: Request) -> AsyncIterator[Form]:
    """Give what was posted; an uploaded file is gone when the request ends."""
    # Newer versions of Starlette refuse these by themselves, and in the same way.
    try:
        data = await request.form(max_files=1, max_fields=_MOST_FIELDS)
    except FormParserError:
        raise HTTPException(400) from None
    try:
        if len(data.multi_items()) > _MOST_FIELDS:
            raise HTTPException(400)
        yield Form(data)
    finally:
        await data.close()


async def posted_by(session: Signed, form: Annotated[Form, Depends(form_of)]) -> Form:
    """Return what was posted from a page of this session."""
    if not secrets.compare_digest(form.text("form").encode(), session.form.encode()):
        raise ForbiddenError(_NO_TOKEN)
    return form


Posted = Annotated[Form, Depends(posted_by)]
Visited = Annotated[Form, Depends(form_of)]


def page(
    template: str, session: Session | None = None, status: int = 200, **values: Any
) -> Response:
    """Return a page."""
    user: User | None = None if session is None else session.user
    given = {
        "user": user,
        "form_token": "" if session is None else session.form,
        "moment": moment,
        **values,
    }
    return HTMLResponse(render(f"service/templates/{template}.html.j2", given), status)


def see(path: str) -> Response:
    """Send the browser to another page after a form."""
    return RedirectResponse(path, 303)


def moment(seconds: int) -> str:
    """Return a time for readers."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
