"""One server of a name, files that nobody else reads, and old copies that are noticed."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from privclust import AddRemoveRow
from privclust.exceptions import PrivclustError
from privclust.service.database import Database
from privclust.service.errors import ServiceError
from service.running import Running, free_port
from service.serving import Serving


def test_a_name_is_held_by_one_server(any_serving: Serving) -> None:
    first, other = (any_serving.database.held(name) for name in ("here", "there"))
    assert first is not None
    assert other is not None
    assert any_serving.database.held("here") is None
    first.close()
    again = any_serving.database.held("here")
    assert again is not None
    again.close()
    other.close()


def test_a_second_server_of_a_name_is_refused_and_files_are_private(
    serving: Serving, tmp_path: Path
) -> None:
    database = Path(serving.settings.database)
    database.chmod(0o644)
    server = Running(tmp_path, str(database)).start()
    try:
        second = dataclasses.replace(serving.settings, port=free_port())
        code = (
            "from privclust.service.serve import serve; from privclust.service.settings import "
            f"Settings; serve(Settings(**{dataclasses.asdict(second)!r}), print)"
        )
        refused = subprocess.run(  # noqa: S603
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
        )
        assert "is already running on this database" in refused.stderr
        assert database.stat().st_mode & 0o077 == 0
    finally:
        server.stop()
    assert "leaked" not in (tmp_path / "server.log").read_text()


def test_a_backup_is_private(serving: Serving, tmp_path: Path) -> None:
    serving.database.ledger.backup(tmp_path / "copy.db")
    assert (tmp_path / "copy.db").stat().st_mode & 0o077 == 0


def test_an_old_copy_is_noticed_until_its_loss_is_accepted(
    serving: Serving, tmp_path: Path
) -> None:
    url, head = serving.settings.database, tmp_path / "kept.head"
    database = Database.open(url, head)
    with database.write_transaction() as together:
        together.run("SELECT 1")
    shutil.copy(url, tmp_path / "old.db")
    with database.write_transaction() as together:
        together.grant("visits", "bob", serving.question().budget, "", None)
    Database.open(url, head)
    assert head.stat().st_mode & 0o077 == 0
    shutil.copy(tmp_path / "old.db", url)
    with pytest.raises(ServiceError, match="lacks entries that were written before"):
        Database.open(url, head)
    head.write_text("nonsense")
    with pytest.raises(PrivclustError, match="cannot be read"):
        Database.open(url, head)
    head.unlink()
    Database.open(url, head)


def test_a_server_without_the_newest_entries_is_noticed(
    new_postgres_url: Callable[[], str], tmp_path: Path
) -> None:
    head = tmp_path / "kept.head"
    database = Database.open(new_postgres_url(), head)
    with database.write_transaction() as together:
        together.create_dataset("visits", AddRemoveRow(), "")
    Database.open(database.ledger.url, head)
    with pytest.raises(ServiceError, match="lacks entries that were written before"):
        Database.open(new_postgres_url(), head)


def test_the_site_keeps_the_head_beside_its_database(serving: Serving) -> None:
    from service.browser import services_on

    services = services_on(serving)
    services.jobs.ask(serving.ann, serving.visits, serving.question())
    kept = services.database.kept
    assert kept is not None
    assert kept.place == Path(f"{serving.settings.database}.head")
    assert kept.read() == services.database.ledger.head()
