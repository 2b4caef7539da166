"""Jobs: asked and charged in one transaction, run once, seen at ticks; and their releases.

*Why this is private.* A job is in the queue only if its charge is in the ledger, because both are
written in one transaction. It is run once: the worker that takes it from the queue marks it first,
and only the steward can put it back, as long as nothing was released for its charge. What an
analyst sees of it depends on the rows through the release alone, and on the time at which it ended
through a public grid (``clock``). Charges hash all entries of the ledger before them, settlements
too. So a settlement written when a job ends would tell its end to anyone who makes a charge after
it: what a job came to is stored unseen, the job counts as running, and everything that shows, the
settlement included, is written at its tick (:meth:`Queue.show`).
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, replace
from typing import Any

from privclust.ledger.transaction import LedgerTransaction
from privclust.service import clock
from privclust.service.accounts import User
from privclust.service.clock import first_tick_from, next_tick, tick_after
from privclust.service.database import ALL, Database, Window, insert
from privclust.service.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    ServiceError,
    TooManyError,
)
from privclust.service.questions import FitQuestion, check_question
from privclust.service.registered import Dataset

FAILED = "The job failed and its cost stays charged; the steward has the details."
_FROZEN = "The steward has frozen this data set, so nothing can be asked; ask the steward."
_MOST_WAITING = 20
_WAITING = f"You have {_MOST_WAITING} jobs waiting; ask again when some have begun, or cancel one."
_COLUMNS = (
    "j.id, j.dataset_id, j.user_id, j.asked, j.receipt, j.state, j.first_tick, j.asked_at, "
    "j.finished_at, j.release_id, j.details, d.name, u.name"
)
_FROM = (
    "FROM service_jobs j JOIN service_datasets d ON d.id = j.dataset_id "
    "JOIN service_users u ON u.id = j.user_id"
)


@dataclass(frozen=True)
class Job:
    """A job as the database has it; :meth:`as_seen_at` is what an analyst may see of it."""

    id: str
    dataset_id: str
    user_id: str
    asked: dict[str, Any]
    receipt: str
    state: str
    first_tick: int
    asked_at: int
    finished_at: int | None
    release_id: str | None
    details: str
    dataset: str
    user: str

    @property
    def was_charged(self) -> bool:
        """Whether the job cost anything, or was answered from a stored release."""
        return bool(self.receipt)

    def as_seen_at(self, moment: int) -> Job:
        """Return the job as an analyst sees it: its end shows from its tick on."""
        # An interrupted job says so to the steward before its tick, and to nobody else.
        if self.state in ("queued", "running") or (self.finished_at or 0) > moment:
            return replace(self, state="waiting", finished_at=None, release_id=None, details="")
        state = "done" if self.state == "done" else "failed"
        return replace(self, state=state, finished_at=None, details="")


@dataclass(frozen=True)
class Answer:
    """What asking came to: a job, and whether it was new, waiting already, or free."""

    job_id: str
    free: bool = False
    known: bool = False


@dataclass(frozen=True)
class FinishedJob:
    """A release on its way into the database."""

    digest: str  # the digest that the charge is settled with
    file: bytes  # the release as one file
    report: str  # its page
    card: dict[str, Any]  # what its card shows
    question: str  # what it answers, and about which files
    version: int  # which version of the data that is
    # Why it is not private after all; none, unless something is badly wrong.
    flaws: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asking:
    """A question that is being asked, within its transaction."""

    together: LedgerTransaction
    user: User
    dataset: Dataset
    question: FitQuestion
    digest: str  # what tells the question about these files apart
    job_id: str

    def find_known(self) -> Answer | None:
        """Return the job of a repeated request, or one that waits for the same answer."""
        run, user = self.together.run, self.user
        same = run("SELECT user_id, question FROM service_jobs WHERE id = ?", (self.job_id,))
        if same and same[0] != (user.id, self.digest):
            raise ConflictError("This request was made before with other contents; make a new one.")
        if same:
            return Answer(self.job_id, known=True)
        sql = "SELECT frozen FROM service_datasets d WHERE id = ? AND EXISTS (SELECT 1 FROM "
        sql += "service_access a WHERE a.dataset_id = d.id AND a.user_id = ?)"
        state = run(sql, (self.dataset.id, user.id))
        if not state:
            raise NotFoundError
        if notice := run("SELECT text FROM service_notices WHERE name = 'maintenance'"):
            raise ServiceError(f"Nothing can be asked during maintenance: {notice[0][0]}", 503)
        # Whether it has ended must not show before its tick, not even if it is asked again.
        sql = (
            "SELECT id FROM service_jobs WHERE user_id = ? AND question = ? AND receipt <> '' "
            "AND (state IN ('queued', 'running') OR finished_at > ?) ORDER BY asked_at DESC"
        )
        if waiting := run(sql, (user.id, self.digest, clock.now())):
            return Answer(str(waiting[0][0]), known=True)
        if state[0][0]:
            raise ConflictError(_FROZEN)
        return None

    def find_stored(self) -> Answer | None:
        """Answer from a release that is there and may be seen, at no cost."""
        sql = (
            "SELECT r.id FROM service_releases r JOIN service_jobs j ON j.id = r.job_id "
            "WHERE r.question = ? AND j.state = 'done' ORDER BY r.visible_at, r.id"
        )
        rows = self.together.run(sql, (self.digest,))
        if not rows:
            return None
        release_id = str(rows[0][0])
        sql = "SELECT id FROM service_jobs WHERE user_id = ? AND release_id = ? AND state = 'done'"
        if mine := self.together.run(sql, (self.user.id, release_id)):
            return Answer(str(mine[0][0]), free=True, known=True)
        # It was asked so long ago that it has been there for any number of ticks.
        before = clock.now() - 1
        times = {"first_tick": 1, "asked_at": before, "finished_at": before}
        self._insert("done", receipt="", release_id=release_id, **times)
        return Answer(self.job_id, free=True)

    def charge(self, tick_seconds: int) -> Answer:
        """Charge the question and queue its job."""
        sql = "SELECT count(*) FROM service_jobs WHERE user_id = ? AND state = 'queued'"
        if self.together.run(sql, (self.user.id,))[0][0] >= _MOST_WAITING:
            raise TooManyError(_WAITING)
        question, facts, unit = self.question, self.dataset.schema, self.dataset.unit
        cost, purpose = question.cost(facts, unit), question.kind.__name__
        receipt = self.together.reserve(
            self.dataset.name, self.user.name, cost, unit, purpose, self.job_id
        )
        values = question.values_per_row(facts)
        first = first_tick_from(self.dataset.most_rows, values, tick_seconds)
        self._insert("queued", receipt=receipt, first_tick=first, asked_at=clock.now())
        return Answer(self.job_id)

    def _insert(self, state: str, **row: str | int) -> None:
        """Insert a job; ``row``: receipt, first tick, when it was asked and ended, its release."""
        asked = json.dumps(self.question.to_dict(), ensure_ascii=False)
        row |= {"id": self.job_id, "dataset_id": self.dataset.id, "user_id": self.user.id}
        row |= {"question": self.digest, "asked": asked, "details": "", "worker": ""}
        insert(self.together, "jobs", state=state, **row)


class Jobs:
    """The queue and what became of it, as those who ask see it."""

    def __init__(self, database: Database, tick_seconds: int) -> None:
        self._database, self._unit = database, tick_seconds

    def ask(
        self, user: User, dataset: Dataset, question: FitQuestion, job_id: str | None = None
    ) -> Answer:
        """Charge a question and queue it, or answer it from what is there.

        ``job_id``: the name of this one request; the same name again finds the same job.
        """
        if user.role != "analyst":
            raise ForbiddenError("Only analysts ask questions; sign in as one.")
        job_id = secrets.token_hex(16) if job_id is None else job_id
        if len(job_id) != 32 or set(job_id) - set("0123456789abcdef"):
            raise ServiceError("A request is named by 32 hexadecimal digits; make a new one.")
        check_question(question, dataset.schema, dataset.unit)
        with self._database.write_transaction(user.name) as together:
            # Files may have been checked in since the reader's page was made.
            sql = "SELECT digest FROM service_datasets WHERE id = ?"
            digest = question.digest_on(dataset.id, together.run(sql, (dataset.id,))[0][0])
            asking = Asking(together, user, dataset, question, digest, job_id)
            return asking.find_known() or asking.find_stored() or asking.charge(self._unit)

    # What is there.
    def next_change_at(self) -> int:
        """Return the next moment at which an analyst can learn anything new."""
        return tick_after(clock.now(), self._unit)

    def ready_at(self, job: Job) -> int:
        """Return when the end of a job that waits can show at the earliest; public facts alone."""
        first = tick_after(job.asked_at, self._unit) + job.first_tick
        return max(first, self.next_change_at())

    def of_release(self, release_id: str, user: User) -> Job | None:
        """Return the job by which a user came to a release; any one of them to a steward."""
        sql = (
            f"SELECT {_COLUMNS} {_FROM} WHERE j.release_id = ? AND j.state = 'done' "
            "AND (j.user_id = ? OR ? = 1) ORDER BY j.asked_at, j.id LIMIT 1"
        )
        rows = self._database.rows(sql, release_id, user.id, user.is_steward + 0)
        return _job(rows[0]) if rows else None

    def of(self, user: User, moment: int | None = None, window: Window = ALL) -> list[Job]:
        """Return a user's jobs as the user may see them, or all of them to a steward."""
        who, values = ("", ()) if user.is_steward else ("WHERE j.user_id = ?", (user.id,))
        sql = f"SELECT {_COLUMNS} {_FROM} {who} ORDER BY j.asked_at DESC, j.id LIMIT ? OFFSET ?"
        jobs = map(_job, self._database.rows(sql, *values, window.limit, window.offset))
        if user.is_steward:
            return list(jobs)
        seen = clock.now() if moment is None else moment
        return [job.as_seen_at(seen) for job in jobs]

    def one(self, job_id: str, user: User, moment: int | None = None) -> Job:
        """Return a job as a user may see it."""
        job = _job(self._database.row(f"SELECT {_COLUMNS} {_FROM} WHERE j.id = ?", job_id))
        if user.is_steward:
            return job
        if job.user_id != user.id:
            raise NotFoundError
        return job.as_seen_at(clock.now() if moment is None else moment)


def _job(row: tuple[Any, ...]) -> Job:
    values = [*row[:3], json.loads(row[3]), *row[4:]]
    return Job(*values)


# The worker's side: taking a job, and what becomes of it, each in one transaction.
_NEXT = (
    "SELECT j.id, j.dataset_id, j.asked, j.receipt, j.first_tick FROM service_jobs j "
    "WHERE j.state = 'queued' AND j.asked_at < ? "
    "AND NOT EXISTS (SELECT 1 FROM service_jobs r WHERE r.dataset_id = j.dataset_id "
    "AND (r.state = 'running' OR r.finished_at > ?)) "
    "AND NOT EXISTS (SELECT 1 FROM service_jobs w WHERE substr(w.worker, 1, ?) = ? "
    "AND w.finished_at > ?) "
    "AND NOT EXISTS (SELECT 1 FROM service_notices WHERE name = 'maintenance') "
    "ORDER BY coalesce((SELECT max(b.began_at) FROM service_jobs b "
    "WHERE b.user_id = j.user_id), 0), j.asked_at, j.id LIMIT 1"
)
_DUE = (
    "SELECT j.id, j.dataset_id, j.receipt, j.freezes, r.digest, r.flaws, d.name, u.name "
    "FROM service_jobs j JOIN service_datasets d ON d.id = j.dataset_id "
    "JOIN service_users u ON u.id = j.user_id LEFT JOIN service_releases r ON r.job_id = j.id "
    "WHERE j.state = 'running' AND j.finished_at <= ? ORDER BY j.finished_at, j.id"
)
_OURS = "WHERE id = ? AND worker = ? AND state = 'running' AND finished_at IS NULL"
_DIED = "The worker stopped while the job was running; nothing was released."


@dataclass(frozen=True)
class TakenJob:
    """A job that this worker, and no other, runs now."""

    id: str
    dataset_id: str
    asked: dict[str, Any]
    receipt: str
    worker: str
    began_at: int
    first_tick: int

    def shows_at(self, moment: int) -> int:
        """Return the tick at which an end at this moment shows."""
        return next_tick(self.began_at, self.first_tick, moment)


class Queue:
    """The queue, as a worker sees it.

    ``instance``: the name of the server whose worker this is.
    """

    def __init__(self, database: Database, instance: str) -> None:
        self._database, self._instance = database, instance

    def take(self, tick: int) -> TakenJob | None:
        """Mark the next job that may begin at a tick as running, and return it.

        It is the oldest one of the user who has waited longest for a turn, so that nobody with many
        questions stands in the way of one with few.

        None begins on a data set, or on this server, where the end of another one has yet to show.
        """
        mine = f"{self._instance}:"
        values = (tick, tick, len(mine), mine, tick)
        if not self._database.rows(_NEXT, *values):
            return None
        worker = mine + secrets.token_hex(8)
        with self._database.write_transaction() as together:
            rows = together.run(_NEXT, values)
            if not rows:
                return None
            job_id, dataset_id, asked, receipt, first = rows[0]
            sql = "UPDATE service_jobs SET state = 'running', worker = ?, began_at = ? WHERE id = ?"
            together.run(sql, (worker, tick, job_id))
        return TakenJob(job_id, dataset_id, json.loads(asked), receipt, worker, tick, first)

    def runs(self, job_id: str) -> bool:
        """Return whether the worker of this server runs a job."""
        mine = f"{self._instance}:"
        sql = (
            "SELECT 1 FROM service_jobs WHERE id = ? AND state = 'running' AND finished_at IS NULL "
            "AND substr(worker, 1, ?) = ?"
        )
        return bool(self._database.rows(sql, job_id, len(mine), mine))

    def finish(self, taken: TakenJob, finished: FinishedJob) -> int | None:
        """Store a release that nobody sees yet.

        Returns ``tick``: when it shows; None if the job was taken from this worker in the meantime,
        and then nothing is kept.
        """
        release_id, tick = secrets.token_hex(16), taken.shows_at(clock.now())
        with self._database.write_transaction() as together:
            sql = f"UPDATE service_jobs SET finished_at = ?, release_id = ? {_OURS} "  # noqa: S608
            if not together.run(sql + "RETURNING id", (tick, release_id, taken.id, taken.worker)):
                return None
            row = {"id": release_id, "dataset_id": taken.dataset_id, "job_id": taken.id}
            card = json.dumps(finished.card, ensure_ascii=False)
            row |= vars(finished) | {"card": card, "flaws": json.dumps(finished.flaws)}
            insert(together, "releases", visible_at=tick, **row)
        return tick

    def fail(self, taken: TakenJob, details: str, freezes: str = "") -> int:
        """End a job without a release, and return the tick at which that shows.

        ``freezes``: why the data set is frozen at that tick; empty if it is not.
        """
        tick = taken.shows_at(clock.now())
        sql = f"UPDATE service_jobs SET finished_at = ?, details = ?, freezes = ? {_OURS}"  # noqa: S608
        self._database.write(sql, tick, details[:2000], freezes, taken.id, taken.worker)
        return tick

    def show(self, tick: int) -> list[dict[str, str]]:
        """Let everybody see what has ended and is due: settle charges, end jobs, freeze.

        Returns ``events``: what happened, for those who are told of it.
        """
        events: list[dict[str, str]] = []
        if not self._database.rows(_DUE, tick):
            return events
        with self._database.write_transaction() as together:
            for row in together.run(_DUE, (tick,)):
                job_id, dataset_id, receipt, freezes, digest, flaws, name, user = row
                if digest is not None:
                    together.settle(receipt, digest, json.loads(flaws))
                state = "failed" if digest is None else "done"
                together.run("UPDATE service_jobs SET state = ? WHERE id = ?", (state, job_id))
                about = {"job": job_id, "dataset": name, "user": user, "state": state}
                events.append({"event": "job ended", **about})
                if freezes:
                    sql = "UPDATE service_datasets SET frozen = ? WHERE id = ?"
                    together.run(sql, (freezes, dataset_id))
                    events.append({"event": "data set frozen", "dataset": name})
        return events

    def interrupt_left_over(self) -> int:
        """Mark what a worker of this server left unfinished; return how many jobs.

        Their ends, too, show at ticks: that a worker died may depend on the rows.
        """
        mine = f"{self._instance}:"
        left = (
            "SELECT id, began_at, first_tick FROM service_jobs WHERE state = 'running' "
            "AND finished_at IS NULL AND substr(worker, 1, ?) = ?"
        )
        with self._database.write_transaction() as together:
            rows = together.run(left, (len(mine), mine))
            for job_id, began, first in rows:
                together.run(
                    "UPDATE service_jobs SET state = 'interrupted', details = ?, finished_at = ? "
                    "WHERE id = ?",
                    (_DIED, next_tick(began or clock.now(), first, clock.now()), job_id),
                )
        return len(rows)

    def cancel(self, job_id: str, by: User) -> None:
        """End a job that has not begun; its charge stays, because a ledger takes nothing back."""
        self._change(
            "state = 'failed', finished_at = ?, details = ? WHERE id = ? AND state = 'queued' "
            "AND (user_id = ? OR ? = 1)",
            (clock.now(), f"Cancelled by {by.name}.", job_id, by.id, by.is_steward + 0),
            "Only a job that has not begun can be cancelled; wait for it to finish.",
        )

    def put_back(self, job_id: str) -> None:
        """Run an interrupted job once more on its charge; a steward's decision."""
        self._change(
            "state = 'queued', finished_at = NULL, details = '', worker = '' "
            "WHERE id = ? AND state = 'interrupted'",
            (job_id,),
            "Only an interrupted job can be run again; ask a new question.",
        )

    def give_up(self, job_id: str) -> None:
        """Leave an interrupted job without a release; a steward's decision."""
        self._change(
            "state = 'failed' WHERE id = ? AND state = 'interrupted'",
            (job_id,),
            "Only an interrupted job can be abandoned; reload the page to see its state.",
        )

    def _change(self, change: str, values: tuple[Any, ...], refusal: str) -> None:
        sql = f"UPDATE service_jobs SET {change} RETURNING id"  # noqa: S608
        if not self._database.write(sql, *values):
            raise ConflictError(refusal)
