"""A service and those who use it, made in milliseconds: cheap passwords, few rows, no processes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from argon2 import PasswordHasher

from privclust import AddRemoveRow, Box, Categories, Schema
from privclust.service.accounts import Accounts, User
from privclust.service.database import Database
from privclust.service.jobs import Jobs, Queue
from privclust.service.questions import FitQuestion
from privclust.service.registered import Dataset, Datasets
from privclust.service.releases import Releases
from privclust.service.settings import Settings

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
PASSWORD = "a long enough password"  # noqa: S105
SCHEMA = Schema(
    {
        "age": Box(0, 100, missing=50),
        "cost": Box(0, 10, missing=0),
        "sex": Categories(["f", "m"], missing="category", unknown="other"),
        "ward": Categories(["a", "b", "c"], missing="category", unknown="other"),
    }
)


def write_rows(path: Path, n_rows: int = 40, *more: str) -> None:
    """Write rows that a schema of ours reads, and whatever lines come after."""
    rng = np.random.default_rng(0)
    lines = ["age,cost,sex,ward"]
    lines += [
        f"{rng.integers(100)},{rng.integers(10)},{rng.choice(['f', 'm'])},{rng.choice(['a', 'b'])}"
        for _ in range(n_rows)
    ]
    path.write_text("\n".join([*lines, *more]) + "\n")


def register(datasets: Datasets, *given: Any, **named: Any) -> Dataset:
    """Check files and register them, as a steward does."""
    draft = datasets.draft(*given, **named)
    return datasets.add(draft, datasets.check(draft))


def check_again(datasets: Datasets, dataset: Dataset) -> None:
    """Check the files of a data set once more; it is open again."""
    datasets.reopen(dataset, datasets.check(dataset))


@dataclass(frozen=True)
class Serving:
    """Everything that a service stands on."""

    settings: Settings
    database: Database
    accounts: Accounts
    datasets: Datasets
    jobs: Jobs
    releases: Releases
    queue: Queue
    steward: User
    ann: User
    bob: User
    visits: Dataset

    @classmethod
    def made(cls, folder: Path, url: str, more: tuple[str, ...] = ()) -> Serving:
        """Return a service whose users have signed in once and chosen a password."""
        data = folder / "data"
        data.mkdir()
        write_rows(data / "visits.csv", 40, *more)
        database = Database.open(url)
        accounts, datasets = Accounts(database, CHEAP), Datasets(database, data.resolve())
        users = []
        for name, role in (("sue", "steward"), ("ann", "analyst"), ("bob", "analyst")):
            password = accounts.add(name, role)
            accounts.change_password(accounts.by_name(name), password, PASSWORD)
            users.append(accounts.by_name(name))
        visits = register(datasets, "visits", "visits.csv", SCHEMA, AddRemoveRow(), 1000)
        datasets.grant(visits, users[1], "2", "0", "")
        return cls.opened(folder, url)

    @classmethod
    def opened(cls, folder: Path, url: str) -> Serving:
        """Return the service whose data and database are there already."""
        data = folder / "data"
        head = str(folder / "service.db.head")
        settings = Settings(database=url, head_file=head, data=str(data), instance="here")
        database = Database.open(url)
        accounts, datasets = Accounts(database, CHEAP), Datasets(database, data.resolve())
        jobs = Jobs(database, settings.tick_seconds)
        queue, releases = Queue(database, settings.instance), Releases(database)
        users = [accounts.by_name(name) for name in ("sue", "ann", "bob")]
        (visits,) = datasets.all()
        return cls(settings, database, accounts, datasets, jobs, releases, queue, *users, visits)

    def question(self, **changes: object) -> FitQuestion:
        """Return a cheap question."""
        given = {"family": "distances", "epsilon": "1", "columns": ["sex", "ward"]}
        return FitQuestion.parse(given | changes, self.visits.schema)

    def charges(self) -> list[str]:
        """Return the requests that were charged."""
        entries = self.database.ledger.history("visits")
        return [entry.request for entry in entries if entry.kind == "charge"]
