"""What a ledger says about one data set: promise, grants, charges, releases, and the burn-down.

It is made from a verified ledger, is plain data, and is the source of pages and pictures.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from privclust.ledger.accounting import NOTHING, Amount, Pot
from privclust.ledger.chain import Entry, Head, utc_minute
from privclust.ledger.store import Book
from privclust.ledger.words import NOT_PRIVATE, loss_words
from privclust.unit import unit_from


@dataclass(frozen=True)
class BalanceAt:
    """A pot just after an entry: its granted ε and the largest ε of the next fit, in units."""

    at: datetime
    granted: int
    left: int


@dataclass(frozen=True)
class LedgerStatement:
    """The account of a data set for an auditor.

    Attributes
    ----------
    dataset, note : str
        The data set, and what its steward wrote about it.
    unit : dict
        The privacy unit as plain data; ``protects`` says it in words.
    protects : str
        What is protected, in words.
    pots : tuple of Pot
        What was granted and spent, by holder.
    entries : tuple of Entry
        Everything that happened to the data set, oldest first.
    keys : tuple of Entry
        The public keys by which releases are signed.
    head : Head
        The newest entry of the whole ledger when the statement was made.
    address : str
        Where the ledger is.
    made : datetime
        When the statement was made.
    """

    dataset: str
    note: str
    unit: dict[str, Any]
    protects: str
    pots: tuple[Pot, ...]
    entries: tuple[Entry, ...]
    keys: tuple[Entry, ...]
    head: Head
    address: str
    made: datetime

    @classmethod
    def of(cls, book: Book, created: Entry, head: Head, address: str) -> LedgerStatement:
        """Return the statement about the data set that ``created`` created."""
        unit = json.loads(created.unit)
        return cls(
            created.dataset,
            created.purpose,
            unit,
            unit_from(unit).describe(),
            tuple(book.pots(created.dataset)),
            tuple(book.entries(created.dataset)),
            tuple(book.keys(created.dataset)),
            head,
            address,
            datetime.fromisoformat(utc_minute()),
        )

    @property
    def granted(self) -> Amount:
        """The sum of all grants to all grantees, which the promise is about."""
        return sum((Amount(p.granted.epsilon, p.granted.delta) for p in self.pots), NOTHING)

    @property
    def promise(self) -> str:
        """The promise, with the conditions under which it holds (``proofs/ledger.md``)."""
        if not self.pots:
            return "Nothing was granted on this data set, so nothing can be released from it."
        if self.flawed:
            return (
                f"{NOT_PRIVATE}: {len(self.flawed)} of {len(self.charges)} charges led to a "
                "release that gave away more than was charged, so the grants bound nothing."
            )
        return (
            "All releases that were or will be charged to these grants are together "
            f"differentially private with {loss_words(self.granted.epsilon, self.granted.delta)}, "
            "provided that no grant was made or raised because of what releases had shown, and "
            f"that questions were chosen without looking at the rows. {self._later_grants}"
            "A data set is a name: this is about the rows that were charged under it, and about "
            "people who are in no other data set of this ledger."
        )

    @property
    def _later_grants(self) -> str:
        """Return a sentence on grants made after the first charge; empty if there are none."""
        first = min((charge.seq for charge, _ in self.charges), default=None)
        later = sum(first is not None and grant.seq > first for grant in self.grants)
        if not later:
            return ""
        return (
            f"{later} {'grant was' if later == 1 else 'grants were'} made or raised after the "
            "first charge. If releases played a part in that, the sums do not bound the loss; the "
            "sums of the caps that the pots could have reached do. "
        )

    @property
    def charges(self) -> list[tuple[Entry, Entry | None]]:
        """Every charge with its settlement, if there is one."""
        settled = {entry.request: entry for entry in self.entries if entry.kind == "settle"}
        return [
            (entry, settled.get(entry.request)) for entry in self.entries if entry.kind == "charge"
        ]

    @property
    def flawed(self) -> list[Entry]:
        """Every settlement whose release turned out not to be private."""
        return [entry for entry in self.entries if entry.reasons]

    @property
    def grants(self) -> list[Entry]:
        """Every grant."""
        return [entry for entry in self.entries if entry.kind == "grant"]

    def burn_down(self, pot: Pot) -> list[BalanceAt]:
        """Return the history of a pot, up to the time of the statement."""
        moments = [
            BalanceAt(datetime.fromisoformat(entry.at), entry.granted_epsilon, entry.after.largest)
            for entry in self.entries
            if (entry.holder, entry.pot) == (pot.holder, pot.name)
        ]
        last = moments[-1]
        return [*moments, BalanceAt(max(self.made, last.at), last.granted, last.left)]

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain data, amounts as exact decimals."""
        return {
            "dataset": self.dataset,
            "note": self.note,
            "unit": self.unit,
            "protects": self.protects,
            "promise": self.promise,
            "granted": self.granted.to_dict(),
            "balance": [pot.to_dict() for pot in self.pots],
            "grants": [entry.to_dict() for entry in self.grants],
            "charges": [
                charge.to_dict()
                | {"release": settled.digest if settled else None}
                | {"flaws": settled.reasons if settled else []}
                for charge, settled in self.charges
            ],
            "keys": [{"name": key.purpose, "ed25519": key.digest} for key in self.keys],
            "ledger": self.address,
            "head": {"entries": self.head.entries, "digest": self.head.digest},
            "made": self.made.isoformat(timespec="minutes"),
        }
