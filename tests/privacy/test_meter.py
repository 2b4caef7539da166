"""The meter debits first, and raises before a query that does not fit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust.budget import Budget, Loss
from privclust.exceptions import BudgetExceededError
from privclust.privacy.meter import Charge, Meter

TENTH = Loss.of_pure(Fraction(1, 10))


def test_a_budget_of_one_buys_ten_tenths_and_no_more():
    meter = Meter(Budget(1))
    for number in range(10):
        meter.charge(f"count {number}", TENTH)
    assert meter.spent.pure == 1
    with pytest.raises(BudgetExceededError, match="'one too many' does not fit"):
        meter.charge("one too many", Loss.of_pure(Fraction(1, 10**30)))
    assert meter.spent.pure == 1
    assert len(meter.charges) == 10


def test_a_refused_query_leaves_no_trace():
    meter = Meter(Budget(1))
    with pytest.raises(BudgetExceededError):
        meter.charge("too much", TENTH.times(11))
    assert meter.charges == ()
    meter.charge("fits", TENTH.times(10))


def test_gaussian_noise_cannot_be_paid_for_in_pure_epsilon():
    with pytest.raises(BudgetExceededError):
        Meter(Budget(100)).charge("gaussian", Loss(None, Fraction(1, 10**6)))


@given(st.lists(st.fractions(Fraction(1, 50), 1), max_size=40), st.sampled_from([0, 1e-6]))
def test_spending_never_exceeds_the_budget(amounts, delta):
    budget = Budget(2, delta)
    meter = Meter(budget)
    for amount in amounts:
        loss = Loss(amount, amount / 10)  # as of a selection, which has a cost in both currencies
        before = meter.spent
        try:
            meter.charge("query", loss)
        except BudgetExceededError:
            assert not budget.covers(before + loss)
            assert meter.spent == before
        assert budget.covers(meter.spent)
    assert meter.spent == Loss.total(charge.loss for charge in meter.charges)


def test_threads_cannot_overspend():
    meter = Meter(Budget(1))

    def try_to_spend(_: int) -> bool:
        try:
            meter.charge("query", Loss.of_pure(Fraction(1, 100)))
        except BudgetExceededError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(try_to_spend, range(400))) == 100
    assert meter.spent.pure == 1


def test_a_selection_with_a_pure_cost_does_not_fit_a_budget_of_too_little_rho():
    budget = Budget(1, 1e-6)
    meter = Meter(budget)
    with pytest.raises(BudgetExceededError):
        meter.charge("choice", Loss.of_bounded_range(Fraction(1)))  # ρ = 1/8, ε = 1
    meter.charge("choice", Loss.of_bounded_range(Fraction(1, 10)))


def test_two_threads_cannot_both_spend_the_last_of_a_budget(monkeypatch):
    """The second asks while the first stands between its check and its debit."""
    meter = Meter(Budget(1))
    refusals = []

    def spend() -> None:
        try:
            meter.charge("all of it", Loss.of_pure(Fraction(1)))
        except BudgetExceededError as refusal:
            refusals.append(refusal)

    second = Thread(target=spend)
    covers = Budget.covers

    def covers_and_waits(budget: Budget, loss: Loss) -> bool:
        answer = covers(budget, loss)
        if second.ident is None:
            second.start()
            second.join(timeout=0.1)  # it cannot end before the lock is given back
        return answer

    monkeypatch.setattr(Budget, "covers", covers_and_waits)
    spend()
    second.join()
    assert len(refusals) == 1
    assert meter.spent.pure == 1


def test_queries_that_are_charged_together_are_debited_all_or_none():
    meter = Meter(Budget(1))
    meter.charge("first", Loss.of_pure(Fraction(1, 2)))
    parts = [
        Charge("counts", Loss.of_pure(Fraction(1, 4))),
        Charge("sums", Loss.of_pure(Fraction(1, 2))),
    ]
    with pytest.raises(BudgetExceededError, match="'sums' does not fit"):
        meter.charge_all(parts)
    assert [charge.query for charge in meter.charges] == ["first"]
    assert meter.spent == Loss.of_pure(Fraction(1, 2))
    meter.charge_all(parts[:1])
    assert [charge.query for charge in meter.charges] == ["first", "counts"]
    assert meter.spent.pure == Fraction(3, 4)
