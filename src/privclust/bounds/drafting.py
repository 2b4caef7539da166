"""From released ranges to a schema that a fit can use, and what to doubt about it.

Every rule of the schema is total: a missing number is put in the middle of its range, so that no
row of a later fit can end it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from privclust.bounds.result import BoundsResult, Range
from privclust.data.numbers.public import ColumnForm
from privclust.notes import Note
from privclust.schema import Box, Csv, Schema

__all__ = ["NOTE", "doubts_about", "drafted"]

NOTE = "bounds found by a private question; they leave out a small share of the rows"
_LARGEST, _NARROWEST = 1e150, 1e-150
_FIRST_DAY, _LAST_DAY = date.min.toordinal(), date.max.toordinal()
_EPOCH = date(1970, 1, 1).toordinal()
_SURE = 2.0
_REMEDY = "raise epsilon, ask for fewer columns, or declare the bounds by hand"


def drafted(
    result: BoundsResult,
    forms: Mapping[str, ColumnForm],
    *,
    ignore: Sequence[str] = (),
    csv: Csv | None = None,
) -> Schema:
    """Return the schema of the ranges; a column that noise hides gets the widest bounds."""
    columns = zip(forms.items(), result.ranges, strict=True)
    facts = [(name, _box(found, form)) for (name, form), found in columns]
    return Schema(facts, ignore=ignore, csv=csv, note=NOTE)


def doubts_about(
    result: BoundsResult, names: Sequence[str], outside_share: float
) -> Iterator[Note]:
    """Yield a note for each column that noise hides, or whose range leaves out too many rows."""
    for name, found in zip(names, result.ranges, strict=True):
        if not found.found:
            yield Note(
                "columns-hidden",
                f"Noise hides the numbers of the column {name!r}, so its bounds are as wide as "
                f"they can be; {_REMEDY}.",
            )
            continue
        rows = result.n_rows - max(found.missing, 0.0)
        error = math.hypot(found.inside_error, found.missing_error, result.n_rows_error)
        outside = rows - found.inside - _SURE * error
        if outside > outside_share * rows:
            yield Note(
                "rows-outside",
                f"The bounds of the column {name!r} leave out at least {outside / rows:.0%} of its "
                f"rows, because noise hides where they are; {_REMEDY}.",
            )


def _box(found: Range, form: ColumnForm) -> Box:
    low, high = max(found.low, -_LARGEST), min(found.high, _LARGEST)
    if form in ("date", "time"):
        return _moments(low, high, form)
    if form == "integer" and found.found:
        # The upper end is the first number beyond the last cell.
        low, high = float(math.ceil(low)), float(math.ceil(high)) - 1
        high = max(high, low + max(1.0, math.ulp(low)))
        form = "number"
    if high - low < _NARROWEST:
        high = low + _NARROWEST
    return Box(low, high, low / 2 + high / 2, "number" if form == "integer" else form)


def _moments(low: float, high: float, form: ColumnForm) -> Box:
    """Return a Box of dates or times, within the calendar."""
    first, last = _FIRST_DAY - _EPOCH, _LAST_DAY - _EPOCH
    start = min(max(math.floor(max(low, first)), first), last - 1)
    end = min(max(math.ceil(min(high, last)), start + 1), last)
    ends = (start, end, (start + end) // 2)
    low_day, high_day, middle = (date.fromordinal(_EPOCH + day) for day in ends)
    return Box(low_day, high_day, middle, "date" if form == "date" else "time")
