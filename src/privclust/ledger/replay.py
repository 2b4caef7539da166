"""The replay of a ledger: everything is recomputed from the entries, and compared.

It finds any change to any entry, any gap, any sum or cap that is wrong, and, given a digest that
was kept elsewhere, any entry that was cut off at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from privclust.budget import Budget, epsilon_spent
from privclust.exceptions import LedgerCorruptedError, LedgerError
from privclust.ledger.accounting import (
    APPROXIMATE,
    ATTO,
    PICO,
    PURE,
    ZCDP,
    Amount,
    Pot,
    cost_of,
    currency_of,
    pots_for,
)
from privclust.ledger.chain import Entry, Head
from privclust.ledger.operations import name_of
from privclust.ledger.store import Book


class Replay:
    """The state of a ledger, built up entry by entry.

    ``pots``: every pot by data set, holder and name.
    """

    def __init__(self, identity: str) -> None:
        self.head = Head(0, identity)
        self.pots: dict[tuple[str, str, str], Pot] = {}
        self._units: dict[str, str] = {}
        self._charges: dict[str, Entry] = {}
        self._requests: set[tuple[str, str]] = set()

    def add(self, entry: Entry) -> None:
        """Check the next entry against everything before it, and add it."""
        problem = self._problem(entry)
        if problem:
            raise LedgerCorruptedError(
                f"The ledger was changed: entry {self.head.entries + 1} {problem}; restore it "
                "from a backup and find out who had access."
            )
        self.head = Head(entry.seq, entry.hash)
        self._requests.add((entry.kind, entry.request))
        if entry.kind == "create":
            self._units[entry.dataset] = entry.unit
        if entry.kind == "charge":
            self._charges[entry.request] = entry
        if entry.pot:
            self.pots[entry.dataset, entry.holder, entry.pot] = entry.after

    def _problem(self, entry: Entry) -> str | None:
        """Return what is wrong with the next entry, or ``None``."""
        if entry.seq != self.head.entries + 1:
            return "is missing"
        if entry.previous != self.head.digest:
            return "does not follow from the one before"
        if not entry.is_intact:
            return "does not match its digest"
        if (entry.kind, entry.request) in self._requests:
            return "repeats a request"
        if not _is_named(entry.dataset) or not _is_named(entry.holder):
            return "has a name that is not in its one form"
        if entry.kind == "create":
            return "creates a data set again" if entry.dataset in self._units else None
        if entry.kind == "key" and (entry.dataset, entry.unit) == ("", ""):
            return None
        if self._units.get(entry.dataset) != entry.unit:
            return "is for a data set or a privacy unit that was not created"
        return self._problem_within_dataset(entry)

    def _problem_within_dataset(self, entry: Entry) -> str | None:
        if entry.kind == "key":
            return None
        if entry.kind == "settle":
            charge = self._charges.get(entry.request)
            same = charge and (charge.dataset, charge.holder) == (entry.dataset, entry.holder)
            return None if same else "settles a charge that is not there"
        key = (entry.dataset, entry.holder, entry.pot)
        before = self.pots.get(key, Pot(*key))
        if entry.kind == "grant":
            return _grant_problem(before, entry)
        if entry.kind == "charge":
            return _charge_problem(before, entry)
        return f"is of the unknown kind {entry.kind!r}"


def replay(identity: str, entries: Iterable[Entry], kept: Head | str | None = None) -> Replay:
    """Replay the entries of a ledger.

    ``identity``: the digest that the first entry continues. ``kept``: an earlier head that was kept
    elsewhere, or its digest; it must be part of the chain.
    """
    digest = kept.digest if isinstance(kept, Head) else kept
    state, seen = Replay(identity), digest in (None, identity)
    for entry in entries:
        state.add(entry)
        seen = seen or entry.hash == digest
    if not seen:
        raise LedgerCorruptedError(_is_missing(state.head, kept))
    return state


def verify_head(book: Book, damage: str | None, kept: Head | str | None, where: str) -> Head:
    """Return the head of a ledger, or raise if anything in it is inconsistent.

    ``kept``: an earlier head, its digest, or a receipt, which ends in a digest.
    """
    kept = kept.strip().rpartition(":")[2] if isinstance(kept, str) else kept
    state = replay(book.identity(), book.entries(), kept)
    pots = [pot for name in book.datasets() for pot in book.pots(name)]
    if damage or len(pots) != len(state.pots) or set(pots) != set(state.pots.values()):
        raise LedgerCorruptedError(
            f"The ledger {where} was changed: "
            f"{damage or 'its balances do not follow from its entries'}; restore it from a "
            "backup and find out who had access."
        )
    return state.head


def _is_missing(head: Head, kept: Head | str | None) -> str:
    """Return the message that what was kept elsewhere is not in the chain."""
    if isinstance(kept, Head) and kept.entries > head.entries:
        return (
            f"The ledger is older than the head that was kept elsewhere: it ends at entry "
            f"{head.entries} and the head is entry {kept.entries}, so charges are missing; put the "
            "newest ledger back, and spend nothing until then."
        )
    digest = kept.digest if isinstance(kept, Head) else kept
    return (
        f"The ledger was changed or is older than what was kept elsewhere: the digest {digest} is "
        "not in it; restore it from the newest backup and find out who had access."
    )


def _is_named(name: str) -> bool:
    """Return whether a name, if there is one, is in its normal form."""
    try:
        return not name or name_of("name", name) == name
    except LedgerError:
        return False


def _grant_problem(before: Pot, entry: Entry) -> str | None:
    after, amount = entry.after, entry.amount
    if amount.epsilon <= 0 or amount.delta < 0 or amount.rho:
        return "grants nothing that could be granted"
    if (entry.pot == PURE) != (amount.delta == 0) or entry.pot != entry.currency:
        return "puts a grant into the wrong pot"
    if replace(before, granted=replace(before.granted + amount, rho=after.granted.rho)) != after:
        return "does not add up"
    return None if _is_covered(before, after) else "overstates what the grant is worth"


def _is_covered(before: Pot, after: Pot) -> bool:
    """Return whether the ρ of a pot is covered by its ε and δ.

    The last digit may differ between machines, so the entry need not have the number that this
    machine finds, only a valid one.
    """
    granted = after.granted
    if after.name != ZCDP or granted.rho <= before.granted.rho:
        return granted.rho == before.granted.rho
    if granted.rho <= replace(before, granted=Amount()).with_grant(granted).granted.rho:
        return True
    epsilon = epsilon_spent(Fraction(granted.rho, PICO), Fraction(granted.delta, ATTO))
    return epsilon * PICO <= granted.epsilon


def _charge_problem(before: Pot, entry: Entry) -> str | None:
    amount, currency = entry.amount, currency_of(entry.amount)
    if entry.currency != currency:
        return "names a currency other than the one it charges"
    if entry.pot not in pots_for(currency):
        return "takes a charge from the wrong pot"
    if amount.epsilon <= 0 or not 0 <= amount.delta < ATTO:
        return "charges nothing that could be charged"
    if currency != APPROXIMATE and amount.rho < _least_rho(amount, currency):
        return "charges less than it uses"
    if not before.covers(amount):
        return "charges more than was granted"
    return None if before.with_charge(amount) == entry.after else "does not add up"


def _least_rho(amount: Amount, currency: str) -> int:
    """Return the least ρ that may be charged for an ε and a δ."""
    budget = Budget(Fraction(amount.epsilon, PICO), Fraction(amount.delta, ATTO))
    # As above: one unit for the last digit of another machine.
    return cost_of(budget, currency).rho - (1 if amount.delta else 0)
