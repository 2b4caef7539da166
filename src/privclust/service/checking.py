"""The steward's check at registration: it shows that no later job can fail on the rows.

Rules that end in an error would tell an analyst something about the rows, so a served schema has
none. One pass by the steward counts what a fit would meet, and one fit for every offer, of which
nothing is kept, tries the whole way from the file to a release.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privclust.exceptions import PrivclustError
from privclust.schema import Categories, Schema
from privclust.service.errors import ServiceError
from privclust.service.files import digest_of_files
from privclust.service.questions import Question, offers_for
from privclust.unit import Person, RowUnit

__all__ = ["Checked", "check_files", "check_rules"]


@dataclass(frozen=True)
class Checked:
    """What the steward's check found; exact counts, for the steward alone.

    Attributes
    ----------
    report : CheckReport
        What :meth:`Schema.check` counted.
    digest : str
        The digest of the files.
    """

    report: Any
    digest: str


def check_rules(schema: Schema, unit: RowUnit) -> None:
    """Raise unless every rule is total, so that no row can make a job fail."""
    for name, fact in schema.columns.items():
        unknown = isinstance(fact, Categories) and fact.unknown == "error"
        if fact.missing == "error" or unknown:
            rule = "unknown" if fact.missing != "error" else "missing"
            raise ServiceError(
                f'Column {name!r}: the rule {rule} = "error" could fail on a row, and the failure '
                "would tell of it; declare a constant or a category instead."
            )
    if unit.id_column is not None and unit.id_column in schema:
        raise ServiceError(f"Column {unit.id_column!r} names people; leave it out of the schema.")
    if not offers_for(schema):
        raise ServiceError("Nothing can be asked of these columns; declare numbers or categories.")


def check_files(place: Path, schema: Schema, unit: RowUnit, most_rows: int) -> Checked:
    """Read the rows once, try every offer on them, and return counts and digest for the steward.

    Parameters
    ----------
    place : Path
        The file or folder.
    schema : Schema
    unit : RowUnit
    most_rows : int
        The declared bound on the number of rows.
    """
    check_rules(schema, unit)
    digest = digest_of_files(place)
    people = (
        {"max_rows": unit.max_rows, "id_type": unit.id_type} if isinstance(unit, Person) else {}
    )
    report = schema.check(str(place), id_column=unit.id_column, **people)
    separate = isinstance(unit, Person) and unit.missing == "separate"
    problems = [it for it in report.problems if not (separate and "missing ids" in it)]
    if problems:
        raise ServiceError(" ".join(problems))
    if report.rows > most_rows:
        raise ServiceError(
            "There are more rows than the declared bound; raise it, it is public and must hold."
        )
    _try_offers(place, schema, unit)
    if digest_of_files(place) != digest:
        raise ServiceError("The files changed while they were checked; check them again.")
    return Checked(report, digest)


def _try_offers(place: Path, schema: Schema, unit: RowUnit) -> None:
    """Fit every offer once; nothing of it is kept, shown or charged."""
    for offer in offers_for(schema):
        question = Question.parsed({"family": offer.name, "epsilon": "1"}, schema)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                question.model(schema, unit).fit(str(place))
            except PrivclustError as error:
                raise ServiceError(f"{offer.title} would fail on these rows: {error}") from None
