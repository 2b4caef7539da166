"""Disks, files and servers that fail: one clear sentence, and nothing spent or lost."""
# ruff: noqa: S603, S607

import multiprocessing
import os
import pwd
import random
import resource
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from privclust.budget import Budget
from privclust.exceptions import (
    LedgerCorruptedError,
    LedgerError,
    LedgerFullError,
    LedgerLockedError,
    LedgerMissingError,
    LedgerReadOnlyError,
    LedgerVersionError,
)
from privclust.ledger.chain import receipt_of
from privclust.ledger.ledger import Ledger
from privclust.unit.rows import AddRemoveRow


def charge(ledger: Ledger) -> str:
    return ledger.reserve("visits", Budget("0.001"), AddRemoveRow(), "a test")


def in_child(work: Callable[[], object]) -> str:
    """Run in a forked process; return the name and the text of the error it ends with."""
    fork = multiprocessing.get_context("fork")
    answers, answer = fork.Pipe(duplex=False)

    def run() -> None:
        try:
            work()
        except Exception as error:
            answer.send(f"{type(error).__name__}: {error}")
        else:
            answer.send("no error")

    child = fork.Process(target=run)
    child.start()
    told = str(answers.recv())
    child.join()
    return told


def close_connections() -> None:
    """Close what waits to be used again, as a fork does; all of a ledger is then in one file."""
    in_child(lambda: None)


@pytest.fixture
def granted(ledger: Ledger) -> Ledger:
    ledger.grant("visits", 1)
    charge(ledger)
    return ledger


@contextmanager
def unharmed(ledger: Ledger) -> Iterator[None]:
    """Check that what happens within costs nothing, loses nothing, and stops nothing."""
    history = ledger.history()
    yield
    assert ledger.history() == history
    ledger.verify(history[-1].hash)
    charge(ledger)
    assert len(ledger.history()) == len(history) + 1


@contextmanager
def going_on(ledger: Ledger) -> Iterator[None]:
    """Check that charges before the failure stand, and that the ledger goes on afterwards."""
    history = ledger.history()
    yield
    after = ledger.history()
    assert after[: len(history)] == history
    assert len(after) > len(history)
    ledger.verify(history[-1].hash)
    charge(ledger)


def is_one_sentence(told: str) -> bool:
    return "\n" not in told and told.endswith(".") and 30 < len(told) < 400


def test_a_full_disk(granted: Ledger) -> None:
    def fill_up() -> None:
        # Files may not grow beyond what they are: what a disk without room looks like.
        charge(granted)
        size = max(path.stat().st_size for path in Path(granted.url).parent.iterdir())
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        for _ in range(1000):
            charge(granted)

    with going_on(granted):
        told = in_child(fill_up)
    assert told.startswith(LedgerFullError.__name__)
    assert is_one_sentence(told)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_small_disk_that_fills_up(tmp_path: Path) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", tmp_path]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this machine does not let root mount a tmpfs")
    try:
        ledger = Ledger.open(tmp_path / "budget.db")
        ledger.create_dataset("visits")
        ledger.grant("visits", 10)
        receipts: list[str] = []
        with pytest.raises(LedgerFullError, match="is full; nothing was spent, make room") as told:
            receipts.extend(charge(ledger) for _ in range(1000))
        assert is_one_sentence(str(told.value))
        charges = [receipt_of(entry) for entry in ledger.history() if entry.kind == "charge"]
        assert charges == receipts
        assert charges
        ledger.verify()
    finally:
        close_connections()
        subprocess.run(["umount", tmp_path], check=True)


def test_a_read_only_file() -> None:
    def charge_as_reader() -> None:
        if os.geteuid() == 0:  # root may write everything
            os.setuid(pwd.getpwnam("nobody").pw_uid)
        charge(ledger)

    with tempfile.TemporaryDirectory() as name:  # whose parents anybody may enter
        folder, ledger = Path(name), Ledger.open(Path(name, "budget.db"))
        ledger.create_dataset("visits")
        ledger.grant("visits", 1)
        with unharmed(ledger):
            for path in folder.iterdir():
                path.chmod(0o444)
            folder.chmod(0o555)
            told = in_child(charge_as_reader)
            folder.chmod(0o755)
            for path in folder.iterdir():
                path.chmod(0o644)
    assert told.startswith(LedgerReadOnlyError.__name__)
    assert is_one_sentence(told)


def test_a_locked_file(granted: Ledger) -> None:
    impatient = Ledger.open(granted.url, timeout=0.05)
    with unharmed(granted):
        other = sqlite3.connect(granted.url, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerLockedError, match=r"more than 0.05 seconds") as told:
            charge(impatient)
        assert len(impatient.history()) == 3, "a reader need not wait"
        other.execute("ROLLBACK")
        other.close()
    assert is_one_sentence(str(told.value))


@pytest.mark.parametrize("version", [0, 1, 99])
def test_another_version_of_the_schema(granted: Ledger, version: int) -> None:
    def set_version(number: int) -> None:
        other = sqlite3.connect(granted.url)
        other.execute(f"PRAGMA user_version = {number}")
        other.close()

    with unharmed(granted):
        set_version(version)
        for ask in (charge, Ledger.verify, Ledger.history, lambda it: it.create_dataset("b")):
            with pytest.raises(LedgerVersionError, match=f"has version {version}") as told:
                ask(granted)
            assert is_one_sentence(str(told.value))
        set_version(2)


def test_another_version_on_a_server(postgres_url: str) -> None:
    import psycopg

    ledger = Ledger.open(postgres_url)
    ledger.create_dataset("visits")
    with psycopg.connect(postgres_url) as connection:
        connection.execute("ALTER TABLE privclust_ledger DISABLE TRIGGER privclust_ledger_keep")
        connection.execute("UPDATE privclust_ledger SET version = 3")
    with pytest.raises(LedgerVersionError, match="upgrade privclust"):
        ledger.history()


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 100])
def test_a_file_that_is_no_ledger(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "budget.db"
    path.write_bytes(content)
    with pytest.raises(LedgerError) as told:
        charge(Ledger.open(path))
    assert is_one_sentence(str(told.value))
    assert path.read_bytes() == content


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "photos.db"
    other = sqlite3.connect(path)
    other.execute("PRAGMA journal_mode = WAL")
    other.execute("CREATE TABLE photos (name TEXT)")
    other.close()
    content = path.read_bytes()
    with pytest.raises(LedgerError, match="not a ledger of privclust"):
        Ledger.open(path).create_dataset("visits")
    with pytest.raises(LedgerError, match="not a ledger of privclust"):
        charge(Ledger.open(path))
    close_connections()
    assert path.read_bytes() == content


def test_a_damaged_file_never_gives_a_free_charge(granted: Ledger) -> None:
    """Bytes anywhere in the file are overwritten: charges go on to be refused or recorded."""
    for _ in range(100):
        charge(granted)
    close_connections()
    whole, path = Path(granted.url).read_bytes(), Path(granted.url)
    trials, noticed, chance, told = 240, 0, random.Random(0), []
    for trial in range(trials):
        damaged = bytearray(whole)
        place = chance.randrange(len(whole) - 64) if trial else 0
        damaged[place : place + 64] = chance.randbytes(64)
        path.unlink()
        path.write_bytes(damaged)
        try:
            receipt = charge(granted)
            assert granted.head().digest == receipt[-64:]
        except LedgerError as error:
            told.append(str(error))
        try:
            granted.verify()
        except LedgerError as error:
            told.append(str(error))
            noticed += 1
    assert not any("\n" in sentence for sentence in told)
    assert noticed >= trials / 2, "most of a small ledger is in use, so most damage is noticed"


def test_rules_that_became_unreadable_are_told_as_damage(granted: Ledger) -> None:
    """SQLite quotes the damaged rule in its message, in bytes that are no text."""
    close_connections()
    path = Path(granted.url)
    content, rule = path.read_bytes(), b"CREATE TRIGGER privclust_entries_chain "
    assert content.count(rule + b"BEFORE") == 1
    path.write_bytes(content.replace(rule + b"BEFORE", rule + b"\xff" * 6))
    for ask in (charge, Ledger.verify, Ledger.history):
        with pytest.raises(LedgerCorruptedError, match="is damaged") as told:
            ask(granted)
        assert is_one_sentence(str(told.value))


def test_a_torn_header_is_told_as_damage(granted: Ledger) -> None:
    close_connections()
    with open(granted.url, "r+b") as file:
        file.write(b"\0" * 100)
    with pytest.raises(LedgerCorruptedError, match="restore it from a backup") as told:
        charge(granted)
    assert is_one_sentence(str(told.value))


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    ledger = Ledger.open(f"postgresql://ann:secret@/db?host={tmp_path}", timeout=1)
    with pytest.raises(LedgerMissingError, match="did not answer") as told:
        charge(ledger)
    assert "secret" not in str(told.value)
    assert "\n" not in str(told.value)


def test_a_server_without_a_ledger(postgres_url: str) -> None:
    with pytest.raises(LedgerMissingError, match="There is no ledger in postgresql://"):
        charge(Ledger.open(postgres_url))


def test_a_locked_table_on_a_server(postgres_url: str) -> None:
    import psycopg

    ledger = Ledger.open(postgres_url, timeout=0.2)
    ledger.create_dataset("visits")
    ledger.grant("visits", 1)
    with psycopg.connect(postgres_url) as other:
        other.execute("LOCK TABLE privclust_entries IN EXCLUSIVE MODE")
        with pytest.raises(LedgerLockedError, match=r"more than 0.2 seconds"):
            charge(ledger)
        assert len(ledger.history()) == 2, "a reader need not wait"
    charge(ledger)
    ledger.verify()


def test_a_connection_that_the_server_ended_is_opened_again(postgres_url: str) -> None:
    import psycopg

    ledger = Ledger.open(postgres_url)
    ledger.create_dataset("visits")
    ledger.grant("visits", 1)
    with psycopg.connect(postgres_url) as other:
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'steward'"
        other.execute(f"{others} AND pid <> pg_backend_pid()")
    charge(ledger)
    assert ledger.verify().entries == 3


def test_a_reader_on_a_server_cannot_charge(postgres_url: str) -> None:
    ledger = Ledger.open(postgres_url)
    ledger.create_dataset("visits")
    ledger.grant("visits", 1)
    reading = Ledger.open(f"{postgres_url}%20-cdefault_transaction_read_only%3Don")
    with pytest.raises(LedgerReadOnlyError, match="nothing was spent"):
        charge(reading)
    assert len(reading.history()) == 2
