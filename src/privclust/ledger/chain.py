"""The entries of a ledger, and the chain of digests that ties each one to all before it.

An entry is a row of plain text and integers. Its digest is the SHA-256 of its canonical JSON, which
contains the digest of the entry before: anyone who knows one digest can check whether anything up
to there was changed, removed or inserted.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any

from privclust.ledger.accounting import Amount, Pot

# Times in a ledger: to the minute, because anything finer would reveal how long a fit ran.


def utc_minute() -> str:
    """Return the current minute in UTC, as a ledger records it."""
    return datetime.now(UTC).isoformat(timespec="minutes")


@dataclass(frozen=True)
class Entry:
    """One line of a ledger.

    Attributes
    ----------
    seq : int
        Position, from 1.
    at : str
        Time in UTC to the minute, by the clock of the machine that wrote the entry; anything finer
        would reveal how long a fit ran, which depends on the rows.
    kind : {"create", "grant", "charge", "settle", "key"}
        What happened.
    request : str
        Names the request, so that a repeated one is recognised; a settlement carries the name of
        the charge it settles.
    actor : str
        The user of the operating system, as the system reports it; in a service, the user who is
        signed in.
    dataset, unit : str
        The data set, and its privacy unit as canonical JSON; empty on a key of the whole ledger.
    holder, pot : str
        Whose grants in which pot; see :mod:`~privclust.ledger.accounting`. Empty if the entry moves
        no amount.
    currency : str
        What is known about the mechanism that a charge pays for.
    purpose : str
        What the charge is for, the owner of a key, or a note.
    digest : str
        The digest of what was released, on a settlement; or a public key.
    flaws : str
        Why a release is not private after all, as a JSON list of sentences; empty if it is.
    epsilon, delta, rho : int
        The amount of the entry.
    granted_*, spent_* : int
        The pot after the entry.
    previous, hash : str
        The digest of the entry before, and of this one.
    """

    seq: int
    at: str
    kind: str
    request: str
    actor: str
    dataset: str
    unit: str
    holder: str = ""
    pot: str = ""
    currency: str = ""
    purpose: str = ""
    digest: str = ""
    flaws: str = ""
    epsilon: int = 0
    delta: int = 0
    rho: int = 0
    granted_epsilon: int = 0
    granted_delta: int = 0
    granted_rho: int = 0
    spent_epsilon: int = 0
    spent_delta: int = 0
    spent_rho: int = 0
    previous: str = ""
    hash: str = ""

    @property
    def amount(self) -> Amount:
        """What the entry moves."""
        return Amount(self.epsilon, self.delta, self.rho)

    @property
    def after(self) -> Pot:
        """The pot after the entry."""
        granted = Amount(self.granted_epsilon, self.granted_delta, self.granted_rho)
        spent = Amount(self.spent_epsilon, self.spent_delta, self.spent_rho)
        return Pot(self.dataset, self.holder, self.pot, granted, spent)

    @property
    def reasons(self) -> list[str]:
        """Why the release of a settlement is not private after all, in sentences."""
        return json.loads(self.flaws) if self.flaws else []

    def with_amount(self, amount: Amount, after: Pot) -> Entry:
        """Return the entry with its amount and the resulting pot."""
        granted, spent = after.granted, after.spent
        return replace(
            self,
            holder=after.holder,
            pot=after.name,
            epsilon=amount.epsilon,
            delta=amount.delta,
            rho=amount.rho,
            granted_epsilon=granted.epsilon,
            granted_delta=granted.delta,
            granted_rho=granted.rho,
            spent_epsilon=spent.epsilon,
            spent_delta=spent.delta,
            spent_rho=spent.rho,
        )

    def seal(self, head: Head) -> Entry:
        """Return the entry as the next link after ``head``."""
        linked = replace(self, seq=head.entries + 1, previous=head.digest)
        return replace(linked, hash=linked._digest_of_content())

    @property
    def is_intact(self) -> bool:
        """Whether the entry matches its digest."""
        return self.hash == self._digest_of_content()

    def _digest_of_content(self) -> str:
        content = {name: getattr(self, name) for name in COLUMNS if name != "hash"}
        return hashlib.sha256(canonical(content).encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as plain data, amounts as exact decimals."""
        names = ("seq", "at", "kind", "request", "actor", "dataset", "holder", "pot", "currency")
        plain: dict[str, Any] = {name: getattr(self, name) for name in names}
        plain |= {"purpose": self.purpose}
        if self.pot:
            plain |= {"amount": self.amount.to_dict()}
        plain |= {"unit": json.loads(self.unit) if self.unit else None, "digest": self.digest}
        return plain | {"flaws": self.reasons, "hash": self.hash}


COLUMNS = tuple(field.name for field in fields(Entry))


@dataclass(frozen=True)
class Head:
    """The newest entry of a ledger: the number of entries, and the digest to keep elsewhere.

    Attributes
    ----------
    entries : int
        How many entries there are.
    digest : str
        The digest of the newest one; for an empty ledger, its identity.
    """

    entries: int
    digest: str


def canonical(value: Any) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def receipt_of(entry: Entry) -> str:
    """Return the receipt of a charge: its request and its digest."""
    return f"{entry.request}:{entry.hash}"
