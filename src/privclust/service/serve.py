"""Starting the server: one process behind a reverse proxy, with its worker and its planner."""

from __future__ import annotations

import getpass
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

from privclust.ledger.store import HeldName
from privclust.service.demo import fill, first_steward
from privclust.service.errors import ServiceError
from privclust.service.services import Services
from privclust.service.settings import Settings, log_to_stderr


def serve(settings: Settings, tell: Callable[[str], None], *, demo: bool = False) -> None:
    """Serve until interrupted.

    ``tell``: takes the few lines that the operator reads, among them one-time passwords. ``demo``:
    whether to fill an empty service with synthetic data and users.
    """
    import uvicorn

    from privclust.service.web.app import make_app

    _check_port(settings)
    settings.folder.mkdir(parents=True, exist_ok=True)
    _keep_private(settings)
    log_to_stderr()
    services = Services.open(settings)
    only = _held(services)
    if demo:
        tell("Making up two data sets for the demo ...")
        new = fill(services, settings)
    else:
        steward = first_steward(services) if settings.passwords else None
        new = [] if steward is None else [steward]
    for name, password in new:
        tell(f"One-time password of {name}, shown only once: {password}")
    tell(f"Serving at {settings.url} (data in {settings.folder})")
    uvicorn.run(
        make_app(services),
        host=settings.host,
        port=settings.port,
        access_log=False,
        log_config=None,  # ours is in place
        server_header=False,
        timeout_keep_alive=75,  # longer than a reverse proxy keeps a connection
        timeout_graceful_shutdown=5,
    )
    only.close()


def reset(settings: Settings, name: str, tell: Callable[[str], None]) -> None:
    """Give somebody a new one-time password and open the account, from the machine itself."""
    services = Services.open(settings, works=False)
    user = services.accounts.by_name(name)
    services.accounts.set_active(user, active=True)
    password = services.accounts.reset(user)
    services.acts.add(getpass.getuser(), "the command line", "reset password", user.name)
    tell(f"One-time password of {user.name}, shown only once: {password}")


def _keep_private(settings: Settings) -> None:
    """Let nobody else on the machine read what is written: releases, jobs, digests of passwords."""
    os.umask(0o077)
    if "://" in settings.database:
        return
    place = Path(settings.database).expanduser()
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        place.chmod(0o600)


def _held(services: Services) -> HeldName:
    """Return what keeps other servers of this name away; they would end each other's jobs."""
    for _ in range(20):  # a server that was just killed may not be gone yet
        held = services.database.held(services.settings.instance)
        if held is not None:
            return held
        time.sleep(0.1)
    raise ServiceError(
        f"A server named {services.settings.instance!r} is already running on this database; stop "
        "it, or give this one another name with the setting instance."
    )


def _check_port(settings: Settings) -> None:
    """Raise if somebody already listens there, before a one-time password is shown."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise ServiceError(
                f"The service cannot listen on {settings.host}, port {settings.port} "
                f"({error.strerror}); choose another with --port."
            ) from None
