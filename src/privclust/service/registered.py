"""Registered data sets: what is public about them, who may ask, and whether they are frozen."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from privclust.ledger.operations import name_of, text_of
from privclust.ledger.transaction import LedgerTransaction
from privclust.service import clock
from privclust.service.accounts import User
from privclust.service.database import Database, insert
from privclust.service.declared import Counts, Declared, parse_facts
from privclust.service.errors import ConflictError, NotFoundError, ServiceError
from privclust.service.questions import budget_of
from privclust.service.registration import (
    CheckedFiles,
    Tell,
    check_files,
    check_rules,
    resolve_path,
)
from privclust.service.releases import empty_releases
from privclust.unit import Unit, unit_from

_MOST_ROWS = 10**10
_BUSY = "Jobs are waiting or running on this data set; delete it when they have finished."
_COLUMNS = (
    "d.id, d.name, d.path, d.facts, d.unit, d.most_rows, d.digest, d.frozen, d.note, "
    "d.version, d.meanings"
)


@dataclass(frozen=True)
class Dataset:
    """A registered data set."""

    id: str
    name: str
    path: str  # below the data folder; for stewards only
    schema: Declared  # what is declared about a table, or about a matrix
    unit: Unit
    most_rows: int  # the declared bound on the number of rows, which is public
    digest: str  # the digest of the files at registration; for stewards only
    frozen: str  # why nothing can be asked; empty if it can. For stewards only
    note: str
    version: int = 1  # which files these are, counted from the first that were checked in; public
    # What columns mean and their units of measurement, in the steward's words; public.
    meanings: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_matrix(self) -> bool:
        """Whether it is a matrix of counts, not a table."""
        return isinstance(self.schema, Counts)


@dataclass(frozen=True)
class BudgetRequest:
    """Budget that an analyst asks for."""

    id: str
    dataset_id: str
    dataset: str
    user: str
    epsilon: str
    delta: str
    reason: str
    asked_at: int


class Datasets:
    """The data sets of the service."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database, self._folder = database, folder

    def draft(
        self,
        name: str,
        path: str,
        schema: Declared,
        unit: Unit,
        most_rows: int,
        note: str = "",
        meanings: Mapping[str, str] | None = None,
    ) -> Dataset:
        """Return a data set whose files have yet to be checked, or refuse what can be known now."""
        name, note = name_of("data set", name), text_of("note", note)
        if not 1 <= most_rows <= _MOST_ROWS:
            raise ServiceError(
                "The bound on the rows must be a whole number of at least 1; change it."
            )
        self._check_new(name)
        resolve_path(self._folder, path)
        check_rules(schema, unit)
        meant = {column: text_of("meaning", words) for column, words in (meanings or {}).items()}
        if unknown := sorted(set(meant) - _column_names(schema)):
            raise ServiceError(
                f"There is no column {unknown[0][:40]!r}; correct what columns mean."
            )
        id_ = secrets.token_hex(8)
        return Dataset(id_, name, path, schema, unit, most_rows, "", "", note, 1, meant)

    def add(self, draft: Dataset, checked: CheckedFiles, by: str | None = None) -> Dataset:
        """Add a data set whose files were checked to service and ledger."""
        made = replace(draft, digest=checked.digest)
        with self._database.write_transaction(by) as together:
            self._check_apart(together, made, checked)
            self._insert(together, made, checked)
        return made

    def _check_apart(
        self, together: LedgerTransaction, made: Dataset, checked: CheckedFiles
    ) -> None:
        """Refuse rows that another data set has: they would be paid for from two budgets."""
        place = resolve_path(self._folder, made.path)
        sql = "SELECT name, path, digest, files FROM service_datasets WHERE id <> ?"
        for name, path, digest, files in together.run(sql, (made.id,)):
            other = (self._folder / path).resolve()
            nested = place.is_relative_to(other) or other.is_relative_to(place)
            known = {digest, *json.loads(files)}
            if name == made.name or nested or known & {checked.digest, *checked.files}:
                raise ConflictError(
                    "A data set of that name or with some of these files exists already and has "
                    "its own budget; use that one."
                )

    def _insert(self, together: LedgerTransaction, made: Dataset, checked: CheckedFiles) -> None:
        together.create_dataset(made.name, made.unit, made.note)
        row = vars(made) | {"facts": made.schema.to_json(), "unit": json.dumps(made.unit.to_dict())}
        row |= {"files": json.dumps(checked.files), "meanings": json.dumps(made.meanings)}
        del row["schema"]
        insert(together, "datasets", created=clock.now(), **row)

    def _check_new(self, name: str) -> None:
        if self._database.rows("SELECT 1 FROM service_datasets WHERE name = ?", name):
            raise ConflictError("There is already a data set of that name; choose another.")

    def resolve_path(self, dataset: Dataset) -> Path:
        """Return where the files are."""
        return resolve_path(self._folder, dataset.path)

    def check(self, dataset: Dataset, tell: Tell = lambda words: None) -> CheckedFiles:
        """Read the files of a data set once, try every offer on them, and say how far that is."""
        place = self.resolve_path(dataset)
        return check_files(place, dataset.schema, dataset.unit, dataset.most_rows, tell)

    def reopen(self, dataset: Dataset, checked: CheckedFiles) -> int:
        """Pin the digest of files that were checked, and open the data set.

        Other files than before are another version of the data; its number is returned.
        """
        sql = (
            "UPDATE service_datasets SET version = CASE WHEN digest = ? THEN version "
            "ELSE version + 1 END, digest = ?, files = ?, frozen = '' WHERE id = ? "
            "RETURNING version"
        )
        files = json.dumps(checked.files)
        with self._database.write_transaction() as together:
            self._check_apart(together, dataset, checked)
            rows = together.run(sql, (checked.digest, checked.digest, files, dataset.id))
        return int(rows[0][0])

    def freeze(self, dataset: Dataset, reason: str) -> None:
        """Let nothing more be asked until the steward has checked the files again."""
        sql = "UPDATE service_datasets SET frozen = ? WHERE id = ?"
        self._database.write(sql, text_of("reason", reason) or "frozen by a steward", dataset.id)

    def delete(self, dataset: Dataset) -> None:
        """Delete a data set and its releases; its files stay where they are.

        The ledger keeps its account, and its name and its files cannot be registered again: there
        would be a second budget for the same rows.
        """
        with self._database.write_transaction() as together:
            sql = (
                "SELECT 1 FROM service_jobs WHERE dataset_id = ? AND state IN ('queued', 'running')"
            )
            if together.run(sql, (dataset.id,)):
                raise ConflictError(_BUSY)
            sql = "UPDATE service_datasets SET deleted = ?, frozen = 'deleted' WHERE id = ?"
            together.run(sql, (clock.now(), dataset.id))
            together.run("DELETE FROM service_access WHERE dataset_id = ?", (dataset.id,))
            sql = "UPDATE service_requests SET state = 'declined' WHERE dataset_id = ?"
            together.run(sql + " AND state = 'open'", (dataset.id,))
            empty_releases(together, "dataset_id = ?", dataset.id)

    # Who may ask.
    def grant(
        self,
        dataset: Dataset,
        user: User,
        epsilon: str,
        delta: str,
        note: str,
        by: str | None = None,
        request: str | None = None,
    ) -> None:
        """Grant budget to an analyst, who may then see the data set and ask about it.

        ``request``: the name of this one grant; sent twice, it is granted once.
        """
        if user.role != "analyst":
            raise ServiceError("Budgets are granted to analysts; choose another user.")
        budget = budget_of(epsilon, delta or "0")
        with self._database.write_transaction(by) as together:
            together.grant(dataset.name, user.name, budget, note, request)
            sql = "INSERT INTO service_access VALUES (?, ?) ON CONFLICT DO NOTHING"
            together.run(sql, (dataset.id, user.id))
            sql = "UPDATE service_requests SET state = 'granted' WHERE dataset_id = ? "
            together.run(sql + "AND user_id = ? AND state = 'open'", (dataset.id, user.id))

    def revoke(self, dataset: Dataset, user: User) -> None:
        """Let an analyst ask no more; what was granted and spent stays in the ledger."""
        sql = "DELETE FROM service_access WHERE dataset_id = ? AND user_id = ?"
        self._database.write(sql, dataset.id, user.id)

    def request_budget(
        self, dataset: Dataset, user: User, epsilon: str, delta: str, reason: str
    ) -> None:
        """Ask the stewards for budget; a user has one open request for a data set."""
        budget, reason = budget_of(epsilon, delta or "0"), text_of("reason", reason)
        amounts = f"{float(budget.epsilon):g}", f"{float(budget.delta):g}"
        with self._database.write_transaction() as together:
            sql = "DELETE FROM service_requests WHERE dataset_id = ? AND user_id = ?"
            together.run(sql + " AND state = 'open'", (dataset.id, user.id))
            together.run(
                "INSERT INTO service_requests VALUES (?, ?, ?, ?, ?, ?, 'open', ?)",
                (secrets.token_hex(8), dataset.id, user.id, *amounts, reason, clock.now()),
            )

    def requests(self, dataset: Dataset | None = None) -> list[BudgetRequest]:
        """Return the open requests for budget, about one data set or all, the oldest first."""
        sql = (
            "SELECT r.id, d.id, d.name, u.name, r.epsilon, r.delta, r.reason, r.asked_at "
            "FROM service_requests r JOIN service_datasets d ON d.id = r.dataset_id "
            "JOIN service_users u ON u.id = r.user_id WHERE r.state = 'open' AND ? IN ('', d.id) "
            "ORDER BY r.asked_at, r.id"
        )
        rows = self._database.rows(sql, "" if dataset is None else dataset.id)
        return [BudgetRequest(*row) for row in rows]

    def decline(self, request_id: str) -> BudgetRequest:
        """Close a request for budget without a grant, and return it."""
        found = [it for it in self.requests() if it.id == request_id]
        if not found:
            raise NotFoundError
        sql = "UPDATE service_requests SET state = 'declined' WHERE id = ?"
        self._database.write(sql, request_id)
        return found[0]

    def names_of_askers(self, dataset: Dataset) -> list[str]:
        """Return the names of those who may ask."""
        sql = (
            "SELECT u.name FROM service_access a JOIN service_users u ON u.id = a.user_id "
            "WHERE a.dataset_id = ? ORDER BY u.name"
        )
        return [str(name) for (name,) in self._database.rows(sql, dataset.id)]

    def all(self) -> list[Dataset]:
        """Return every data set that was not deleted."""
        sql = f"SELECT {_COLUMNS} FROM service_datasets d WHERE deleted = 0 ORDER BY d.name"  # noqa: S608
        return [dataset_of(row) for row in self._database.rows(sql)]

    def visible_to(self, user: User) -> list[Dataset]:
        """Return the data sets that a user may know about."""
        if user.reads_ledger:
            return self.all()
        sql = (
            f"SELECT {_COLUMNS} FROM service_datasets d "  # noqa: S608
            "JOIN service_access a ON a.dataset_id = d.id WHERE a.user_id = ? ORDER BY d.name"
        )
        return [dataset_of(row) for row in self._database.rows(sql, user.id)]

    def one(self, dataset_id: str, user: User) -> Dataset:
        """Return a data set that a user may know about."""
        sql = f"SELECT {_COLUMNS} FROM service_datasets d WHERE d.id = ? AND d.deleted = 0"  # noqa: S608
        values = [dataset_id]
        if not user.reads_ledger:
            sql += (
                " AND EXISTS (SELECT 1 FROM service_access a "
                "WHERE a.dataset_id = d.id AND a.user_id = ?)"
            )
            values.append(user.id)
        return dataset_of(self._database.row(sql, *values))

    def accounts(self) -> list[tuple[str, str, bool]]:
        """Return id, name, and whether it was deleted, of all that the ledger has an account of."""
        sql = "SELECT id, name, deleted FROM service_datasets ORDER BY deleted > 0, name"
        return [(str(row[0]), str(row[1]), bool(row[2])) for row in self._database.rows(sql)]

    def by_id(self, dataset_id: str) -> Dataset:
        """Return a data set, for the service's own use."""
        sql = f"SELECT {_COLUMNS} FROM service_datasets d WHERE d.id = ?"  # noqa: S608
        return dataset_of(self._database.rows(sql, dataset_id)[0])


def _column_names(schema: Declared) -> set[str]:
    return set() if isinstance(schema, Counts) else set(schema.columns)


def dataset_of(row: tuple[object, ...]) -> Dataset:
    """Return the data set in a row."""
    id_, name, path, facts, unit, most_rows, digest, frozen, note, version, meant = map(str, row)
    schema, protects, most = _declaration_of(facts), _unit(unit), int(most_rows)
    meanings = json.loads(meant)
    return Dataset(
        id_, name, path, schema, protects, most, digest, frozen, note, int(version), meanings
    )


@lru_cache(1000)
def _declaration_of(facts: str) -> Declared:
    """Return what a text declares; every page needs it, and it is never changed."""
    return parse_facts(json.loads(facts))


@lru_cache(1000)
def _unit(facts: str) -> Unit:
    return unit_from(json.loads(facts))
