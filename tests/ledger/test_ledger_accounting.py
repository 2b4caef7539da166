"""How charges compose: the rule is sound, the database enforces it, and nothing is wasted."""

import re
import sqlite3
from contextlib import closing
from fractions import Fraction
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privclust.budget import Budget, Loss, epsilon_spent, rho_within
from privclust.exceptions import LedgerError
from privclust.ledger.accounting import (
    APPROXIMATE,
    ATTO,
    MOST,
    PICO,
    PURE,
    ZCDP,
    Amount,
    Pot,
    cost_of,
    decimal,
    grant_of,
    round_down,
    round_up,
)
from privclust.ledger.chain import Entry
from privclust.ledger.ledger import Ledger
from privclust.unit.rows import AddRemoveRow

epsilons = st.fractions(Fraction(1, 10**6), 20, max_denominator=10**15)
deltas = st.one_of(st.just(Fraction(0)), st.fractions(Fraction(1, 10**15), Fraction(1, 100)))


@st.composite
def budgets(draw: st.DrawFn, kinds: st.SearchStrategy[Fraction] = deltas) -> Budget:
    return Budget(draw(epsilons), draw(kinds))


def fit_cost(budget: Budget) -> Amount:
    """Return what an estimator is charged."""
    return cost_of(budget, budget.currency)


@given(st.fractions(0, 1000))
def test_costs_are_rounded_up_and_grants_down_by_less_than_a_unit(value: Fraction) -> None:
    assert 0 <= round_up(value) - value * PICO < 1
    assert 0 <= value * PICO - round_down(value) < 1


@given(st.integers(0, MOST))
def test_decimals_are_exact(units: int) -> None:
    assert Fraction(decimal(units)) * PICO == units
    assert Fraction(decimal(units, ATTO)) * ATTO == units


@given(budgets())
def test_a_charge_covers_the_fit_in_every_currency(budget: Budget) -> None:
    cost = fit_cost(budget)
    assert Fraction(cost.epsilon, PICO) >= budget.epsilon
    assert Fraction(cost.delta, ATTO) >= budget.delta
    rho = budget.amount if budget.delta else Loss.of_pure(budget.epsilon).rho
    assert Fraction(cost.rho, PICO) >= rho


@given(budgets())
def test_a_grant_is_worth_no_more_than_it_says(budget: Budget) -> None:
    granted = Pot("visits", "Ann", budget.currency).with_grant(grant_of(budget)).granted
    assert Fraction(granted.epsilon, PICO) <= budget.epsilon
    assert Fraction(granted.delta, ATTO) <= budget.delta
    if granted.rho:
        epsilon = epsilon_spent(Fraction(granted.rho, PICO), budget.delta)
        # Both conversions are rounded against the user, so they may miss each other by a hair.
        assert epsilon <= budget.epsilon * (1 + Fraction(1, 10**12))


@given(budgets(), st.lists(budgets(), max_size=30))
def test_what_a_pot_covers_is_within_its_grant(grant: Budget, asked: list[Budget]) -> None:
    name = ZCDP if grant.delta else PURE
    pot, paid = Pot("visits", "Ann", name).with_grant(grant_of(grant)), []
    for budget in asked:
        if pot.covers(fit_cost(budget)):
            pot, paid = pot.with_charge(fit_cost(budget)), [*paid, budget]
    pure = all(budget.delta == 0 for budget in paid)
    rho = sum((b.amount if b.delta else b.epsilon**2 / 2 for b in paid), Fraction(0))
    assert (
        (pure and sum(budget.epsilon for budget in paid) <= grant.epsilon)
        or (grant.delta and rho <= rho_within(grant.epsilon, grant.delta))
        or (len(paid) == 1 and paid[0].epsilon <= grant.epsilon and paid[0].delta <= grant.delta)
    )


@given(budgets())
def test_the_granted_budget_itself_is_always_covered(budget: Budget) -> None:
    whole = Budget(
        Fraction(max(1, round_down(budget.epsilon)), PICO),
        Fraction(round_down(budget.delta, ATTO), ATTO),
    )
    pot = Pot("visits", "Ann", whole.currency).with_grant(grant_of(whole))
    assert pot.covers(fit_cost(whole))
    assert pot.largest >= pot.granted.epsilon


@given(budgets(st.just(Fraction(1, 10**6))), st.lists(budgets(), max_size=5))
def test_what_is_said_to_be_left_is_covered_and_hardly_more(
    grant: Budget, asked: list[Budget]
) -> None:
    pot = Pot("visits", "Ann", ZCDP).with_grant(grant_of(grant))
    for budget in asked:
        if pot.covers(fit_cost(budget)):
            pot = pot.with_charge(fit_cost(budget))
    pure, with_delta = pot.left.epsilon, pot.largest_with_delta
    if pure:
        assert pot.covers(fit_cost(Budget(Fraction(pure, PICO))))
    assert not pot.covers(fit_cost(Budget(Fraction(pure + 1, PICO))))
    if with_delta:
        assert pot.covers(fit_cost(Budget(Fraction(with_delta, PICO), grant.delta)))
    more = Budget(Fraction(with_delta, PICO) + Fraction(3, 10**6), grant.delta)
    assert not pot.covers(fit_cost(more))


def test_sums_stop_where_no_grant_reaches() -> None:
    huge = Amount(MOST, MOST, MOST)
    assert huge + huge == huge
    full = Amount(MOST - 1, MOST - 1, MOST - 1)
    assert not Pot("visits", "Ann", ZCDP, full, huge).covers(Amount(1, 1, 1))
    with pytest.raises(LedgerError, match="must stay below"):
        Pot("visits", "Ann", PURE, full).with_grant(Amount(1))


def test_a_fit_that_costs_too_much_to_count_is_refused(ledger: Ledger) -> None:
    ledger.grant("visits", 999_999)
    with pytest.raises(LedgerError, match="does not cover"):
        ledger.reserve("visits", Budget(10**9), AddRemoveRow(), "a test")


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """A ledger for many examples, each with a holder of its own."""
    if request.param == "sqlite":
        opened = Ledger.open(tmp_path_factory.mktemp("ledger") / "budget.db")
    else:
        opened = Ledger.open(request.getfixturevalue("new_postgres_url")())
    opened.create_dataset("visits")
    return opened


holders = (f"holder {number}" for number in count())
amounts = st.integers(1, 40)


@given(st.data())
def test_the_database_enforces_the_same_rule_by_itself(shared: Ledger, data: st.DataObject) -> None:
    """Charges are put before the database without asking the library first."""
    name = data.draw(st.sampled_from([PURE, ZCDP, APPROXIMATE]))
    pot = shared.grant("visits", *GRANTS[name], currency=name, holder=next(holders))
    unit = pot.granted.rho // 20 if pot.granted.rho else 10**10
    for number in range(data.draw(st.integers(1, 6))):
        currency = data.draw(st.sampled_from([PURE, ZCDP, APPROXIMATE]))
        small, delta = ATTO // 10**7, data.draw(st.sampled_from([1, 4, 10, 100]))
        cost = Amount(
            data.draw(amounts) * 10**10 // 2,
            0 if currency == PURE else delta * small,
            0 if currency == APPROXIMATE else max(1, data.draw(amounts) * unit // 2),
        )
        request, covered = f"{pot.holder[7:]}-{number}", pot.covers(cost)
        assert is_accepted(shared, request, currency, cost, pot) == covered
        pot = pot.with_charge(cost) if covered else pot


UNIT = '{"name":"add-remove-row"}'
GRANTS = {PURE: ("0.1", "0"), ZCDP: ("0.1", "1e-6"), APPROXIMATE: ("0.1", "1e-6")}


def is_accepted(ledger: Ledger, request: str, currency: str, cost: Amount, pot: Pot) -> bool:
    """Tell whether the database takes a charge."""
    entry = Entry(0, "now", "charge", request, "me", "visits", UNIT, currency=currency)
    try:
        with ledger._store().write_transaction() as book:
            book.append(entry.with_amount(cost, pot.with_charge(cost)))
    except LedgerError as error:
        if not re.search("above what is left|(?i:check)", str(error)):
            raise
        return False
    return True


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"spent_epsilon": 0}, "above what is left"),
        ({"spent_rho": 0}, "above what is left"),
        ({"granted_epsilon": 9 * PICO}, "above what is left"),
        ({"granted_rho": 9 * PICO}, "above what is left"),
        ({"epsilon": 0}, "above what is left"),
        ({"epsilon": -5}, "above what is left"),
        ({"epsilon": 0, "rho": 0, "spent_epsilon": 0, "spent_rho": 0}, "check"),
        ({"epsilon": 0.5}, "above what is left"),
        ({"pot": "approximate"}, "above what is left"),
        ({"holder": "Bob"}, "above what is left"),
        ({"dataset": "people"}, "no data set of this name|above what is left"),
        ({"unit": "{}"}, "no data set of this name"),
        ({"seq": 7}, "does not continue the chain"),
        ({"previous": "0" * 64}, "does not continue the chain"),
        ({"currency": "zcdp"}, "check"),
        ({"currency": "approximate"}, "check"),
        ({"currency": ""}, "check"),
        ({"flaws": '["it leaked"]'}, "check"),
        ({"kind": "settle"}, "no charge to settle"),
        ({"kind": "grant"}, "does not add up"),
        ({"kind": "refund"}, "check"),
    ],
)
def test_the_database_refuses_an_entry_that_is_not_right(
    any_ledger: Ledger, change: dict[str, object], reason: str
) -> None:
    pot, cost = any_ledger.grant("visits", 1), fit_cost(Budget("0.5"))
    entry = Entry(0, "now", "charge", "fit", "me", "visits", UNIT, currency="pure")
    good = entry.with_amount(cost, pot.with_charge(cost)).seal(any_ledger.head())
    with pytest.raises(Exception, match=f"(?i){reason}"):
        insert(any_ledger, {**vars(good), **change})
    insert(any_ledger, vars(good))
    assert any_ledger.verify().digest == good.hash


def insert(ledger: Ledger, columns: dict[str, object]) -> None:
    """Put a row into the table, as any program could."""
    marks = ", ".join(["%s" if "://" in ledger.url else "?"] * len(columns))
    into = f"INTO privclust_entries ({', '.join(columns)}) VALUES ({marks})"
    if "://" in ledger.url:
        import psycopg

        with psycopg.connect(ledger.url) as connection:
            connection.execute(f"INSERT {into}", list(columns.values()))
        return
    with closing(sqlite3.connect(ledger.url, isolation_level=None)) as connection:
        connection.execute(f"INSERT OR REPLACE {into}", list(columns.values()))


def test_an_older_charge_cannot_be_replaced_by_one_of_its_request(any_ledger: Ledger) -> None:
    """The new charge continues the chain and is covered; to replace the older would refund it."""
    any_ledger.grant("visits", 1)
    any_ledger.reserve("visits", Budget("0.5"), AddRemoveRow(), "a test", request="fit")
    *_, older = any_ledger.history()
    pot, cost = older.after, fit_cost(Budget("0.25"))
    entry = Entry(0, "now", "charge", "fit", "me", "visits", UNIT, currency="pure")
    again = entry.with_amount(cost, pot.with_charge(cost)).seal(any_ledger.head())
    with pytest.raises(Exception, match=r"(?i)already there|unique"):
        insert(any_ledger, vars(again))
    assert any_ledger.history()[-1] == older
    any_ledger.verify()


@pytest.mark.parametrize(
    ("currency", "delta", "worth"),
    [(PURE, 0, 1), (APPROXIMATE, 10**12, 1), (ZCDP, 10**12, 5), (PURE, 0, -1)],
)
def test_the_database_refuses_a_grant_whose_worth_in_rho_is_not_right(
    any_ledger: Ledger, currency: str, delta: int, worth: int
) -> None:
    """A pot that is not of zCDP has no ρ, and the ρ of one that is never falls."""
    before = any_ledger.grant("visits", 1, Fraction(delta, ATTO), currency=currency)
    after = before.with_grant(Amount(1, delta))
    entry = Entry(0, "now", "grant", "more", "me", "visits", UNIT, currency=currency)
    good = entry.with_amount(Amount(1, delta), after).seal(any_ledger.head())
    with pytest.raises(Exception, match=r"(?i)does not add up|check"):
        insert(any_ledger, {**vars(good), "granted_rho": worth})
    insert(any_ledger, vars(good))
    assert any_ledger.verify().digest == good.hash
