"""The ledger in a PostgreSQL database, for many machines (the extra ``postgres``).

A handle has no connection, as with SQLite. A writer locks the table against other writers, so
that entries form one chain; readers do not wait.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from privclust.exceptions import (
    LedgerError,
    LedgerMissingError,
    LedgerReadOnlyError,
    LedgerVersionError,
    install_hint,
)
from privclust.ledger import store as failures
from privclust.ledger.address import password_for
from privclust.ledger.chain import utc_minute
from privclust.ledger.store import (
    VERSION,
    Book,
    HeldName,
    pooled_connection,
    postgres_script,
    version_problem,
)

if TYPE_CHECKING:
    import psycopg


_TRIGGERS = {"privclust_entries_insert", "privclust_entries_keep", "privclust_ledger_keep"}
_FUNCTION = re.compile(r"CREATE FUNCTION (\w+)\(\).*?AS \$\$(.*?)\$\$", re.DOTALL)
_SOURCES = (
    "SELECT proname, prosrc FROM pg_proc WHERE oid IN "
    "(to_regproc('privclust_check'), to_regproc('privclust_refuse'))"
)
_CHECKS = (
    "SELECT count(*) FROM pg_constraint WHERE contype = 'c' AND convalidated AND conrelid IN "
    "(to_regclass('privclust_entries'), to_regclass('privclust_ledger'))"
)
_ENABLED = (
    "SELECT tgname FROM pg_trigger WHERE tgenabled <> 'D' AND tgrelid IN "
    "(to_regclass('privclust_entries'), to_regclass('privclust_ledger'))"
)


class PostgresStore:
    """A ledger in a PostgreSQL database.

    ``url``: what libpq understands, without a password; :mod:`~privclust.ledger.address` knows one
    that was given with the address. ``shown``: the address without a password, for messages.
    ``timeout``: seconds to wait for the server and for other writers.
    """

    def __init__(self, url: str, shown: str, timeout: float) -> None:
        self._url, self._shown, self._timeout = url, shown, timeout

    def create(self) -> None:
        """Create an empty ledger in the database, unless there is one."""
        with self._connect() as connection:
            self._limit_waiting(connection)
            # Two stewards who create at the same time wait for each other here.
            connection.execute("SELECT pg_advisory_xact_lock(hashtext('privclust_ledger'))")
            if _exists(connection):
                return
            connection.execute(postgres_script())
            connection.execute(
                "INSERT INTO privclust_ledger (identity, created, version) VALUES (%s, %s, %s)",
                (token_hex(32), utc_minute(), VERSION),
            )

    @contextmanager
    def read_transaction(self) -> Iterator[Book]:
        """Open a consistent snapshot of the ledger."""
        with self._connect() as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            self._check(connection)
            yield Book(_runner(connection))

    @contextmanager
    def write_transaction(self) -> Iterator[Book]:
        """Open the ledger in an exclusive transaction; the commit waits for the server's disk."""
        with self._connect() as connection:
            # Every query must see what was committed before the lock was granted.
            connection.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
            connection.execute("SET LOCAL synchronous_commit TO on")
            self._limit_waiting(connection)
            self._check(connection)
            connection.execute("LOCK TABLE privclust_entries IN EXCLUSIVE MODE")
            yield Book(_runner(connection))

    def damage(self) -> str | None:
        """Return which rules of the database were dropped, changed or switched off, if any."""
        script = postgres_script()
        with self._connect() as connection:
            enabled = {name for (name,) in connection.execute(_ENABLED).fetchall()}
            sources = dict(connection.execute(_SOURCES).fetchall())
            (checks,) = connection.execute(_CHECKS).fetchone() or (0,)
        wanted = dict(_FUNCTION.findall(script))
        changed = sorted(name for name in wanted if sources.get(name) != wanted[name])
        missing = sorted(_TRIGGERS - enabled) + changed
        if checks != script.count("CHECK ("):
            missing.append("CHECK")
        return f"the rules {', '.join(missing)} were changed or switched off" if missing else None

    def hold(self, name: str) -> HeldName | None:
        """Return an exclusive lock on a name, held while it lives, or ``None``."""
        psycopg = _psycopg()
        try:
            connection = self._open()
            connection.autocommit = True
            sql = "SELECT pg_try_advisory_lock(hashtext('privclust_service'), hashtext(%s))"
            row = connection.execute(sql, (name,)).fetchone()
        except psycopg.Error as error:
            raise self._translate_errors(error) from error
        if row and row[0]:
            return connection
        connection.close()
        return None

    def backup(self, place: Path) -> None:
        """Refuse: the server has its own backups."""
        raise LedgerError(
            f"The ledger in {self._shown} is backed up by its server; run pg_dump --table "
            "'privclust_*' on the database, or keep the server's own base backups and its log."
        )

    @contextmanager
    def _connect(self) -> Iterator[psycopg.Connection[Any]]:
        psycopg = _psycopg()
        try:
            key = (self._url, self._timeout)
            with (
                pooled_connection(key, self._open, _is_alive) as connection,
                connection.transaction(),
            ):
                yield connection
        except psycopg.Error as error:
            raise self._translate_errors(error) from error

    def _open(self) -> psycopg.Connection[Any]:
        wait = max(2, round(self._timeout))
        settings = {"connect_timeout": wait, "password": password_for(self._url)}
        opened: psycopg.Connection[Any] = _psycopg().connect(self._url, **settings)
        return opened

    def _limit_waiting(self, connection: psycopg.Connection[Any]) -> None:
        wait = f"{max(1, round(self._timeout * 1000))}ms"
        connection.execute("SELECT set_config('lock_timeout', %s, true)", (wait,))

    def _check(self, connection: psycopg.Connection[Any]) -> None:
        if not _exists(connection):
            raise failures.missing_error(f"in {self._shown}")
        row = connection.execute("SELECT version FROM privclust_ledger").fetchone()
        if row is None or row[0] != VERSION:
            raise LedgerVersionError(version_problem(self._shown, row[0] if row else 0))

    def _translate_errors(self, error: psycopg.Error) -> LedgerError:
        """Return the sentence for an error of the server."""
        errors, ledger = _psycopg().errors, f"ledger in {self._shown}"
        reason = " ".join(str(error).split()).split(" CONTEXT:")[0]
        if "no password supplied" in reason:
            return LedgerMissingError(
                f"The server of the {ledger} asks for a password; a ledger keeps none in "
                "copies and pickles, so set PGPASSWORD or ~/.pgpass where it is used."
            )
        match error:
            case errors.LockNotAvailable():
                return failures.locked_error(ledger, self._timeout)
            case errors.DiskFull():
                return failures.full_error(ledger)
            case errors.ReadOnlySqlTransaction() | errors.InsufficientPrivilege():
                return LedgerReadOnlyError(
                    f"The {ledger} cannot be written by this user; nothing was spent, "
                    "ask its steward for the right to write."
                )
            case errors.UndefinedTable() | errors.UndefinedColumn() | errors.DataCorrupted():
                return failures.damaged_error(ledger, reason)
            case errors.RaiseException() | errors.IntegrityError():
                return failures.refused_error(ledger, reason)
        return LedgerMissingError(
            f"The server of the {ledger} did not answer ({reason}); a charge under way "
            "may be lost, privacy is not; check the address and try again."
        )


def _is_alive(connection: psycopg.Connection[Any]) -> bool:
    """Return whether the server still answers on an idle connection."""
    try:
        connection.execute("SELECT 1")
        connection.rollback()
    except _psycopg().Error:
        return False
    return True


def _exists(connection: psycopg.Connection[Any]) -> bool:
    row = connection.execute("SELECT to_regclass('privclust_ledger') IS NOT NULL").fetchone()
    return bool(row and row[0])


def _runner(connection: psycopg.Connection[Any]) -> Any:
    def run(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        cursor = connection.execute(sql.replace("?", "%s"), values)
        return cursor.fetchall() if cursor.description else []

    return run


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError:
        raise LedgerError(
            f"A ledger in PostgreSQL needs psycopg; {install_hint('postgres')}."
        ) from None
    return psycopg
