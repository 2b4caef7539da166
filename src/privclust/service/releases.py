"""Stored releases: the file, its page and its card; seen by those who asked, from their tick on."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privclust.ledger.transaction import LedgerTransaction
from privclust.release.release import Release
from privclust.service import clock
from privclust.service.accounts import User
from privclust.service.database import ALL, Database, Window
from privclust.service.errors import NotFoundError

_MOST_BARS = 24
_COLUMNS = (
    "r.id, d.name, r.digest, r.card, r.visible_at, r.version, d.version, d.id, r.job_id, "
    "(SELECT j.asked FROM service_jobs j WHERE j.id = r.job_id)"
)


@dataclass(frozen=True)
class StoredRelease:
    """A release as lists show it; ``version`` is of its data, ``newest`` of the data today.

    ``job_id`` and ``asked`` are of the user who asked first.
    """

    id: str
    dataset: str
    digest: str
    card: dict[str, Any]
    visible_at: int
    version: int
    newest: int
    dataset_id: str
    job_id: str
    asked: dict[str, Any]

    @property
    def is_newest(self) -> bool:
        """Whether no other files were checked in since."""
        return self.version == self.newest


class Releases:
    """What was released."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def visible_to(
        self, user: User, dataset: str = "", window: Window = ALL
    ) -> list[StoredRelease]:
        """Return the releases that a user may see, the newest first.

        ``dataset``: the name of a data set; all if empty.
        """
        who, values = _seen(user)
        sql = (
            f"SELECT {_COLUMNS} FROM service_releases r "  # noqa: S608
            f"JOIN service_datasets d ON d.id = r.dataset_id WHERE {who} AND ? IN ('', d.name) "
            "ORDER BY r.visible_at DESC, r.id LIMIT ? OFFSET ?"
        )
        rows = self._database.rows(sql, *values, dataset, window.limit, window.offset)
        return [_stored_release(row) for row in rows]

    def datasets_of(self, user: User) -> list[str]:
        """Return the names of the data sets whose releases a user may see."""
        who, values = _seen(user)
        sql = (
            "SELECT DISTINCT d.name FROM service_releases r "  # noqa: S608
            f"JOIN service_datasets d ON d.id = r.dataset_id WHERE {who} ORDER BY d.name"
        )
        return [str(name) for (name,) in self._database.rows(sql, *values)]

    def delete(self, release_id: str) -> None:
        """Delete what a release holds; its charge and its digest stay in the ledger."""
        with self._database.write_transaction() as together:
            if not empty_releases(together, "id = ? AND visible_at <= ?", release_id, clock.now()):
                raise NotFoundError

    def delete_older_than(self, moment: int) -> int:
        """Delete what was released before a moment, and return how many releases."""
        with self._database.write_transaction() as together:
            return empty_releases(together, "visible_at < ?", moment)

    def one(self, release_id: str, user: User) -> StoredRelease:
        """Return a release that a user may see."""
        who, values = _seen(user)
        sql = (
            f"SELECT {_COLUMNS} FROM service_releases r "  # noqa: S608
            f"JOIN service_datasets d ON d.id = r.dataset_id WHERE {who} AND r.id = ?"
        )
        return _stored_release(self._database.row(sql, *values, release_id))

    def is_there(self, release_id: str | None) -> bool:
        """Return whether a release was not deleted."""
        sql = "SELECT 1 FROM service_releases WHERE id = ? AND deleted = 0"
        return bool(self._database.rows(sql, release_id))

    def file(self, release_id: str, user: User) -> bytes:
        """Return the file of a release that a user may see."""
        return bytes(self._part("file", release_id, user))

    def report(self, release_id: str, user: User) -> str:
        """Return the page of a release that a user may see."""
        return str(self._part("report", release_id, user))

    def _part(self, column: str, release_id: str, user: User) -> Any:
        self.one(release_id, user)
        sql = f"SELECT {column} FROM service_releases WHERE id = ?"  # noqa: S608
        return self._database.rows(sql, release_id)[0][0]


def empty_releases(together: LedgerTransaction, which: str, *values: Any) -> int:
    """Remove what releases hold and leave their rows, for jobs; return how many there were.

    The same question is answered anew, and charged, from then on.
    """
    sql = (
        "UPDATE service_releases SET file = ?, report = '', card = '{}', question = '', "
        "deleted = ? WHERE deleted = 0 AND "
    )
    return len(together.run(f"{sql}{which} RETURNING id", (b"", clock.now(), *values)))


def _seen(user: User) -> tuple[str, tuple[Any, ...]]:
    """Return the condition on releases that a user may see, and its values."""
    shown = "EXISTS (SELECT 1 FROM service_jobs j WHERE j.release_id = r.id AND j.state = 'done'{})"
    shown = f"r.deleted = 0 AND {shown}"
    if user.is_steward:
        return shown.format(""), ()
    return shown.format(" AND j.user_id = ?"), (user.id,)


def _stored_release(row: tuple[Any, ...]) -> StoredRelease:
    values = [*row[:3], json.loads(row[3]), *row[4:-1], json.loads(row[-1])]
    return StoredRelease(*values)


def file_of(release: Release) -> bytes:
    """Return a release as one file."""
    with tempfile.TemporaryDirectory(prefix="privclust-") as folder:
        return release.save(Path(folder) / "release.privclust").read_bytes()


def release_from(file: bytes) -> Release:
    """Return the release in a file; no code in it is ever run."""
    with tempfile.TemporaryDirectory(prefix="privclust-") as folder:
        path = Path(folder) / "release.privclust"
        path.write_bytes(file)
        return Release.load(path)


def card_of(release: Release) -> dict[str, Any]:
    """Return what the card of a release shows: a title, a few facts, and sizes to draw."""
    from privclust.release.kinds import get_kind

    drawn = ("cluster_sizes", "counts", "block_totals")
    sizes = next((release.arrays[name] for name in drawn if name in release.arrays), None)
    bars = [] if sizes is None else sorted((float(size) for size in sizes.ravel()), reverse=True)
    return {
        "title": get_kind(release.kind).title,
        "facts": [[label, text] for label, text in release.facts().summary],
        "bars": [max(bar, 0.0) for bar in bars[:_MOST_BARS]],
        "epsilon": f"{float(release.privacy.epsilon):g}",
        "signal": release.signal,
    }
