"""The database of the service: tables beside the ledger, and the numbered steps that made them.

One database holds everything, an SQLite file or a PostgreSQL schema, so that one backup holds
everything, and a charge and its job are written in one transaction.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from privclust.exceptions import LedgerVersionError
from privclust.ledger.address import is_server
from privclust.ledger.ledger import Ledger
from privclust.ledger.store import HeldName, Run
from privclust.ledger.transaction import (
    LedgerTransaction,
    ensure_created,
    hold,
    read_transaction,
    write_transaction,
)
from privclust.service import clock
from privclust.service.errors import ServiceError
from privclust.service.heads import KeptHead

_NAME = re.compile(r"(\d{4})_\w+\.sql")
_VERSIONS = (
    "CREATE TABLE IF NOT EXISTS service_versions (number INTEGER PRIMARY KEY, "
    "digest TEXT NOT NULL, applied BIGINT NOT NULL)"
)


@dataclass(frozen=True)
class Step:
    """One numbered step of the schema."""

    number: int
    sql: str

    @property
    def digest(self) -> str:
        """What tells the step apart from another one with its number."""
        return hashlib.sha256(self.sql.encode()).hexdigest()

    def statements(self, server: bool) -> Iterator[str]:
        """Yield the statements for one of the two databases."""
        sql = re.sub(r"^--.*$", "", self.sql, flags=re.MULTILINE)
        for statement in sql.split(";\n"):
            if statement.strip():
                yield statement.replace(" BLOB ", " BYTEA ") if server else statement


def steps() -> list[Step]:
    """Return every step, in order."""
    folder = files("privclust.service").joinpath("migrations")
    found = [
        Step(int(named[1]), file.read_text("utf-8"))
        for file in folder.iterdir()
        if (named := _NAME.fullmatch(file.name))
    ]
    return sorted(found, key=lambda step: step.number)


@dataclass(frozen=True)
class Database:
    """Where the service keeps everything; a handle, as a ledger is one.

    Attributes
    ----------
    ledger : Ledger
        The ledger in the same database.
    kept : KeptHead or None
        Where the ledger's head is kept outside the database, if it is.
    """

    ledger: Ledger
    kept: KeptHead | None = None

    @classmethod
    def opened(cls, url: str, kept: Path | None = None) -> Database:
        """Return the database at an address, made or brought up to date if need be.

        Parameters
        ----------
        url : str
        kept : Path or None
            The file that the ledger's head is kept in; a database without it is refused.
        """
        database = cls(ensure_created(Ledger.open(url)), None if kept is None else KeptHead(kept))
        database._check_head()
        database._bring_up_to_date(steps())
        return database

    def _check_head(self) -> None:
        """Refuse an old copy of the database."""
        head = None if self.kept is None else self.kept.read()
        if self.kept is None or head is None or not head.entries:
            return
        found = self.rows("SELECT hash FROM privclust_entries WHERE seq = ?", head.entries)
        if found != [(head.digest,)]:
            raise ServiceError(self.kept.refusal())

    def held(self, name: str) -> HeldName | None:
        """Return what keeps a name from all other servers while it lives; None if one has it."""
        return hold(self.ledger, name)

    def reading(self) -> AbstractContextManager[Run]:
        """Give what runs SQL on everything as it is at one moment."""
        return read_transaction(self.ledger)

    @contextmanager
    def writing(self, actor: str | None = None) -> Iterator[LedgerTransaction]:
        """Open everything for no other writer; what is written is durable, or not there at all.

        Parameters
        ----------
        actor : str or None
            Who acts, for the ledger.
        """
        with write_transaction(self.ledger, actor) as together:
            yield together
            head = None if self.kept is None else together.head()
        if self.kept is not None and head is not None:
            self.kept.keep(head)

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what one question to the database finds."""
        with self.reading() as run:
            return run(sql, values)

    def write(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Write by one statement, and return what it returns."""
        with self.writing() as together:
            return together.run(sql, values)

    def _bring_up_to_date(self, known: list[Step]) -> None:
        with self.writing() as together:
            together.run(_VERSIONS)
            rows = together.run("SELECT number, digest FROM service_versions ORDER BY number")
            applied = {int(number): str(digest) for number, digest in rows}
            self._check(applied, known)
            for step in known:
                if step.number not in applied:
                    for statement in step.statements(is_server(self.ledger.url)):
                        together.run(statement)
                    together.run(
                        "INSERT INTO service_versions VALUES (?, ?, ?)",
                        (step.number, step.digest, clock.now()),
                    )

    def _check(self, applied: dict[int, str], known: list[Step]) -> None:
        """Refuse a database that a later version, or another one, has written."""
        where, by_number = self.ledger.address, {step.number: step for step in known}
        if applied and max(applied) > max(by_number):
            raise LedgerVersionError(
                f"The service's tables in {where} are of version {max(applied)} and this privclust "
                f"knows version {max(by_number)}; an older version cannot use them, so upgrade "
                "privclust."
            )
        changed = [n for n, digest in applied.items() if by_number[n].digest != digest]
        if changed:
            raise LedgerVersionError(
                f"Step {changed[0]} of the service's tables in {where} is not the one of this "
                "privclust; open them with the version that made them."
            )
