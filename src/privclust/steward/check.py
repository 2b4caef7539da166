"""The steward's pass over the rows: what a fit would meet in them. Exact counts: NOT PRIVATE.

It draws no noise and charges nothing, so nothing of it may be published; the report says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np

from privclust._typing import Mask
from privclust.data.columns.refusals import numbers_of
from privclust.data.encode import writings_of
from privclust.data.rows import Block
from privclust.exceptions import NoRowsError
from privclust.reading.declared import open_declared
from privclust.reading.opening import open_rows
from privclust.schema.schema import Schema
from privclust.steward.tally import PeopleTally, Tally
from privclust.unit.rows import IdType

# A column of the caller's rows as text, handed back to the caller, such as the ids of the rows.


def column_as_text(data: Any, column: str) -> Iterator[str]:
    """Yield the text of one column row by row, only for the holder of the rows."""
    with open_rows(data, [column], ignore=None) as rows:
        for block in rows.blocks():
            for value in block.column(column).array.to_pylist():
                yield "" if value is None else str(value)


# What a steward's check of the rows found. Exact counts: NOT PRIVATE, and marked so.

NOT_PRIVATE = (
    "NOT PRIVATE: exact counts of the rows, for the steward of the data alone; do not publish."
)


@dataclass(frozen=True)
class ColumnCheck:
    """What was found in one column."""

    # The column, and what the schema says about it.
    name: str
    declared: str
    stored: tuple[str, ...]  # the types it is stored with
    missing: int  # rows without a value
    foreign: int  # rows whose value is not of the declared form, such as text among numbers
    # Rows that are clipped to the bounds, or counted in the outermost bins.
    below: int
    above: int
    unknown: int  # rows whose value is not in the declared list
    problems: tuple[str, ...]  # what a fit would refuse
    doubts: tuple[str, ...] = ()  # what it would read, and probably not as it is meant


@dataclass(frozen=True)
class PeopleCheck:
    """What was found in the id column."""

    id_column: str
    people: int  # different ids
    missing: int  # rows without an id
    mean_rows: float  # rows per person, on average
    most_rows: int  # rows of the person who has the most
    max_rows: int | None  # rows that may count, if declared
    rows_left_out: int | None  # rows beyond them, which would not count
    problem: str | None = None  # why the column cannot have ids, if it cannot


@dataclass(frozen=True, repr=False)
class CheckReport:
    """What a steward's pass over the rows found; for the steward's eyes only."""

    rows: int  # number of rows
    columns: tuple[ColumnCheck, ...]
    clipped_rows: int  # rows of which at least one number is clipped, or that lie outside the ball
    people: PeopleCheck | None = None  # if there is an id column

    @property
    def problems(self) -> tuple[str, ...]:
        """What a fit would refuse, one sentence each."""
        found = [problem for column in self.columns for problem in column.problems]
        if not self.rows:
            found.append("The data have no rows.")
        if self.people and self.people.missing:
            found.append(
                f"Column {self.people.id_column!r} has {self.people.missing:,} missing ids; fill "
                "them in, or count each as a person of its own (--missing-ids separate)."
            )
        if self.people and self.people.problem:
            found.append(self.people.problem)
        return tuple(found)

    @property
    def doubts(self) -> tuple[str, ...]:
        """What a fit would read without an error, and probably not as it is meant."""
        return tuple(doubt for column in self.columns for doubt in column.doubts)

    def share(self, count: int) -> str:
        """Return a count as a share of all rows."""
        return f"{count / self.rows:.2%}" if self.rows else "-"

    def summary(self) -> Iterator[str]:
        """Yield the sentences that go with the table of columns."""
        yield f"{self.rows:,} rows, of which {self.share(self.clipped_rows)} are clipped."
        if (people := self.people) is not None:
            yield (
                f"{people.people:,} people by {people.id_column!r}, with {people.mean_rows:.3g} "
                f"rows each on average and {people.most_rows:,} at most."
            )
            if people.rows_left_out is not None:
                yield (
                    f"With max_rows={people.max_rows} {self.share(people.rows_left_out)} of the "
                    "rows would be left out."
                )
        if self.problems:
            yield f"A fit would be refused: {' '.join(self.problems)}"
        if self.doubts:
            yield f"A fit would not see what these rows say: {' '.join(self.doubts)}"
        if not self.problems and not self.doubts:
            yield "A fit would read these rows."

    def table(self) -> list[tuple[str, ...]]:
        """Return the columns as text: a heading, then a line for each."""
        heading = ("column", "declared", "stored as", "missing", "foreign", "clipped", "unknown")
        return [heading, *map(self._line, self.columns)]

    def _line(self, column: ColumnCheck) -> tuple[str, ...]:
        counts = (column.missing, column.foreign, column.below + column.above, column.unknown)
        shares = (self.share(count) if count else "-" for count in counts)
        return (column.name, column.declared, ", ".join(column.stored), *shares)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, beginning with the mark that it is not private."""
        return {
            "warning": NOT_PRIVATE,
            "rows": self.rows,
            "clipped_rows": self.clipped_rows,
            "columns": [_plain(asdict(column)) for column in self.columns],
            "people": None if self.people is None else asdict(self.people),
            "problems": list(self.problems),
            "doubts": list(self.doubts),
        }

    def __repr__(self) -> str:
        lines = self.table()
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        shown = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
        return "\n".join([NOT_PRIVATE, "", *shown, "", *self.summary()])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def _column_check(tally: Tally) -> ColumnCheck:
    names = ("missing", "foreign", "below", "above", "unknown")
    return ColumnCheck(
        name=tally.name,
        declared=tally.fact.describe(),
        stored=tuple(sorted(tally.stored)),
        problems=tuple(tally.problems()),
        doubts=tuple(tally.doubts()),
        **{name: tally.counts[name] for name in names},
    )


def _people_check(people: PeopleTally, id_column: str, max_rows: int | None) -> PeopleCheck:
    rows = people.rows_of_people
    return PeopleCheck(
        id_column=id_column,
        people=len(rows),
        missing=people.missing,
        mean_rows=float(rows.mean()) if len(rows) else 0.0,
        most_rows=int(rows.max(initial=0)),
        max_rows=max_rows,
        rows_left_out=None if max_rows is None else int(np.maximum(rows - max_rows, 0).sum()),
        problem=people.problem,
    )


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    return {key: list(v) if isinstance(v, tuple) else v for key, v in document.items()}


def check_rows(
    data: Any,
    schema: Schema,
    *,
    id_column: str | None = None,
    max_rows: int | None = None,
    id_type: IdType = "text",
) -> CheckReport:
    """Count what a fit would meet in the rows; for the steward's eyes only, NOT PRIVATE.

    Parameters
    ----------
    data : anything that a fit reads
    schema : Schema
        What is declared about the columns.
    id_column : str or None
        The column that names a person, to count rows per person.
    max_rows : int or None
        Rows of one person that may count, to say how many would be left out.
    id_type : "text" or "number"
        How ids are compared, see :class:`privclust.Person`.
    """
    tallies = [
        Tally(name, fact, schema.writing_rule(name)) for name, fact in schema.columns.items()
    ]
    rows, clipped, people = 0, 0, PeopleTally(id_type)
    with open_declared(data, schema, id_column=id_column, may_be_empty=True, typed=False) as source:
        try:
            for block in source.blocks():
                rows += block.n_rows
                outside = [tally.add(block) for tally in tallies]
                outside.append(_outside_ball(block, schema))
                clipped += int(np.logical_or.reduce(outside).sum())
                if id_column is not None:
                    people.add(block.column(id_column), id_column)
        except NoRowsError:
            pass
    columns = tuple(map(_column_check, tallies))
    found = None if id_column is None else _people_check(people, id_column, max_rows)
    return CheckReport(rows, columns, clipped, found)


def check_columns(data: Any, schema: Schema, *, id_column: str | None = None) -> None:
    """Raise if a column is absent, not declared, or of a type that cannot be read.

    No row is read; data without rows are accepted too.
    """
    with open_declared(data, schema, id_column=id_column, may_be_empty=True):
        pass


def _outside_ball(block: Block, schema: Schema) -> Mask:
    """Return which rows, clipped to the boxes, lie outside the declared ball."""
    if schema.ball is None:
        return np.zeros(block.n_rows, np.bool_)
    rows = numbers_of(block, schema.numeric, writings_of(schema), schema.numeric)
    gaps = np.clip(rows, schema.low, schema.high) - np.array(schema.ball.center)
    # A missing number is put within the boxes; whether within the ball, its constant decides.
    return np.asarray(np.linalg.norm(np.nan_to_num(gaps), axis=1) > schema.ball.radius)
