"""A ledger's own transaction, for a service with its own tables in the same database.

A service that queues a job for every charge must never have one without the other. So it keeps its
tables next to the ledger, and writes both in one transaction: all or nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from privclust.budget import Budget
from privclust.ledger import operations as acts
from privclust.ledger.chain import Head
from privclust.ledger.ledger import Ledger
from privclust.ledger.store import Book, HeldName, Run
from privclust.unit import Unit


class LedgerTransaction:
    """An open ledger and the tables next to it, within one transaction.

    ``actor``: who acts; the user of the operating system if not given.
    """

    def __init__(self, book: Book, actor: str | None = None) -> None:
        self._book = book
        book.actor = actor

    def run(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run SQL on the tables next to the ledger, with ``?`` for each value."""
        return self._book.run(sql, values)

    def head(self) -> Head:
        """Return the newest entry of the ledger."""
        return self._book.head()

    def reserve(
        self, dataset: str, holder: str, budget: Budget, unit: Unit, purpose: str, request: str
    ) -> str:
        """Charge a fit to a holder and return the receipt; see :meth:`Ledger.reserve`."""
        currency = budget.currency
        return acts.charge(self._book, dataset, holder, budget, currency, unit, purpose, request)

    def grant(
        self, dataset: str, holder: str, budget: Budget, note: str, request: str | None
    ) -> None:
        """Add to what a holder may spend; see :meth:`Ledger.grant`."""
        acts.grant(self._book, dataset, holder, budget, None, note, request)

    def settle(self, receipt: str, digest: str, flaws: Sequence[str] = ()) -> None:
        """Record what was released for a charge; see :meth:`Ledger.settle`."""
        acts.settle(self._book, receipt, digest, flaws)

    def create_dataset(self, name: str, unit: Unit, note: str = "") -> None:
        """Add a data set to the ledger; see :meth:`Ledger.create_dataset`."""
        acts.create(self._book, acts.new_dataset(name, unit, note))


def ensure_created(ledger: Ledger) -> Ledger:
    """Return the ledger, creating it if there is none."""
    ledger._store().create()
    return ledger


def hold(ledger: Ledger, name: str) -> HeldName | None:
    """Return an exclusive lock on a name, held while it lives; None if it is taken."""
    return ledger._store().hold(name)


@contextmanager
def read_transaction(ledger: Ledger) -> Iterator[Run]:
    """Yield a function that runs SQL on a consistent snapshot of the database."""
    with ledger._store().read_transaction() as book:
        yield book.run


@contextmanager
def write_transaction(ledger: Ledger, actor: str | None = None) -> Iterator[LedgerTransaction]:
    """Open ledger and tables in an exclusive transaction, committed durably on exit."""
    with ledger._store().write_transaction() as book:
        yield LedgerTransaction(book, actor)
