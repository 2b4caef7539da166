"""The steward's pass over the rows: what a fit would meet in them. Exact counts: NOT PRIVATE.

It draws no noise and charges nothing, so nothing of it may be published; the report says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from privclust._typing import Mask
from privclust.data.columns.kinds import TypedColumn
from privclust.data.columns.refusals import numbers_of
from privclust.data.columns.table import ARROW_TYPE, CATEGORIES, IDS, MISSING_WORDS, NUMBERS
from privclust.data.columns.words import id_refusal, in_words
from privclust.data.encode import forms_of
from privclust.data.rows import Block
from privclust.exceptions import NoRowsError
from privclust.reading.declared import open_declared
from privclust.reading.opening import open_rows
from privclust.schema.facts import Bins, Box, Categories, Fact
from privclust.schema.schema import Schema
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
    tallies = [_Tally(name, fact) for name, fact in schema.columns.items()]
    rows, clipped, people = 0, 0, _People(id_type)
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
    columns = tuple(tally.result() for tally in tallies)
    found = None if id_column is None else people.result(id_column, max_rows)
    return CheckReport(rows, columns, clipped, found)


def check_columns(data: Any, schema: Schema, *, id_column: str | None = None) -> None:
    """Raise if a column is absent, not declared, or of a type that cannot be read.

    No row is read; data without rows are accepted too.
    """
    with open_declared(data, schema, id_column=id_column, may_be_empty=True):
        pass


@dataclass
class _Tally:
    """The counts of one column."""

    name: str
    fact: Fact
    stored: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, block: Block) -> Mask:
        """Count the rows of a block and return which of them are clipped."""
        column = block.column(self.name)
        self.stored.add(_type_phrase(column))
        if isinstance(self.fact, Categories):
            self._add_categories(column, self.fact)
            return np.zeros(block.n_rows, np.bool_)
        return self._add_numbers(column, self.fact)

    def _add_categories(self, column: TypedColumn, fact: Categories) -> None:
        read = CATEGORIES[fact.kind].read(column)
        listed = pc.is_in(read.values, value_set=pa.array(fact.values, ARROW_TYPE[fact.kind]))
        missing = _mask(read.values.is_null()) & ~read.foreign
        self.counts["missing"] += int(missing.sum())
        self.counts["unknown"] += int((~_mask(listed) & ~missing).sum())

    def _add_numbers(self, column: TypedColumn, fact: Box | Bins) -> Mask:
        numbers = NUMBERS[fact.form].read(column).values.to_numpy(zero_copy_only=False)
        finite = np.isfinite(numbers)
        missing = ~finite & _missing(column)
        low, high = (fact.low, fact.high) if isinstance(fact, Box) else _ends(fact)
        below, above = finite & (numbers < low), finite & (numbers > high)
        self.counts["missing"] += int(missing.sum())
        self.counts["foreign"] += int((~finite & ~missing).sum())
        self.counts["below"] += int(below.sum())
        self.counts["above"] += int(above.sum())
        return np.asarray(below | above)

    def result(self) -> ColumnCheck:
        names = ("missing", "foreign", "below", "above", "unknown")
        counts = {name: self.counts[name] for name in names}
        return ColumnCheck(
            name=self.name,
            declared=self.fact.describe(),
            stored=tuple(sorted(self.stored)),
            problems=tuple(self._problems()),
            **counts,
        )

    def _problems(self) -> list[str]:
        listed = isinstance(self.fact, Categories) and self.fact.unknown == "error"
        rule = "a constant" if isinstance(self.fact, Box) else '"category"'
        strict = self.fact.missing == "error"
        refused = {
            "missing": (strict, f"missing; declare missing = {rule} for it"),
            "foreign": (strict, f"not of the declared form; declare missing = {rule} for it"),
            "unknown": (listed, 'not in the declared list; declare unknown = "other" for it'),
        }
        return [
            f"Column {self.name!r}: {self.counts[what]:,} of its values {words}."
            for what, (is_refused, words) in refused.items()
            if is_refused and self.counts[what]
        ]


class _People:
    """The rows of every person."""

    def __init__(self, id_type: IdType) -> None:
        self._type = id_type
        self._rows: Counter[str] = Counter()
        self._missing = 0
        self._problem: str | None = None

    def add(self, ids: TypedColumn, name: str) -> None:
        read = IDS[self._type].read(ids)
        if read.foreign.any():
            self._problem = str(id_refusal(read, name, as_numbers=self._type == "number"))
            return
        self._missing += read.values.null_count
        for entry in read.values.drop_null().value_counts().to_pylist():
            self._rows[entry["values"]] += entry["counts"]

    def result(self, id_column: str, max_rows: int | None) -> PeopleCheck:
        rows = np.array([*self._rows.values()], np.int64)
        beyond = None if max_rows is None else int(np.maximum(rows - max_rows, 0).sum())
        return PeopleCheck(
            id_column=id_column,
            people=len(rows),
            missing=self._missing,
            mean_rows=float(rows.mean()) if len(rows) else 0.0,
            most_rows=int(rows.max(initial=0)),
            max_rows=max_rows,
            rows_left_out=beyond,
            problem=self._problem,
        )


def _outside_ball(block: Block, schema: Schema) -> Mask:
    """Return which rows, clipped to the boxes, lie outside the declared ball."""
    if schema.ball is None:
        return np.zeros(block.n_rows, np.bool_)
    rows = numbers_of(block, schema.numeric, forms_of(schema), schema.numeric)
    gaps = np.clip(rows, schema.low, schema.high) - np.array(schema.ball.center)
    # A missing number is put within the boxes; whether within the ball, its constant decides.
    return np.asarray(np.linalg.norm(np.nan_to_num(gaps), axis=1) > schema.ball.radius)


def _missing(column: TypedColumn) -> Mask:
    """Return which values are absent, not merely unreadable."""
    array = column.decode()
    if column.kind == "float":
        return _mask(pc.is_null(array, nan_is_null=True))
    if column.kind in ("text", "field"):
        text = pc.utf8_trim_whitespace(array.cast(pa.large_string()))
        words = pc.is_in(text, value_set=pa.array([*MISSING_WORDS, None], pa.large_string()))
        return _mask(words)
    if column.kind == "cell":
        return _mask(pc.equal(pc.struct_field(array, "tag").fill_null(0), 0))
    return _mask(array.is_null())


def _ends(fact: Bins) -> tuple[float, float]:
    return fact.edges[0], fact.edges[-1]


def _type_phrase(column: TypedColumn) -> str:
    if column.kind in ("text", "field", "cell"):
        return in_words(column)
    stored = column.array.type
    return str(stored.value_type if pt.is_dictionary(stored) else stored)


def _mask(array: pa.Array) -> Mask:
    return np.asarray(array.to_numpy(zero_copy_only=False), np.bool_)
