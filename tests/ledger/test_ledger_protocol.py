"""What a ledger promises its callers, the same in both databases."""

import copy
import multiprocessing
import pickle
import threading
from fractions import Fraction
from pathlib import Path

import pytest
from sklearn.base import clone

from privclust import PrivateKMeans
from privclust.budget import Budget
from privclust.exceptions import (
    BudgetGoneError,
    LedgerConflictError,
    LedgerError,
    UnitMismatchError,
    UnknownDatasetError,
)
from privclust.ledger import operations as acts
from privclust.ledger.accounting import Amount
from privclust.ledger.ledger import Ledger
from privclust.unit.matrix import MatrixEntry
from privclust.unit.rows import AddRemoveRow, Person, ReplaceRow

ROW = AddRemoveRow()


def charge(ledger: Ledger, epsilon: str, delta: str = "0", request: str | None = None) -> str:
    budget = Budget(epsilon, delta)
    return ledger.reserve(
        "visits", budget, ROW, "a test", currency=budget.currency, request=request
    )


def spent(ledger: Ledger) -> Amount:
    (pot,) = ledger.balance("visits")
    return pot.spent


def test_the_whole_grant_can_be_spent_and_no_more(any_ledger: Ledger) -> None:
    any_ledger.grant("visits", 1)
    for _ in range(10):
        charge(any_ledger, "0.1")
    with pytest.raises(BudgetGoneError, match=r"left is ε = 0 of the granted ε = 1"):
        charge(any_ledger, "0.000000000001")
    assert spent(any_ledger).epsilon == 10**12
    assert any_ledger.verify().entries == 12


@pytest.mark.parametrize("delta", ["0", "1e-6", "1e-9", "0.01"])
def test_a_fit_may_use_the_very_budget_that_was_granted(any_ledger: Ledger, delta: str) -> None:
    any_ledger.grant("visits", "0.7", delta)
    charge(any_ledger, "0.7", delta)
    with pytest.raises(BudgetGoneError):
        charge(any_ledger, "0.0001", delta)
    any_ledger.verify()


def test_pure_and_concentrated_grants_pay_for_their_own_kind(any_ledger: Ledger) -> None:
    any_ledger.grant("visits", "0.5")
    with pytest.raises(
        BudgetGoneError, match="Nothing that pays for a charge in 'zcdp' was granted"
    ):
        charge(any_ledger, "0.1", "1e-6")
    any_ledger.grant("visits", "0.5", "1e-6")
    charge(any_ledger, "0.5")
    charge(any_ledger, "0.5", "1e-6")
    pure, concentrated = any_ledger.balance("visits")
    assert (pure.name, concentrated.name) == ("pure", "zcdp")
    assert pure.left.epsilon == 0
    assert concentrated.left.rho == 0
    any_ledger.verify()


def test_many_fits_with_delta_cost_less_than_their_epsilons(any_ledger: Ledger) -> None:
    any_ledger.grant("visits", 2, "1e-6")
    for _ in range(10):
        charge(any_ledger, "0.5", "1e-6")
    assert spent(any_ledger).epsilon == 5 * 10**12
    any_ledger.verify()


def test_every_holder_has_a_pot_of_their_own(any_ledger: Ledger) -> None:
    any_ledger.grant("visits", 1, holder="Ann")
    with pytest.raises(BudgetGoneError, match="Nothing was granted to 'everyone'"):
        charge(any_ledger, "0.5")
    ann = Ledger.open(any_ledger.url, holder="Ann")
    charge(ann, "0.5")
    assert [pot.holder for pot in ann.balance("visits")] == ["Ann"]
    assert any_ledger.balance("visits", holder="Bob") == []


def test_grants_add_up(any_ledger: Ledger) -> None:
    any_ledger.grant("visits", "0.5")
    pot = any_ledger.grant("visits", "0.5")
    assert pot.granted.epsilon == 10**12
    charge(any_ledger, "1")


def test_a_repeated_request_is_charged_once(any_ledger: Ledger) -> None:
    any_ledger.grant("visits", 1, request="decision-7")
    any_ledger.grant("visits", 1, request="decision-7")
    receipt = charge(any_ledger, "0.6", request="fit-1")
    assert charge(any_ledger, "0.6", request="fit-1") == receipt
    with pytest.raises(LedgerConflictError, match="other contents"):
        charge(any_ledger, "0.1", request="fit-1")
    assert spent(any_ledger).epsilon == 6 * 10**11
    any_ledger.settle(receipt, "sha256:1")
    with pytest.raises(LedgerConflictError, match="a new fit needs a new request"):
        charge(any_ledger, "0.6", request="fit-1")
    any_ledger.verify()


def test_a_charge_pays_for_one_release(any_ledger: Ledger) -> None:
    any_ledger.grant("visits", 1)
    receipt = charge(any_ledger, "0.5")
    any_ledger.settle(receipt, "sha256:1")
    any_ledger.settle(receipt, "sha256:1")
    with pytest.raises(LedgerConflictError, match="another release needs another charge"):
        any_ledger.settle(receipt, "sha256:2")
    kinds = [entry.kind for entry in any_ledger.history("visits")]
    assert kinds == ["create", "grant", "charge", "settle"]


def test_an_act_that_fails_after_its_entry_leaves_nothing(any_ledger: Ledger) -> None:
    def interrupted() -> None:
        with any_ledger._store().write_transaction() as book:
            budget, name = Budget(1), any_ledger.holder
            acts.charge(book, "visits", name, budget, "pure", ROW, "a test", None)
            raise KeyboardInterrupt

    any_ledger.grant("visits", 1)
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert spent(any_ledger) == Amount()
    charge(any_ledger, "1")


@pytest.mark.parametrize("receipt", ["", "fit:abc", "fit:" + "0" * 64, "0" * 64])
def test_a_false_receipt_settles_nothing(ledger: Ledger, receipt: str) -> None:
    with pytest.raises(LedgerConflictError, match="is not one of this ledger"):
        ledger.settle(receipt, "sha256:1")


def test_a_changed_receipt_settles_nothing(any_ledger: Ledger) -> None:
    any_ledger.grant("visits", 1)
    receipt = charge(any_ledger, "0.5")
    with pytest.raises(LedgerConflictError, match="is not one of this ledger"):
        any_ledger.settle(receipt[:-1] + ("0" if receipt[-1] != "0" else "1"), "sha256:1")


def test_the_unit_of_a_charge_is_the_units_of_the_data_set(any_ledger: Ledger) -> None:
    any_ledger.create_dataset("people", Person("id", 5))
    any_ledger.grant("people", 1)
    for unit in (ROW, ReplaceRow(), Person("id", 6), Person("name", 5)):
        with pytest.raises(UnitMismatchError, match="give the estimator the unit"):
            any_ledger.reserve("people", Budget(1), unit, "a test")
    with pytest.raises(UnitMismatchError, match=r"unit person \(id-column=id max-rows=5\)"):
        any_ledger.reserve("people", Budget(1), ROW, "a test")
    any_ledger.reserve("people", Budget(1), Person("id", 5), "a test")
    any_ledger.verify()


def test_equal_units_match_however_they_are_written(ledger: Ledger) -> None:
    ledger.create_dataset("baskets", MatrixEntry(cap=2))
    ledger.grant("baskets", 1)
    ledger.reserve("baskets", Budget(1), MatrixEntry(cap=2.0, step=1.0), "a test")
    ledger.verify()


def test_an_unknown_data_set_is_named_with_the_known_ones(any_ledger: Ledger) -> None:
    with pytest.raises(UnknownDatasetError, match=r"no data set 'visit' \(it has 'visits'\)"):
        any_ledger.reserve("visit", Budget(1), ROW, "a test")
    for ask in (any_ledger.balance, any_ledger.history, any_ledger.statement):
        with pytest.raises(UnknownDatasetError):
            ask("visit")
    with pytest.raises(UnknownDatasetError):
        any_ledger.grant("visit", 1)


def test_a_data_set_is_created_once(any_ledger: Ledger) -> None:
    with pytest.raises(LedgerConflictError, match="already in the ledger"):
        any_ledger.create_dataset("visits", ReplaceRow())
    assert any_ledger.datasets() == ["visits"]


@pytest.mark.parametrize(
    ("epsilon", "delta", "error"),
    [
        (0, 0, "epsilon must be above zero"),
        (-1, 0, "epsilon must be above zero"),
        ("1e-13", 0, "below what a ledger can count"),
        (1, "1e-19", "below what a ledger can count"),
        (10**6, 0, "must stay below"),
        (1, 1, "delta must be"),
    ],
)
def test_what_cannot_be_granted(ledger: Ledger, epsilon: object, delta: object, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        ledger.grant("visits", epsilon, delta)
    assert ledger.balance("visits") == []


def test_names_and_requests_are_checked(ledger: Ledger) -> None:
    ledger.grant("visits", 1)
    for name in ("", "a\nb", "x" * 201, "\ud800"):
        with pytest.raises(LedgerError):
            ledger.create_dataset(name)
    for request in ("", "a b", "x" * 101, "a:b"):
        with pytest.raises(LedgerError, match="A request is named by"):
            charge(ledger, "0.1", request=request)
    with pytest.raises(LedgerError, match="printable"):
        ledger.reserve("visits", Budget(1), ROW, "a\0b")
    assert spent(ledger) == Amount()


def test_amounts_are_rounded_against_the_spender(ledger: Ledger) -> None:
    third = Fraction(1, 3)
    pot = ledger.grant("visits", third)
    assert pot.granted.epsilon == 333_333_333_333
    with pytest.raises(BudgetGoneError):
        ledger.reserve("visits", Budget(third), ROW, "a test")


def test_nothing_is_made_by_a_mistyped_path(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="There is no ledger at"):
        Ledger.open(tmp_path / "budgte.db").reserve("visits", Budget(1), ROW, "a test")
    with pytest.raises(ValueError, match="Unknown privacy unit"):
        Ledger.open(tmp_path / "new.db").create_dataset("visits", "no-such-unit")
    assert list(tmp_path.iterdir()) == []


def test_other_databases_are_refused_by_name() -> None:
    with pytest.raises(LedgerError, match=r"not mysql://"):
        Ledger.open("mysql://host/db")


def test_a_password_is_never_shown() -> None:
    opened = Ledger.open("postgresql://ann:secret@host:5433/db?password=secret", holder="Ann")
    assert repr(opened) == "Ledger.open('postgresql://ann@host:5433/db', holder='Ann')"


def test_copies_pickles_and_clones_charge_the_same_ledger(any_ledger: Ledger) -> None:
    any_ledger.grant("visits", 1)
    model = clone(PrivateKMeans(2, ledger=any_ledger, dataset="visits"))
    copies = [copy.deepcopy(any_ledger), pickle.loads(pickle.dumps(any_ledger)), model.ledger]
    for number, other in enumerate(copies, start=1):
        assert other == any_ledger
        charge(other, "0.1")
        assert spent(any_ledger).epsilon == number * 10**11


def test_threads_share_a_ledger(any_ledger: Ledger) -> None:
    any_ledger.grant("visits", "0.2")
    refused = []

    def work() -> None:
        for _ in range(10):
            try:
                charge(any_ledger, "0.01")
            except BudgetGoneError:
                refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 20
    assert spent(any_ledger).epsilon == 2 * 10**11
    any_ledger.verify()


def test_a_handle_survives_a_fork(any_ledger: Ledger) -> None:
    any_ledger.grant("visits", 1)
    charge(any_ledger, "0.1")
    fork = multiprocessing.get_context("fork")
    for _ in range(3):
        child = fork.Process(target=charge, args=(any_ledger, "0.1"))
        child.start()
        charge(any_ledger, "0.1")
        child.join()
        assert child.exitcode == 0
    assert spent(any_ledger).epsilon == 7 * 10**11
    any_ledger.verify()


def test_the_next_charge_goes_to_the_file_that_took_the_place(
    ledger: Ledger, tmp_path: Path
) -> None:
    ledger.grant("visits", 1)
    other = Ledger.open(tmp_path / "other.db")
    other.create_dataset("visits")
    other.grant("visits", 1)
    charge(ledger, "0.1")
    Path(other.url).replace(ledger.url)
    for suffix in ("-wal", "-shm"):
        Path(f"{ledger.url}{suffix}").unlink(missing_ok=True)
    charge(ledger, "0.3")
    assert spent(ledger).epsilon == 3 * 10**11


def test_the_history_tells_who_and_what_for(any_ledger: Ledger) -> None:
    any_ledger.grant("visits", 1, note="decision 7")
    any_ledger.reserve("visits", Budget("0.5"), ROW, "PrivateKMeans")
    _, granted, charged = any_ledger.history()
    assert granted.purpose == "decision 7"
    assert charged.purpose == "PrivateKMeans"
    assert charged.actor
    assert charged.to_dict()["amount"] == {"epsilon": "0.5", "delta": "0", "rho": "0.125"}
