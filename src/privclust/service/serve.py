"""Starting the server: one process behind a reverse proxy, with its worker and its planner.

The demo has two generated data sets, a steward and an analyst, in a folder of their own.
"""

from __future__ import annotations

import getpass
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from privclust.ledger.store import HeldName
from privclust.schema.facts import Box, Categories, Fact
from privclust.schema.schema import Schema
from privclust.service.errors import ServiceError
from privclust.service.registered import Dataset
from privclust.service.services import Services
from privclust.service.settings import Settings, log_to_stderr
from privclust.unit.rows import AddRemoveRow, Person


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
    services = Services(settings)
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
    services = Services(settings, works=False)
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


# The demo.
_ROWS = 20_000
_VISIT_COLUMNS: dict[str, Fact] = {
    "age": Box(0, 110, missing=50),
    "stay": Box(0, 60, missing=0),
    "cost": Box(0, 20_000, missing=0),
    "ward": Categories(["medical", "surgical", "maternity"], missing="category", unknown="other"),
    "arrival": Categories(["planned", "emergency"], missing="category", unknown="other"),
}
_VISITS = Schema(_VISIT_COLUMNS, note="Made up.")
_TRIPS = Schema(
    {
        "east": Box(0, 20, missing=10),
        "north": Box(0, 20, missing=10),
        "minutes": Box(0, 120, missing=0),
    },
    note="Made up.",
)


def first_steward(services: Services) -> tuple[str, str] | None:
    """Return name and one-time password of the first steward, made now if there is none."""
    if any(user.is_steward for user, _ in services.accounts.all()):
        return None
    return "steward", services.accounts.add("steward", "steward")


def fill(services: Services, settings: Settings) -> list[tuple[str, str]]:
    """Make users, files, data sets and grants, and return names with one-time passwords."""
    steward = first_steward(services)
    if steward is None:
        return []
    folder = settings.folder
    folder.mkdir(parents=True, exist_ok=True)
    analyst = "analyst", services.accounts.add("analyst", "analyst")
    _write_visits(folder / "visits.csv")
    _write_trips(folder / "trips.csv")
    visits = _register(
        services,
        *("visits", "visits.csv", _VISITS, AddRemoveRow(), 25_000, "Made-up visits to a hospital"),
        meanings={"age": "in years, at admission", "stay": "in days", "cost": "in euros"},
    )
    trips = _register(
        services,
        *("trips", "trips.csv", _TRIPS, Person("rider", 4), 25_000, "Made-up trips of riders"),
        meanings={"east": "in km", "north": "in km", "minutes": "how long the trip took"},
    )
    for dataset in (visits, trips):
        services.datasets.grant(
            dataset, services.accounts.by_name("analyst"), "4", "0", "for the demo"
        )
    return [steward, analyst]


def _register(services: Services, *given: Any, **named: Any) -> Dataset:
    draft = services.datasets.draft(*given, **named)
    return services.datasets.add(draft, services.datasets.check(draft))


def _write_visits(path: Path) -> None:
    rng = np.random.default_rng(1)
    kind = rng.choice(3, _ROWS, p=[0.5, 0.3, 0.2])
    age = np.clip(rng.normal(np.array([70, 45, 30])[kind], 9), 0, 110).round(1)
    stay = np.clip(rng.gamma(2, np.array([5, 3, 1.5])[kind]), 0, 60).round(1)
    cost = np.clip(1500 + 700 * stay + rng.normal(0, 600, _ROWS), 0, 20_000).round()
    ward = np.array(["medical", "surgical", "maternity"])[kind]
    urgent = rng.random(_ROWS) < np.array([0.7, 0.4, 0.2])[kind]
    arrival = np.where(urgent, "emergency", "planned")
    _write(path, "age,stay,cost,ward,arrival", age, stay, cost, ward, arrival)


def _write_trips(path: Path) -> None:
    rng = np.random.default_rng(2)
    centres = rng.uniform(3, 17, (6, 2))
    places = np.clip(centres[rng.integers(6, size=_ROWS)] + rng.normal(0, 0.8, (_ROWS, 2)), 0, 20)
    minutes = np.clip(rng.gamma(3, 8, _ROWS), 0, 120).round(1)
    rider = np.char.add("r", rng.integers(6000, size=_ROWS).astype(str))
    _write(path, "rider,east,north,minutes", rider, *places.T.round(2), minutes)


def _write(path: Path, heading: str, *columns: Any) -> None:
    lines = (",".join(map(str, row)) for row in zip(*columns, strict=True))
    path.write_text("\n".join([heading, *lines]) + "\n", encoding="utf-8")
