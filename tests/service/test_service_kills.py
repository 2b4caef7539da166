"""Kills at random moments: of the worker, of both, of the server, in turn.

A few in every run; ``PRIVCLUST_KILLS=100`` for many, on each of the databases.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from privclust.exceptions import PrivclustError
from privclust.service.database import Database
from privclust.service.remote import RemoteService
from service.running import Running
from service.serving import Serving

KILLS = int(os.environ.get("PRIVCLUST_KILLS", "2"))


def check_books(database: Database) -> tuple[int, int]:
    """Check that charges, jobs and releases go together; return how many jobs and releases."""
    ledger = database.ledger
    ledger.verify()
    entries = ledger.history("visits")
    charged = [entry.request for entry in entries if entry.kind == "charge"]
    settled = {entry.request: entry.digest for entry in entries if entry.kind == "settle"}
    jobs = {job for (job,) in database.rows("SELECT id FROM service_jobs WHERE receipt <> ''")}
    seen = (
        "SELECT job_id, digest FROM service_releases r WHERE EXISTS (SELECT 1 FROM service_jobs j "
    )
    releases = dict(database.rows(seen + "WHERE j.id = r.job_id AND j.state = 'done')"))
    waiting = database.rows(
        "SELECT 1 FROM service_jobs WHERE release_id IS NOT NULL AND receipt <> '' "
        "AND state <> 'done' AND (state <> 'running' OR finished_at IS NULL)"
    )
    assert not waiting  # a release that is not seen belongs to a job that waits for its tick
    assert len(charged) == len(set(charged))  # no charge twice for one job
    assert set(charged) == jobs  # no job without a charge, no charge without a job
    assert releases == settled  # no release without a settled charge, and the other way round
    states = database.rows("SELECT state, count(*) FROM service_jobs GROUP BY state")
    assert dict(states).get("done", 0) == len(releases)
    return len(jobs), len(releases)


def test_after_a_kill_at_any_moment_the_books_are_right_and_the_queue_goes_on(
    any_serving: Serving, tmp_path: Path
) -> None:
    serving = any_serving
    kills = KILLS
    rng = np.random.default_rng(int.from_bytes(os.urandom(4), "big"))
    serving.datasets.grant(serving.visits, serving.ann, "100", "0", "")
    token = serving.accounts.add_token(serving.ann, "program", "run", 1)
    server = Running(tmp_path, serving.settings.database).start()
    service = RemoteService(server.url, token)
    asked = 0
    try:
        for kill in range(kills):
            _wait_for_queue(serving.database, most=10)  # more than its share would be refused
            for _ in range(2):
                asked += 1
                question = {"family": "distances", "epsilon": f"0.{1000 + asked}"}
                with suppress(PrivclustError):
                    service.post(f"/datasets/{serving.visits.id}/jobs", question)
            time.sleep(float(rng.uniform(0, 4)))
            worker = server.worker()
            if worker is not None and kill % 3 != 2:
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
            if kill % 3 != 0:
                server.kill()
                server.start()
            server.wait_until_well()
            check_books(serving.database)
        _wait_for_queue(serving.database)
        service.post(f"/datasets/{serving.visits.id}/jobs", {"family": "distances", "epsilon": "2"})
        _wait_for_queue(serving.database)
    finally:
        server.stop()
    server.wait_for_orphans()
    jobs, releases = check_books(serving.database)
    assert jobs >= kills
    assert 1 <= releases <= jobs
    (last,) = serving.database.rows(
        "SELECT state FROM service_jobs WHERE asked LIKE ?", '%"epsilon": "2"%'
    )
    assert last == ("done",)


def _wait_for_queue(database: Database, most: int = 0) -> None:
    """Wait until few jobs are queued or running; fail only if nothing moves for a long time."""
    left, still = 10**6, 0
    while left > most and still < 3000:
        sql = "SELECT count(*) FROM service_jobs WHERE state IN ('queued', 'running')"
        ((now_left,),) = database.rows(sql)
        left, still = now_left, 0 if now_left != left else still + 1
        time.sleep(0.1)
    assert left <= most, "the queue does not go on"
