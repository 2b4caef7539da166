"""Kills at random moments: of the worker, of both, of the server, in turn, also amid a request.

A few in every run; ``PRIVCLUST_KILLS=100`` for many, on each of the databases.
"""

from __future__ import annotations

import os
import secrets
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from privclust.service.database import Database
from privclust.service.remote import RemoteError, RemoteService
from service.running import Running
from service.serving import Serving

KILLS = int(os.environ.get("PRIVCLUST_KILLS", "2"))


class Asker:
    """An analyst who names every question, and asks it again until the service takes it."""

    def __init__(self, service: RemoteService, dataset_id: str) -> None:
        self._service, self._path = service, f"/datasets/{dataset_id}/jobs"
        self._waiting: dict[str, str] = {}
        self.taken: set[str] = set()  # the names of questions that the service has taken
        self.refusals: list[str] = []
        self.lost = 0  # how often nobody answered

    def begin(self, *budgets: str) -> threading.Thread:
        """Ask in a thread of its own, so that a kill may come in between."""
        self._waiting |= {secrets.token_hex(16): budget for budget in budgets}
        thread = threading.Thread(target=self.ask)
        thread.start()
        return thread

    def ask(self) -> None:
        """Ask whatever the service has not taken yet."""
        for name, epsilon in list(self._waiting.items()):
            asked = {"family": "distances", "epsilon": epsilon, "request": name}
            try:
                self.taken.add(self._service.post(self._path, asked)["id"])
                del self._waiting[name]
            except RemoteError as error:
                if "does not answer" in str(error):
                    self.lost += 1
                else:
                    self.refusals.append(str(error))


def check_books(database: Database, taken: set[str]) -> int:
    """Check that questions, charges, jobs and releases go together; return how many releases.

    All is read at one moment: the worker goes on meanwhile.
    """
    database.ledger.verify()
    with database.read_transaction() as run:
        entries = run("SELECT kind, request, digest FROM privclust_entries", ())
        jobs = run("SELECT id, state, receipt, release_id, finished_at FROM service_jobs", ())
        releases = dict(run("SELECT job_id, digest FROM service_releases", ()))
    charged = [request for kind, request, _ in entries if kind == "charge"]
    settled = {request: digest for kind, request, digest in entries if kind == "settle"}
    assert len(charged) == len(set(charged))  # no charge twice for one job
    assert set(charged) == {job for job, *_ in jobs}  # one charge, one job
    assert set(charged) >= taken  # what was taken is there
    assert all(receipt for _, _, receipt, *_ in jobs)
    done = {job: releases[job] for job, state, *_ in jobs if state == "done"}
    assert done == settled  # no release that is seen without a settled charge, nor the other way
    unseen = [
        (state, ends is None)
        for _, state, _, release, ends in jobs
        if release is not None and state != "done"
    ]
    # A release that is not seen belongs to a job that waits for its tick.
    assert set(unseen) <= {("running", False)}
    return len(done)


def test_after_a_kill_at_any_moment_the_books_are_right_and_the_queue_goes_on(
    any_serving: Serving, tmp_path: Path
) -> None:
    serving = any_serving
    rng = np.random.default_rng(int.from_bytes(os.urandom(4), "big"))
    serving.datasets.grant(serving.visits, serving.ann, "100", "0", "")
    token = serving.accounts.add_token(serving.ann, "program", "run", 1)
    server = Running(tmp_path, serving.settings.database).start()
    asker = Asker(RemoteService(server.url, token), serving.visits.id)
    try:
        for kill in range(KILLS):
            _wait_for_queue(serving.database, most=10)  # more than its share would be refused
            asking = asker.begin(f"0.1{2 * kill:03}", f"0.1{2 * kill + 1:03}")
            # Every other kill comes amid the questions, the others while jobs wait and run.
            time.sleep(float(rng.uniform(0, 0.2 if kill % 2 else 4)))
            _kill(server, kill)
            asking.join()
            server.wait_until_well()
            asker.ask()
            check_books(serving.database, asker.taken)
        _wait_for_queue(serving.database)
        asker.begin("2").join()
        _wait_for_queue(serving.database)
    finally:
        server.stop()
    server.wait_for_orphans()
    releases = check_books(serving.database, asker.taken)
    jobs = {job for (job,) in serving.database.rows("SELECT id FROM service_jobs")}
    print(f"{KILLS} kills, {len(jobs)} jobs, {releases} releases, {asker.lost} answers lost")
    assert asker.refusals == []
    assert jobs == asker.taken
    assert len(jobs) == 2 * KILLS + 1
    (last,) = serving.database.rows(
        "SELECT state FROM service_jobs WHERE asked LIKE ?", '%"epsilon": "2"%'
    )
    assert last == ("done",)


def _kill(server: Running, kill: int) -> None:
    worker = server.worker()
    if worker is not None and kill % 3 != 2:
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
    if kill % 3 != 0:
        server.kill()
        server.start()


def _wait_for_queue(database: Database, most: int = 0) -> None:
    """Wait until few jobs are queued or running; fail only if nothing moves for a long time."""
    left, still = 10**6, 0
    while left > most and still < 3000:
        sql = "SELECT count(*) FROM service_jobs WHERE state IN ('queued', 'running')"
        ((now_left,),) = database.rows(sql)
        left, still = now_left, 0 if now_left != left else still + 1
        time.sleep(0.1)
    assert left <= most, "the queue does not go on"
