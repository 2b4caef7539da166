"""``privclust serve``: the service; it needs the extra ``service``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from privclust.cli import screen
from privclust.cli.errors import UsageError

__all__ = ["serve"]

_WANTED = {"argon2", "fastapi", "limits", "python_multipart", "uvicorn"}


class Instead(StrEnum):
    """What can be done instead of serving."""

    RESET = "reset"


def serve(
    act: Annotated[
        Instead | None, typer.Argument(help="reset: give the user NAME a new one-time password.")
    ] = None,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Of a user.")] = None,
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Settings, a TOML file.")
    ] = None,
    database: Annotated[
        str | None,
        typer.Option("--database", metavar="URL", help="SQLite file, or postgresql://…"),
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", metavar="DIR", help="Data sets lie below it.")
    ] = None,
    port: Annotated[int | None, typer.Option("--port", help="Where to listen.")] = None,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="The address in browsers.")
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Begin with made-up data and two users.")
    ] = False,
) -> None:
    """Serve plans, jobs and releases to analysts. Rows stay here; the ledger decides."""
    _check_installed()
    from privclust.service.serve import reset
    from privclust.service.serve import serve as run
    from privclust.service.settings import Settings

    address = f"http://127.0.0.1:{port}" if port is not None and url is None else url
    given: dict[str, Any] = {"database": database, "data": data, "port": port, "url": address}
    if demo:
        given |= {"tick_seconds": 15}
    settings = Settings.read(config, **given)
    if act is None:
        run(settings, screen.show, demo=demo)
    elif name is None:
        raise UsageError("Say whose password is to be reset: privclust serve reset NAME.")
    else:
        reset(settings, name, screen.show)


def _check_installed() -> None:
    """Raise with one sentence if the extra is missing."""
    try:
        import privclust.service.serve  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name not in _WANTED:
            raise
        raise UsageError(
            "The service needs more packages; install them with pip install 'privclust[service]'."
        ) from None
