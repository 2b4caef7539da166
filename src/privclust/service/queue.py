"""The worker's side of the queue: taking a job, and what becomes of it, each in one transaction.

*Why this is private.* Charges hash all entries of the ledger before them, settlements too. So a
settlement written when a job ends would tell its end to whoever makes a charge after it. What a job
came to is stored unseen, the job counts as running, and everything that shows, the settlement
included, is written at its tick (:meth:`Queue.show`).
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Any

from privclust.service import clock
from privclust.service.accounts import User
from privclust.service.clock import next_tick
from privclust.service.database import Database
from privclust.service.errors import ConflictError
from privclust.service.jobs import FinishedJob

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

        It is the oldest one of whoever has waited longest for a turn, so that nobody with many
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

    def finish(self, taken: TakenJob, finished: FinishedJob) -> int | None:
        """Store a release that nobody sees yet.

        Returns ``tick``: when it shows; None if the job was taken from this worker in the meantime,
        and then nothing is kept.
        """
        release_id, tick = secrets.token_hex(16), taken.shows_at(clock.now())
        with self._database.write_transaction() as together:
            rows = together.run(
                "UPDATE service_jobs SET finished_at = ?, release_id = ? "
                "WHERE id = ? AND worker = ? AND state = 'running' AND finished_at IS NULL "
                "RETURNING id",
                (tick, release_id, taken.id, taken.worker),
            )
            if not rows:
                return None
            together.run(
                "INSERT INTO service_releases (id, dataset_id, job_id, question, digest, file, "
                "report, card, visible_at, flaws, version) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    release_id,
                    taken.dataset_id,
                    taken.id,
                    finished.question,
                    finished.digest,
                    finished.file,
                    finished.report,
                    json.dumps(finished.card, ensure_ascii=False),
                    tick,
                    json.dumps(finished.flaws),
                    finished.version,
                ),
            )
        return tick

    def fail(self, taken: TakenJob, details: str, freezes: str = "") -> int:
        """End a job without a release, and return the tick at which that shows.

        ``freezes``: why the data set is frozen at that tick; empty if it is not.
        """
        tick = taken.shows_at(clock.now())
        self._database.write(
            "UPDATE service_jobs SET finished_at = ?, details = ?, freezes = ? "
            "WHERE id = ? AND worker = ? AND state = 'running' AND finished_at IS NULL",
            tick,
            details[:2000],
            freezes,
            taken.id,
            taken.worker,
        )
        return tick

    def show(self, tick: int) -> list[dict[str, str]]:
        """Let everybody see what has ended and is due: settle charges, end jobs, freeze.

        Returns ``events``: what happened, for whoever is told of it.
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
