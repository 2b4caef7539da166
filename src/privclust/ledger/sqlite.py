"""The ledger in one SQLite file: no server, durable, and safe with many processes at once.

A handle has no connection: there is nothing to share between threads and nothing to pickle. The
file must be on a local disk, because network file systems do not lock reliably.

The file is written with a rollback journal, not with a write-ahead log: in a log, charges would be
in a second file next to the ledger, and a copy of the ledger alone would give budget back. So once
a charge has returned, it is in the one file, and the disk has confirmed it.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import quote

from privclust.exceptions import (
    LedgerError,
    LedgerFullError,
    LedgerLockedError,
    LedgerReadOnlyError,
    LedgerVersionError,
)
from privclust.ledger import store as failures
from privclust.ledger.chain import utc_minute
from privclust.ledger.store import (
    VERSION,
    Book,
    HeldName,
    pooled_connection,
    sqlite_script,
    version_problem,
)

_APPLICATION = 0x70634C67  # "pcLg" in the header of the file: this is a ledger of privclust
_UNINDEXED = "privclust_entries NOT INDEXED"
_OBJECTS = "SELECT type, name, sql FROM sqlite_master WHERE name LIKE 'privclust%' ORDER BY name"


class SQLiteStore:
    """A ledger in an SQLite file."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._path, self._timeout = path, timeout

    def create(self) -> None:
        """Create an empty ledger in a new or empty file, unless there is one."""
        with self._connect("rwc") as connection, self._durable(connection):
            if _number(connection, "application_id") == _APPLICATION:
                return
            if connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                raise LedgerError(_not_a_ledger(self._path))
            for statement in _statements():
                connection.execute(statement)
            connection.execute(
                "INSERT INTO privclust_ledger (identity, created) VALUES (?, ?)",
                (token_hex(32), utc_minute()),
            )
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")

    @contextmanager
    def read_transaction(self) -> Iterator[Book]:
        """Open a consistent snapshot of the ledger."""
        with self._borrow() as connection, _transaction(connection, "BEGIN"):
            self._check(connection)
            yield Book(_runner(connection), _UNINDEXED)

    @contextmanager
    def write_transaction(self) -> Iterator[Book]:
        """Open the ledger in an exclusive transaction; the commit waits for the disk."""
        with self._borrow() as connection, self._durable(connection):
            self._check(connection)
            yield Book(_runner(connection), _UNINDEXED)

    def damage(self) -> str | None:
        """Compare tables and triggers with the schema, and let SQLite check its pages."""
        with self._connect("rw") as connection, closing(sqlite3.connect(":memory:")) as fresh:
            found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if found != "ok":
                return " ".join(str(found).split())
            for statement in _statements():
                fresh.execute(statement)
            wanted = set(fresh.execute(_OBJECTS).fetchall())
            changed = wanted ^ set(connection.execute(_OBJECTS).fetchall())
            names = sorted({name for _, name, _ in changed})
            return f"the rules {', '.join(names)} were changed" if names else None

    def hold(self, name: str) -> HeldName | None:
        """Return an exclusive lock on a name, held while it lives, or ``None``."""
        digest = hashlib.sha256(name.encode()).hexdigest()[:16]
        place = self._path.with_name(f".{self._path.name}.{digest}.lock")
        held = os.fdopen(os.open(place, os.O_RDWR | os.O_CREAT, 0o600), "r+")
        try:
            import fcntl

            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            return held  # a system without such locks
        except OSError:
            held.close()
            return None
        return held

    def backup(self, place: Path) -> None:
        """Write a consistent snapshot into a new file, and wait for the disk."""
        with self._connect("rw") as connection, closing(sqlite3.connect(place)) as copy:
            self._check(connection)
            connection.backup(copy)
        with open(place, "rb") as written:
            os.fsync(written.fileno())

    @contextmanager
    def _durable(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Begin to write; at the end all of it is in the one file, and the disk has confirmed it.

        EXTRA also waits for the folder, from which the journal was removed: without that, a power
        failure could bring the journal back, and the journal would undo the charge.
        """
        is_ledger = _number(connection, "application_id") == _APPLICATION
        if is_ledger:
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        connection.execute("PRAGMA synchronous = EXTRA")
        with _transaction(connection, "BEGIN IMMEDIATE"):
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            if is_ledger and mode != "delete":  # another program has just changed it
                raise LedgerLockedError(
                    f"The ledger {self._path} is in the journal mode {mode!r}, in which charges "
                    "lie in a second file; nothing was spent, close the program that did this "
                    "and try again."
                )
            yield

    @contextmanager
    def _connect(self, mode: str) -> Iterator[sqlite3.Connection]:
        with self._sentences(), closing(self._open(mode)) as connection:
            yield connection

    @contextmanager
    def _borrow(self) -> Iterator[sqlite3.Connection]:
        # The file is identified before it is opened: if another one replaces it in between, the
        # connection is filed under the old one and not used again.
        place = self._place()
        with self._sentences(), pooled_connection(place, self._open) as connection:
            yield connection

    def _place(self) -> tuple[str, float, int, int]:
        """Return what distinguishes this file from another of the same name."""
        try:
            status = self._path.stat()
        except OSError:
            return str(self._path), self._timeout, 0, 0
        return str(self._path), self._timeout, status.st_dev, status.st_ino

    def _open(self, mode: str = "rw") -> sqlite3.Connection:
        return sqlite3.connect(
            f"file:{quote(str(self._path))}?mode={mode}",
            uri=True,
            timeout=self._timeout,
            isolation_level=None,
            check_same_thread=False,  # one thread at a time, see idle.py
        )

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._translate_errors(error) from error
        except UnicodeDecodeError as error:
            # Damage to the text of the schema: SQLite quotes it, and Python cannot decode the
            # quote.
            raise self._translate_errors(sqlite3.DatabaseError()) from error

    def _check(self, connection: sqlite3.Connection) -> None:
        if _number(connection, "application_id") != _APPLICATION:
            raise LedgerError(_not_a_ledger(self._path))
        version = _number(connection, "user_version")
        if version != VERSION:
            raise LedgerVersionError(version_problem(str(self._path), version))

    def _translate_errors(self, error: sqlite3.Error) -> LedgerError:
        """Return the sentence for an error of SQLite."""
        path, code = self._path, getattr(error, "sqlite_errorcode", None)
        ledger = f"ledger {path}"
        # Text that cannot be decoded has no code; it is damage like any other.
        reason = "unreadable text" if code is None else " ".join(str(error).split())
        match sqlite3.SQLITE_CORRUPT if code is None else code & 0xFF:
            case sqlite3.SQLITE_CANTOPEN if not path.exists():
                return failures.missing_error(f"at {path}")
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                return failures.locked_error(ledger, self._timeout)
            case sqlite3.SQLITE_FULL:
                return failures.full_error(ledger)
            case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN:
                return LedgerReadOnlyError(
                    f"The ledger {path} or its folder cannot be written here; nothing was spent, "
                    "ask its steward for write access, or copy it elsewhere to read it."
                )
            case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_ERROR:
                return failures.damaged_error(ledger, reason)
            case sqlite3.SQLITE_CONSTRAINT:
                return failures.refused_error(ledger, reason)
            case sqlite3.SQLITE_IOERR:
                return LedgerFullError(
                    f"The disk under the ledger {path} failed ({reason}); the charge may be lost, "
                    "privacy is not; make room or repair the disk and try again."
                )
        return LedgerError(f"The ledger {path} cannot be used ({reason}); nothing was spent.")


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _runner(connection: sqlite3.Connection) -> Any:
    def run(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        return connection.execute(sql, values).fetchall()

    return run


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _statements() -> Iterator[str]:
    """Split the schema into statements; a trigger contains semicolons of its own."""
    statement = ""
    for line in sqlite_script().splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _not_a_ledger(path: Path) -> str:
    return f"{path} is a database but not a ledger of privclust; give the path of a ledger."
