"""What operators and auditors need: the trail of acts, metrics, a webhook, retention, maintenance.

The ledger says what was granted, charged and released. The trail says the rest: who signed in and
who failed to, who froze, who made an account or a token. Metrics and events are for operators, who
could read the database too; analysts see neither.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.error import URLError
from urllib.request import Request, build_opener

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from privclust.service import clock
from privclust.service.database import Database, Window
from privclust.service.releases import Releases
from privclust.service.remote import NoRedirect
from privclust.service.settings import Settings

log = logging.getLogger("privclust.service")

_LONGEST = 300

disable_created_metrics()  # type: ignore[no-untyped-call]  # when a counter began is no matter


@dataclass(frozen=True)
class Act:
    """One line of the trail."""

    number: int  # position, from 1
    at: int  # seconds since 1970 in UTC
    who: str  # the name of an account; for a sign-in that failed, the name that was tried
    address: str  # where the request came from
    act: str  # what was done
    what: str  # to what, or to whom


class Acts:
    """The trail."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, who: str, address: str, act: str, what: str = "") -> None:
        """Write down what was done."""
        line = (who[:_LONGEST], address[:_LONGEST], act, what[:_LONGEST])
        sql = (
            "INSERT INTO service_acts (number, at, who, address, act, what) "
            "SELECT coalesce(max(number), 0) + 1, ?, ?, ?, ?, ? FROM service_acts"
        )
        self._database.write(sql, clock.now(), *line)
        told = dict(zip(("user", "address", "act", "what"), line, strict=True))
        log.info("act", extra=told)

    def all(self, after: int = 0) -> list[Act]:
        """Return the trail after the act of a number, the oldest act first."""
        return self._read("WHERE number > ? ORDER BY number", after)

    def newest(self, window: Window) -> list[Act]:
        """Return a part of the trail, the newest act first."""
        which = "ORDER BY number DESC LIMIT ? OFFSET ?"
        return self._read(which, window.limit, window.offset)

    def _read(self, which: str, *values: int) -> list[Act]:
        sql = f"SELECT number, at, who, address, act, what FROM service_acts {which}"  # noqa: S608
        return [Act(*row) for row in self._database.rows(sql, *values)]

    def delete_older_than(self, moment: int) -> None:
        """Delete what was done before a moment; the newest act stays, for its number."""
        sql = (
            "DELETE FROM service_acts WHERE at < ? AND number < (SELECT max(number) FROM "
            "service_acts)"
        )
        self._database.write(sql, moment)


_BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
_GAUGES = {  # what is counted, its label if it has one, and how
    "jobs": ("state", "SELECT state, count(*) FROM service_jobs GROUP BY state"),
    "datasets": (
        "state",
        "SELECT CASE WHEN frozen = '' THEN 'open' ELSE 'frozen' END AS s, count(*) "
        "FROM service_datasets WHERE deleted = 0 GROUP BY s",
    ),
    "users": ("role", "SELECT role, count(*) FROM service_users WHERE active = 1 GROUP BY role"),
    "releases": ("", "SELECT '', count(*) FROM service_releases WHERE deleted = 0"),
    "requests_for_budget": ("", "SELECT '', count(*) FROM service_requests WHERE state = 'open'"),
    "ledger_entries": ("", "SELECT '', count(*) FROM privclust_entries"),
}
_OLDEST = "SELECT min(asked_at) FROM service_jobs WHERE state = 'queued'"
_PAUSES = (0.0, 5.0, 60.0)  # seconds before each attempt to deliver an event
_SECONDS = 10


class Metrics(Collector):
    """Counts of this server's requests, and of what is in the database, for Prometheus."""

    def __init__(self, database: Database) -> None:
        self._database, self._registry = database, CollectorRegistry()
        words, labels = "Requests that were answered", ("method", "route", "status")
        self._answers = Counter("privclust_requests", words, labels, registry=self._registry)
        words, name = "Seconds from a request to its answer", "privclust_request_seconds"
        self._times = Histogram(name, words, buckets=_BUCKETS, registry=self._registry)
        words = "Whether a worker that ends is started again"
        self._worker = Gauge("privclust_worker_up", words, registry=self._registry)
        self._registry.register(self)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answered request."""
        self._answers.labels(method, route, status).inc()
        self._times.observe(seconds)

    def text(self, worker_is_up: bool) -> bytes:
        """Return all metrics as text."""
        self._worker.set(worker_is_up)
        return generate_latest(self._registry)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Give what is counted in the database at this moment."""
        for name, (label, sql) in _GAUGES.items():
            yield _gauge(name, label, self._database.rows(sql))
        ((oldest,),) = self._database.rows(_OLDEST)
        waited = 0 if oldest is None else max(clock.now() - oldest, 0)
        yield _gauge("longest_wait_seconds", "", [("", waited)])


def _gauge(name: str, label: str, rows: Iterable[Sequence[Any]]) -> GaugeMetricFamily:
    words = name.replace("_", " ").capitalize()
    gauge = GaugeMetricFamily(f"privclust_{name}", words, labels=[label] if label else [])
    for value, number in rows:
        gauge.add_metric([value] if label else [], number)
    return gauge


class Webhook:
    """Tells an address of the operator's what has happened: a job's end, or a frozen data set.

    Each event is a JSON object, sent by POST and signed with the secret: the header
    ``X-Privclust-Signature`` is the hexadecimal HMAC-SHA-256 of the body. It is tried three times
    and then given up. Events say what analysts may see at that moment, and nothing of a result.
    """

    def __init__(self, settings: Settings, pauses: Sequence[float] = _PAUSES) -> None:
        self._url, self._secret = settings.webhook_url, settings.webhook_secret
        self._pauses = pauses
        self._open = build_opener(NoRedirect()).open

    def send(self, events: Sequence[dict[str, str]]) -> threading.Thread | None:
        """Send events from a thread of their own, in order; nobody waits for it."""
        if not self._url or not events:
            return None
        bodies = [json.dumps({**it, "at": clock.now()}).encode() for it in events]
        thread = threading.Thread(target=self._deliver, args=(bodies,), daemon=True)
        thread.start()
        return thread

    def _deliver(self, bodies: Sequence[bytes]) -> None:
        for body in bodies:
            self._deliver_one(body)

    def _deliver_one(self, body: bytes) -> None:
        signature = hmac.new(self._secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {"Content-Type": "application/json", "X-Privclust-Signature": signature}
        for pause in self._pauses:
            time.sleep(pause)
            request = Request(self._url, body, headers)  # noqa: S310  # https, see Settings
            try:
                with self._open(request, timeout=_SECONDS):
                    return
            except (URLError, OSError, ValueError) as error:
                log.warning("an event was not delivered", extra={"error": type(error).__name__})


def delete_expired(database: Database, settings: Settings) -> None:
    """Delete releases and acts that are older than the operator keeps them."""
    if settings.release_days:
        Releases(database).delete_older_than(clock.now() - 86400 * settings.release_days)
    if settings.act_days:
        Acts(database).delete_older_than(clock.now() - 86400 * settings.act_days)


def set_maintenance(database: Database, text: str) -> None:
    """Let nothing be asked and no job begin, and say why; an empty text ends it."""
    with database.write_transaction() as together:
        together.run("DELETE FROM service_notices WHERE name = 'maintenance'")
        if text:
            together.run("INSERT INTO service_notices VALUES ('maintenance', ?)", (text[:300],))
