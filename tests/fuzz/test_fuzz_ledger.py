"""A damaged ledger file answers or is refused with one sentence, and never gives a free charge."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from random import Random

import pytest

from privclust import Budget
from privclust.exceptions import LedgerError
from privclust.ledger.accounting import PICO
from privclust.ledger.ledger import Ledger
from privclust.ledger.store import _close_waiting as close_connections
from privclust.unit.rows import AddRemoveRow
from support.damage import as_one_sentence, attempts, damaged, overwritten

INPUTS = int(os.environ.get("PRIVCLUST_FUZZ", "30"))
GRANTED, CHARGES = 4, 39  # of a tenth each, so that a tenth is left


def charge(ledger: Ledger, tenths: int) -> str:
    return ledger.reserve("visits", Budget(f"0.{tenths}"), AddRemoveRow(), "a fit")


@pytest.fixture(scope="module")
def spent(tmp_path_factory) -> bytes:
    """Return the file of a ledger with a tenth left, and others' entries before and after."""
    ledger = Ledger.open(tmp_path_factory.mktemp("ledger") / "budget.db")
    for name in ("others", "visits"):
        ledger.create_dataset(name)
        ledger.grant(name, GRANTED)
    ledger.grant("visits", 1, 1e-6, holder="ann")
    for _ in range(CHARGES):
        charge(ledger, 1)
    ledger.reserve("others", Budget(1), AddRemoveRow(), "another fit")
    close_connections()
    return Path(ledger.url).read_bytes()


QUESTIONS: list[Callable[[Ledger], object]] = [
    Ledger.verify,
    Ledger.history,
    Ledger.datasets,
    lambda ledger: ledger.balance("visits"),
    lambda ledger: ledger.statement("visits").to_dict(),
]


def copies(content: bytes, path: Path) -> Iterator[Ledger]:
    """Yield ledgers in damaged copies of a file."""
    # Pages that stay in place leave more to be read than bytes put in or cut out.
    moved = INPUTS // 3
    kinds = attempts(content, overwritten, INPUTS - moved), attempts(content, damaged, moved)
    for made in chain(*kinds):
        close_connections()
        path.unlink(missing_ok=True)
        path.write_bytes(made)
        yield Ledger.open(path, timeout=0.1)
    close_connections()


def test_any_ledger_file_answers_or_one_sentence(spent, tmp_path):
    for ledger in copies(spent, tmp_path / "budget.db"):
        for question in QUESTIONS:
            try:
                question(ledger)
            except LedgerError as error:
                as_one_sentence(error)


def test_no_damage_to_a_ledger_file_gives_a_free_charge(spent, tmp_path):
    for ledger in copies(spent, tmp_path / "budget.db"):
        try:
            charge(ledger, 2)
        except LedgerError as error:
            as_one_sentence(error)
        else:
            raise AssertionError("a charge of two tenths went through where one is left")
        try:
            receipt = charge(ledger, 1)
        except LedgerError as error:
            as_one_sentence(error)
            continue
        assert ledger.head().digest == receipt[-64:]


def test_an_index_that_hides_the_newest_charges_gives_no_budget_back(spent, tmp_path):
    """The number of entries on the page of the index is lowered: the last charges are gone."""
    path = tmp_path / "budget.db"
    path.write_bytes(spent)
    with closing(sqlite3.connect(path)) as connection:
        sql = "SELECT rootpage FROM sqlite_master WHERE name = 'privclust_pots'"
        ((page,),) = connection.execute(sql).fetchall()
    damaged_index = bytearray(spent)
    damaged_index[(page - 1) * 4096 + 4] -= 5
    path.write_bytes(damaged_index)
    ledger = Ledger.open(path)
    with pytest.raises(LedgerError):
        charge(ledger, 2)
    assert ledger.balance("visits")[0].spent.epsilon == CHARGES * PICO // 10


def test_the_undamaged_ledger_covers_a_tenth_and_no_more(spent, tmp_path):
    path = tmp_path / "budget.db"
    path.write_bytes(spent)
    ledger = Ledger.open(path)
    with pytest.raises(LedgerError, match="left"):
        charge(ledger, 2)
    assert charge(ledger, 1)
    assert ledger.verify().entries == CHARGES + 7


def test_the_same_damage_is_tried_in_every_run(spent):
    assert overwritten(spent, Random(1)) == overwritten(spent, Random(1)) != spent
