"""The chain: entries cannot be changed through the database, and no change behind it is missed."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from privclust.budget import Budget
from privclust.exceptions import LedgerCorruptedError, LedgerError
from privclust.ledger.chain import COLUMNS, Entry, Head
from privclust.ledger.ledger import Ledger
from privclust.ledger.replay import replay
from privclust.unit.rows import AddRemoveRow

Tamper = Callable[[str], None]


@pytest.fixture
def used(any_ledger: Ledger) -> Ledger:
    """A ledger with eight entries."""
    any_ledger.grant("visits", 1)
    any_ledger.grant("visits", 1, "1e-6")
    for _ in range(2):
        receipt = any_ledger.reserve("visits", Budget("0.1"), AddRemoveRow(), "a test")
        any_ledger.settle(receipt, "sha256:1")
    budget = Budget("0.1", "1e-6")
    any_ledger.reserve("visits", budget, AddRemoveRow(), "a test", currency="zcdp")
    return any_ledger


def run(ledger: Ledger, *statements: str) -> None:
    """Run SQL in the database of the ledger, as somebody with full access would."""
    if "://" not in ledger.url:
        with closing(sqlite3.connect(ledger.url, isolation_level=None)) as connection:
            for statement in statements:
                connection.execute(statement)
        return
    import psycopg

    with psycopg.connect(ledger.url) as connection:
        for statement in statements:
            connection.execute(statement)


DROP_CHECKS = """DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT conname FROM pg_constraint
        WHERE contype = 'c' AND conrelid = to_regclass('privclust_entries')
    LOOP EXECUTE format('ALTER TABLE privclust_entries DROP CONSTRAINT %I', name); END LOOP;
END $$"""


def without_rules(ledger: Ledger, *statements: str) -> None:
    """Run SQL with the rules of the database out of the way, and put the triggers back."""
    if "://" in ledger.url:
        tables = ("privclust_entries", "privclust_ledger")
        run(
            ledger,
            *(f"ALTER TABLE {table} DISABLE TRIGGER ALL" for table in tables),
            *statements,
            *(f"ALTER TABLE {table} ENABLE TRIGGER ALL" for table in tables),
        )
        return
    connection = sqlite3.connect(ledger.url)
    rules = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
    triggers = rules.fetchall()
    connection.close()
    run(
        ledger,
        "PRAGMA ignore_check_constraints = ON",
        *(f"DROP TRIGGER {name}" for name, _ in triggers),
        *statements,
        *(sql for _, sql in triggers),
    )


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE privclust_entries SET epsilon = 0",
        "UPDATE privclust_entries SET purpose = '' WHERE seq = 4",
        "DELETE FROM privclust_entries",
        "DELETE FROM privclust_entries WHERE seq = 8",
        "UPDATE privclust_ledger SET identity = ''",
        "DELETE FROM privclust_ledger",
    ],
)
def test_the_database_refuses_to_change_or_remove(used: Ledger, statement: str) -> None:
    with pytest.raises(Exception, match=r"never|stays"):
        run(used, statement)
    assert used.verify().entries == 8


def test_a_table_on_a_server_cannot_be_emptied(postgres_url: str) -> None:
    ledger = Ledger.open(postgres_url)
    ledger.create_dataset("visits")
    with pytest.raises(Exception, match="never changed or removed"):
        run(ledger, "TRUNCATE privclust_entries")
    assert ledger.verify().entries == 1


def test_a_ledger_has_one_identity(used: Ledger) -> None:
    version = ", version" if "://" in used.url else ""
    value = ", 1" if version else ""
    statement = (
        f"INSERT INTO privclust_ledger (identity, created{version}) VALUES ('a', 'b'{value})"  # noqa: S608
    )
    with pytest.raises(Exception, match=r"one identity|unique"):
        run(used, statement)


@pytest.mark.parametrize("column", [name for name in COLUMNS if name != "seq"])
def test_verify_finds_a_change_in_any_column(ledger: Ledger, column: str) -> None:
    ledger.grant("visits", 1)
    ledger.settle(ledger.reserve("visits", Budget(1), AddRemoveRow(), "a test"), "sha256:1")
    value = 7 if isinstance(getattr(ledger.history()[0], column), int) else "'charge'"
    kind = "settle" if column != "kind" else "grant"
    statement = f"UPDATE privclust_entries SET {column} = {value} WHERE kind = '{kind}'"  # noqa: S608
    without_rules(ledger, statement)
    with pytest.raises(LedgerCorruptedError, match="restore it from a backup"):
        ledger.verify()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE privclust_entries SET epsilon = 1, rho = 1 WHERE seq = 4",
        "DELETE FROM privclust_entries WHERE seq = 5",
        "DELETE FROM privclust_entries WHERE seq = 1",
        "UPDATE privclust_ledger SET identity = 'another'",
        "UPDATE privclust_entries SET seq = 9 WHERE seq = 8",
    ],
)
def test_verify_finds_what_was_done_behind_the_rules(used: Ledger, statement: str) -> None:
    without_rules(used, statement)
    with pytest.raises(LedgerCorruptedError, match="The ledger was changed"):
        used.verify()
    with pytest.raises(LedgerCorruptedError):
        used.statement("visits")


def test_a_cut_tail_is_found_with_a_digest_that_was_kept(used: Ledger) -> None:
    head = used.head()
    without_rules(used, "DELETE FROM privclust_entries WHERE seq = 8")
    assert used.verify().entries == 7, "without the digest nobody can tell"
    with pytest.raises(LedgerCorruptedError, match=r"kept elsewhere: the digest .* is not in it"):
        used.verify(head.digest)
    with pytest.raises(LedgerCorruptedError, match="ends at entry 7 and the head is entry 8"):
        used.verify(head)


def test_any_earlier_head_or_receipt_can_be_checked(used: Ledger) -> None:
    before = used.head()
    receipt = used.reserve("visits", Budget("0.1"), AddRemoveRow(), "a test")
    assert used.verify(before) == used.verify(before.digest) == used.head()
    assert used.verify(receipt) == used.verify(receipt.split(":")[1]) == used.head()


def test_verify_finds_rules_of_a_server_that_were_rewritten(postgres_url: str) -> None:
    ledger = Ledger.open(postgres_url)
    ledger.create_dataset("visits")
    ledger.verify()
    body = "CREATE OR REPLACE FUNCTION privclust_check() RETURNS trigger LANGUAGE plpgsql AS "
    run(ledger, f"{body} 'BEGIN RETURN NEW; END'")
    with pytest.raises(LedgerCorruptedError, match="rules privclust_check were changed"):
        ledger.verify()


def test_verify_finds_a_limit_of_a_server_that_was_dropped(postgres_url: str) -> None:
    ledger = Ledger.open(postgres_url)
    ledger.create_dataset("visits")
    run(ledger, DROP_CHECKS)
    with pytest.raises(LedgerCorruptedError, match="rules CHECK were changed"):
        ledger.verify()


def test_verify_finds_rules_that_were_dropped(used: Ledger) -> None:
    on = " ON privclust_entries" if "://" in used.url else ""
    name = "privclust_entries_keep" if on else "privclust_entries_delete"
    run(used, f"DROP TRIGGER {name}{on}")
    with pytest.raises(LedgerCorruptedError, match=name):
        used.verify()


def forged(ledger: Ledger, change: Callable[[Entry], Entry]) -> None:
    """Rewrite the last entry with a matching digest, as somebody who knows the format would."""
    entry = ledger.history()[-1]
    new = change(entry).seal(Head(entry.seq - 1, entry.previous))
    values = ", ".join(
        f"{name} = '{value}'" if isinstance(value, str) else f"{name} = {value}"
        for name, value in vars(new).items()
    )
    statement = f"UPDATE privclust_entries SET {values} WHERE seq = {entry.seq}"  # noqa: S608
    without_rules(ledger, *([DROP_CHECKS] if "://" in ledger.url else []), statement)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"epsilon": 1, "rho": 1}, "does not add up"),
        ({"rho": 1, "spent_rho": 1}, "less than it uses"),
        ({"spent_epsilon": 1}, "does not add up"),
        ({"granted_epsilon": 10**15}, "does not add up"),
        ({"unit": '{"name":"replace-row"}'}, "privacy unit that was not created"),
        ({"pot": "pure"}, "wrong pot"),
        ({"currency": "pure"}, "names a currency other than"),
        ({"currency": "approximate", "rho": 0, "spent_rho": 0}, "wrong pot"),
        (
            {"epsilon": 10**13, "rho": 10**14, "spent_epsilon": 10**13, "spent_rho": 10**14},
            "charges more than was granted",
        ),
        ({"holder": "Ann "}, "a name that is not in its one form"),
        ({"kind": "refund"}, "unknown kind"),
    ],
)
def test_a_false_entry_with_a_right_digest_is_found_by_the_replay(
    used: Ledger, changes: dict[str, object], problem: str
) -> None:
    forged(used, lambda entry: Entry(**{**vars(entry), **changes}))
    with pytest.raises(LedgerCorruptedError, match=problem):
        used.verify()


def test_the_replay_compares_every_entry_with_its_digest_by_itself(used: Ledger) -> None:
    """Entries may come from elsewhere than a book, which compares them as well."""
    *before, last = used.history()
    changed = Entry(**{**vars(last), "purpose": "another"})
    with pytest.raises(LedgerCorruptedError, match="does not match its digest"):
        replay(before[0].previous, [*before, changed])


def test_a_grant_that_overstates_its_worth_is_found(any_ledger: Ledger) -> None:
    any_ledger.grant("visits", 1, "1e-6")
    forged(any_ledger, lambda entry: Entry(**{**vars(entry), "granted_rho": 25 * 10**9}))
    with pytest.raises(LedgerCorruptedError, match="overstates"):
        any_ledger.verify()


def test_nothing_is_built_on_an_entry_that_was_changed(used: Ledger) -> None:
    without_rules(
        used, "UPDATE privclust_entries SET spent_epsilon = 0, spent_rho = 0 WHERE seq = 6"
    )
    with pytest.raises(LedgerError, match="does not match its digest"):
        used.reserve("visits", Budget("0.1"), AddRemoveRow(), "a test")


def test_no_charge_is_appended_where_an_earlier_one_was_taken_out(used: Ledger) -> None:
    """The newest charge on the pot is gone, and the newest entry of all is as it was."""
    spent = used.balance("visits")[0].spent.epsilon
    without_rules(
        used,
        "DELETE FROM privclust_entries WHERE seq = "
        "(SELECT max(seq) FROM privclust_entries WHERE kind = 'charge' AND pot = 'pure')",
    )
    assert used.balance("visits")[0].spent.epsilon < spent
    with pytest.raises(LedgerCorruptedError, match="missing"):
        used.reserve("visits", Budget("0.9"), AddRemoveRow(), "a test")


def test_the_digest_is_the_one_that_is_documented(tmp_path: Path) -> None:
    """SHA-256 of the canonical JSON of all columns but the digest itself."""
    import hashlib
    import json

    ledger = Ledger.open(tmp_path / "budget.db")
    ledger.create_dataset("Besuche", note="für Ärzte")
    (entry,) = ledger.history()
    content = {name: value for name, value in vars(entry).items() if name != "hash"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest() == entry.hash == ledger.head().digest


def forged_after(ledger: Ledger, change: Callable[[Entry], Entry]) -> list[Entry]:
    """Return the entries with one more, a changed copy of the last, sealed as the next link."""
    entries = ledger.history()
    return [*entries, change(entries[-1]).seal(Head(entries[-1].seq, entries[-1].hash))]


@pytest.mark.parametrize("changes", [{"holder": "bob"}, {"dataset": "other"}])
def test_a_settlement_is_of_the_holder_and_the_data_set_of_its_charge(
    ledger: Ledger, changes: dict[str, str]
) -> None:
    ledger.create_dataset("other")
    ledger.grant("visits", 1)
    receipt = ledger.reserve("visits", Budget("0.1"), AddRemoveRow(), "a test")
    (paid,) = (entry for entry in ledger.history() if entry.kind == "charge")
    fields = ("seq", "at", "request", "actor", "dataset", "unit", "holder")
    settled = {name: getattr(paid, name) for name in fields} | {"kind": "settle", "digest": "x"}
    identity = ledger.history()[0].previous
    right = forged_after(ledger, lambda _: Entry(**settled))
    assert replay(identity, right).head.digest == right[-1].hash
    with pytest.raises(LedgerCorruptedError, match="settles a charge that is not there"):
        replay(identity, forged_after(ledger, lambda _: Entry(**{**settled, **changes})))
    ledger.settle(receipt, "x")  # as the ledger itself writes it
    assert ledger.history()[-1].holder == paid.holder


@pytest.mark.parametrize("kind", ["create", "grant", "charge", "settle"])
def test_the_replay_finds_a_request_that_is_repeated(ledger: Ledger, kind: str) -> None:
    ledger.grant("visits", 1)
    receipt = ledger.reserve("visits", Budget("0.1"), AddRemoveRow(), "a test")
    if kind == "settle":
        ledger.settle(receipt, "x")
    entries = ledger.history()
    (first,) = (entry for entry in entries if entry.kind == kind)
    later = Entry(**{**vars(first), "dataset": "other"}) if kind == "create" else first
    if kind in ("grant", "charge"):
        pot = entries[-1].after
        moved = pot.with_grant if kind == "grant" else pot.with_charge
        later = first.with_amount(first.amount, moved(first.amount))
    repeated = [*entries, later.seal(Head(len(entries), entries[-1].hash))]
    with pytest.raises(LedgerCorruptedError, match="repeats a request"):
        replay(entries[0].previous, repeated)
