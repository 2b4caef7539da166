"""Everything that one server holds: settings, database, and those who work on it."""

from __future__ import annotations

from dataclasses import dataclass

from argon2 import PasswordHasher

from privclust.service.accounts import Accounts
from privclust.service.checks import Checks
from privclust.service.database import Database
from privclust.service.jobs import Job, Jobs
from privclust.service.labelling import Labeller, Limits
from privclust.service.operations import Acts, Metrics, Webhook
from privclust.service.planner import Planner
from privclust.service.queue import Queue
from privclust.service.registered import Datasets
from privclust.service.releases import Releases
from privclust.service.settings import Settings
from privclust.service.worker import Worker


@dataclass(frozen=True)
class Services:
    """What the pages and the interface for programs stand on."""

    settings: Settings
    database: Database
    accounts: Accounts
    datasets: Datasets
    jobs: Jobs
    queue: Queue
    releases: Releases
    planner: Planner
    labeller: Labeller
    acts: Acts
    checks: Checks
    metrics: Metrics
    webhook: Webhook
    worker: Worker | None

    def progress_of(self, job: Job) -> str:
        """Return how far a job is, in words for stewards; empty if it is not known here."""
        if self.worker is None or job.state != "running":
            return ""
        return self.worker.progress(job.id)

    @classmethod
    def open(
        cls,
        settings: Settings,
        *,
        hasher: PasswordHasher | None = None,
        planner: Planner | None = None,
        works: bool = True,
    ) -> Services:
        """Open the database and everything on it; no process is started yet.

        ``planner``: who makes plans; one with a process of its own if not given.
        """
        database = Database.open(settings.database, settings.head_place)
        datasets = Datasets(database, settings.folder)
        return cls(
            settings,
            database,
            Accounts(database, hasher, settings.session_hours, settings.one_time_hours),
            datasets,
            Jobs(database, settings.tick_seconds),
            Queue(database, settings.instance),
            Releases(database),
            planner or Planner(seconds=settings.plan_seconds),
            Labeller(Limits(settings.label_rows, settings.label_seconds, settings.label_megabytes)),
            Acts(database),
            Checks(database, datasets, settings.instance, own_process=works),
            Metrics(database),
            Webhook(settings),
            Worker(settings) if works else None,
        )
