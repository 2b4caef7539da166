"""The steward's check at registration: it shows that no later job can fail on the rows.

Rules that end in an error would reveal something about the rows to an analyst, so a served schema
has none. One pass by the steward counts what a fit would meet, and one fit for every offer, of
which nothing is kept, tries the whole way from the file to a release.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from privclust.jobs.fit import sentence_of, user_errors
from privclust.schema.facts import Categories
from privclust.schema.schema import Schema
from privclust.service.asking import fit_for
from privclust.service.declared import Counts, Declared
from privclust.service.errors import ServiceError
from privclust.service.files import digest_of_files, digests_of
from privclust.service.offers import offers_for
from privclust.service.questions import FitQuestion
from privclust.unit import Unit
from privclust.unit.matrix import MatrixUnit
from privclust.unit.rows import Person, RowUnit


@dataclass(frozen=True)
class Checked:
    """What the steward's check found; exact counts, for the steward alone.

    Attributes
    ----------
    report : CheckReport
        What :meth:`Schema.check` counted.
    digest : str
        The digest of the files.
    files : tuple of str
        The digest of every single file.
    """

    report: Any
    digest: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class MatrixReport:
    """What a steward reads of a matrix that was checked; nothing but what was declared."""

    declared: Counts

    def table(self) -> list[list[str]]:
        """Return the lines of a table, the first of which is its head."""
        return [["rows", "columns"], [f"{length:,}" for length in self.declared.shape]]

    def summary(self) -> list[str]:
        """Return what was found, a sentence each."""
        return ["Every entry was read as a count, and every family on offer was fitted."]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return self.declared.to_dict()


def check_rules(schema: Declared, unit: Unit) -> None:
    """Raise unless every rule is total, so that no row can make a job fail."""
    if isinstance(schema, Counts) != isinstance(unit, MatrixUnit):
        raise ServiceError(
            "A matrix is protected by count, entry or row, and a table by row or person; change "
            "who is protected."
        )
    if isinstance(schema, Schema) and isinstance(unit, RowUnit):
        _check_columns(schema, unit)
    if not offers_for(schema):
        raise ServiceError("Nothing can be asked of these columns; declare numbers or categories.")


def _check_columns(schema: Schema, unit: RowUnit) -> None:
    for name, fact in schema.columns.items():
        unknown = isinstance(fact, Categories) and fact.unknown == "error"
        if fact.missing == "error" or unknown:
            rule = "unknown" if fact.missing != "error" else "missing"
            raise ServiceError(
                f'Column {name!r}: the rule {rule} = "error" could fail on a row, and the failure '
                "would reveal it; declare a constant or a category instead."
            )
    if unit.id_column is not None and unit.id_column in schema:
        raise ServiceError(f"Column {unit.id_column!r} names people; leave it out of the schema.")


def check_files(place: Path, schema: Declared, unit: Unit, most_rows: int) -> Checked:
    """Read the rows once, try every offer on them, and return counts and digest for the steward.

    Parameters
    ----------
    place : Path
        The file or folder.
    schema : Schema or Counts
    unit : Unit
    most_rows : int
        The declared bound on the number of rows.
    """
    check_rules(schema, unit)
    digest, files = digests_of(place)
    report = _report(place, schema, unit, most_rows)
    _try_offers(place, schema, unit)
    if digest_of_files(place) != digest:
        raise ServiceError("The files changed while they were checked; check them again.")
    return Checked(report, digest, files)


def _report(place: Path, schema: Declared, unit: Unit, most_rows: int) -> Any:
    """Count what a fit would meet, and raise if it is more than was declared."""
    if isinstance(schema, Counts):
        if schema.rows > most_rows:
            raise ServiceError("The matrix has more rows than the declared bound; raise it.")
        return MatrixReport(schema)
    people = (
        {"max_rows": unit.max_rows, "id_type": unit.id_type} if isinstance(unit, Person) else {}
    )
    id_column = unit.id_column if isinstance(unit, RowUnit) else None
    report = schema.check(str(place), id_column=id_column, **people)
    met = report
    if report.people and isinstance(unit, Person) and unit.missing == "separate":
        met = replace(report, people=replace(report.people, missing=0, problem=None))
    if met.problems:
        raise ServiceError(" ".join(met.problems))
    if report.rows > most_rows:
        raise ServiceError(
            "There are more rows than the declared bound; raise the bound, which is public and "
            "must hold."
        )
    return report


def _try_offers(place: Path, schema: Declared, unit: Unit) -> None:
    """Fit every offer once; nothing of it is kept, shown or charged."""
    delta = "1e-6" if isinstance(unit, MatrixUnit) and unit.whole_rows else "0"
    for offer in offers_for(schema):
        asked = {"family": offer.name, "epsilon": "1", "delta": delta}
        fit = fit_for(FitQuestion.parsed(asked, schema), schema, unit, str(place))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                release = fit.make_release()
            except user_errors() as error:
                raise ServiceError(
                    f"{offer.title} would fail on these rows: {sentence_of(error)}"
                ) from None
        labels = release.arrays.get("row_labels")
        if isinstance(schema, Counts) and labels is not None and len(labels) != schema.rows:
            raise ServiceError("The matrix has another number of rows than declared; correct it.")
