"""``Ledger``: the handle that estimators, stewards and the command line use.

It is only an address and a name, never a password. Copies, clones, pickles and forks
of it all charge the same ledger, because every call goes to the database.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self

from privclust.budget import Budget, Number
from privclust.exceptions import LedgerError
from privclust.ledger import operations as acts
from privclust.ledger.accounting import ChargeCurrency, Pot
from privclust.ledger.address import display_address, has_password, is_server, without_password
from privclust.ledger.chain import Entry, Head
from privclust.ledger.operations import name_of
from privclust.ledger.postgres import PostgresStore
from privclust.ledger.replay import verify_head
from privclust.ledger.sqlite import SQLiteStore
from privclust.ledger.statement import LedgerStatement
from privclust.ledger.store import Book, Store
from privclust.ledger.words import charge_kept_phrase
from privclust.unit import Unit

# Backups: a consistent snapshot of a ledger, verified before it counts.


def write_backup(
    store: Store, place: str | PathLike[str], verified: Callable[[Path], Head]
) -> Head:
    """Write a ledger into a new file and return the head of what was written.

    ``place``: the file to create, which must not exist. ``verified``: verifies the ledger in a file
    and returns its head.
    """
    target = Path(place).expanduser().absolute()
    if target.exists():
        raise LedgerError(f"{target} exists; choose another path for the backup.")
    if not target.parent.is_dir():
        raise LedgerError(f"The folder of {target} does not exist; create it first.")
    with tempfile.TemporaryDirectory(prefix=".privclust-", dir=target.parent) as folder:
        copy = Path(folder, "ledger.db")
        store.backup(copy)
        os.chmod(copy, 0o600)
        head = verified(copy)
        os.rename(copy, target)
    _wait_for(target.parent)
    return head


def _wait_for(folder: Path) -> None:
    """Sync the names in a folder to disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


EVERYONE = "everyone"
"""The holder of grants that name nobody: anyone who may write the ledger may spend them."""


@dataclass(frozen=True, repr=False)
class Ledger:
    """The persistent budgets of data sets; make one with :meth:`open`.

    Attributes
    ----------
    url : str
        An absolute path of an SQLite file, or a ``postgresql://`` address without a password.
    holder : str
        Whose grants are spent.
    timeout : float
        Seconds to wait for other writers.

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
        """Return a handle to a ledger; nothing is opened or created yet.

        Parameters
        ----------
        url : str or path
            The path of an SQLite file, or ``postgresql://user@host/database``.
        holder : str, default="everyone"
            Whose grants are spent.
        timeout : float, default=30
            Seconds to wait for other writers.
        """
        return cls(fspath(url), holder, float(timeout))

    @classmethod
    def of(cls, value: Any) -> Ledger:
        """Return the ledger that a parameter stands for.

        Parameters
        ----------
        value : Ledger, str or path
            A handle, or what :meth:`open` takes. An address with a password is refused: anyone with
            the parameter would have the password.
        """
        if hasattr(value, "reserve"):  # a ledger, or what stands in for one
            return value  # type: ignore[no-any-return]
        if not isinstance(value, (str, PathLike)):
            raise LedgerError(
                "A ledger is given as a Ledger, the path of a file or a postgresql:// address, not "
                f"as {type(value).__name__}."
            )
        if has_password(fspath(value)):
            raise LedgerError(
                "An address with a password does not belong in a parameter, which is printed and "
                "pickled; leave the password to PGPASSWORD or ~/.pgpass, or give Ledger.open(...)."
            )
        return cls.open(value)

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", without_password(self.url))
        object.__setattr__(self, "holder", name_of("holder", self.holder))

    @property
    def address(self) -> str:
        """Where the ledger is, for readers."""
        return display_address(self.url)

    def create_dataset(
        self, name: str, unit: Unit | str = "add-remove-row", note: str = ""
    ) -> None:
        """Add a data set, and create the ledger itself if there is none.

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
        with store.write_transaction() as book:
            acts.create(book, entry)

    def grant(
        self,
        dataset: str,
        epsilon: Number,
        delta: Number = 0,
        *,
        currency: ChargeCurrency | None = None,
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
        currency : {"pure", "zcdp", "approximate"} or None
            What the grant pays for. By default a grant with δ pays for mechanisms that are
            zero-concentrated, as the estimators are; "approximate" pays for every mechanism that is
            (ε, δ)-differentially private, and then all ε and all δ add up.
        holder : str or None
            Who may spend it; the holder of this handle by default.
        note : str
            The reason.
        request : str or None
            A name for this request; if it was made before, nothing is granted again.
        """
        budget = Budget(epsilon, delta)
        with self._store().write_transaction() as book:
            return acts.grant(book, dataset, holder or self.holder, budget, currency, note, request)

    def reserve(
        self,
        dataset: str,
        budget: Budget,
        unit: Unit,
        purpose: str,
        *,
        currency: ChargeCurrency | None = None,
        request: str | None = None,
    ) -> str:
        """Charge a fit, durably, before any row is read; return the receipt.

        A charge is never refunded: after a crash it stays, so budget is lost but privacy is not.

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
        currency : {"pure", "zcdp", "approximate"} or None
            What is known about the mechanism: ε-differentially private, zero-concentrated with the
            ρ of the budget, or only (ε, δ)-differentially private; required if the budget has a δ.
        request : str or None
            A name for this one fit. A caller who did not hear back repeats the call with the same
            name and gets the same receipt; a fit that draws new noise needs a new name.
        """
        with self._store().write_transaction() as book:
            return acts.charge(book, dataset, self.holder, budget, currency, unit, purpose, request)

    def settle(self, receipt: str, digest: str, flaws: Sequence[str] = ()) -> None:
        """Record what was released for a charge.

        Parameters
        ----------
        receipt : str
            What :meth:`reserve` returned.
        digest : str
            The digest of the release. A charge pays for one: the same digest again has no effect,
            another one is an error.
        flaws : sequence of str
            Why the release is not private although it was charged, such as a scaler that was fitted
            on the rows without noise: sentences, which history and statement show.
        """
        with self._store().write_transaction() as book:
            acts.settle(book, receipt, digest, flaws)

    def charge_phrase(self, receipt: str) -> str:
        """Return a sentence on what stays charged, for a fit that failed or was interrupted."""
        try:
            with self._store().read_transaction() as book:
                return charge_kept_phrase(acts.receipt_with(book, receipt))
        except LedgerError:  # the reader of the sentence has another error to deal with
            return f"The charge with the receipt {receipt} stays in the ledger {self.address}."

    def add_key(self, key: str, name: str, dataset: str | None = None) -> Entry:
        """Record the public key by which releases are signed.

        Parameters
        ----------
        key : str
            An Ed25519 public key, as hex or base64.
        name : str
            Whose key it is.
        dataset : str or None
            The data set whose releases it signs; those of all by default.
        """
        with self._store().write_transaction() as book:
            return acts.add_key(book, key, name, dataset)

    def datasets(self) -> list[str]:
        """Return the names of all data sets, oldest first."""
        with self._store().read_transaction() as book:
            return book.datasets()

    def balance(self, dataset: str | None, holder: str | None = None) -> list[Pot]:
        """Return what was granted and spent, on one data set or all, by one holder or all."""
        with self._store().read_transaction() as book:
            name = None if dataset is None else acts.find_dataset(book, dataset).dataset
            return book.pots(name, holder and name_of("holder", holder))

    def history(self, dataset: str | None = None, holder: str | None = None) -> list[Entry]:
        """Return every entry, oldest first, or those of one data set, or of one holder."""
        with self._store().read_transaction() as book:
            name = None if dataset is None else acts.find_dataset(book, dataset).dataset
            return book.entries(name, holder and name_of("holder", holder))

    def head(self) -> Head:
        """Return the digest of the whole ledger; keep it elsewhere."""
        with self._store().read_transaction() as book:
            return book.head()

    def verify(self, kept: Head | str | None = None) -> Head:
        """Recompute everything and raise if anything was changed or is missing.

        Parameters
        ----------
        kept : Head, str or None
            An earlier :meth:`head`, its digest, or a receipt. Without one, entries cut off at the
            end go unnoticed: an old copy of a ledger is a valid ledger.
        """
        with self._store().read_transaction() as book:
            return self._verify(book, kept)

    def backup(self, place: str | PathLike[str]) -> Head:
        """Write a consistent snapshot, verify it, and return its head.

        Parameters
        ----------
        place : str or path
            The file to make, which must not exist. A ledger on a server is backed up by the server.
        """
        return write_backup(self._store(), place, lambda copy: Ledger.open(copy).verify())

    def statement(self, dataset: str) -> LedgerStatement:
        """Verify the ledger, and return its statement about a data set for an auditor."""
        with self._store().read_transaction() as book:
            head, created = self._verify(book, None), acts.find_dataset(book, dataset)
            return LedgerStatement.of(book, created, head, self.address)

    def __repr__(self) -> str:
        holder = "" if self.holder == EVERYONE else f", holder={self.holder!r}"
        return f"Ledger.open({self.address!r}{holder})"

    def _verify(self, book: Book, kept: Head | str | None) -> Head:
        return verify_head(book, self._store().damage(), kept, self.address)

    def _store(self) -> Store:
        if is_server(self.url):
            return PostgresStore(self.url, self.address, self.timeout)
        return SQLiteStore(Path(self.url), self.timeout)
