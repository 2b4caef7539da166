"""What an operator sets, in a TOML file and in the environment; and the logs."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import socket
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, get_type_hints
from urllib.parse import urlsplit

from pydantic import Field, NonNegativeInt, PositiveInt, TypeAdapter, ValidationError

from privclust.ledger.address import is_server, without_password
from privclust.service.errors import ServiceError
from privclust.service.remote import is_safe

_PREFIX = "PRIVCLUST_SERVICE_"
Port = Annotated[int, Field(ge=1, le=65535)]
_reader_of = lru_cache(TypeAdapter)


@dataclass(frozen=True)
class Settings:
    """The settings of one server; every one has a default."""

    # The address that browsers use, such as ``https://clusters.example.org``; requests from other
    # origins are refused.
    url: str = "http://127.0.0.1:8000"
    # Where the process listens, behind a reverse proxy.
    host: str = "127.0.0.1"
    port: Port = 8000
    # The path of an SQLite file, or ``postgresql://user@host/database``.
    database: str = "privclust-service.db"
    # The file that the ledger's head is kept in, so that an old copy of the database is noticed;
    # next to an SQLite file, or in the working directory, if not given.
    head_file: str = ""
    data: str = "data"  # the folder below which data sets lie
    # The shortest time between the moments at which an analyst may see that a job ended.
    tick_seconds: PositiveInt = 60
    job_hours: PositiveInt = 24  # how long a job may run; then it fails, and its cost stays charged
    plan_seconds: PositiveInt = 120  # how long a plan or a dry run may take
    session_hours: PositiveInt = 12  # how long a session lasts
    one_time_hours: PositiveInt = 72  # how long a one-time password lasts that nobody uses
    upload_megabytes: PositiveInt = 20  # the largest file of rows to label
    body_seconds: PositiveInt = 120  # how long a client may take to send the body of a request
    # How many rows are labelled at once, and what time and memory that may take.
    label_rows: PositiveInt = 1_000_000
    label_seconds: PositiveInt = 60
    label_megabytes: PositiveInt = 512
    # How often an address may try to sign in by one name; in all it may four times as often.
    sign_ins_per_minute: PositiveInt = 5
    # The address of an OpenID provider through which people may sign in; empty for none.
    oidc_issuer: str = ""
    # What the provider knows the service by.
    oidc_client_id: str = ""
    oidc_client_secret: str = field(default="", repr=False)
    # The claim of the provider that serves as a user's name here; an ``email`` must be verified.
    oidc_claim: str = "email"
    # The claim that lists a user's groups at the provider; empty if stewards make all accounts.
    oidc_role_claim: str = ""
    # The groups whose members have these roles; accounts are then made at the first sign-in.
    oidc_stewards: str = ""
    oidc_analysts: str = ""
    oidc_auditors: str = ""
    # Whether people may sign in by a password; otherwise through the provider alone.
    passwords: bool = True
    # The token for ``/metrics``; without one there are none.
    metrics_token: str = field(default="", repr=False)
    # Where to send word when a job ends or a data set freezes, and what signs it.
    webhook_url: str = ""
    webhook_secret: str = field(default="", repr=False)
    # How long releases and the trail of acts are kept; 0 for ever.
    release_days: NonNegativeInt = 0
    act_days: NonNegativeInt = 0
    instance: str = socket.gethostname()  # the name of this server among several on one database

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(type(self), include_extras=True).items():
            try:  # the environment has texts
                value = _reader_of(kind).validate_python(getattr(self, name))
            except ValidationError as error:
                words = error.errors()[0]["msg"]
                raise ServiceError(f"{name}: {words}; change the setting.") from None
            object.__setattr__(self, name, value)
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
            raise ServiceError(f"url must be an origin such as https://host, got {self.url!r}.")
        if parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
            raise ServiceError("Without https the service runs on 127.0.0.1 only; set url.")
        if self.oidc_issuer:
            self._check_provider()
        if not self.passwords and not self.oidc_issuer:
            raise ServiceError("Without passwords nobody can sign in; set oidc_issuer too.")
        if self.metrics_token and len(self.metrics_token) < 16:
            raise ServiceError("metrics_token must have at least 16 characters; make a longer one.")
        if self.webhook_url:
            self._check_webhook()

    def _check_provider(self) -> None:
        if not is_safe(self.oidc_issuer):
            raise ServiceError("oidc_issuer must be an address with https://; change the setting.")
        if not self.oidc_client_id or not self.oidc_claim:
            raise ServiceError("oidc_issuer needs oidc_client_id and oidc_claim; set them too.")
        if self.oidc_role_claim and not self.roles_by_group:
            raise ServiceError("oidc_role_claim needs groups, such as oidc_analysts; set them too.")

    def _check_webhook(self) -> None:
        if not is_safe(self.webhook_url):
            raise ServiceError("webhook_url must be an address with https://; change the setting.")
        if len(self.webhook_secret) < 16:
            raise ServiceError("webhook_url needs a webhook_secret of 16 characters; set it too.")

    @property
    def roles_by_group(self) -> dict[str, str]:
        """The role of each of the provider's groups; of several, the first counts."""
        groups = {
            self.oidc_stewards: "steward",
            self.oidc_auditors: "auditor",
            self.oidc_analysts: "analyst",
        }
        return {group: role for group, role in groups.items() if group}

    @property
    def origin(self) -> str:
        """The one origin whose forms are accepted."""
        return self.url.rstrip("/").lower()

    @property
    def secure(self) -> bool:
        """Whether cookies travel over https only."""
        return self.url.startswith("https:")

    @property
    def head_place(self) -> Path:
        """The file that the ledger's head is kept in."""
        beside = self.database
        if is_server(beside):
            address = without_password(beside).encode()
            beside = f"privclust-service-{hashlib.sha256(address).hexdigest()[:8]}"
        return Path(self.head_file or f"{beside}.head").expanduser().absolute()

    @property
    def folder(self) -> Path:
        """The folder below which data sets lie."""
        return Path(self.data).expanduser().resolve()

    @classmethod
    def read(
        cls,
        path: Path | None = None,
        environment: Mapping[str, str] = os.environ,
        **given: Any,
    ) -> Settings:
        """Return the settings of a file, changed by the environment and by what is given."""
        values = _from_file(path)
        for part in fields(cls):
            if (text := environment.get(_PREFIX + part.name.upper())) is not None:
                values[part.name] = text
        values |= {name: value for name, value in given.items() if value is not None}
        if unknown := sorted(set(values) - {part.name for part in fields(cls)}):
            raise ServiceError(f"There is no setting {unknown[0]!r}; see the operator's guide.")
        return cls(**values)


def _from_file(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError:
        raise ServiceError(f"The settings '{path}' cannot be read; check the path.") from None
    except ValueError as error:
        raise ServiceError(f"The settings '{path}' are not valid TOML ({error}).") from None


# What may stand in a line besides its time and message. Nothing else is written, whatever is given.
_ALLOWED = (
    *("job", "stored", "method", "route", "status", "milliseconds"),
    *("user", "error", "address", "act", "what"),
)

_LEVELS = {
    "privclust.service": logging.INFO,
    "uvicorn": logging.WARNING,
    "uvicorn.error": logging.WARNING,
    "asyncio": logging.WARNING,
}


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        ours = record.name.startswith("privclust.")
        line = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "level": record.levelname.lower(),
            # Of other libraries the words alone: what they put in, and tracebacks, may hold values.
            "message": record.getMessage() if ours else str(record.msg),
        }
        line |= {name: getattr(record, name) for name in _ALLOWED if hasattr(record, name)}
        return json.dumps(line)


def log_to_stderr() -> None:
    """Write what the service logs to the standard error stream."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    for name, level in _LEVELS.items():
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
