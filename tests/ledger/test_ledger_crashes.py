"""Processes that die at any moment: budget may be lost, and nothing is ever released for free."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from privclust.budget import Budget
from privclust.ledger.chain import receipt_of
from privclust.ledger.ledger import Ledger
from privclust.unit.rows import AddRemoveRow

KILLS = int(os.environ.get("PRIVCLUST_KILLS", "200"))


def unpaid(receipts: Iterable[str], ledger: Ledger) -> set[str]:
    """Return the receipts that no charge in the ledger stands for."""
    charges = (entry for entry in ledger.history() if entry.kind == "charge")
    return set(receipts) - {receipt_of(charge) for charge in charges}


def test_no_kill_leaves_a_release_without_a_charge(ledger: Ledger, tmp_path: Path) -> None:
    ledger.grant("visits", 10**5)
    releases = tmp_path / "releases"
    script = Path(__file__).with_name("killing.py")
    subprocess.run(  # noqa: S603
        [sys.executable, script, ledger.url, releases, str(KILLS)],
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    receipts = releases.read_text().splitlines()
    entries = ledger.history()
    charges = [entry for entry in entries if entry.kind == "charge"]
    settled = {entry.request for entry in entries if entry.kind == "settle"}

    assert unpaid(receipts, ledger) == set()
    assert len(set(receipts)) == len(receipts)
    assert {receipt.split(":")[0] for receipt in receipts} <= settled
    assert len(receipts) > KILLS // 10, "hardly any fit came to its end"
    assert len(charges) - len(settled) > KILLS // 10, "hardly any kill hit a fit"
    ledger.verify()


def test_the_count_above_would_notice_a_free_release(ledger: Ledger) -> None:
    ledger.grant("visits", 1)
    paid = ledger.reserve("visits", Budget("0.1"), AddRemoveRow(), "a test")
    free = f"free:{'0' * 64}"
    assert unpaid([paid, free], ledger) == {free}


@pytest.mark.parametrize("moment", ["before the commit", "after the commit"])
def test_a_charge_is_there_or_not_and_nothing_in_between(
    any_ledger: Ledger, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from privclust.ledger.store import Book

    any_ledger.grant("visits", 1)
    append = Book.append

    def append_and_die(book: Book, entry: object) -> object:
        append(book, entry)
        raise KeyboardInterrupt

    if moment == "before the commit":
        monkeypatch.setattr(Book, "append", append_and_die)
        with pytest.raises(KeyboardInterrupt):
            any_ledger.reserve("visits", Budget(1), AddRemoveRow(), "a test", request="fit")
        monkeypatch.undo()
        assert len(any_ledger.history()) == 2
    receipt = any_ledger.reserve("visits", Budget(1), AddRemoveRow(), "a test", request="fit")
    # Whoever did not hear back asks again and is told the same.
    again = any_ledger.reserve("visits", Budget(1), AddRemoveRow(), "a test", request="fit")
    assert again == receipt
    assert len(any_ledger.history()) == 3
    any_ledger.verify()
