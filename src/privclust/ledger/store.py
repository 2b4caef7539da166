"""What a ledger needs of its database: plain SQL, connections, and error messages.

``ledger`` is how a sentence names it: "ledger /data/budget.db", or "ledger in postgresql://...".

``rules.sql`` has the table of entries, and for each rule the condition under which an entry is
refused. ``sqlite.sql`` and ``postgres.sql`` have what only that database needs.

Opening takes time, especially on a server, so a few connections stay open between charges. No
connection is used by two threads at once, and all are closed before a fork, so that no child
inherits them.

A book lives for one transaction. It looks things up and appends; what may be appended is decided
above (``operations.py``) and enforced below (``rules.sql``).

Entries match their digests, but an index has none: a damaged one would hide the newest charges and
so give their budget back. A store whose indexes may be damaged looks up entries without them. A
lost entry has no digest either, so nothing is appended unless all up to the newest are there.
"""

from __future__ import annotations

import atexit
import os
import re
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol, TypeVar

from privclust.exceptions import (
    LedgerCorruptedError,
    LedgerError,
    LedgerFullError,
    LedgerLockedError,
    LedgerMissingError,
)
from privclust.ledger.accounting import Pot
from privclust.ledger.chain import COLUMNS, Entry, Head

# Error messages when the database fails: the same for every database.


def missing_error(place: str) -> LedgerMissingError:
    """Return the error that there is no ledger at an address."""
    return LedgerMissingError(
        f"There is no ledger {place}; make one with 'privclust ledger create'."
    )


def locked_error(ledger: str, timeout: float) -> LedgerLockedError:
    """Return the error that another program locked the ledger for too long."""
    return LedgerLockedError(
        f"The {ledger} was locked by another program for more than {timeout:g} seconds; nothing "
        "was spent, try again later."
    )


def full_error(ledger: str) -> LedgerFullError:
    """Return the error that there is no room for another entry."""
    return LedgerFullError(
        f"The disk under the {ledger} is full; nothing was spent, make room and try again."
    )


def damaged_error(ledger: str, reason: str) -> LedgerCorruptedError:
    """Return the error that the ledger is damaged."""
    return LedgerCorruptedError(
        f"The {ledger} is damaged ({reason}); nothing was spent, restore it from a backup and "
        "compare 'privclust ledger head'."
    )


def refused_error(ledger: str, reason: str) -> LedgerError:
    """Return the error that a rule of the database forbids the entry."""
    return LedgerError(f"The {ledger} refused the entry ({reason}); nothing was spent.")


# Scripts for an empty ledger: one set of rules, in the dialect of each database.

# Where the table of entries belongs in the script of a database.
_ENTRIES = "-- entries\n"
_RULE = re.compile(r"^-- rule (\w+): (.+)\n((?:[^-\n].*\n)+)", re.MULTILINE)


def sqlite_script() -> str:
    """Return the statements for SQLite: a trigger for every rule."""
    triggers = [
        f"CREATE TRIGGER privclust_entries_{name} BEFORE INSERT ON privclust_entries\n"
        f"WHEN {condition}BEGIN SELECT RAISE(ABORT, '{message}'); END;\n"
        for name, message, condition in _rule_sql({"DIFFERS FROM": "IS NOT", "LESSER": "min"})
    ]
    # SQLite stores anything in any column unless the type is checked.
    whole = r"\1 INTEGER NOT NULL CHECK (typeof(\1) = 'integer')"
    own = _read_sql("sqlite.sql").replace(_ENTRIES, _table(whole, "INTEGER"))
    return "\n".join([own, *triggers])


def postgres_script() -> str:
    """Return the statements for PostgreSQL: one function that checks all rules."""
    # Two writers that both saw the same last entry collide on seq, so one of them fails.
    rules = _rule_sql({"DIFFERS FROM": "IS DISTINCT FROM", "LESSER": "least"})
    tried = "".join(
        f"IF {condition}THEN\n    RAISE EXCEPTION '{message}';\nEND IF;\n"
        for _, message, condition in rules
    )
    check = (
        "CREATE FUNCTION privclust_check() RETURNS trigger LANGUAGE plpgsql "
        f"SET search_path FROM CURRENT AS $$\nBEGIN\n{tried}RETURN NEW;\nEND $$;\n"
    )
    table = _table(r"\1 bigint NOT NULL", "bigint")
    return _read_sql("postgres.sql").replace(_ENTRIES, f"{table}\n{check}")


def _table(whole: str, position: str) -> str:
    """Return the table of entries with columns of whole numbers as a database declares them."""
    table = _read_sql("rules.sql").partition("-- rule")[0]
    return re.sub(r"(\w+) WHOLE NOT NULL", whole, table).replace("POSITION", position)


def _rule_sql(words: dict[str, str]) -> list[tuple[str, str, str]]:
    """Return name, message and condition of every rule, in the dialect of a database."""
    text = _read_sql("rules.sql")
    for common, own in words.items():
        text = text.replace(common, own)
    return _RULE.findall(text)


def _read_sql(name: str) -> str:
    return files("privclust.ledger").joinpath(name).read_text("utf-8")


# Idle connections to one database.


class _Closable(Protocol):
    def close(self) -> None: ...


_Connection = TypeVar("_Connection", bound=_Closable)

# Appending to and popping from a deque is atomic, so that no lock can be held over a fork.
_waiting: deque[tuple[Hashable, Any]] = deque()
_MOST = 8


@contextmanager
def pooled_connection(
    key: Hashable,
    opened: Callable[[], _Connection],
    is_alive: Callable[[_Connection], bool] = lambda connection: True,
) -> Iterator[_Connection]:
    """Lend an idle connection of this key, or a newly opened one.

    ``key``: identifies one database and one way to open it. ``is_alive``: returns whether an idle
    connection can still be used; by default it can.
    """
    waiting = _take()
    while waiting is not None and (waiting[0] != key or not is_alive(waiting[1])):
        waiting[1].close()
        waiting = _take()
    lent: _Connection = opened() if waiting is None else waiting[1]
    try:
        yield lent
    except LedgerError:  # a refusal, which does not harm the connection
        _give_back(key, lent)
        raise
    except BaseException:
        lent.close()
        raise
    _give_back(key, lent)


def _give_back(key: Hashable, connection: _Closable) -> None:
    _waiting.append((key, connection))
    while len(_waiting) > _MOST:
        try:
            _waiting.popleft()[1].close()
        except IndexError:  # others took them in the meantime
            return


def _take() -> tuple[Hashable, Any] | None:
    try:
        return _waiting.pop()
    except IndexError:
        return None


def _close_waiting() -> None:
    while waiting := _take():
        waiting[1].close()


atexit.register(_close_waiting)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_close_waiting)


# An open ledger: the few queries of a database, in plain SQL.

VERSION = 2
"""The version of the schema that this library reads and writes."""

Run = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]

_INSERT = (
    f"INSERT INTO privclust_entries ({', '.join(COLUMNS)}) "  # noqa: S608
    f"VALUES ({', '.join('?' * len(COLUMNS))})"
)


class HeldName(Protocol):
    """An exclusive lock on a name, until it is closed or its process ends."""

    def close(self) -> None:
        """Release the lock."""


class Store(Protocol):
    """A database that holds a ledger."""

    def create(self) -> None:
        """Create an empty ledger, unless there is one."""

    def read_transaction(self) -> AbstractContextManager[Book]:
        """Open a consistent snapshot of the ledger."""

    def write_transaction(self) -> AbstractContextManager[Book]:
        """Open the ledger in an exclusive transaction, committed durably on exit."""

    def backup(self, place: Path) -> None:
        """Write a consistent snapshot into a new file, or say how else it is done."""

    def damage(self) -> str | None:
        """Return what the database itself finds damaged, or ``None``."""

    def hold(self, name: str) -> HeldName | None:
        """Return an exclusive lock on a name, held while it lives, or ``None``."""


class Book:
    """A ledger within one transaction.

    ``run``: runs SQL with ``?`` for each parameter and returns all rows. ``entries``: what to
    select entries from: the table, and how to read it. ``actor``: who acts, if a service knows;
    otherwise entries name the user of the operating system.
    """

    def __init__(self, run: Run, entries: str = "privclust_entries") -> None:
        self._run, self._table = run, entries
        self.actor: str | None = None
        self._all = f"SELECT {', '.join(COLUMNS)} FROM {entries}"  # noqa: S608

    @property
    def run(self) -> Run:
        """What runs SQL in the transaction, for tables next to the ledger."""
        return self._run

    def identity(self) -> str:
        """Return the digest that the first entry continues."""
        rows = self._run("SELECT identity FROM privclust_ledger", ())
        if len(rows) != 1:
            raise LedgerCorruptedError(
                "The ledger was changed: it has lost its identity; nothing was spent, restore it "
                "from a backup and find out who had access."
            )
        return str(rows[0][0])

    def head(self) -> Head:
        """Return the newest entry's position and digest."""
        newest = self._newest()
        return Head(newest.seq, newest.hash) if newest else Head(0, self.identity())

    def dataset(self, name: str) -> Entry | None:
        """Return the entry that created the data set."""
        return self._newest(kind="create", dataset=name)

    def find(self, kind: str, request: str) -> Entry | None:
        """Return the entry of this kind and request."""
        return self._newest(kind=kind, request=request)

    def pot(self, dataset: str, holder: str, name: str) -> Pot:
        """Return a pot as its newest entry left it."""
        newest = self._newest(dataset=dataset, holder=holder, pot=name)
        return newest.after if newest else Pot(dataset, holder, name)

    def pots(self, dataset: str | None = None, holder: str | None = None) -> list[Pot]:
        """Return the pots with a grant, of one data set and of one holder; oldest grant first."""
        wanted = {"kind": "grant", "dataset": dataset, "holder": holder}
        grants = self._entries(**{name: it for name, it in wanted.items() if it is not None})
        found = dict.fromkeys((grant.dataset, grant.holder, grant.pot) for grant in grants)
        return [self.pot(*names) for names in found]

    def datasets(self) -> list[str]:
        """Return the names of all data sets, oldest first."""
        return [created.dataset for created in self._entries(kind="create")]

    def entries(self, dataset: str | None = None, holder: str | None = None) -> list[Entry]:
        """Return all entries in order, or those of one data set, or of one holder."""
        wanted = {"dataset": dataset, "holder": holder}
        return self._entries(**{name: it for name, it in wanted.items() if it is not None})

    def keys(self, dataset: str) -> list[Entry]:
        """Return the public keys of the whole ledger and of a data set, oldest first."""
        return [key for key in self._entries(kind="key") if key.dataset in ("", dataset)]

    def append(self, entry: Entry) -> Entry:
        """Add the entry to the chain and return it with its position and digest."""
        head = self.head()
        self._check_complete(head.entries)
        named = entry if self.actor is None else replace(entry, actor=self.actor)
        sealed = named.seal(head)
        self._run(_INSERT, [getattr(sealed, name) for name in COLUMNS])
        return sealed

    def _check_complete(self, newest: int) -> None:
        """Raise if an entry is hidden: it may be the newest of a pot."""
        ((count,),) = self._run(f"SELECT count(*) FROM {self._table}", ())  # noqa: S608
        if count != newest:
            raise LedgerCorruptedError(
                "The ledger was changed: entries are missing between the first and the newest; "
                "nothing was spent, restore it from a backup and find out who had access."
            )

    def _entries(self, **wanted: str) -> list[Entry]:
        sql = f"{self._all} {_where(wanted)} ORDER BY seq"
        return [_entry(row) for row in self._run(sql, [*wanted.values()])]

    def _newest(self, **wanted: str) -> Entry | None:
        sql = f"{self._all} {_where(wanted)} ORDER BY seq DESC LIMIT 1"
        rows = self._run(sql, [*wanted.values()])
        return _entry(rows[0]) if rows else None


def _where(wanted: Iterable[str]) -> str:
    """Return the SQL condition that columns have the wanted values."""
    equal = " AND ".join(f"{column} = ?" for column in wanted)
    return f"WHERE {equal}" if equal else ""


def _entry(row: tuple[Any, ...]) -> Entry:
    """Return the entry in a row; raise if it does not match its digest."""
    entry = Entry(*row)
    if not all(isinstance(value, (int, str)) for value in row) or not entry.is_intact:
        raise LedgerCorruptedError(
            f"The ledger was changed: entry {row[0]!r} does not match its digest; nothing was "
            "spent, restore it from a backup and find out who had access."
        )
    return entry


def version_problem(where: str, version: int) -> str:
    """Return the message that a ledger is of another version, and what to do."""
    remedy = (
        "upgrade privclust"
        if version > VERSION
        else "open it with the privclust that wrote it, or begin a new ledger"
    )
    return (
        f"The ledger {where} has version {version} of the schema and this privclust reads "
        f"version {VERSION}; {remedy}."
    )
