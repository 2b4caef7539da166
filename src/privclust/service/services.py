"""Everything that one server holds, and what people do with it.

Each act stands here once, for pages and programs, with its line in the trail: a page or a program
decides how it is asked for and answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from argon2 import PasswordHasher

from privclust.jobs.fit import sentence_of
from privclust.ledger.statement import LedgerStatement
from privclust.service import checks
from privclust.service.accounts import Accounts, User
from privclust.service.balance import cost_for
from privclust.service.checks import Checks
from privclust.service.database import Database
from privclust.service.errors import ConflictError, NotFoundError, ServiceError
from privclust.service.jobs import Job, Jobs, Queue
from privclust.service.labelling import Labeller, Limits
from privclust.service.operations import Act, Acts, Metrics, Webhook
from privclust.service.planner import Planner
from privclust.service.questions import FitQuestion, mock_data
from privclust.service.registered import Dataset, Datasets
from privclust.service.releases import Releases
from privclust.service.settings import Settings
from privclust.service.worker import Worker

_MOCK_ROWS = 1000


class Services:
    """What the pages and the interface for programs stand on; no process is started yet.

    ``planner``: who makes plans; one with a process of its own if not given. ``works``: whether
    jobs and checks run here.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        hasher: PasswordHasher | None = None,
        planner: Planner | None = None,
        works: bool = True,
    ) -> None:
        database = Database.open(settings.database, settings.head_place)
        hours = (settings.session_hours, settings.one_time_hours)
        limits = Limits(settings.label_rows, settings.label_seconds, settings.label_megabytes)
        self.settings, self.database = settings, database
        self.accounts, self.acts = Accounts(database, hasher, *hours), Acts(database)
        self.datasets = Datasets(database, settings.folder)
        self.jobs = Jobs(database, settings.tick_seconds)
        self.queue, self.releases = Queue(database, settings.instance), Releases(database)
        self.planner = planner or Planner(seconds=settings.plan_seconds)
        self.labeller = Labeller(limits)
        self.checks = Checks(database, self.datasets, settings.instance, own_process=works)
        self.metrics, self.webhook = Metrics(database), Webhook(settings)
        self.worker = Worker(settings) if works else None

    def progress_of(self, job: Job) -> str:
        """Return how far a job is, in words for stewards; empty if it is not known here."""
        if self.worker is None or job.state != "running":
            return ""
        return self.worker.progress(job.id)


@dataclass(frozen=True)
class Actor:
    """Somebody who uses the service, and from where."""

    services: Services
    user: User
    address: str

    def note(self, act: str, what: str = "") -> None:
        """Write into the trail what was done, and to what."""
        self.services.acts.add(self.user.name, self.address, act, what)

    # Asking.
    def dataset(self, dataset_id: str) -> Dataset:
        """Return a data set whose declaration this user may read; auditors read none."""
        if self.user.role == "auditor":
            raise NotFoundError
        return self.services.datasets.one(dataset_id, self.user)

    def askable(self, dataset_id: str) -> Dataset:
        """Return a data set that this user may ask about."""
        if not self.user.is_analyst:
            raise NotFoundError
        return self.services.datasets.one(dataset_id, self.user)

    def cost(self, dataset: Dataset, question: FitQuestion) -> dict[str, Any]:
        """Return what a question costs this user, in words; nothing is charged."""
        try:
            budget = question.cost(dataset.schema, dataset.unit)
        except ValueError as error:
            raise ServiceError(sentence_of(error)) from None
        return cost_for(self.services.database.ledger, dataset.name, self.user.name, budget)

    async def plan(self, dataset: Dataset, question: FitQuestion) -> dict[str, Any]:
        """Return the plan of a question, with what it costs this user."""
        plan = await self.services.planner.plan(dataset, question, self.user.id)
        return {**plan, **await asyncio.to_thread(self.cost, dataset, question)}

    def mock(self, dataset_id: str) -> tuple[str, bytes]:
        """Return a file of data made up from what is declared, and its name."""
        found = self.dataset(dataset_id)
        return mock_data(found.schema, found.unit, min(found.most_rows, _MOCK_ROWS))

    def request_budget(self, dataset: Dataset, epsilon: str, delta: str, reason: str) -> None:
        """Ask the stewards for budget."""
        self.services.datasets.request_budget(dataset, self.user, epsilon, delta, reason)
        self.note("asked for budget", f"{dataset.name}: ε = {epsilon}, δ = {delta}")

    def cancel(self, job_id: str) -> None:
        """End a job that has not begun; a steward also stops one that this server runs."""
        services, job = self.services, self.services.jobs.one(job_id, self.user)
        if not self.user.is_steward or job.state != "running":
            services.queue.cancel(job.id, self.user)
            self.note("cancelled job", job_id)
        elif services.worker is not None and services.queue.runs(job.id):
            services.worker.interrupt()
            self.note("stopped job", job_id)
        else:
            raise ConflictError("The job has ended, or another server runs it; stop it there.")

    # Reading the books.
    def check_reads_books(self) -> None:
        """Raise unless this user reads the ledger and the trail; to others they do not exist."""
        if not self.user.reads_ledger:
            raise NotFoundError

    def statement(self, dataset_id: str) -> LedgerStatement:
        """Return the verified statement of a data set; it does not say where its database lies."""
        self.check_reads_books()
        names = {id_: name for id_, name, _ in self.services.datasets.accounts()}
        if dataset_id not in names:
            raise NotFoundError
        made = self.services.database.ledger.statement(names[dataset_id])
        return replace(made, address=made.address.rpartition("/")[2])

    def trail(self, after: int = 0) -> Sequence[Act]:
        """Return the trail of acts after the one of a number."""
        self.check_reads_books()
        return self.services.acts.all(after)

    # What stewards do.
    def check_files(
        self, act: checks.Act, dataset: Dataset, typed: dict[str, str] | None = None
    ) -> checks.Check:
        """Begin to check the files of a data set, to register it, to open it again, or neither."""
        return self.services.checks.begin(act, self.user, dataset, self.note, typed)

    def freeze(self, dataset: Dataset, reason: str = "") -> None:
        """Let nothing be asked."""
        reason = reason or f"frozen by {self.user.name}"
        self.services.datasets.freeze(dataset, reason)
        self.services.webhook.send([{"event": "data set frozen", "dataset": dataset.name}])
        self.note("froze", f"{dataset.name}: {reason}")

    def delete_dataset(self, dataset: Dataset) -> None:
        """Delete a data set and its releases."""
        self.services.datasets.delete(dataset)
        self.note("deleted data set", dataset.name)

    def grant(
        self,
        dataset: Dataset,
        user: User,
        epsilon: str,
        delta: str,
        reason: str = "",
        request: str | None = None,
    ) -> None:
        """Grant budget to an analyst; a request of the same name again is the same grant."""
        words = f"by {self.user.name}" + (f": {reason}" if reason else "")
        given = (epsilon, delta, words, self.user.name, request)
        self.services.datasets.grant(dataset, user, *given)
        self.note("granted", f"{dataset.name} to {user.name}: ε = {epsilon}, δ = {delta}")

    def revoke(self, dataset: Dataset, user: User) -> None:
        """Let an analyst ask no more."""
        self.services.datasets.revoke(dataset, user)
        self.note("revoked access", f"{dataset.name} from {user.name}")

    def delete_release(self, release_id: str) -> None:
        """Delete what a release holds."""
        self.services.releases.delete(self.services.releases.one(release_id, self.user).id)
        self.note("deleted release", release_id)

    def add_user(self, name: str, role: str) -> str:
        """Make an account, and return its one-time password."""
        password = self.services.accounts.add(name, role)
        self.note("added user", f"{name}, {role}")
        return password

    def reset_user(self, user: User) -> str:
        """Return a new one-time password of somebody."""
        password = self.services.accounts.reset(user)
        self.note("reset password", user.name)
        return password

    def switch_user(self, user: User, *, active: bool) -> None:
        """Open or close an account, but never one's own."""
        if user.id == self.user.id:
            raise ServiceError("You cannot close your own account; ask another steward.")
        self.services.accounts.set_active(user, active=active)
        self.note("opened account" if active else "closed account", user.name)

    def delete_user(self, user: User) -> None:
        """Delete an account for good."""
        self.services.accounts.delete(user, self.user)
        self.note("deleted account", user.name)
