"""What may be written into a ledger and when: create, grant, charge, settle, add a key.

Two names that a reader cannot tell apart would be two data sets with a budget each. So a name is
put into one form (Unicode's NFKC, single blanks inside, none at the ends) wherever it enters, and a
name with invisible characters is refused.

Each operation reads an open book, then refuses with a sentence or appends one entry. A repeated
request is recognised and appends nothing.
"""

from __future__ import annotations

import base64
import binascii
import getpass
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
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
    Amount,
    Pot,
    cost_of,
    currency_named,
    first_covering_pot,
    grant_of,
    pots_for,
)
from privclust.ledger.chain import Entry, canonical, receipt_of, utc_minute
from privclust.ledger.store import Book
from privclust.ledger.words import budget_gone
from privclust.unit import Unit, unit_from

# Names of data sets and holders: one name for everything that looks the same.

LONGEST = 200

# Invisible characters that Unicode counts as printable: joiners, fillers, selectors.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)


def name_of(what: str, text: str) -> str:
    """Return the normal form of a name, if it is a valid name."""
    if not isinstance(text, str):
        raise LedgerError(f"The {what} is named by text, not by {type(text).__name__}.")
    name = re.sub(" +", " ", unicodedata.normalize("NFKC", text)).strip(" ")
    if not name:
        raise LedgerError(f"The {what} needs a name.")
    if _UNSEEN.search(name):
        raise LedgerError(
            f"The name of the {what} has invisible characters ({name[:50]!a}); leave them out."
        )
    return text_of(what, name)


def text_of(what: str, text: str, longest: int = LONGEST) -> str:
    """Return a text if it is short and printable."""
    if len(text) > longest or not text.isprintable():
        raise LedgerError(
            f"The {what} must be at most {longest} printable characters, got {text[:50]!a}."
        )
    return text


# Public keys with which readers check signatures of releases, as a ledger records them.

_HEX = re.compile(r"[0-9a-fA-F]{64}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{43}=?")


def public_key(text: str) -> str:
    """Return an Ed25519 public key, given as hex or base64, as 64 hex digits.

    ``text``: the 32 bytes of the key as 64 hex digits or as base64, with or without ``ed25519:``
    before.
    """
    bare = text.strip().removeprefix("ed25519:")
    if _HEX.fullmatch(bare):
        return bare.lower()
    if _BASE64.fullmatch(bare):
        padded = bare.rstrip("=").replace("-", "+").replace("_", "/") + "="
        try:
            return base64.b64decode(padded, validate=True).hex()
        except binascii.Error:
            pass
    raise LedgerError(
        "A public key is the 32 bytes of an Ed25519 key as 64 hex digits or as base64; give the "
        "public key, never the private one."
    )


_REQUEST = re.compile(r"[A-Za-z0-9._-]{1,100}")
_RECEIPT = re.compile(r"([A-Za-z0-9._-]{1,100}):([0-9a-f]{64})")
_LONGEST_FLAW, _MOST_FLAWS = 500, 20


def new_dataset(dataset: str, unit: Unit | str, note: str) -> Entry:
    """Return the entry of a new data set, if its name and unit are valid."""
    declared, name = canonical(unit_from(unit).to_dict()), name_of("data set", dataset)
    return _draft("create", uuid4().hex, name, declared, purpose=text_of("note", note))


def create(book: Book, entry: Entry) -> None:
    """Add a data set."""
    if book.dataset(entry.dataset):
        raise LedgerConflictError(
            f"The data set {entry.dataset!r} is already in the ledger; choose another name."
        )
    book.append(entry)


def grant(
    book: Book,
    dataset: str,
    holder: str,
    budget: Budget,
    currency: str | None,
    note: str,
    request: str | None,
) -> Pot:
    """Add to a holder's pot and return the pot."""
    created, amount = find_dataset(book, dataset), grant_of(budget)
    name, key = currency_named("grant", budget, currency), _request(request)
    pot = book.pot(created.dataset, name_of("holder", holder), name)
    earlier = book.find("grant", key)
    if earlier:
        return _find_repeat(earlier, pot, amount, name).after
    entry = _draft("grant", key, created.dataset, created.unit, purpose=text_of("note", note))
    entry = replace(entry, currency=name)
    return book.append(entry.with_amount(amount, pot.with_grant(amount))).after


def charge(
    book: Book,
    dataset: str,
    holder: str,
    budget: Budget,
    currency: str | None,
    unit: Unit,
    purpose: str,
    request: str | None,
) -> str:
    """Charge the budget to the first of the holder's pots that covers it; return the receipt."""
    created, name = find_dataset(book, dataset), currency_named("charge", budget, currency)
    cost, key = cost_of(budget, name), _request(request)
    _check_unit(created, unit)
    pots = [book.pot(created.dataset, name_of("holder", holder), pot) for pot in pots_for(name)]
    earlier = book.find("charge", key)
    if earlier and book.find("settle", key):
        raise LedgerConflictError(
            f"The request {key!r} was charged and settled before; a new fit needs a new request."
        )
    if earlier:
        return receipt_of(_find_repeat(earlier, pots[0], cost, name))
    pot = first_covering_pot(pots, cost)
    if pot is None:
        raise BudgetGoneError(budget_gone(cost, pots))
    entry = _draft("charge", key, created.dataset, created.unit, text_of("purpose", purpose))
    entry = replace(entry, currency=name)
    return receipt_of(book.append(entry.with_amount(cost, pot.with_charge(cost))))


def settle(book: Book, receipt: str, digest: str, flaws: Sequence[str]) -> None:
    """Record the one release that a charge paid for, and its flaws if it is not private."""
    if not text_of("digest", digest):
        raise LedgerError("A charge is settled with the digest of the release, got an empty one.")
    paid, reasons = receipt_with(book, receipt), _reasons(flaws)
    earlier = book.find("settle", paid.request)
    if earlier and earlier.digest != digest:
        raise LedgerConflictError(
            f"The charge {paid.request} was settled before with the release {earlier.digest}; "
            "another release needs another charge."
        )
    if earlier and earlier.flaws != reasons:
        raise LedgerConflictError(
            f"The charge {paid.request} was settled before with other flaws; what was written down "
            "stays."
        )
    if not earlier:
        entry = _draft("settle", paid.request, paid.dataset, paid.unit)
        book.append(replace(entry, holder=paid.holder, digest=digest, flaws=reasons))


def add_key(book: Book, key: str, name: str, dataset: str | None) -> Entry:
    """Record the public key that signs releases, of one data set or of all."""
    public, owner = public_key(key), name_of("key", name)
    created = None if dataset is None else find_dataset(book, dataset)
    where, unit = (created.dataset, created.unit) if created else ("", "")
    if any((it.dataset, it.digest) == (where, public) for it in book.keys(where)):
        raise LedgerConflictError("This public key is already in the ledger; nothing was added.")
    entry = _draft("key", uuid4().hex, where, unit, purpose=owner)
    return book.append(replace(entry, digest=public))


def receipt_with(book: Book, receipt: str) -> Entry:
    """Return the charge that a receipt is for."""
    parts = _RECEIPT.fullmatch(receipt)
    paid = book.find("charge", parts[1]) if parts else None
    if parts is None or paid is None or paid.hash != parts[2]:
        raise LedgerConflictError(
            f"The receipt {receipt[:200]!r} is not one of this ledger; give what reserve returned."
        )
    return paid


def find_dataset(book: Book, name: str) -> Entry:
    """Return the entry that created the data set."""
    name = name_of("data set", name)
    created = book.dataset(name)
    if created is None:
        known = ", ".join(repr(known) for known in book.datasets()) or "none yet"
        raise UnknownDatasetError(
            f"The ledger has no data set {name!r} (it has {known}); check the name, or add it with "
            "'privclust ledger create'."
        )
    return created


def _check_unit(created: Entry, unit: Unit) -> None:
    declared = unit_from(json.loads(created.unit))
    if declared != unit_from(unit):
        raise UnitMismatchError(
            f"The data set {created.dataset!r} is budgeted for {_unit_words(declared)} and the fit "
            f"protects {_unit_words(unit_from(unit))}; nothing was spent, give the estimator the "
            "unit of the data set."
        )


def _unit_words(unit: Unit) -> str:
    """Return a unit in words: its name, and its parameters written as options."""
    plain = unit.to_dict()
    name = plain.pop("name")
    given = " ".join(f"{key.replace('_', '-')}={value}" for key, value in plain.items())
    return f"the unit {name} ({given})" if given else f"the unit {name}"


def _reasons(flaws: Sequence[str]) -> str:
    """Return the flaws of a release as they are recorded.

    They are shortened but never refused: an unrecorded flaw would be worse.
    """
    if isinstance(flaws, str):
        raise LedgerError("Flaws are a list of sentences, not one text; put it into a list.")
    printable = ("".join(c if c.isprintable() else " " for c in flaw) for flaw in flaws)
    flaws_kept = [" ".join(flaw.split())[:_LONGEST_FLAW] for flaw in printable][:_MOST_FLAWS]
    return canonical(flaws_kept) if flaws_kept else ""


def _request(request: str | None) -> str:
    if request is not None and not _REQUEST.fullmatch(request):
        raise LedgerError(
            "A request is named by at most 100 letters, digits, dots, dashes and underscores, not "
            f"{request[:100]!r}."
        )
    return request or uuid4().hex


def _find_repeat(earlier: Entry, pot: Pot, amount: Amount, currency: str) -> Entry:
    """Return the entry of a repeated request, if it is the same as before."""
    before = (earlier.dataset, earlier.holder, earlier.amount, earlier.currency)
    if before != (pot.dataset, pot.holder, amount, currency):
        raise LedgerConflictError(
            f"The request {earlier.request!r} was made before with other contents; use a new one."
        )
    return earlier


def _draft(kind: str, request: str, dataset: str, unit: str, purpose: str = "") -> Entry:
    return Entry(0, utc_minute(), kind, request, _actor(), dataset, unit, purpose=purpose)


def _actor() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "unknown"
