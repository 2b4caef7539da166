"""Names that look the same are the same, and a password is nowhere to be found."""

import copy
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from privclust import PrivateKMeans
from privclust.budget import Budget
from privclust.exceptions import LedgerConflictError, LedgerError, LedgerMissingError
from privclust.ledger import address
from privclust.ledger.ledger import Ledger
from privclust.ledger.operations import name_of
from privclust.unit.rows import AddRemoveRow

ALIKE = ["Café  nº 1", " Café nº 1", "Cafe\u0301 no 1 ", "Ｃafé nº １"]
UNSEEN = ["vis\u200bits", "visits\u00ad", "\ufeffvisits", "visits\ufe0f", "vi\u034fsits", "\u3164"]


@pytest.mark.parametrize("name", ALIKE)
def test_names_that_look_the_same_name_one_data_set(tmp_path: Path, name: str) -> None:
    ledger = Ledger.open(tmp_path / "budget.db")
    ledger.create_dataset("Café no 1")
    with pytest.raises(LedgerConflictError, match="already in the ledger"):
        ledger.create_dataset(name)
    ledger.grant(name, 1)
    ledger.reserve(name, Budget(1), AddRemoveRow(), "a test")
    assert len(ledger.history(name)) == 3
    assert [pot.left.epsilon for pot in ledger.balance(name)] == [0]
    assert ledger.statement(name).dataset == "Café no 1"
    ledger.verify()


@pytest.mark.parametrize("name", ALIKE)
def test_names_that_look_the_same_name_one_holder(ledger: Ledger, name: str) -> None:
    ledger.grant("visits", 1, holder="Café no 1")
    ledger.grant("visits", 1, holder=name)
    (pot,) = ledger.balance("visits", holder=name)
    assert (pot.holder, pot.granted.epsilon) == ("Café no 1", 2 * 10**12)
    assert Ledger.open(ledger.url, holder=name) == Ledger.open(ledger.url, holder="Café no 1")


@pytest.mark.parametrize("name", UNSEEN)
def test_names_with_characters_that_cannot_be_seen_are_refused(ledger: Ledger, name: str) -> None:
    for ask in (ledger.create_dataset, lambda it: Ledger.open(ledger.url, holder=it)):
        with pytest.raises(LedgerError, match=r"invisible characters|printable") as told:
            ask(name)
        assert str(told.value).isprintable()
    assert ledger.datasets() == ["visits"]


@given(st.text())
def test_a_name_in_its_one_form_stays_as_it_is(text: str) -> None:
    try:
        name = name_of("data set", text)
    except LedgerError:
        return
    assert name_of("data set", name) == name
    assert name_of("data set", f"  {name} ") == name


SECRET = "hunter2"  # noqa: S105
ADDRESSES = [
    f"postgresql://ann:{SECRET}@host:5433/db",
    f"postgresql://ann:{SECRET}@host/db?sslmode=require&password={SECRET}",
    f"postgres://ann@host,other:5433/db?password={SECRET}",
    f"postgresql://ann@/db?host=/run/pg&p%61ssword={SECRET}",
    f"postgresql://ann:{SECRET}@[::1]:5433/db",
]


@pytest.mark.parametrize("url", ADDRESSES)
def test_a_handle_never_holds_its_password(url: str) -> None:
    opened = Ledger.open(url, holder="Ann")
    model = PrivateKMeans(2, ledger=opened, dataset="visits")
    for ledger in (opened, Ledger(url), copy.deepcopy(opened), clone(model).ledger):
        shown = f"{ledger!r} {ledger} {vars(ledger)} {ledger.address}"
        assert SECRET not in shown
        assert SECRET.encode() not in pickle.dumps(ledger)
    assert SECRET not in f"{model!r} {model.get_params()}"
    assert SECRET.encode() not in pickle.dumps(model)


@pytest.mark.parametrize("url", ADDRESSES)
def test_the_password_reaches_the_server_from_this_process_alone(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    seen: list[tuple[str, str | None]] = []

    def connect(address: str, password: str | None = None, **_: object) -> None:
        seen.append((address, password))
        raise psycopg.OperationalError("fe_sendauth: no password supplied")

    monkeypatch.setattr(psycopg, "connect", connect)
    monkeypatch.setattr(address, "_passwords", {})
    packed = pickle.dumps(Ledger.open(url))
    with pytest.raises(LedgerMissingError, match=r"set PGPASSWORD or ~/\.pgpass") as told:
        pickle.loads(packed).head()
    address._passwords.clear()  # as in another process
    with pytest.raises(LedgerMissingError):
        pickle.loads(packed).head()
    assert [password for _, password in seen] == [SECRET, None]
    assert all(SECRET not in where for where, _ in seen)
    assert SECRET not in str(told.value)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ann:{SECRET}/x@host/db",
        f"postgresql://ann:{SECRET}?x@host/db",
        f"postgresql://ann:1?{SECRET}@host/db",
        f"postgresql://ann:{SECRET}@x@host/db",
        f"postgresql://ann@host:{SECRET}/db",
        f"postgresql://ann@host/db?sslpassword={SECRET}",
    ],
)
def test_an_address_that_cannot_be_read_is_refused_unquoted(url: str) -> None:
    with pytest.raises(LedgerError, match="cannot be read") as told:
        Ledger.open(url)
    assert SECRET not in str(told.value)


def test_a_percent_in_a_password_is_not_quoted_by_the_driver(tmp_path: Path) -> None:
    ledger = Ledger.open(f"postgresql://ann:{SECRET}%zz@/db?host={tmp_path}", timeout=1)
    with pytest.raises(LedgerMissingError) as told:
        ledger.head()
    assert SECRET not in f"{told.value} {told.value.__cause__}"


def test_a_ledger_may_be_given_as_a_handle_a_path_or_an_address(ledger: Ledger) -> None:
    assert Ledger.of(ledger) is ledger
    assert Ledger.of(ledger.url) == Ledger.of(Path(ledger.url)) == ledger
    assert Ledger.of("postgresql://ann@host/db").url == "postgresql://ann@host/db"
    for value in (None, 7, ["budget.db"], b"budget.db"):
        with pytest.raises(LedgerError, match="A ledger is given as"):
            Ledger.of(value)


@pytest.mark.parametrize("url", ADDRESSES)
def test_a_parameter_may_not_hold_a_password(url: str) -> None:
    with pytest.raises(LedgerError, match="does not belong in a parameter") as told:
        Ledger.of(url)
    assert SECRET not in str(told.value)
