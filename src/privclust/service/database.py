"""The database of the service: tables next to the ledger, and the migrations that made them.

One database holds everything, an SQLite file or a PostgreSQL schema, so that one backup holds
everything, and a charge and its job are written in one transaction. The head of the ledger is kept
in a file outside it: a copy of a database that is put back does not know what was charged since,
and that budget could be spent again.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from privclust.exceptions import LedgerVersionError
from privclust.ledger.address import is_server
from privclust.ledger.chain import Head
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
from privclust.service.errors import NotFoundError, ServiceError


@dataclass(frozen=True)
class KeptHead:
    """A head in a file."""

    place: Path

    def read(self) -> Head | None:
        """Return the head that was kept, if there is one."""
        try:
            entries, digest = self.place.read_text("utf-8").split()
            return Head(int(entries), digest)
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            raise ServiceError(
                f"The head of the ledger in '{self.place}' cannot be read; put back what was there."
            ) from None

    def keep(self, head: Head) -> None:
        """Write a head down, unless a later one is there: other processes write too."""
        known = self.read()
        if known is not None and known.entries >= head.entries:
            return
        new = self.place.with_name(f"{self.place.name}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{head.entries} {head.digest}\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.place)

    def refusal(self) -> str:
        """Return the sentence about a database that lacks the entry."""
        return (
            "The database lacks entries that were written before, as an old copy does "
            f"('{self.place}' names the newest); put a newer copy in its place, or remove that "
            "file to accept that budget spent since can be spent again."
        )


_NAME = re.compile(r"(\d{4})_\w+\.sql")
_VERSIONS = (
    "CREATE TABLE IF NOT EXISTS service_versions (number INTEGER PRIMARY KEY, "
    "digest TEXT NOT NULL, applied BIGINT NOT NULL)"
)


@dataclass(frozen=True)
class Window:
    """The lines of a long list that are wanted."""

    offset: int = 0
    limit: int = 2**31


ALL = Window()


def insert(together: LedgerTransaction, table: str, **row: Any) -> None:
    """Insert a row, whose columns are named."""
    marks = ", ".join("?" * len(row))
    sql = f"INSERT INTO service_{table} ({', '.join(row)}) VALUES ({marks})"  # noqa: S608
    together.run(sql, tuple(row.values()))


@dataclass(frozen=True)
class Migration:
    """One numbered migration of the schema."""

    number: int
    sql: str

    @property
    def digest(self) -> str:
        """What tells the migration apart from another one with its number."""
        return hashlib.sha256(self.sql.encode()).hexdigest()

    def statements(self, server: bool) -> Iterator[str]:
        """Yield the statements for one of the two databases."""
        sql = re.sub(r"^--.*$", "", self.sql, flags=re.MULTILINE)
        for statement in sql.split(";\n"):
            if statement.strip():
                yield statement.replace(" BLOB ", " BYTEA ") if server else statement


def migrations() -> list[Migration]:
    """Return every migration, in order."""
    folder = files("privclust.service").joinpath("migrations")
    found = [
        Migration(int(named[1]), file.read_text("utf-8"))
        for file in folder.iterdir()
        if (named := _NAME.fullmatch(file.name))
    ]
    return sorted(found, key=lambda migration: migration.number)


@dataclass(frozen=True)
class Database:
    """Where the service keeps everything; a handle, as a ledger is one."""

    ledger: Ledger  # the ledger in the same database
    kept: KeptHead | None = None  # where the ledger's head is kept outside the database, if it is

    @classmethod
    def open(cls, url: str, kept: Path | None = None) -> Database:
        """Return the database at an address, made or brought up to date if need be.

        ``kept``: the file that the ledger's head is kept in; a database without it is refused.
        """
        database = cls(ensure_created(Ledger.open(url)), None if kept is None else KeptHead(kept))
        database._check_head()
        database._bring_up_to_date(migrations())
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

    def read_transaction(self) -> AbstractContextManager[Run]:
        """Give what runs SQL on everything as it is at one moment."""
        return read_transaction(self.ledger)

    @contextmanager
    def write_transaction(self, actor: str | None = None) -> Iterator[LedgerTransaction]:
        """Open everything for no other writer; what is written is durable, or not there at all."""
        with write_transaction(self.ledger, actor) as together:
            yield together
            head = None if self.kept is None else together.head()
        if self.kept is not None and head is not None:
            self.kept.keep(head)

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what one question to the database finds."""
        with self.read_transaction() as run:
            return run(sql, values)

    def row(self, sql: str, *values: Any) -> tuple[Any, ...]:
        """Return the row that is found, or refuse in one sentence."""
        for found in self.rows(sql, *values):
            return found
        raise NotFoundError

    def write(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Write by one statement, and return what it returns."""
        with self.write_transaction() as together:
            return together.run(sql, values)

    def _bring_up_to_date(self, known: list[Migration]) -> None:
        with self.write_transaction() as together:
            together.run(_VERSIONS)
            rows = together.run("SELECT number, digest FROM service_versions ORDER BY number")
            applied = {int(number): str(digest) for number, digest in rows}
            self._check(applied, known)
            for migration in known:
                if migration.number not in applied:
                    for statement in migration.statements(is_server(self.ledger.url)):
                        together.run(statement)
                    together.run(
                        "INSERT INTO service_versions VALUES (?, ?, ?)",
                        (migration.number, migration.digest, clock.now()),
                    )

    def _check(self, applied: dict[int, str], known: list[Migration]) -> None:
        """Refuse a database that a later version, or another one, has written."""
        where, by_number = self.ledger.address, {migration.number: migration for migration in known}
        if applied and max(applied) > max(by_number):
            raise LedgerVersionError(
                f"The service's tables in {where} are of version {max(applied)} and this privclust "
                f"knows version {max(by_number)}; an older version cannot use them, so upgrade "
                "privclust."
            )
        changed = [n for n, digest in applied.items() if by_number[n].digest != digest]
        if changed:
            raise LedgerVersionError(
                f"Migration {changed[0]} of the service's tables in {where} is not the one of this "
                "privclust; open them with the version that made them."
            )
