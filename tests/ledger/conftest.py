"""Ledgers to test: an SQLite file, and a PostgreSQL server of our own."""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from privclust.ledger.ledger import Ledger
from support import needed

# A disk in memory is quick to wait for; no test can pull the plug of a real one.
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder in memory: a charge waits for the disk several times."""
    with tempfile.TemporaryDirectory(prefix="privclust-", dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """An SQLite ledger with the data set "visits" and nothing granted."""
    opened = Ledger.open(tmp_path / "budget.db")
    opened.create_dataset("visits")
    return opened


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL server of our own, with one empty database."""
    binaries = needed.postgresql()
    user = _server_user()
    folder = Path(tempfile.mkdtemp(prefix="privclust-pg-"))
    try:
        if user is not None:
            os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
        data = folder / "data"
        run = {"user": user, "cwd": folder, "stdout": subprocess.DEVNULL, "env": {"LC_ALL": "C"}}
        initdb = [binaries / "initdb", "--no-sync", "-A", "trust", "-E", "UTF8", "-U", "steward"]
        subprocess.run([*initdb, "-D", data], check=True, **run)  # noqa: S603
        # What is kept over a power cut is the server's business; here it only has to be quick.
        options = ("fsync=off", "listen_addresses=", f"unix_socket_directories={folder}")
        postgres = [binaries / "postgres", "-D", data, *(f"-c{option}" for option in options)]
        server = subprocess.Popen(postgres, stderr=subprocess.DEVNULL, **run)  # noqa: S603
        try:
            yield _once_awake(f"postgresql://steward@/postgres?host={folder}")
        finally:
            server.send_signal(signal.SIGQUIT)  # at once: nothing of it is kept
            server.wait()
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def new_postgres_url(postgres_server: str) -> Callable[[], str]:
    """Makes an empty schema on the server and returns its address."""
    import psycopg

    def make() -> str:
        name = f"test_{secrets.token_hex(8)}"
        with psycopg.connect(postgres_server) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return f"{postgres_server}&options=-csearch_path%3D{name}"

    return make


@pytest.fixture
def postgres_url(new_postgres_url: Callable[[], str]) -> str:
    """The address of an empty schema on the server."""
    return new_postgres_url()


@pytest.fixture(params=["sqlite", "postgresql"])
def any_ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Ledger:
    """A ledger in either database, with the data set "visits" and nothing granted."""
    if request.param == "sqlite":
        url = str(tmp_path / "budget.db")
    else:
        url = request.getfixturevalue("postgres_url")
    opened = Ledger.open(url)
    opened.create_dataset("visits")
    return opened


def _server_user() -> str | None:
    """Return who runs the server: PostgreSQL refuses to be run by root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _once_awake(url: str) -> str:
    import psycopg

    for _ in range(200):
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return url
    pytest.fail("the PostgreSQL server did not start within ten seconds")
