"""What may be written into a ledger and when: create, grant, charge, settle.

Each act looks at an open book, refuses with a sentence or appends one entry. A repeated request is
recognised and appends nothing.
"""

from __future__ import annotations

import getpass
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

from privclust.budget import Budget
from privclust.exceptions import (
    BudgetGoneError,
    LedgerConflictError,
    LedgerError,
    UnitMismatchError,
    UnknownDatasetError,
)
from privclust.ledger.accounting import (
    APPROXIMATE,
    PURE,
    Pot,
    cost_of,
    first_to_cover,
    grant_of,
    pots_for,
)
from privclust.ledger.amounts import Amount
from privclust.ledger.book import Book
from privclust.ledger.chain import Entry, canonical, receipt_of
from privclust.ledger.words import budget_gone
from privclust.unit import Unit, unit_from

__all__ = ["charge", "create", "dataset_named", "grant", "name_of", "new_dataset", "settle"]

_REQUEST = re.compile(r"[A-Za-z0-9._-]{1,100}")
_RECEIPT = re.compile(r"([A-Za-z0-9._-]{1,100}):([0-9a-f]{64})")
_LONGEST = 200


def new_dataset(dataset: str, unit: Unit | str, note: str) -> Entry:
    """Return the entry of a new data set, if its name and unit can serve."""
    declared = canonical(unit_from(unit).to_dict())
    name_of("data set", dataset)
    return _draft("create", uuid4().hex, dataset, declared, purpose=_text("note", note))


def create(book: Book, entry: Entry) -> None:
    """Add a data set."""
    if book.dataset(entry.dataset):
        raise LedgerConflictError(
            f"The data set {entry.dataset!r} is already in the ledger; choose another name."
        )
    book.append(entry)


def grant(
    book: Book, dataset: str, holder: str, budget: Budget, note: str, request: str | None
) -> Pot:
    """Add to a holder's pot and return the pot."""
    created, amount = dataset_named(book, dataset), grant_of(budget)
    key = _request(request)
    earlier = book.find("grant", key)
    if earlier:
        return _repeated(earlier, dataset, holder, amount).after
    pot = book.pot(dataset, name_of("holder", holder), APPROXIMATE if amount.delta else PURE)
    entry = _draft("grant", key, dataset, created.unit, purpose=_text("note", note))
    return book.append(entry.moving(amount, pot.with_grant(amount))).after


def charge(
    book: Book,
    dataset: str,
    holder: str,
    budget: Budget,
    unit: Unit,
    purpose: str,
    request: str | None,
) -> str:
    """Charge the budget to the first of the holder's pots that covers it; return the receipt."""
    created, cost = dataset_named(book, dataset), cost_of(budget)
    key, declared = _request(request), unit_from(json.loads(created.unit))
    if declared != unit_from(unit):
        raise UnitMismatchError(
            f"The data set {dataset!r} is budgeted for the privacy unit {declared} and the fit "
            f"protects {unit}; nothing was spent, give the estimator the unit of the data set."
        )
    earlier = book.find("charge", key)
    if earlier and book.find("settle", key):
        raise LedgerConflictError(
            f"The request {key!r} was charged and settled before; a new fit needs a new request."
        )
    if earlier:
        return receipt_of(_repeated(earlier, dataset, holder, cost))
    pots = [book.pot(dataset, holder, name) for name in pots_for(cost)]
    pot = first_to_cover(pots, cost)
    if pot is None:
        raise BudgetGoneError(budget_gone(dataset, holder, cost, pots))
    entry = _draft("charge", key, dataset, created.unit, purpose=_text("purpose", purpose))
    return receipt_of(book.append(entry.moving(cost, pot.charged(cost))))


def settle(book: Book, receipt: str, digest: str) -> None:
    """Record the one release that a charge paid for."""
    if not _text("digest", digest):
        raise LedgerError("A charge is settled with the digest of the release, got an empty one.")
    parts = _RECEIPT.fullmatch(receipt)
    paid = book.find("charge", parts[1]) if parts else None
    if parts is None or paid is None or paid.hash != parts[2]:
        raise LedgerConflictError(
            f"The receipt {receipt[:200]!r} is not one of this ledger; give what reserve returned."
        )
    earlier = book.find("settle", paid.request)
    if earlier and earlier.digest != digest:
        raise LedgerConflictError(
            f"The charge {paid.request} was settled before with the release {earlier.digest}; "
            "another release needs another charge."
        )
    if not earlier:
        entry = _draft("settle", paid.request, paid.dataset, paid.unit)
        book.append(replace(entry, holder=paid.holder, digest=digest))


def dataset_named(book: Book, name: str) -> Entry:
    """Return the entry that created the data set."""
    created = book.dataset(name)
    if created is None:
        known = ", ".join(repr(known) for known in book.datasets()) or "none yet"
        raise UnknownDatasetError(
            f"The ledger has no data set {name!r} (it has {known}); check the name, or add it with "
            "'privclust ledger create'."
        )
    return created


def name_of(what: str, text: str) -> str:
    """Return a name if it can serve as one."""
    if not text:
        raise LedgerError(f"The {what} needs a name.")
    return _text(what, text)


def _text(what: str, text: str) -> str:
    if len(text) > _LONGEST or not text.isprintable():
        raise LedgerError(
            f"The {what} must be at most {_LONGEST} printable characters, got {text[:50]!r}."
        )
    return text


def _request(request: str | None) -> str:
    if request is not None and not _REQUEST.fullmatch(request):
        raise LedgerError(
            "A request is named by at most 100 letters, digits, dots, dashes and underscores, not "
            f"{request[:100]!r}."
        )
    return request or uuid4().hex


def _repeated(earlier: Entry, dataset: str, holder: str, amount: Amount) -> Entry:
    """Return the entry of a repeated request, if it asks for the same as before."""
    if (earlier.dataset, earlier.holder, earlier.amount) != (dataset, holder, amount):
        raise LedgerConflictError(
            f"The request {earlier.request!r} was made before with other contents; use a new one."
        )
    return earlier


def _draft(kind: str, request: str, dataset: str, unit: str, purpose: str = "") -> Entry:
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    return Entry(0, now, kind, request, _actor(), dataset, unit, purpose=purpose)


def _actor() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "unknown"
