"""Checks of files in the background: each in a process of its own, watched by a thread.

A check reads every row several times, so it may take minutes. What it counts is exact and for the
steward alone: it is kept in the memory of this server, and the database learns how the check ended.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import secrets
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

from privclust.jobs.fit import sentence_of
from privclust.service import clock
from privclust.service.accounts import User
from privclust.service.database import Database
from privclust.service.errors import ServiceError, TooManyError
from privclust.service.registered import Dataset, Datasets
from privclust.service.registration import CheckedFiles, check_files

log = logging.getLogger("privclust.service")

Act = Literal["register", "check", "try"]
_MOST_KEPT, _MOST_WAITING = 50, 20
_LOST = "The check was interrupted because the server stopped; start it again."
_DIED = "The check ended without a result, perhaps for lack of memory; start it again."
_BUSY = "Many files are being checked at the moment; try again when some checks have finished."


@dataclass(frozen=True)
class Check:
    """A check as stewards see it; ``report`` has exact counts and is None on other servers."""

    id: str
    act: Act
    name: str
    dataset_id: str
    typed: dict[str, str]
    state: str
    message: str
    progress: str = ""
    report: Any = None


class Checks:
    """The checks that this server runs, one at a time.

    ``own_process``: whether a check has a process of its own; otherwise it has ended when ``begin``
    returns.
    """

    def __init__(
        self, database: Database, datasets: Datasets, instance: str, *, own_process: bool = True
    ) -> None:
        self._database, self._datasets, self._instance = database, datasets, instance
        self._own_process = own_process
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="checks")
        self._progress: dict[str, str] = {}
        self._reports: OrderedDict[str, Any] = OrderedDict()

    def interrupt_left_over(self) -> None:
        """End what an earlier process of this server left running."""
        sql = "UPDATE service_checks SET state = 'refused', message = ? "
        self._database.write(
            sql + "WHERE instance = ? AND state = 'running'", _LOST, self._instance
        )

    def begin(
        self,
        act: Act,
        user: User,
        dataset: Dataset,
        note: Callable[[str, str], None],
        typed: dict[str, str] | None = None,
    ) -> Check:
        """Start a check of a data set's files and return it.

        ``act``: whether the data set is added if its files pass, opened again, or neither.
        ``dataset``: as :meth:`Datasets.draft` or the database has it. ``note``: writes into the
        trail of acts what was done, and to what. ``typed``: what was typed into the form, for
        another attempt.
        """
        if len(self._progress) >= _MOST_WAITING:
            raise TooManyError(_BUSY)
        check_id = secrets.token_hex(16)
        self._database.write(
            "INSERT INTO service_checks VALUES (?, ?, ?, ?, ?, ?, ?, 'running', '', ?)",
            *(check_id, self._instance, user.id, act, dataset.name),
            *("" if act != "check" else dataset.id, json.dumps(typed or {}), clock.now()),
        )
        self._progress[check_id] = "Waiting for another check to finish"
        if self._own_process:
            self._threads.submit(self._run, check_id, act, user, dataset, note)
        else:
            self._run(check_id, act, user, dataset, note)
        return self.one(check_id)

    def one(self, check_id: str) -> Check:
        """Return a check."""
        sql = "SELECT id, act, name, dataset_id, typed, state, message FROM service_checks "
        row = self._database.row(sql + "WHERE id = ?", check_id)
        id_, act, name, dataset_id, typed, state, message = row
        progress, report = self._progress.get(check_id, ""), self._reports.get(check_id)
        given = json.loads(typed)
        return Check(id_, act, name, dataset_id, given, state, message, progress, report)

    def running_checks(self) -> list[tuple[str, str]]:
        """Return the ids of the checks that have not ended, and what they are of."""
        sql = "SELECT id, name FROM service_checks WHERE state = 'running' ORDER BY began, id"
        return [(str(check_id), str(name)) for check_id, name in self._database.rows(sql)]

    def close(self) -> None:
        """Begin no more checks."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _run(
        self, check_id: str, act: Act, user: User, dataset: Dataset, note: Callable[..., None]
    ) -> None:
        """Check, write what follows from it, and remember what was counted."""
        ended = ("done", "", "" if act == "try" else dataset.id)
        try:
            checked = self._check_files(check_id, dataset)
            self._write_result(act, user, dataset, checked, note)
            self._reports[check_id] = checked.report
            while len(self._reports) > _MOST_KEPT:
                self._reports.popitem(last=False)
        except Exception as error:  # the sentence may hold values, and stewards may read them
            if not isinstance(error, ServiceError):
                log.error("a check failed", extra={"error": type(error).__name__})
            ended = ("refused", sentence_of(error), dataset.id if act == "check" else "")
        finally:
            sql = "UPDATE service_checks SET state = ?, message = ?, dataset_id = ? WHERE id = ?"
            self._database.write(sql, *ended, check_id)
            self._progress.pop(check_id, None)

    def _write_result(
        self,
        act: Act,
        user: User,
        dataset: Dataset,
        checked: CheckedFiles,
        note: Callable[..., None],
    ) -> None:
        if act == "register":
            self._datasets.add(dataset, checked, user.name)
            note("registered", dataset.name)
        elif act == "check":
            version = self._datasets.reopen(dataset, checked)
            note("checked files", f"{dataset.name}, version {version}")

    def _check_files(self, check_id: str, dataset: Dataset) -> CheckedFiles:
        def tell(words: str) -> None:
            self._progress[check_id] = words

        if not self._own_process:
            return self._datasets.check(dataset, tell)
        place = self._datasets.resolve_path(dataset)
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(
            target=_check_and_send, args=(place, dataset, theirs), daemon=True
        )
        process.start()
        theirs.close()
        try:
            while True:
                kind, what = ours.recv()
                if kind == "progress":
                    tell(what)
                elif kind == "refused":
                    raise ServiceError(what)
                else:
                    checked: CheckedFiles = what
                    return checked
        except (EOFError, OSError):
            raise ServiceError(_DIED) from None
        finally:
            ours.close()
            process.join()


def _check_and_send(place: Path, dataset: Dataset, pipe: Connection) -> None:
    """Check, and send progress and result to the server; what the process does."""
    from privclust.service.settings import log_to_stderr

    log_to_stderr()
    if hasattr(os, "nice"):
        os.nice(10)  # pages and jobs come first
    facts = (dataset.schema, dataset.unit, dataset.most_rows)
    try:
        checked = check_files(place, *facts, lambda words: pipe.send(("progress", words)))
        pipe.send(("checked", checked))
    except Exception as error:  # whatever it is, the steward reads it
        pipe.send(("refused", sentence_of(error)))
