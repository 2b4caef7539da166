"""The steward's check at registration: it shows that no later job can fail on the rows.

Rules that end in an error would reveal something about the rows to an analyst, so a served schema
has none. One pass by the steward counts what a fit would meet, and one fit for every offer, of
which nothing is kept, tries the whole way from the file to a release.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from privclust.jobs.fit import sentence_of, user_errors
from privclust.schema.facts import Box, Categories
from privclust.schema.schema import Schema
from privclust.service.declared import Counts, Declared
from privclust.service.errors import ServiceError
from privclust.service.offers import offers_for
from privclust.service.questions import FitQuestion, fit_for
from privclust.unit import Unit
from privclust.unit.matrix import MatrixUnit
from privclust.unit.rows import Person, RowUnit

Tell = Callable[[str], None]

# Squares of squares of larger numbers are no longer numbers.
_FARTHEST = 1e50


@dataclass(frozen=True)
class CheckedFiles:
    """What the steward's check found; exact counts, for the steward alone."""

    report: Any  # what :meth:`Schema.check` counted
    digest: str  # the digest of the files
    files: tuple[str, ...]  # the digest of every single file


@dataclass(frozen=True)
class MatrixReport:
    """What a steward reads of a matrix that was checked: only what was declared."""

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
        if isinstance(fact, Box) and max(abs(fact.low), abs(fact.high)) > _FARTHEST:
            raise ServiceError(
                f"Column {name!r}: bounds beyond {_FARTHEST:g} are too wide to compute with; use "
                "another unit of measurement."
            )
    if unit.id_column is not None and unit.id_column in schema:
        raise ServiceError(
            f"Column {unit.id_column!r} identifies people; leave it out of the schema."
        )


def check_files(
    place: Path,
    schema: Declared,
    unit: Unit,
    most_rows: int,
    tell: Tell = lambda words: None,
) -> CheckedFiles:
    """Read the rows once, try every offer on them, and return counts and digest for the steward.

    ``most_rows``: the declared bound on the number of rows. ``tell``: takes how far the check is,
    in words for the steward.
    """
    check_rules(schema, unit)
    tell("Computing the digest of the files")
    digest, files = digests_of(place)
    tell("Counting what a fit would meet in the rows")
    report = _report(place, schema, unit, most_rows)
    _try_offers(place, schema, unit, tell)
    tell("Computing the digest once more")
    if digest_of_files(place) != digest:
        raise ServiceError("The files changed while they were checked; check them again.")
    return CheckedFiles(report, digest, files)


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


def _try_offers(place: Path, schema: Declared, unit: Unit, tell: Tell) -> None:
    """Fit every offer once; nothing of it is kept, shown or charged."""
    delta = "1e-6" if isinstance(unit, MatrixUnit) and unit.whole_rows else "0"
    offers = offers_for(schema)
    for number, offer in enumerate(offers, 1):
        tell(f"Trying {offer.task.title}, {number} of {len(offers)}")
        asked = {"family": offer.name, "epsilon": "1", "delta": delta}
        fit = fit_for(FitQuestion.parse(asked, schema), schema, unit, str(place))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                release = fit.make_release()
            except user_errors() as error:
                raise ServiceError(
                    f"{offer.task.title} would fail on these rows: {sentence_of(error)}"
                ) from None
        labels = release.arrays.get("row_labels")
        if isinstance(schema, Counts) and labels is not None and len(labels) != schema.rows:
            raise ServiceError("The matrix does not have the declared number of rows; correct it.")


_SUFFIXES = (".csv", ".parquet", ".arrow", ".feather", ".npz", ".mtx")
_MOST_LISTED = 300
_NO_LINKS = "Symbolic links are not allowed in the data folder; copy the files into it."
_OUTSIDE = "The path must name a file or folder below the data folder of the service; change it."


def files_below(folder: Path) -> list[str]:
    """Return the paths below the data folder that a data set can have, the first few hundred."""
    found = (it for it in sorted(folder.rglob("*")) if it.suffix.lower() in _SUFFIXES)
    whole = (it for it in found if it.is_file() and not it.is_symlink())
    return [it.relative_to(folder).as_posix() for it in islice(whole, _MOST_LISTED)]


def resolve_path(folder: Path, path: str) -> Path:
    """Return the file or folder that a path below the data folder names.

    ``folder``: the data folder of the service, resolved. ``path``: a relative path; links that lead
    out of the folder are refused.
    """
    if not path or len(path) > 500 or not path.isprintable() or set(path) & set("*?[]:\\"):
        raise ServiceError(_OUTSIDE)
    given = Path(path)
    if given.is_absolute() or ".." in given.parts:
        raise ServiceError(_OUTSIDE)
    place = (folder / given).resolve()
    if place == folder or not place.is_relative_to(folder):
        raise ServiceError(_OUTSIDE)
    if not place.exists():
        raise ServiceError("There is no such file below the data folder; check the path.")
    if place.is_file() and place.suffix.lower() not in _SUFFIXES:
        raise ServiceError(f"A data set is a file of type {', '.join(_SUFFIXES)}; convert it.")
    return place


def digest_of_files(place: Path) -> str:
    """Return the SHA-256 digest of a file, or of all files below a folder with their names."""
    return digests_of(place)[0]


def digests_of(place: Path) -> tuple[str, tuple[str, ...]]:
    """Return the digest of a file or a folder as a whole, and those of every single file.

    A CSV file has a second one that does not see line ends and empty lines, so that a copy which
    an editor has saved is known again.
    """
    if place.is_file():
        digest = _digest(place)
        return digest, tuple(sorted({digest, *_digest_of_lines(place)}))
    whole, single = hashlib.sha256(), set[str]()
    for file in sorted(place.rglob("*")):
        if file.is_symlink():
            raise ServiceError(_NO_LINKS)
        if file.is_file():
            digest = _digest(file)
            whole.update(f"{file.relative_to(place).as_posix()}\0{digest}\0".encode())
            single |= {digest, *_digest_of_lines(file)}
    return whole.hexdigest(), tuple(sorted(single))


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _digest_of_lines(file: Path) -> list[str]:
    if file.suffix.lower() != ".csv":
        return []
    lines = hashlib.sha256(b"lines\0")
    with file.open("rb") as opened:
        while block := opened.read(2**20):
            lines.update(block.translate(None, b"\r\n"))
    return [lines.hexdigest()]
