"""Charges name their currency: what is only (ε, δ)-private pays its δ every time."""

from fractions import Fraction
from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust import PrivateKMeans
from privclust.budget import Budget
from privclust.exceptions import BudgetGoneError, LedgerError
from privclust.ledger.accounting import APPROXIMATE, Pot, cost_of, grant_of
from privclust.ledger.ledger import Ledger
from privclust.unit.rows import AddRemoveRow

ROW = AddRemoveRow()


def charge(ledger: Ledger, epsilon: str, delta: str, currency: str | None) -> str:
    budget = Budget(epsilon, delta)
    return ledger.reserve("visits", budget, ROW, "a test", currency=currency)


def how_many(ledger: Ledger, epsilon: str, delta: str, currency: str) -> int:
    """Return how many such charges are accepted, up to thirty."""
    for number in count():
        try:
            charge(ledger, epsilon, delta, currency)
        except BudgetGoneError:
            return number
        if number == 30:
            return number
    raise AssertionError


def test_mechanisms_that_are_not_concentrated_cannot_spend_a_concentrated_grant(
    any_ledger: Ledger,
) -> None:
    """Thousands of them, each with a chance of 10^-6 to tell all, would tell all too often."""
    any_ledger.grant("visits", 1, "1e-6")
    assert how_many(any_ledger, "0.01", "1e-6", "approximate") == 0
    assert how_many(any_ledger, "0.01", "1e-6", "zcdp") == 30
    any_ledger.verify()


@pytest.mark.parametrize(
    ("epsilon", "delta", "times"),
    [("0.01", "1e-6", 1), ("0.01", "1e-7", 10), ("0.4", "1e-9", 2), ("1", "1e-6", 1)],
)
def test_both_sums_count_for_approximate_charges(
    any_ledger: Ledger, epsilon: str, delta: str, times: int
) -> None:
    any_ledger.grant("visits", 1, "1e-6", currency="approximate")
    assert how_many(any_ledger, epsilon, delta, "approximate") == times
    any_ledger.verify()


def test_charges_of_every_currency_add_up_in_an_approximate_pot(any_ledger: Ledger) -> None:
    any_ledger.grant("visits", 1, "1e-6", currency="approximate")
    charge(any_ledger, "0.3", "0", "pure")
    charge(any_ledger, "0.3", "4e-7", "zcdp")
    charge(any_ledger, "0.3", "6e-7", "approximate")
    with pytest.raises(BudgetGoneError, match=r"left is ε = 0\.1 of the granted ε = 1"):
        charge(any_ledger, "0.05", "1e-9", "zcdp")
    charge(any_ledger, "0.1", "0", "pure")
    any_ledger.verify()


def test_a_charge_goes_to_the_pot_of_its_own_currency_first(ledger: Ledger) -> None:
    ledger.grant("visits", 1, "1e-6", currency="approximate")
    ledger.grant("visits", 1, "1e-6")
    ledger.grant("visits", 1)
    charge(ledger, "1", "0", None)
    charge(ledger, "0.1", "0", None)
    charge(ledger, "0.1", "1e-6", "zcdp")
    charge(ledger, "0.1", "1e-6", "approximate")
    paid = [(entry.currency, entry.pot) for entry in ledger.history() if entry.kind == "charge"]
    assert paid == [
        ("pure", "pure"),
        ("pure", "zcdp"),
        ("zcdp", "zcdp"),
        ("approximate", "approximate"),
    ]


def test_a_charge_with_a_delta_must_name_its_currency(any_ledger: Ledger) -> None:
    any_ledger.grant("visits", 1, "1e-6")
    with pytest.raises(LedgerError, match="must say what is known about the mechanism"):
        charge(any_ledger, "0.1", "1e-6", None)
    assert len(any_ledger.history()) == 2


@pytest.mark.parametrize(
    ("delta", "currency"),
    [("1e-6", "pure"), ("0", "zcdp"), ("0", "approximate"), ("1e-6", "gold"), ("0", "")],
)
def test_a_currency_must_fit_the_budget(ledger: Ledger, delta: str, currency: str) -> None:
    with pytest.raises(LedgerError, match=r"if and only if it has no δ|is 'pure', 'zcdp' or"):
        ledger.grant("visits", 1, delta, currency=currency)
    ledger.grant("visits", 1)
    ledger.grant("visits", 1, "1e-6")
    with pytest.raises(LedgerError, match=r"if and only if it has no δ|is 'pure', 'zcdp' or"):
        charge(ledger, "0.1", delta, currency)
    assert len(ledger.history()) == 3


def test_a_request_repeated_in_another_currency_is_another_request(ledger: Ledger) -> None:
    ledger.grant("visits", 1, "1e-6")
    ledger.grant("visits", 1, "1e-6", currency="approximate")
    budget = Budget("0.1", "1e-7")
    ledger.reserve("visits", budget, ROW, "a test", currency="zcdp", request="fit")
    with pytest.raises(LedgerError, match="other contents"):
        ledger.reserve("visits", budget, ROW, "a test", currency="approximate", request="fit")


fractions = st.fractions(Fraction(1, 1000), 1)


@given(fractions, st.lists(st.tuples(fractions, fractions), max_size=8))
def test_what_an_approximate_pot_covers_adds_up_to_no_more_than_its_grant(
    whole: Fraction, asked: list[tuple[Fraction, Fraction]]
) -> None:
    grant = Budget(whole, whole / 10**6)
    pot = Pot("visits", "Ann", APPROXIMATE).with_grant(grant_of(grant))
    assert pot.granted.rho == 0
    paid = []
    for epsilon, delta in asked:
        budget = Budget(epsilon, delta / 10**6)
        cost = cost_of(budget, "approximate")
        if pot.covers(cost):
            pot, paid = pot.with_charge(cost), [*paid, budget]
    assert sum(budget.epsilon for budget in paid) <= grant.epsilon
    assert sum(budget.delta for budget in paid) <= grant.delta


@pytest.mark.parametrize(("delta", "currency"), [(0, "pure"), (1e-6, "zcdp")])
def test_estimators_charge_in_the_currency_of_their_budget(
    ledger: Ledger, delta: float, currency: str
) -> None:
    ledger.grant("visits", 1, delta)
    rows = np.random.default_rng(0).random((20, 2))
    model = PrivateKMeans(2, epsilon=0.5, delta=delta, bounds=(0, 1))
    model.set_params(ledger=ledger, dataset="visits").fit(rows)
    (charged,) = (entry for entry in ledger.history() if entry.kind == "charge")
    assert charged.currency == currency
