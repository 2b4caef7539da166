"""What a steward's check of the rows found. Exact counts: NOT PRIVATE, and marked so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

__all__ = ["NOT_PRIVATE", "CheckReport", "ColumnCheck", "PeopleCheck"]

NOT_PRIVATE = (
    "NOT PRIVATE: exact counts of the rows, for the steward of the data alone; do not publish."
)


@dataclass(frozen=True)
class ColumnCheck:
    """What was found in one column.

    Attributes
    ----------
    name, declared : str
        The column, and what the schema says about it.
    stored : tuple of str
        The types it is stored with.
    missing : int
        Rows without a value.
    foreign : int
        Rows whose value is not of the declared form, such as text among numbers.
    below, above : int
        Rows that are clipped to the bounds, or counted in the outermost bins.
    unknown : int
        Rows whose value is not in the declared list.
    problems : tuple of str
        What a fit would refuse.
    """

    name: str
    declared: str
    stored: tuple[str, ...]
    missing: int
    foreign: int
    below: int
    above: int
    unknown: int
    problems: tuple[str, ...]


@dataclass(frozen=True)
class PeopleCheck:
    """What was found in the id column.

    Attributes
    ----------
    id_column : str
    people : int
        Different ids.
    missing : int
        Rows without an id.
    mean_rows : float
        Rows per person, on average.
    most_rows : int
        Rows of the person who has the most.
    max_rows : int or None
        Rows that may count, if declared.
    rows_left_out : int or None
        Rows beyond them, which would not count.
    problem : str or None
        Why the column cannot hold ids, if it cannot.
    """

    id_column: str
    people: int
    missing: int
    mean_rows: float
    most_rows: int
    max_rows: int | None
    rows_left_out: int | None
    problem: str | None = None


@dataclass(frozen=True, repr=False)
class CheckReport:
    """What a steward's pass over the rows found; for the steward's eyes only.

    Attributes
    ----------
    rows : int
        Number of rows.
    columns : tuple of ColumnCheck
    clipped_rows : int
        Rows of which at least one number is clipped, or that lie outside the ball.
    people : PeopleCheck or None
        If there is an id column.
    """

    rows: int
    columns: tuple[ColumnCheck, ...]
    clipped_rows: int
    people: PeopleCheck | None = None

    @property
    def problems(self) -> tuple[str, ...]:
        """What a fit would refuse, one sentence each."""
        found = [problem for column in self.columns for problem in column.problems]
        if not self.rows:
            found.append("The data have no rows.")
        if self.people and self.people.missing:
            found.append(
                f"Column {self.people.id_column!r} has {self.people.missing:,} missing ids."
            )
        if self.people and self.people.problem:
            found.append(self.people.problem)
        return tuple(found)

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
        else:
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
        }

    def __repr__(self) -> str:
        lines = self.table()
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        shown = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
        return "\n".join([NOT_PRIVATE, "", *shown, "", *self.summary()])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    return {key: list(v) if isinstance(v, tuple) else v for key, v in document.items()}
