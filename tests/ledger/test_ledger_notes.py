"""What a ledger says beside amounts: flaws of releases, keys, times, and what stays charged."""

import base64
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from privclust.budget import Budget
from privclust.exceptions import LedgerConflictError, LedgerError
from privclust.ledger.ledger import Ledger
from privclust.ledger.statement import BalanceAt
from privclust.reports.ledger_page import burn_down_of, html_statement
from privclust.unit.rows import AddRemoveRow

FLAW = "The scaler <b>was</b> fitted on the private rows without noise."
KEY = "0123456789abcdef" * 4


@pytest.fixture
def charged(any_ledger: Ledger) -> tuple[Ledger, str]:
    any_ledger.grant("visits", 1)
    return any_ledger, any_ledger.reserve("visits", Budget("0.5"), AddRemoveRow(), "a test")


def test_the_flaws_of_a_release_are_part_of_the_chain(charged: tuple[Ledger, str]) -> None:
    ledger, receipt = charged
    ledger.settle(receipt, "sha256:1", [FLAW, "Another."])
    settled = ledger.history()[-1]
    assert settled.reasons == settled.to_dict()["flaws"] == [FLAW, "Another."]
    assert settled.is_intact
    statement = ledger.statement("visits")
    assert statement.promise.startswith("NOT PRIVATE: 1 of 1 charges")
    assert statement.to_dict()["charges"][0]["flaws"] == [FLAW, "Another."]
    ledger.verify()


def test_flaws_stay_as_they_were_written_down(charged: tuple[Ledger, str]) -> None:
    ledger, receipt = charged
    ledger.settle(receipt, "sha256:1", [FLAW])
    ledger.settle(receipt, "sha256:1", [FLAW])
    for others in ([], ["Another."], [FLAW, "Another."]):
        with pytest.raises(LedgerConflictError, match="settled before with other flaws"):
            ledger.settle(receipt, "sha256:1", others)
    assert ledger.history()[-1].reasons == [FLAW]


@pytest.mark.parametrize(
    ("flaws", "written"),
    [
        (["two\nlines\0 "], ["two lines"]),
        (["x" * 501], ["x" * 500]),
        (["x"] * 21, ["x"] * 20),
        ([""], [""]),
    ],
)
def test_no_flaw_is_too_odd_to_be_written_down(
    ledger: Ledger, flaws: list[str], written: list[str]
) -> None:
    ledger.grant("visits", 1)
    receipt = ledger.reserve("visits", Budget(1), AddRemoveRow(), "a test")
    ledger.settle(receipt, "sha256:1", flaws)
    ledger.settle(receipt, "sha256:1", flaws)
    assert ledger.history()[-1].reasons == written
    assert ledger.statement("visits").promise.startswith("NOT PRIVATE")


def test_flaws_are_a_list(ledger: Ledger) -> None:
    ledger.grant("visits", 1)
    receipt = ledger.reserve("visits", Budget(1), AddRemoveRow(), "a test")
    with pytest.raises(LedgerError, match="put it into a list"):
        ledger.settle(receipt, "sha256:1", "a string")
    assert len(ledger.history()) == 3


def test_the_page_shows_flaws_in_red(ledger: Ledger) -> None:
    ledger.grant("visits", 1)
    receipt = ledger.reserve("visits", Budget("0.5"), AddRemoveRow(), "a test")
    assert 'class="lead"' in html_statement(ledger.statement("visits"))
    ledger.settle(receipt, "sha256:1", [FLAW])
    page = html_statement(ledger.statement("visits"))
    assert '<p class="lead alarm">NOT PRIVATE' in page
    assert re.search(r'class="alarm">Release <code>sha256:1</code>: The scaler &lt;b&gt;', page)
    assert '<span class="alarm">NOT PRIVATE</span>' in page


def test_public_keys_are_part_of_the_chain_and_on_the_page(any_ledger: Ledger) -> None:
    any_ledger.create_dataset("people")
    any_ledger.add_key(KEY, "The data office")
    any_ledger.add_key("f" * 64, "Ann", dataset="visits")
    any_ledger.add_key("e" * 64, "Bob", dataset="people")
    statement = any_ledger.statement("visits")
    assert statement.to_dict()["keys"] == [
        {"name": "The data office", "ed25519": KEY},
        {"name": "Ann", "ed25519": "f" * 64},
    ]
    page = html_statement(statement)
    assert KEY in page
    assert "e" * 64 not in page
    assert "NOT PRIVATE" not in page
    any_ledger.verify()


def test_a_key_may_be_written_in_hex_or_base64(ledger: Ledger) -> None:
    raw = bytes.fromhex(KEY)
    forms = [KEY.upper(), base64.b64encode(raw).decode(), f"ed25519:{KEY}"]
    forms += [base64.urlsafe_b64encode(raw).decode().rstrip("=")]
    assert ledger.add_key(KEY, "Ann").digest == KEY
    for form in forms:
        with pytest.raises(LedgerConflictError, match="already in the ledger"):
            ledger.add_key(form, "Ann")


@pytest.mark.parametrize("key", ["", "abc", KEY[:-1], KEY + "0", "-----BEGIN PRIVATE KEY-----"])
def test_what_is_no_public_key_is_refused_unquoted(ledger: Ledger, key: str) -> None:
    with pytest.raises(LedgerError, match="never the private one") as told:
        ledger.add_key(key, "Ann")
    assert not key or key not in str(told.value)
    assert len(ledger.history()) == 1


def test_times_are_kept_and_shown_to_the_minute(charged: tuple[Ledger, str]) -> None:
    """The time between a charge and its settlement is how long the fit ran on the rows."""
    ledger, receipt = charged
    ledger.settle(receipt, "sha256:1")
    for entry in ledger.history():
        at = datetime.fromisoformat(entry.at)
        assert (at.second, at.microsecond) == (0, 0)
        assert abs((datetime.now(UTC) - at).total_seconds()) < 200
    page = html_statement(ledger.statement("visits"))
    assert not re.search(r"\d\d:\d\d:\d\d", page)
    assert not re.search(r"\d\d:\d\d:\d\d", json.dumps(ledger.statement("visits").to_dict()))


def test_a_failed_fit_can_say_what_stays_charged(charged: tuple[Ledger, str]) -> None:
    ledger, receipt = charged
    told = ledger.charge_phrase(receipt)
    assert told.startswith("The charge of ε = 0.5 on 'visits' to 'everyone' stays in the ledger")
    assert receipt in told


def test_what_stays_charged_is_said_without_the_ledger_as_well(tmp_path: Path) -> None:
    receipt = f"fit:{'0' * 64}"
    told = Ledger.open(tmp_path / "gone.db").charge_phrase(receipt)
    assert told.startswith(f"The charge with the receipt {receipt} stays")
    assert "\n" not in told


def test_steps_within_one_minute_are_set_apart_in_the_picture() -> None:
    minute = datetime(2026, 11, 17, 9, 30, tzinfo=UTC)
    filled = [BalanceAt(minute, 10, left) for left in (10, 6, 2, 2)]
    assert burn_down_of(filled).left.split("L")[1::2] == [
        "266.7 0.0",
        "533.3 60.0",
        "800.0 120.0",
    ]


def test_steps_of_many_days_lie_at_their_time() -> None:
    begin = datetime(2026, 11, 1, tzinfo=UTC)
    filled = [
        BalanceAt(begin + timedelta(days=day), 10, left) for day, left in ((0, 10), (8, 5), (10, 5))
    ]
    assert "L640.0 0.0L640.0 75.0" in burn_down_of(filled).left
