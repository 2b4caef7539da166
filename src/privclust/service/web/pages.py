"""What all pages share: who is signed in, forms with their token, templates, and the guard."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import secrets
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from typing import Annotated, Any
from urllib.parse import urlencode, urlsplit

from fastapi import Depends, Request
from markupsafe import Markup
from python_multipart.exceptions import FormParserError
from starlette.datastructures import URL, FormData, Headers, MutableHeaders, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from privclust.reports.page import render
from privclust.service.accounts import Session
from privclust.service.database import Window
from privclust.service.errors import ForbiddenError, NotFoundError
from privclust.service.operations import Metrics
from privclust.service.services import Actor, Services
from privclust.service.settings import Settings

_MOST_FIELDS = 500
_SCROLLED = '<div class="scroll" tabindex="0" role="region" aria-label="Table {}">'
_LINES = 50  # of a list on one page
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

    def number(self, name: str) -> int:
        """Return a whole number, or 0."""
        text = self.text(name)
        return int(text) if text.isascii() and text.isdigit() and len(text) < 15 else 0

    def file(self, name: str) -> UploadFile | None:
        """Return a file that was uploaded."""
        value = self.data.get(name)
        return value if isinstance(value, UploadFile) and value.filename else None


async def services_of(request: Request) -> Services:
    """Return what the pages stand on; at once, because a thread would cost every page time."""
    services: Services = request.app.state.services
    return services


ServicesDep = Annotated[Services, Depends(services_of)]


def address_of(request: Request) -> str:
    """Return where a request came from."""
    return request.client.host if request.client else "-"


def cookie_name(services: Services, name: str) -> str:
    """Return the full name of a cookie; browsers keep the prefix to this host and https."""
    return f"__Host-{name}" if services.settings.secure else name


def session_of(request: Request, services: ServicesDep) -> Session:
    """Return the session of the user who is signed in; the others sign in first."""
    cookie = request.cookies.get(cookie_name(services, "session"), "")
    session = services.accounts.session(cookie) if cookie else None
    if session is None:
        raise SignInNeededError
    if session.user.must_change and request.url.path not in ("/password", "/sign-out"):
        raise SignInNeededError("/password")
    return session


CurrentSession = Annotated[Session, Depends(session_of)]


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


AnonymousForm = Annotated[Form, Depends(form_of)]


@dataclass(frozen=True)
class Visit(Actor):
    """A request of somebody who is signed in, with the form that was sent, if any."""

    session: Session
    request: Request
    form: Form = Form(FormData())

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """Return a page for the user who is signed in."""
        return page(template, self.session, status, **values)

    def be_sure(self, title: str, words: str, button: str) -> None:
        """Ask first whether somebody is sure, on a page of its own, unless they have said so."""
        if self.form.text("sure") == "yes":
            return
        sent = self.form.data.multi_items()
        fields = [(k, v) for k, v in sent if isinstance(v, str) and k not in ("form", "sure")]
        shown: dict[str, Any] = {"title": title, "words": words, "button": button}
        back = own_path(self.request.headers.get("referer", ""), self.request) or "/"
        path = self.request.url.path
        raise NotSureError(self.page("confirm", path=path, fields=fields, back=back, **shown))


class NotSureError(Exception):
    """Something cannot be undone, so that a page asks first."""

    def __init__(self, answer: Response) -> None:
        super().__init__("not sure")
        self.answer = answer


async def visit_of(request: Request, session: CurrentSession) -> Visit:
    """Return the visit of the user who is signed in."""
    return Visit(request.app.state.services, session.user, address_of(request), session, request)


Visitor = Annotated[Visit, Depends(visit_of)]


async def check_is_steward(visit: Visitor) -> None:
    """Raise unless the visitor is a steward; to others these pages do not exist."""
    if not visit.user.is_steward:
        raise NotFoundError


async def sender_of(visit: Visitor, form: AnonymousForm) -> Visit:
    """Return the visit with what was posted from a page of this session."""
    if not secrets.compare_digest(form.text("form").encode(), visit.session.form.encode()):
        raise ForbiddenError(_NO_TOKEN)
    return replace(visit, form=form)


Sender = Annotated[Visit, Depends(sender_of)]


def page(
    template: str, session: Session | None = None, status: int = 200, **values: Any
) -> Response:
    """Return a page."""
    given = {
        "user": None if session is None else session.user,
        "form_token": "" if session is None else session.form,
        "notice": "" if session is None else session.notice,
        "format_time": format_time,
        **values,
    }
    return HTMLResponse(render(f"service/templates/{template}.html.j2", given), status)


def redirect(path: str) -> Response:
    """Send the browser to another page after a form."""
    return RedirectResponse(path, 303)


def file_response(name: str, content: bytes, kind: str = "application/octet-stream") -> Response:
    """Return a file to be saved."""
    saved = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=saved)


def format_time(seconds: int) -> Markup:
    """Return a time for readers, which the page's script shows as it is where they are."""
    at = datetime.fromtimestamp(seconds, UTC)
    words = at.strftime("%Y-%m-%d %H:%M UTC")
    return Markup('<time datetime="{}" data-local>{}</time>').format(at.isoformat(), words)


@dataclass(frozen=True)
class Pager:
    """Which page of a long list is shown, and whether there is a next one."""

    number: int
    path: str
    more: bool = False

    @classmethod
    def of(cls, request: Request) -> Pager:
        """Return the page that a request names; the first one if it names none."""
        text = request.query_params.get("page", "1")
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 1
        others = [(k, v) for k, v in request.query_params.multi_items() if k != "page"]
        return cls(max(number, 1), f"{request.url.path}?{urlencode([*others, ('page', '')])}")

    @property
    def window(self) -> Window:
        """The lines to look for: those of the page, and one more to know whether there are any."""
        return Window((self.number - 1) * _LINES, _LINES + 1)

    def cut(self, found: list[Any]) -> tuple[list[Any], Pager]:
        """Return the lines of the page, and the pager that knows what comes after them."""
        return found[:_LINES], replace(self, more=len(found) > _LINES)


def own_path(address: str, request: Request) -> str | None:
    """Return the path of an address if it is on this site, and None if it is not."""
    services: Services = request.app.state.services
    parts = urlsplit(address)
    ours = f"{parts.scheme}://{parts.netloc}".lower() == services.settings.origin
    # Two slashes at the beginning, of either kind, would lead to another host.
    return parts.path if ours and not parts.path.startswith(("//", "/\\")) else None


def report_page(
    visit: Visit, html: str, title: str, way: Sequence[tuple[str, str]], download: str = ""
) -> Response:
    """Return a report of ours within the navigation of the site.

    Its text was escaped when it was made, a page runs no script but the site's own, and the style
    sheet that it came with, perhaps of an older version, is allowed by its digest.

    ``download``: where the page of its own is to be had.
    """
    style = html.partition("<style>")[2].partition("</style>")[0]
    body = html.partition("<body>")[2].rpartition("</body>")[0]
    body = body.replace("<main>", "<article>").replace("</main>", "</article>")
    tables = count(1)
    # Wide tables can be scrolled by the keyboard, too.
    body = re.sub(r'<div class="scroll">', lambda _: _SCROLLED.format(next(tables)), body)
    body = body.replace("<pre>", '<pre tabindex="0">')
    given: dict[str, Any] = {"style": Markup(style), "report": Markup(body)}  # noqa: S704
    made = visit.page("report", title=title, way=way, download=download, **given)
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    allowed = _POLICY.replace("style-src 'self'", f"style-src 'self' 'sha256-{digest}'", 1)
    made.headers["Content-Security-Policy"] = allowed
    return made


log = logging.getLogger("privclust.service")

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
# Reports carry their own style sheet, and nothing else.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
_LARGEST_BODY = 2**20
_BY_ANY_NAME = ("/healthz", "/metrics")  # programs on the machine ask these
_TOO_LARGE = "The request is too large; send less."
_TOO_SLOW = "The request did not arrive in time; send it again."
_OTHER_ORIGIN = "The form comes from another address; open {} and send it from there."
_BROKEN = "Something went wrong here, and nothing was charged unless your job is listed; try again."

Told = Callable[[Request, int, str], Response]


class Guard:
    """The outermost layer of the service.

    ``told``: makes the answer to a request that is refused, from its status and one sentence.
    """

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics, told: Told) -> None:
        self._app, self._settings, self._told = app, settings, told
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, answered = time.monotonic(), {"status": 0}

        async def guarded_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered["status"] = message["status"]
                self._add_headers(MutableHeaders(raw=message["headers"]))
                message = {**message}
            await send(message)

        refusal = self._refusal(scope)
        try:
            if refusal is not None:
                await refusal(scope, receive, guarded_send)
            else:
                await self._app(scope, self._limit(scope, receive), guarded_send)
        except ClientDisconnect:
            pass  # nobody is there to be told
        except Exception as error:  # ends here: a server would print its traceback, values included
            log.error("a request failed", extra={"error": type(error).__name__})
            if not answered["status"]:
                broken = self._told(Request(scope), 500, _BROKEN)
                await broken(scope, receive, guarded_send)
        finally:
            self._log(scope, answered["status"], time.monotonic() - began)

    def _log(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "-")
        told = {"method": scope["method"], "route": route, "status": status}
        log.info("request", extra={**told, "milliseconds": round(1000 * seconds)})
        known = scope["method"] if route != "-" else "-"  # strangers can name any method
        self._metrics.count(known, route, status, seconds)

    def _add_headers(self, headers: MutableHeaders) -> None:
        for name, value in _HEADERS.items():
            headers.setdefault(name, value)
        if self._settings.secure:
            headers.setdefault("Strict-Transport-Security", "max-age=31536000")

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the answer to a request that goes no further."""
        headers = Headers(scope=scope)
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length) > self._most(scope):
            return self._told(Request(scope), 413, _TOO_LARGE)
        unsafe = scope["method"] not in ("GET", "HEAD", "OPTIONS")
        # Programs send a token, which no other services's form can.
        for_people = not scope["path"].startswith("/api/")
        if unsafe and for_people and not self._is_ours(headers):
            return self._told(Request(scope), 403, _OTHER_ORIGIN.format(self._settings.url))
        host = urlsplit(self._settings.url).netloc
        other = headers.get("host", host).lower() != host.lower()
        if for_people and other and not unsafe and scope["path"] not in _BY_ANY_NAME:
            url = URL(scope=scope)  # forms and cookies belong to one address
            way = f"{self._settings.origin}{url.path}{'?' if url.query else ''}{url.query}"
            return RedirectResponse(way, 307)
        return None

    def _is_ours(self, headers: Headers) -> bool:
        origin = headers.get("origin")
        if origin is None:
            parts = urlsplit(headers.get("referer", ""))
            origin = f"{parts.scheme}://{parts.netloc}"
        return origin.lower() == self._settings.origin

    def _most(self, scope: Scope) -> int:
        """Return the largest body; only rows to label may be larger than a form."""
        if scope["path"].endswith("/labels"):
            return self._settings.upload_megabytes * 2**20
        return _LARGEST_BODY

    def _limit(self, scope: Scope, receive: Receive) -> Receive:
        most, seen, whole = self._most(scope), 0, False
        until = asyncio.get_running_loop().time() + self._settings.body_seconds

        async def receive_limited() -> Message:
            nonlocal seen, whole
            if whole:  # what comes next is that the client is gone, and that may take its time
                return await receive()
            try:
                async with asyncio.timeout_at(until):
                    message: Any = await receive()
            except TimeoutError:
                raise HTTPException(408, _TOO_SLOW) from None
            seen += len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if seen > most:  # a body without an honest length
                raise HTTPException(413, _TOO_LARGE)
            return message  # type: ignore[no-any-return]

        return receive_limited
