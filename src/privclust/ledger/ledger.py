"""``Ledger``: the handle that estimators, stewards and the command line hold.

It is an address and a name, nothing else. Copies, clones, pickles and forks of it all charge the
same ledger, because every call goes to the database.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from privclust.budget import Budget, Number
from privclust.exceptions import LedgerCorruptedError, LedgerError
from privclust.ledger import acts
from privclust.ledger.accounting import Pot
from privclust.ledger.book import Book, Store
from privclust.ledger.chain import Entry, Head
from privclust.ledger.postgres import PostgresStore
from privclust.ledger.replay import replay
from privclust.ledger.sqlite import SQLiteStore
from privclust.ledger.statement import LedgerStatement
from privclust.unit import Unit

__all__ = ["EVERYONE", "Ledger"]

EVERYONE = "everyone"
"""The holder of grants that name nobody: whoever may write the ledger may spend them."""


@dataclass(frozen=True, repr=False)
class Ledger:
    """The persistent budgets of data sets; make one with :meth:`open`.

    Attributes
    ----------
    url : str
        An absolute path of an SQLite file, or a ``postgresql://`` address.
    holder : str
        Whose grants are spent.
    timeout : float
        Seconds to wait for others who write at the same time.

    Examples
    --------
    >>> ledger = Ledger.open("budget.db")                                    # doctest: +SKIP
    >>> ledger.create_dataset("visits")                                      # doctest: +SKIP
    >>> ledger.grant("visits", epsilon=4)                                    # doctest: +SKIP
    >>> PrivateKMeans(8, ledger=ledger, dataset="visits").fit(rows)          # doctest: +SKIP
    """

    url: str
    holder: str = EVERYONE
    timeout: float = 30.0

    @classmethod
    def open(
        cls, url: str | PathLike[str], *, holder: str = EVERYONE, timeout: float = 30.0
    ) -> Self:
        """Return a handle to a ledger; nothing is opened or made yet.

        Parameters
        ----------
        url : str or path
            The path of an SQLite file, or ``postgresql://user@host/database``.
        holder : str, default="everyone"
            Whose grants are spent.
        timeout : float, default=30
            Seconds to wait for others who write at the same time.
        """
        address = fspath(url)
        scheme = address.split("://", 1)[0] if "://" in address else ""
        if scheme not in ("", "postgresql", "postgres"):
            raise LedgerError(
                f"A ledger is the path of an SQLite file or a postgresql:// address, not {scheme}://."
            )
        address = address if scheme else str(Path(address).expanduser().absolute())
        return cls(address, acts.name_of("holder", holder), float(timeout))

    @property
    def address(self) -> str:
        """Where the ledger is, without any password."""
        if "://" not in self.url:
            return self.url
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")
        user = host[0].split(":")[0]
        return f"{parts.scheme}://{user}{host[1]}{host[2]}{parts.path}"

    def create_dataset(
        self, name: str, unit: Unit | str = "add-remove-row", note: str = ""
    ) -> None:
        """Add a data set, and make the ledger itself if there is none.

        Parameters
        ----------
        name : str
            What estimators give as ``dataset=``.
        unit : Unit or str
            Whose presence all grants and charges protect; it cannot be changed later.
        note : str
            Where the data come from, for readers of the history.
        """
        entry, store = acts.new_dataset(name, unit, note), self._store()
        store.create()
        with store.writing() as book:
            acts.create(book, entry)

    def grant(
        self,
        dataset: str,
        epsilon: Number,
        delta: Number = 0,
        *,
        holder: str | None = None,
        note: str = "",
        request: str | None = None,
    ) -> Pot:
        """Allow a holder to spend more on a data set, and return what the holder has.

        Parameters
        ----------
        dataset : str
            The data set.
        epsilon, delta : number
            What is added to the holder's grants. Fits with δ need a grant with δ.
        holder : str or None
            Who may spend it; the holder of this handle by default.
        note : str
            The reason.
        request : str or None
            A name for this request; if it was made before, nothing is granted again.
        """
        budget = Budget(epsilon, delta)
        with self._store().writing() as book:
            return acts.grant(book, dataset, holder or self.holder, budget, note, request)

    def reserve(
        self,
        dataset: str,
        budget: Budget,
        unit: Unit,
        purpose: str,
        *,
        request: str | None = None,
    ) -> str:
        """Charge a fit, durably, before any row is read; return the receipt.

        A charge is never given back: after a crash it stays, so budget is lost and privacy is not.

        Parameters
        ----------
        dataset : str
            The data set.
        budget : Budget
            The whole of it is charged.
        unit : Unit
            The unit that the fit protects; it must be the data set's.
        purpose : str
            What the charge is for.
        request : str or None
            A name for this one fit. A caller who did not hear back repeats the call with the same
            name and gets the same receipt; a fit that draws noise anew needs a new name.
        """
        with self._store().writing() as book:
            return acts.charge(book, dataset, self.holder, budget, unit, purpose, request)

    def settle(self, receipt: str, digest: str) -> None:
        """Record what was released for a charge.

        Parameters
        ----------
        receipt : str
            What :meth:`reserve` returned.
        digest : str
            The digest of the release. A charge pays for one release: settling it again with the
            same digest does nothing, with another one it is an error.
        """
        with self._store().writing() as book:
            acts.settle(book, receipt, digest)

    def datasets(self) -> list[str]:
        """Return the names of all data sets, oldest first."""
        with self._store().reading() as book:
            return book.datasets()

    def balance(self, dataset: str, holder: str | None = None) -> list[Pot]:
        """Return what was granted and spent on a data set, of all holders or of one."""
        with self._store().reading() as book:
            acts.dataset_named(book, dataset)
            return [pot for pot in book.pots(dataset) if holder in (None, pot.holder)]

    def history(self, dataset: str | None = None) -> list[Entry]:
        """Return every entry, oldest first, or those of one data set."""
        with self._store().reading() as book:
            if dataset is not None:
                acts.dataset_named(book, dataset)
            return book.entries(dataset)

    def head(self) -> Head:
        """Return the digest that stands for the whole ledger; keep it elsewhere."""
        with self._store().reading() as book:
            return book.head()

    def verify(self, digest: str | None = None) -> Head:
        """Compute everything again and raise if anything was changed.

        Parameters
        ----------
        digest : str or None
            An earlier :meth:`head`, or the part of a receipt after the colon. Without one, entries
            that were cut off at the end cannot be missed.
        """
        with self._checked(digest) as (_, head):
            return head

    def statement(self, dataset: str) -> LedgerStatement:
        """Verify the ledger, and return what may be said about a data set to an auditor."""
        with self._checked(None) as (book, head):
            created = acts.dataset_named(book, dataset)
            return LedgerStatement.of(
                created, book.entries(dataset), book.pots(dataset), head, self.address
            )

    def __repr__(self) -> str:
        holder = "" if self.holder == EVERYONE else f", holder={self.holder!r}"
        return f"Ledger.open({self.address!r}{holder})"

    @contextmanager
    def _checked(self, digest: str | None) -> Iterator[tuple[Book, Head]]:
        store = self._store()
        with store.reading() as book:
            state = replay(book.identity(), book.entries(), digest)
            pots = [pot for name in book.datasets() for pot in book.pots(name)]
            damage = store.damage()
            if damage or len(pots) != len(state.pots) or set(pots) != set(state.pots.values()):
                raise LedgerCorruptedError(
                    f"The ledger {self.address} was changed: "
                    f"{damage or 'its balances do not follow from its entries'}; restore it from a "
                    "backup and find out who had access."
                )
            yield book, state.head

    def _store(self) -> Store:
        if "://" in self.url:
            return PostgresStore(self.url, self.address, self.timeout)
        return SQLiteStore(Path(self.url), self.timeout)
