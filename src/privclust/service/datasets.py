"""Registered data sets: what is public about them, who may ask, and whether they are frozen."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from privclust.ledger.operations import name_of, text_of
from privclust.ledger.transaction import LedgerTransaction
from privclust.service import clock
from privclust.service.checking import Checked, check_files
from privclust.service.database import Database
from privclust.service.declared import Counts, Declared, declared_from
from privclust.service.errors import ConflictError, NotFoundError, ServiceError
from privclust.service.files import place_of
from privclust.service.people import User
from privclust.service.questions import budget_of
from privclust.unit import Unit, unit_from

_MOST_ROWS = 10**10
_COLUMNS = (
    "d.id, d.name, d.path, d.facts, d.unit, d.most_rows, d.digest, d.frozen, d.note, d.version"
)


@dataclass(frozen=True)
class Dataset:
    """A registered data set.

    Attributes
    ----------
    id, name, note : str
    path : str
        Below the data folder; for stewards only.
    schema : Schema or Counts
        What is declared about a table, or about a matrix.
    unit : Unit
    most_rows : int
        The declared bound on the number of rows, which is public.
    digest : str
        The digest of the files at registration; for stewards only.
    frozen : str
        Why nothing can be asked; empty if it can. For stewards only.
    version : int
        Which files these are, counted from the first that were checked in; public.
    """

    id: str
    name: str
    path: str
    schema: Declared
    unit: Unit
    most_rows: int
    digest: str
    frozen: str
    note: str
    version: int = 1

    @property
    def is_matrix(self) -> bool:
        """Whether it is a matrix of counts, not a table."""
        return isinstance(self.schema, Counts)


class Datasets:
    """The data sets of the service.

    Parameters
    ----------
    database : Database
    folder : Path
        The folder below which files lie.
    """

    def __init__(self, database: Database, folder: Path) -> None:
        self._database, self._folder = database, folder

    def register(
        self,
        name: str,
        path: str,
        schema: Declared,
        unit: Unit,
        most_rows: int,
        note: str = "",
        by: str | None = None,
    ) -> tuple[Dataset, Checked]:
        """Check the files, pin their digest, and add the data set to service and ledger."""
        name, note = name_of("data set", name), text_of("note", note)
        if not 1 <= most_rows <= _MOST_ROWS:
            raise ServiceError("The bound on the rows is a whole number of at least 1; change it.")
        self._check_new(name)
        checked = check_files(place_of(self._folder, path), schema, unit, most_rows)
        made = Dataset(
            secrets.token_hex(8), name, path, schema, unit, most_rows, checked.digest, "", note
        )
        with self._database.writing(by) as together:
            self._check_apart(together, made, checked)
            self._insert(together, made, checked)
        return made, checked

    def _check_apart(self, together: LedgerTransaction, made: Dataset, checked: Checked) -> None:
        """Refuse rows that another data set has: they would be paid for from two budgets."""
        place = place_of(self._folder, made.path)
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

    def _insert(self, together: LedgerTransaction, made: Dataset, checked: Checked) -> None:
        together.create_dataset(made.name, made.unit, made.note)
        facts, protects = made.schema.to_json(), json.dumps(made.unit.to_dict())
        together.run(
            "INSERT INTO service_datasets (id, name, path, facts, unit, most_rows, digest, "
            "frozen, note, created, files) VALUES (?, ?, ?, ?, ?, ?, ?, '', ?, ?, ?)",
            (
                *(made.id, made.name, made.path, facts, protects),
                *(made.most_rows, made.digest, made.note, clock.now()),
                json.dumps(checked.files),
            ),
        )

    def _check_new(self, name: str) -> None:
        if self._database.rows("SELECT 1 FROM service_datasets WHERE name = ?", name):
            raise ConflictError("There is a data set of that name already; choose another.")

    def place(self, dataset: Dataset) -> Path:
        """Return where the files are."""
        return place_of(self._folder, dataset.path)

    def check_again(self, dataset: Dataset) -> Checked:
        """Check the files once more and pin their new digest; the data set is open again.

        Other files than before are another version of the data.
        """
        place = self.place(dataset)
        checked = check_files(place, dataset.schema, dataset.unit, dataset.most_rows)
        sql = (
            "UPDATE service_datasets SET version = CASE WHEN digest = ? THEN version "
            "ELSE version + 1 END, digest = ?, files = ?, frozen = '' WHERE id = ?"
        )
        files = json.dumps(checked.files)
        with self._database.writing() as together:
            self._check_apart(together, dataset, checked)
            together.run(sql, (checked.digest, checked.digest, files, dataset.id))
        return checked

    def freeze(self, dataset: Dataset, reason: str) -> None:
        """Let nothing more be asked until the steward has checked the files again."""
        sql = "UPDATE service_datasets SET frozen = ? WHERE id = ?"
        self._database.write(sql, text_of("reason", reason) or "frozen by a steward", dataset.id)

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

        Parameters
        ----------
        dataset : Dataset
        user : User
        epsilon, delta : str
        note : str
            The reason.
        by : str or None
            The steward, for the ledger.
        request : str or None
            The name of this one grant; sent twice, it is granted once.
        """
        if user.role != "analyst":
            raise ServiceError("Budgets are granted to analysts; choose another user.")
        budget = budget_of(epsilon, delta or "0")
        with self._database.writing(by) as together:
            together.grant(dataset.name, user.name, budget, note, request)
            sql = "INSERT INTO service_access VALUES (?, ?) ON CONFLICT DO NOTHING"
            together.run(sql, (dataset.id, user.id))

    def revoke(self, dataset: Dataset, user: User) -> None:
        """Let an analyst ask no more; what was granted and spent stays in the ledger."""
        sql = "DELETE FROM service_access WHERE dataset_id = ? AND user_id = ?"
        self._database.write(sql, dataset.id, user.id)

    def asked_by(self, dataset: Dataset) -> list[str]:
        """Return the names of those who may ask."""
        sql = (
            "SELECT u.name FROM service_access a JOIN service_users u ON u.id = a.user_id "
            "WHERE a.dataset_id = ? ORDER BY u.name"
        )
        return [str(name) for (name,) in self._database.rows(sql, dataset.id)]

    def all(self) -> list[Dataset]:
        """Return every data set."""
        sql = f"SELECT {_COLUMNS} FROM service_datasets d ORDER BY d.name"  # noqa: S608
        return [dataset_of(row) for row in self._database.rows(sql)]

    def seen_by(self, user: User) -> list[Dataset]:
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
        sql = f"SELECT {_COLUMNS} FROM service_datasets d WHERE d.id = ?"  # noqa: S608
        values = [dataset_id]
        if not user.reads_ledger:
            sql += (
                " AND EXISTS (SELECT 1 FROM service_access a "
                "WHERE a.dataset_id = d.id AND a.user_id = ?)"
            )
            values.append(user.id)
        rows = self._database.rows(sql, *values)
        if not rows:
            raise NotFoundError
        return dataset_of(rows[0])

    def by_id(self, dataset_id: str) -> Dataset:
        """Return a data set, for the service's own use."""
        sql = f"SELECT {_COLUMNS} FROM service_datasets d WHERE d.id = ?"  # noqa: S608
        return dataset_of(self._database.rows(sql, dataset_id)[0])


def dataset_of(row: tuple[object, ...]) -> Dataset:
    """Return the data set in a row."""
    id_, name, path, facts, unit, most_rows, digest, frozen, note, version = map(str, row)
    schema, protects, most = _declared(facts), _unit(unit), int(most_rows)
    return Dataset(id_, name, path, schema, protects, most, digest, frozen, note, int(version))


@lru_cache(1000)
def _declared(facts: str) -> Declared:
    """Return what a text declares; every page needs it, and it is never changed."""
    return declared_from(json.loads(facts))


@lru_cache(1000)
def _unit(facts: str) -> Unit:
    return unit_from(json.loads(facts))
