"""The worker's side of the queue: taking a job, and what becomes of it, each in one transaction."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Any

from privclust.service.database import Database, now
from privclust.service.errors import ConflictError
from privclust.service.jobs import Finished
from privclust.service.ticks import next_tick

__all__ = ["Queue", "Taken"]

_NEXT = (
    "SELECT j.id, j.dataset_id, j.asked, j.receipt FROM service_jobs j WHERE j.state = 'queued' "
    "AND NOT EXISTS (SELECT 1 FROM service_jobs r WHERE r.dataset_id = j.dataset_id "
    "AND r.state = 'running') ORDER BY j.asked_at, j.id LIMIT 1"
)


@dataclass(frozen=True)
class Taken:
    """A job that this worker, and no other, runs now."""

    id: str
    dataset_id: str
    asked: dict[str, Any]
    receipt: str
    worker: str


class Queue:
    """The queue, as a worker sees it.

    Parameters
    ----------
    database : Database
    instance : str
        The name of the server whose worker this is.
    """

    def __init__(self, database: Database, instance: str) -> None:
        self._database, self._instance = database, instance

    def take(self) -> Taken | None:
        """Mark the oldest job that may run as running, and return it."""
        if not self._database.rows(_NEXT):
            return None
        worker = f"{self._instance}:{secrets.token_hex(8)}"
        with self._database.writing() as together:
            rows = together.run(_NEXT)
            if not rows:
                return None
            job_id, dataset_id, asked, receipt = rows[0]
            sql = "UPDATE service_jobs SET state = 'running', worker = ? WHERE id = ?"
            together.run(sql, (worker, job_id))
        return Taken(job_id, dataset_id, json.loads(asked), receipt, worker)

    def finish(self, taken: Taken, finished: Finished) -> bool:
        """Settle the charge, store the release and end the job: all of it, or nothing.

        Returns
        -------
        stored : bool
            False if the job was taken from this worker in the meantime; then nothing is kept.
        """
        release_id, moment = secrets.token_hex(16), now()
        with self._database.writing() as together:
            rows = together.run(
                "UPDATE service_jobs SET state = 'done', finished_at = ?, release_id = ? "
                "WHERE id = ? AND worker = ? AND state = 'running' "
                "RETURNING asked_at, first_tick, question",
                (moment, release_id, taken.id, taken.worker),
            )
            if not rows:
                return False
            asked_at, first, question = rows[0]
            together.settle(taken.receipt, finished.digest, finished.flaws)
            together.run(
                "INSERT INTO service_releases VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    release_id,
                    taken.dataset_id,
                    taken.id,
                    question,
                    finished.digest,
                    finished.file,
                    finished.report,
                    json.dumps(finished.card, ensure_ascii=False),
                    next_tick(asked_at, first, moment),
                ),
            )
        return True

    def fail(self, taken: Taken, details: str) -> None:
        """End a job without a release; the details are for the steward."""
        self._database.write(
            "UPDATE service_jobs SET state = 'failed', finished_at = ?, details = ? "
            "WHERE id = ? AND worker = ? AND state = 'running'",
            now(),
            details[:2000],
            taken.id,
            taken.worker,
        )

    def interrupt_left_over(self) -> int:
        """Mark what a worker of this server left running when it ended; return how many jobs."""
        rows = self._database.write(
            "UPDATE service_jobs SET state = 'interrupted', finished_at = ?, "
            "details = 'The worker ended while the job ran; nothing was released.' "
            "WHERE state = 'running' AND substr(worker, 1, ?) = ? RETURNING id",
            now(),
            len(self._instance) + 1,
            f"{self._instance}:",
        )
        return len(rows)

    def put_back(self, job_id: str) -> None:
        """Run an interrupted job once more on its charge; a steward's decision."""
        sql = (
            "UPDATE service_jobs SET state = 'queued', finished_at = NULL, details = '', "
            "worker = '' WHERE id = ? AND state = 'interrupted' RETURNING id"
        )
        if not self._database.write(sql, job_id):
            raise ConflictError("Only an interrupted job can be run again; ask a new question.")

    def give_up(self, job_id: str) -> None:
        """Leave an interrupted job without a release; a steward's decision."""
        sql = (
            "UPDATE service_jobs SET state = 'failed' WHERE id = ? AND state = 'interrupted' "
            "RETURNING id"
        )
        if not self._database.write(sql, job_id):
            raise ConflictError("Only an interrupted job can be given up; look at it again.")
