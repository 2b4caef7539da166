"""The application: every page under its address, and one sentence for whatever goes wrong."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from privclust import __version__, exceptions
from privclust.service.errors import NOT_HERE
from privclust.service.oidc import Provider
from privclust.service.services import Services
from privclust.service.web import account, api, browse, manage
from privclust.service.web.pages import (
    Guard,
    NotSureError,
    SignInNeededError,
    own_path,
    page,
    redirect,
)

log = logging.getLogger("privclust.service")

_MALFORMED = "The request cannot be read; see the description of the interface."
_NO_DATABASE = "The service cannot reach its database at the moment; try again later."
# The sentences of other errors of the ledger tell where the database is; a reader need not know.
_FOR_READERS = (
    exceptions.BudgetGoneError,
    exceptions.LedgerConflictError,
    exceptions.UnitMismatchError,
    exceptions.UnknownDatasetError,
)
_STATIC = {"page.css": "text/css", "live.js": "text/javascript", "page.js": "text/javascript"}


def make_app(services: Services) -> FastAPI:
    """Return the application on a services; it starts the services's processes with itself."""
    app = FastAPI(
        title="privclust",
        version=__version__,
        summary="Plans, jobs and releases with differential privacy. Rows stay with the steward.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        lifespan=_lifespan,
    )
    app.state.services = services
    app.state.attempts = account.Attempts(services.settings.sign_ins_per_minute)
    app.state.provider = Provider(services.settings) if services.settings.oidc_issuer else None
    app.state.static = {name: _static(name) for name in _STATIC}
    for router in (account.router, browse.router, manage.router, manage.books, api.router):
        app.include_router(router)
    _add_small_routes(app)
    _add_errors(app)
    app.add_middleware(Guard, settings=services.settings, metrics=services.metrics, told=_told)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    services: Services = app.state.services
    if services.worker is not None:
        services.checks.interrupt_left_over()
        services.worker.start()
        services.planner.warm_up()
    yield
    services.checks.close()
    if services.worker is not None:
        services.worker.stop()
    services.planner.close()


def _static(name: str) -> bytes:
    own = files("privclust.service").joinpath("static", name).read_bytes()
    if name != "page.css":
        return own
    return files("privclust.reports").joinpath("page.css").read_bytes() + b"\n" + own


def _add_small_routes(app: FastAPI) -> None:
    @app.api_route("/healthz", methods=["GET", "HEAD"], include_in_schema=False)
    def healthz() -> Response:
        services: Services = app.state.services
        services.database.rows("SELECT 1")
        working = services.worker is None or services.worker.is_watched
        return JSONResponse({"status": "ok" if working else "no worker"}, 200 if working else 503)

    @app.get("/metrics", include_in_schema=False)
    def metrics(request: Request) -> Response:
        services: Services = app.state.services
        token = services.settings.metrics_token
        given = request.headers.get("authorization", "").encode()
        if not token or not secrets.compare_digest(given, f"Bearer {token}".encode()):
            raise HTTPException(404)
        working = services.worker is None or services.worker.is_watched
        return Response(services.metrics.text(working), media_type=CONTENT_TYPE_LATEST)

    @app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        if name not in _STATIC:
            raise HTTPException(404)
        content = app.state.static[name]
        headers = {"Cache-Control": "public, max-age=3600"}
        return Response(content, media_type=_STATIC[name], headers=headers)

    @app.get("/api", include_in_schema=False)
    def description() -> Response:
        routes = [
            (method.upper(), path, entry.get("description", ""))
            for path, methods in app.openapi()["paths"].items()
            for method, entry in methods.items()
        ]
        return page("api", routes=routes)


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(SignInNeededError)
    async def sign_in(request: Request, error: SignInNeededError) -> Response:
        return redirect(error.way)

    @app.exception_handler(NotSureError)
    async def ask_first(request: Request, error: NotSureError) -> Response:
        return error.answer

    @app.exception_handler(exceptions.PrivclustError)
    async def answer_refusal(request: Request, error: exceptions.PrivclustError) -> Response:
        if isinstance(error, exceptions.LedgerError) and not isinstance(error, _FOR_READERS):
            log.error("the database cannot be used", extra={"error": type(error).__name__})
            return _told(request, 503, _NO_DATABASE)
        return _told(request, getattr(error, "status", 409), str(error))

    @app.exception_handler(RequestValidationError)
    async def answer_malformed(request: Request, error: RequestValidationError) -> Response:
        return _told(request, 422, _MALFORMED)

    @app.exception_handler(HTTPException)
    async def answer_failure(request: Request, error: HTTPException) -> Response:
        own = str(error.detail)
        words = {404: NOT_HERE, 405: NOT_HERE, 408: own, 413: own}
        return _told(request, error.status_code, words.get(error.status_code, _MALFORMED))


def _told(request: Request, status: int, sentence: str) -> Response:
    if request.url.path.startswith("/api/"):
        headers: dict[str, Any] = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
        return JSONResponse({"message": sentence}, status, headers=headers)
    form = None
    if request.method == "POST":
        form = own_path(request.headers.get("referer", ""), request)
    return page("message", status=status, message=sentence, back=form)
