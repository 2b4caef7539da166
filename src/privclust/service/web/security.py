"""What guards every request: headers, the size of bodies, and the origin of forms."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import URL, Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from privclust.service.settings import Settings

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
_TOO_LARGE = "The request is too large; send less."
_OTHER_ORIGIN = "The form comes from another address; open {} and send it from there."
_BROKEN = "Something went wrong here, and nothing was charged unless your job is listed; try again."

Told = Callable[[Request, int, str], Response]


class Guard:
    """The outermost layer of the service.

    Parameters
    ----------
    app : ASGI application
    settings : Settings
    told : callable
        Makes the answer to a request that is refused, from its status and one sentence.
    """

    def __init__(self, app: ASGIApp, settings: Settings, told: Told) -> None:
        self._app, self._settings, self._told = app, settings, told

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
                await self._app(scope, self._limited(scope, receive), guarded_send)
        except ClientDisconnect:
            pass  # nobody is there to be told
        except Exception as error:  # ends here: a server would print its traceback, values included
            log.error("a request failed", extra={"error": type(error).__name__})
            if not answered["status"]:
                broken = self._told(Request(scope), 500, _BROKEN)
                await broken(scope, receive, guarded_send)
        finally:
            route = getattr(scope.get("route"), "path", "-")
            spent = round(1000 * (time.monotonic() - began))
            told = {"method": scope["method"], "route": route, "milliseconds": spent}
            log.info("request", extra={**told, **answered})

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
        # Programs send a token, which no other site's form can.
        for_people = not scope["path"].startswith("/api/")
        if unsafe and for_people and not self._is_ours(headers):
            return self._told(Request(scope), 403, _OTHER_ORIGIN.format(self._settings.url))
        host = urlsplit(self._settings.url).netloc
        other = headers.get("host", host).lower() != host.lower()
        if for_people and other and not unsafe and scope["path"] != "/healthz":
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

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        most, seen = self._most(scope), 0

        async def limited() -> Message:
            nonlocal seen
            message: Any = await receive()
            seen += len(message.get("body", b""))
            if seen > most:  # a body without an honest length
                raise HTTPException(413, _TOO_LARGE)
            return message  # type: ignore[no-any-return]

        return limited
