"""Copies, backups and old ledgers: no charge is lost by copying, and an old copy is noticed."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import privclust.ledger.sqlite as store
from privclust.budget import Budget
from privclust.exceptions import LedgerCorruptedError, LedgerError, LedgerLockedError
from privclust.ledger.ledger import Ledger
from privclust.unit.rows import AddRemoveRow

ROW = AddRemoveRow()


@pytest.fixture
def granted(ledger: Ledger) -> Ledger:
    ledger.grant("visits", 10)
    return ledger


def charge(ledger: Ledger) -> str:
    return ledger.reserve("visits", Budget(1), ROW, "a test")


def names(ledger: Ledger) -> list[str]:
    return sorted(path.name for path in Path(ledger.url).parent.iterdir())


def test_a_plain_copy_of_the_file_holds_every_charge_that_returned(granted: Ledger) -> None:
    copy = Path(granted.url).with_name("copy.db")
    for _ in range(5):
        receipt = charge(granted)
        copy.write_bytes(Path(granted.url).read_bytes())
        assert Ledger.open(copy).verify(receipt) == granted.head()
        assert names(granted) == ["budget.db", "copy.db"], "all of a ledger is in one file"
        copy.unlink()


def test_no_file_beside_the_ledger_holds_the_charge_of_a_process_that_died(
    granted: Ledger,
) -> None:
    script = (
        "import os, sys\n"
        "from privclust.budget import Budget\n"
        "from privclust.ledger import Ledger\n"
        "from privclust.unit import AddRemoveRow\n"
        "print(Ledger.open(sys.argv[1]).reserve('visits', Budget(1), AddRemoveRow(), 'a test'))\n"
        "sys.stdout.flush()\n"
        "os._exit(9)\n"
    )
    run = [sys.executable, "-c", script, granted.url]
    receipt = subprocess.run(run, stdout=subprocess.PIPE, text=True, check=False).stdout  # noqa: S603
    for name in names(granted):
        if name != "budget.db":
            Path(granted.url).with_name(name).unlink()
    assert granted.verify(receipt.strip()).entries == 3
    (pot,) = granted.balance("visits")
    assert pot.spent.epsilon == 10**12


class Traced(sqlite3.Connection):
    """Notes how durable the commits of this very connection are."""

    commits: list[tuple[int, str]]

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
        if sql == "COMMIT":
            (synchronous,) = super().execute("PRAGMA synchronous").fetchone()
            (mode,) = super().execute("PRAGMA journal_mode").fetchone()
            self.commits.append((synchronous, mode))
        return super().execute(sql, *values)


def test_every_commit_of_an_entry_waits_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill cannot show it, only a power failure would; so the settings are looked at."""
    opened = store.SQLiteStore._open

    def traced(self: store.SQLiteStore, mode: str = "rw") -> sqlite3.Connection:
        opened(self, mode).close()
        connection = sqlite3.connect(self._path, factory=Traced, isolation_level=None)
        connection.commits = commits if mode != "rw" or "writing" in purpose else reads
        return connection

    commits: list[tuple[int, str]] = []
    reads: list[tuple[int, str]] = []
    purpose = ["writing"]
    monkeypatch.setattr(store.SQLiteStore, "_open", traced)
    ledger = Ledger.open(tmp_path / "budget.db")
    ledger.create_dataset("visits")
    ledger.grant("visits", 1)
    receipt = charge(ledger)
    ledger.settle(receipt, "sha256:1")
    extra = 3
    assert len(commits) == 5
    assert set(commits) == {(extra, "delete")}


def test_a_ledger_in_another_journal_mode_is_put_back(granted: Ledger) -> None:
    with closing(sqlite3.connect(granted.url)) as other:
        assert other.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    receipt = charge(granted)
    shutil.copy(granted.url, f"{granted.url}.copy")
    assert Ledger.open(f"{granted.url}.copy").verify(receipt).entries == 3


def test_a_ledger_that_cannot_be_put_back_takes_no_charge(granted: Ledger) -> None:
    impatient = Ledger.open(granted.url, timeout=0.05)
    with closing(sqlite3.connect(granted.url)) as other:
        other.execute("PRAGMA journal_mode = WAL").fetchone()
        other.execute("SELECT * FROM privclust_entries").fetchall()
        with pytest.raises(LedgerError, match=r"nothing was spent"):
            charge(impatient)
    assert len(granted.history()) == 2


class Overtaken(sqlite3.Connection):
    """Another program changes the journal mode after it was put back, just before we write."""

    path: str

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
        if sql == "BEGIN IMMEDIATE":
            with closing(sqlite3.connect(self.path)) as other:
                assert other.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
        return super().execute(sql, *values)


def test_a_journal_mode_changed_at_the_last_moment_takes_no_charge(
    granted: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overtaken(self: store.SQLiteStore, mode: str = "rw") -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, factory=Overtaken, isolation_level=None)
        connection.path = self._path
        return connection

    # A copy, because a connection that waits for the next charge would not be overtaken.
    copy = shutil.copy(granted.url, f"{granted.url}.copy")
    monkeypatch.setattr(store.SQLiteStore, "_open", overtaken)
    with pytest.raises(LedgerLockedError, match=r"'wal'.*nothing was spent"):
        charge(Ledger.open(copy))
    with closing(sqlite3.connect(copy)) as other:
        assert other.execute("SELECT count(*) FROM privclust_entries").fetchone() == (2,)


def test_a_backup_is_whole_and_verified(granted: Ledger, tmp_path: Path) -> None:
    receipt = charge(granted)
    head = granted.backup(tmp_path / "backup.db")
    assert head == granted.head()
    charge(granted)
    copy = Ledger.open(tmp_path / "backup.db")
    assert copy.verify(receipt) == head
    assert names(granted) == ["backup.db", "budget.db"]


def test_a_backup_need_not_wait_for_a_writer(granted: Ledger, tmp_path: Path) -> None:
    with closing(sqlite3.connect(granted.url, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert granted.backup(tmp_path / "backup.db").entries == 2


def test_a_backup_replaces_nothing(granted: Ledger, tmp_path: Path) -> None:
    place = tmp_path / "backup.db"
    place.write_text("precious")
    with pytest.raises(LedgerError, match="exists; choose another path"):
        granted.backup(place)
    assert place.read_text() == "precious"
    with pytest.raises(LedgerError, match="does not exist; create it first"):
        granted.backup(tmp_path / "nowhere" / "backup.db")


def test_a_changed_ledger_is_not_backed_up(granted: Ledger, tmp_path: Path) -> None:
    with closing(sqlite3.connect(granted.url)) as other:
        other.execute("DROP TRIGGER privclust_entries_delete")
    with pytest.raises(LedgerCorruptedError, match="privclust_entries_delete"):
        granted.backup(tmp_path / "backup.db")
    assert names(granted) == ["budget.db"]


def test_a_missing_ledger_is_not_backed_up(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="There is no ledger at"):
        Ledger.open(tmp_path / "missing.db").backup(tmp_path / "backup.db")
    assert list(tmp_path.iterdir()) == []


def test_a_server_is_backed_up_by_itself(postgres_url: str, tmp_path: Path) -> None:
    ledger = Ledger.open(postgres_url)
    ledger.create_dataset("visits")
    with pytest.raises(LedgerError, match="pg_dump --table 'privclust_"):
        ledger.backup(tmp_path / "backup.db")


def test_an_old_copy_that_took_the_place_of_the_ledger_is_noticed(
    granted: Ledger, tmp_path: Path
) -> None:
    granted.backup(tmp_path / "old.db")
    receipt = charge(granted)
    head = granted.head()
    os.replace(tmp_path / "old.db", granted.url)
    assert granted.verify().entries == 2, "an old ledger is a valid ledger"
    for kept in (head.digest, receipt):
        with pytest.raises(LedgerCorruptedError, match="older than what was kept elsewhere"):
            granted.verify(kept)
    with pytest.raises(LedgerCorruptedError, match="ends at entry 2 and the head is entry 3"):
        granted.verify(head)
