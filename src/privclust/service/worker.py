"""The worker: a process of its own that takes jobs, fits, and stores releases. It never retries.

It begins jobs at ticks and shows their ends at ticks; in between nothing that others see changes.
How far a job is stands in memory that it shares with the server: numbers of rows are private,
stewards see them, and nothing of them is stored.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from typing import Any

from privclust.budget import Budget
from privclust.exceptions import LedgerConflictError
from privclust.jobs.fit import sentence_of
from privclust.service import clock
from privclust.service.clock import at_most, tick_after
from privclust.service.database import Database
from privclust.service.jobs import FinishedJob, Queue, TakenJob
from privclust.service.operations import Acts, Webhook, delete_expired
from privclust.service.questions import FitQuestion, fit_for
from privclust.service.registered import Dataset, Datasets
from privclust.service.registration import digest_of_files
from privclust.service.releases import card_of, file_of
from privclust.service.settings import Settings
from privclust.unit import Unit

_APART, _LONGEST = 0.5, 200  # seconds, bytes


class Progress:
    """How far a job is, in memory that the worker and its server share.

    The worker calls it with rows read and rows in all, as a fit does; the server asks it.
    """

    def __init__(self) -> None:
        self._shared = multiprocessing.get_context("spawn").RawArray("c", _LONGEST)
        self._job, self._last = "", 0.0

    def begin(self, job_id: str) -> None:
        """Tell of this job from now on."""
        self._job, self._last = job_id, 0.0

    def __call__(self, rows: int, of: int | None) -> None:
        """Tell how far the job is, at most twice a second."""
        if time.monotonic() >= self._last + _APART:
            self._last, whole = time.monotonic(), "" if of is None else f" of {of:,}"
            words = f"{self._job} {rows:,}{whole} rows read in the current pass"
            self._shared.value = words.encode()

    def of(self, job_id: str) -> str:
        """Return how far a job is, in words; empty if another one was last heard of."""
        job, _, words = self._shared.value.decode(errors="replace").partition(" ")
        return words if job == job_id else ""


_CHANGED = "the files changed since the steward checked them"

log = logging.getLogger("privclust.service")


class ChargedLedger:
    """What stands in for the ledger in a fit that was charged before it was queued.

    It hands out the receipt of that one charge, once, and keeps the settlement for the transaction
    in which the release is stored.
    """

    def __init__(self, receipt: str, dataset: str, budget: Budget, unit: Unit) -> None:
        self._paid: tuple[object, ...] | None = (dataset, budget, unit)
        self._receipt = receipt
        self.flaws: tuple[str, ...] = ()

    def reserve(self, dataset: str, budget: Budget, unit: Unit, purpose: str, **_: object) -> str:
        """Return the receipt, if the fit is the one that was paid for and the first one."""
        if (dataset, budget, unit) != self._paid:
            raise LedgerConflictError("The charge does not cover this fit; nothing was asked.")
        self._paid = None
        return self._receipt

    def settle(self, receipt: str, digest: str, flaws: Sequence[str] = ()) -> None:
        """Remember what is wrong with the release; the queue settles the charge."""
        self.flaws = tuple(flaws)


class ChangedError(ValueError):
    """The files are not those that the steward checked."""


def run_at(
    tick: int, database: Database, settings: Settings, telling: Progress | None = None
) -> int | None:
    """Show what has ended, run the oldest job that may begin, and return when its end shows.

    ``tick``: a tick of the public grid, which has come. ``telling``: whom to tell how far the job
    is.
    """
    queue, datasets = Queue(database, settings.instance), Datasets(database, settings.folder)
    events = queue.show(tick)
    Webhook(settings).send(events)
    for event in events:
        if event["event"] == "data set frozen":
            Acts(database).add("the service", "-", "froze", f"{event['dataset']}: {_CHANGED}")
    taken = queue.take(tick)
    if taken is None:
        return None
    dataset, telling = datasets.by_id(taken.dataset_id), telling or Progress()
    telling.begin(taken.id)
    try:
        _check_unchanged(datasets, dataset)
        with at_most(settings.job_hours * 3600):
            finished = fit_question(taken, dataset, str(datasets.resolve_path(dataset)), telling)
        _check_unchanged(datasets, dataset)  # nor did they change while they were read
        shows = queue.finish(taken, finished)
        log.info("job ended" if shows else "job was taken away", extra={"job": taken.id})
    except Exception as error:  # whatever it is, the job ends here and the queue goes on
        freezes = _CHANGED if isinstance(error, ChangedError) else ""
        shows = queue.fail(taken, f"{type(error).__name__}: {sentence_of(error)}", freezes)
        log.info("job failed", extra={"job": taken.id})
    return shows


def _check_unchanged(datasets: Datasets, dataset: Dataset) -> None:
    if digest_of_files(datasets.resolve_path(dataset)) != dataset.digest:
        raise ChangedError(_CHANGED)


def fit_question(
    taken: TakenJob, dataset: Dataset, data: Any, telling: Progress | None = None
) -> FinishedJob:
    """Fit the model that answers a question to the rows, and return its release to be stored."""
    question = FitQuestion.parse(taken.asked, dataset.schema)
    cost = question.cost(dataset.schema, dataset.unit)
    charged = ChargedLedger(taken.receipt, dataset.name, cost, dataset.unit)
    named: dict[str, Any] = {"ledger": charged, "dataset": dataset.name}
    fit = fit_for(question, dataset.schema, dataset.unit, data, **named)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the fit warns of stands in the release
        release = fit.make_release(telling)
    # The day on which a fit ends depends on the rows; the day on which it began is public.
    began = datetime.fromtimestamp(taken.began_at, UTC).date().isoformat()
    release = replace(release, created=began)
    return FinishedJob(
        release.digest,
        file_of(release),
        release.to_html(),
        card_of(release),
        question.digest_on(dataset.id, dataset.digest),
        dataset.version,
        charged.flaws,
    )


def _work(settings: Settings, alive: Connection, telling: Progress) -> None:
    """Run jobs until the server is gone; what the worker's process does."""
    from privclust.service.settings import log_to_stderr

    log_to_stderr()
    threading.Thread(target=_end_with_server, args=(alive,), daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(5)  # pages come first
    database = Database.open(settings.database, settings.head_place)
    shows: int | None = None
    tidied = 0
    while True:
        tick = shows or tick_after(clock.now(), settings.tick_seconds)
        clock.sleep_until(tick)
        try:
            if tick >= tidied + 3600:
                delete_expired(database, settings)
                tidied = tick
            shows = run_at(tick, database, settings, telling)
        except Exception:  # the database may be away for a while
            log.info("the queue could not be read")
            shows = None
            with suppress(Exception):  # what was left running is for the steward to decide
                Queue(database, settings.instance).interrupt_left_over()


def _end_with_server(alive: Connection) -> None:
    with suppress(EOFError, OSError):
        alive.recv()
    os._exit(0)


class Worker:
    """The worker's process, started again whenever it ends.

    ``pause``: seconds between two looks at the process.
    """

    def __init__(self, settings: Settings, pause: float = 1.0) -> None:
        self._settings, self._pause = settings, pause
        self._context = multiprocessing.get_context("spawn")
        self._stop = threading.Event()
        self._process: Any = None
        self._ours: Connection | None = None
        self._progress = Progress()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Start the process, and watch it."""
        self._begin()
        self._thread.start()

    @property
    def is_watched(self) -> bool:
        """Whether a process that ends is started again.

        Whether it runs at this moment is not told: a job could end it and so reveal something.
        """
        return self._thread.is_alive()

    def progress(self, job_id: str) -> str:
        """Return how far a job of this server is, in words for stewards alone."""
        return self._progress.of(job_id)

    def interrupt(self) -> None:
        """End the process, and with it the job that it runs; a new one is started."""
        self._process.kill()

    def stop(self) -> None:
        """End the process; a job that runs is interrupted."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._end(lambda process: process.terminate())

    def _begin(self) -> None:
        database = Database.open(self._settings.database, self._settings.head_place)
        # No job of this server can be running now, because its worker is not.
        Queue(database, self._settings.instance).interrupt_left_over()
        theirs, self._ours = self._context.Pipe(duplex=False)
        given = (self._settings, theirs, self._progress)
        self._process = self._context.Process(target=_work, args=given, daemon=True)
        self._process.start()
        theirs.close()

    def _end(self, how: Callable[[Any], None]) -> None:
        if self._process is not None:
            how(self._process)
            self._process.join(10)
        if self._ours is not None:
            self._ours.close()

    def _watch(self) -> None:
        while not self._stop.wait(self._pause):
            if not self._process.is_alive():
                log.info("the worker ended and is started again")
                try:
                    self._end(lambda process: None)
                    self._begin()
                except Exception:
                    log.info("the worker could not be started")
