"""Connections that wait for their next use: of one database, a few, and never shared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from privclust.exceptions import LedgerError
from privclust.ledger import store as idle
from privclust.ledger.ledger import Ledger
from privclust.ledger.store import pooled_connection


@dataclass(eq=False)
class Connection:
    closed: bool = False

    def close(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def nothing_waits() -> Iterator[None]:
    idle._close_waiting()
    yield
    idle._close_waiting()


def test_a_connection_is_used_again_for_the_same_database_alone() -> None:
    with pooled_connection("one", Connection) as first:
        pass
    with pooled_connection("one", Connection) as again:
        assert again is first
    with pooled_connection("other", Connection) as other:
        assert other is not first
    assert first.closed
    assert not other.closed


def test_no_connection_is_lent_twice_at_once_and_a_few_wait_afterwards() -> None:
    with ExitStack() as stack:
        lent = [stack.enter_context(pooled_connection("one", Connection)) for _ in range(20)]
        assert len({id(it) for it in lent}) == 20
    assert sum(not it.closed for it in lent) == idle._MOST


@pytest.mark.parametrize(("error", "closed"), [(LedgerError, False), (OSError, True)])
def test_a_connection_survives_a_refusal_and_nothing_worse(
    error: type[Exception], closed: bool
) -> None:
    lent = Connection()
    with pytest.raises(error), pooled_connection("one", lambda: lent):
        raise error
    assert lent.closed is closed


def test_the_history_and_the_balance_of_one_holder_are_their_own(ledger: Ledger) -> None:
    for holder in ("ann", "bob"):
        ledger.grant("visits", 1, holder=holder)
    assert [entry.holder for entry in ledger.history("visits", "ann")] == ["ann"]
    assert [entry.kind for entry in ledger.history("visits")] == ["create", "grant", "grant"]
    assert [pot.holder for pot in ledger.balance("visits", "bob")] == ["bob"]
    assert [pot.holder for pot in ledger.balance("visits")] == ["ann", "bob"]
