"""A first schema from a sample that its owner declares public, or a skeleton from names alone.

Bounds and categories taken from private rows would publish their extremes, so nothing else in the
library calls this, and the schema that results says where it comes from.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from privclust._typing import Floats
from privclust.data.columns.kinds import TypedColumn
from privclust.data.columns.table import MISSING_WORDS, category_line, number_line
from privclust.exceptions import SchemaError
from privclust.reading.locations import resolve_locations
from privclust.reading.opening import open_rows
from privclust.schema.dialect import Csv
from privclust.schema.facts import Box, Categories, Fact
from privclust.schema.files import skeleton_text
from privclust.schema.forms import Form
from privclust.schema.schema import Schema
from privclust.schema.writing import Writing
from privclust.steward.likely import MOST, is_missing, likely_writings

NOTE = "drafted from a public sample; check every bound"
_MOST_CATEGORIES = 100
_LIKE_AN_ID = re.compile(r"(^|[^a-z])(id|nr|no|number|nummer|key|uuid)$|[a-z](ID|Id)$")
# Fewer numbers say neither that they are ids nor that there are two codes only.
_FEWEST = 20
_WHOLE_KINDS = ("integer", "unsigned", "field", "cell")


def draft_schema(
    sample: Any, *, rows: int = 100_000, ignore: Sequence[str] = (), csv: Csv | None = None
) -> Schema:
    """Draft a schema from the first rows of a public sample.

    Numbers get a Box, rounded outwards to two digits of their range, and dates one of whole years;
    text, booleans and codes such as 0 and 1 get the categories seen, with one more for all others.
    Formats of dates and marks within numbers are those that read the sample. Where the sample has
    missing values, its median stands for missing numbers, and categories get one for missing
    values. Columns of free text, of ids or without values are ignored, and the note says which.

    Parameters
    ----------
    sample : data frame, array or path
        Anything that :func:`privclust.reading.open_rows` reads. It must be PUBLIC.
    rows : int, default=100_000
        How many rows of the sample to read.
    ignore : sequence of str
        Columns to leave out; the schema ignores them.
    csv : Csv or None
        The dialect of a CSV file; the schema keeps it.
    """
    sample = resolve_locations(sample)
    with open_rows(sample, ignore=[*ignore, ""], block_rows=rows, csv=csv) as source:
        block = next(source.blocks())
    columns = {name: block.column(name) for name in block.names}
    dialect = _with_marks(csv or Csv(), columns)
    drafts = {name: _Draft.of(column, name, dialect) for name, column in columns.items()}
    facts = {name: draft.fact for name, draft in drafts.items() if draft.fact is not None}
    left = {name: draft.why for name, draft in drafts.items() if draft.fact is None}
    if not facts:
        name, why = next(iter(left.items()))
        raise SchemaError(f"Column {name!r} {why}, so nothing is left; declare the columns.")
    told = "".join(f"; {name!r} is ignored, since it {why}" for name, why in left.items())
    told += "".join(f"; {n!r} {d.why}" for n, d in drafts.items() if d.fact is not None and d.why)
    return Schema(facts, ignore=[*ignore, *left], csv=dialect, note=NOTE + told)


def draft_skeleton(data: Any, *, ignore: Sequence[str] = (), csv: Csv | None = None) -> str:
    """Return the text of a schema file to fill in, from the names of columns; no row is read."""
    with open_rows(data, ignore=[*ignore, ""], csv=csv) as source:
        return skeleton_text(source.selection.names, ignore, csv or Csv())


def _with_marks(dialect: Csv, columns: dict[str, TypedColumn]) -> Csv:
    """Return the dialect with the marks within numbers that the file seems to have throughout."""
    if dialect.decimal != "." or dialect.thousands:
        return dialect
    found = [
        writing
        for column in columns.values()
        if column.kind == "field" and _numbers_as(column, Writing()) is None
        for writing in likely_writings(_texts(column), Writing())[:1]
        if writing.decimal == ","
    ]
    if not found:
        return dialect
    thousands = next((writing.thousands for writing in found if writing.thousands), "")
    return replace(dialect, decimal=",", thousands=thousands)


@dataclass
class _Draft:
    """What is proposed for one column: a fact, or the reason why it is left out or doubtful."""

    column: TypedColumn
    name: str
    csv: Csv
    fact: Fact | None = None
    why: str = ""

    @classmethod
    def of(cls, column: TypedColumn, name: str, csv: Csv) -> _Draft:
        draft = cls(column, name, csv)
        usual = Box(0, 1, form="text" if column.kind == "text" else "number").writing_rule(csv)
        there = ~is_missing(column)
        if column.kind == "float":
            there &= np.isfinite(column.decode().cast("float64"))
        if there.any() and _is_boolean(column):
            gaps = not there.all()
            draft.fact = Categories([False, True], missing="category" if gaps else "error")
        elif not there.any():
            draft.why = "has no values in the sample"
        elif not (
            draft._moments([Writing("date")])
            or draft._durations()
            or draft._numbers([usual])
            or draft._moments(draft._guesses(Writing("date")))
            or draft._numbers(draft._guesses(usual))
        ):
            draft._categories()
        return draft

    def _moments(self, writings: list[Writing]) -> bool:
        for writing in writings:
            days = _numbers_as(self.column, writing)
            if days is not None:
                ends = (int(days.min()), int(days.max()))
                first, last = (int(str(np.datetime64(day, "D"))[:4]) for day in ends)
                median = str(np.datetime64(int(np.median(days)), "D"))
                missing = median if self._has_gaps(days) else "error"
                low, high = f"{first:04}-01-01", f"{last:04}-12-31"
                self.fact = Box(low, high, missing, format=writing.format)
                others = [str(w.format) for w in writings if w != writing]
                self.why = f"may as well be written as {' or '.join(others)}" if others else ""
                return True
        return False

    def _durations(self) -> bool:
        hours = _numbers_as(self.column, Writing("hours"))
        if hours is not None:
            low, high = _round_outwards(float(hours.min()), float(hours.max()))
            missing = float(np.median(hours)) if self._has_gaps(hours) else "error"
            self.fact = Box(low, high, missing, "hours")
        return hours is not None

    def _numbers(self, writings: list[Writing]) -> bool:
        for writing in writings:
            numbers = _numbers_as(self.column, writing)
            if numbers is not None:
                self._box(numbers, writing)
                return True
        return False

    def _box(self, numbers: Floats, writing: Writing) -> None:
        whole = bool((numbers == np.rint(numbers)).all() and (np.abs(numbers) < 2**53).all())
        integers = whole and self.column.kind in _WHOLE_KINDS
        if whole and len(np.unique(numbers)) == len(numbers) >= _FEWEST:
            in_a_row = np.ptp(numbers) == len(numbers) - 1
            if in_a_row or _LIKE_AN_ID.search(self.name):
                self.why = "has another number in every row, as an id has"
                return
        if integers and np.ptp(numbers) == 1 and len(numbers) >= _FEWEST:
            # As a number, yes and no would be as far apart as the ends of any other column.
            codes, gaps = [int(numbers.min()), int(numbers.max())], self._has_gaps(numbers)
            self.fact = Categories(codes, "category" if gaps else "error", "other")
            return
        low, high = _round_outwards(float(numbers.min()), float(numbers.max()))
        missing = float(np.median(numbers)) if self._has_gaps(numbers) else "error"
        form: Form = writing.form
        if integers:
            low, high, form = float(math.floor(low)), float(math.ceil(high)), "integer"
            missing = missing if missing == "error" else float(round(float(missing)))
            if numbers.min() == numbers.max():
                low, high = numbers.min() - 1, numbers.max() + 1
        own: dict[str, Any] = {"unit": writing.unit}
        if (writing.decimal, writing.thousands) != (self.csv.decimal, self.csv.thousands):
            own |= {"decimal": writing.decimal, "thousands": writing.thousands}
        self.fact = Box(low, high, missing, form, **own)

    def _categories(self) -> None:
        read = category_line("text", Writing()).read(self.column)
        if read.foreign.any():
            self.why = "holds values of mixed or unsupported types"
            return
        values = sorted(read.values.drop_null().unique().to_pylist())
        if len(values) > _MOST_CATEGORIES:
            self.why = f"has more than {_MOST_CATEGORIES} categories in the sample"
            return
        gaps = bool(read.values.null_count)
        self.fact = Categories(values, "category" if gaps else "error", "other")

    def _has_gaps(self, numbers: Floats) -> bool:
        return len(numbers) < len(self.column)

    def _guesses(self, usual: Writing) -> list[Writing]:
        if self.column.kind not in ("text", "field"):
            return []
        return likely_writings(_texts(self.column), usual)


def _is_boolean(column: TypedColumn) -> bool:
    if column.kind not in ("boolean", "cell", "field"):
        return False
    if (
        column.kind == "field"
        and not category_line("integer", Writing()).read(column).foreign.any()
    ):
        return False  # codes such as 0 and 1, which are shown as they are
    return not category_line("boolean", Writing()).read(column).foreign.any()


def _texts(column: TypedColumn) -> list[str]:
    """Return the different texts of a column that are there."""
    words = column.words().drop_null().to_pylist()
    return [word for word in words if word.strip() not in MISSING_WORDS]


def _numbers_as(column: TypedColumn, writing: Writing) -> Floats | None:
    """Return the numbers of a column, if nearly all that are there read so, and one at least."""
    line = number_line(writing)
    if not line.takes(column.kind):
        return None
    numbers = line.read(column).values.to_numpy(zero_copy_only=False)
    found = numbers[np.isfinite(numbers)]
    there = np.count_nonzero(~is_missing(column))
    return found if len(found) and len(found) >= MOST * there else None


def _round_outwards(low: float, high: float) -> tuple[float, float]:
    """Round to two digits of the range; a constant gets a range of its own size around it."""
    width = high - low or abs(low) or 1.0
    exponent = math.floor(math.log10(width)) - 1
    step = 10.0**exponent
    if low == high:
        low, high = low - width / 2, high + width / 2
    # Written as decimals, the bounds print as short as they are.
    return float(f"{math.floor(low / step)}e{exponent}"), float(
        f"{math.ceil(high / step)}e{exponent}"
    )
