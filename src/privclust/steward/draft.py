"""A first schema from a sample that its owner declares public.

Bounds and categories taken from private rows would publish their extremes, so nothing else in the
library calls this, and the schema that results says where it comes from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from privclust.data.columns.kinds import TypedColumn
from privclust.data.columns.refusals import numbers_of
from privclust.data.columns.table import CATEGORIES, NUMBERS
from privclust.data.columns.words import category_refusal
from privclust.data.rows import Block
from privclust.exceptions import DataError, SchemaError
from privclust.reading.locations import resolve_locations
from privclust.reading.opening import open_rows
from privclust.schema.dialect import Csv
from privclust.schema.facts import Box, Categories, Fact
from privclust.schema.forms import Form
from privclust.schema.schema import Schema

NOTE = "drafted from a public sample; check every bound"
_MOST_CATEGORIES = 100


def draft_schema(
    sample: Any, *, rows: int = 1000, ignore: Sequence[str] = (), csv: Csv | None = None
) -> Schema:
    """Draft a schema from the first rows of a public sample.

    Numbers get a Box, rounded outwards to two digits of their range, and dates one of whole years;
    text and booleans get the categories seen, with one more for all others. Where the sample has
    missing values, numbers are put in the middle of the Box and categories get one for missing
    values.

    Parameters
    ----------
    sample : data frame, array or path
        Anything that :func:`privclust.reading.open_rows` reads. It must be PUBLIC.
    rows : int, default=1000
        How many rows of the sample to read.
    ignore : sequence of str
        Columns to leave out; the schema ignores them.
    csv : Csv or None
        The dialect of a CSV file; the schema keeps it.
    """
    sample = resolve_locations(sample)
    with open_rows(sample, ignore=ignore, block_rows=rows, csv=csv) as source:
        block = next(source.blocks())
        numbers = block
        if csv is not None and csv.decimal == ",":
            reopened = open_rows(
                sample, ignore=ignore, block_rows=rows, csv=csv, numbers=block.names
            )
            numbers = next(reopened.blocks())
    facts = [(name, _fact(block, numbers, name)) for name in block.names]
    return Schema(facts, ignore=ignore, csv=csv, note=NOTE)


def _fact(block: Block, numbers: Block, name: str) -> Fact:
    column = block.column(name)
    if column.kind == "boolean":
        return Categories([False, True], missing=_missing(column.array.null_count))
    for temporal in (_dates, _durations):
        if (box := temporal(column)) is not None:
            return box
    try:
        return _box(numbers_of(numbers, [name], {})[:, 0], name)
    except DataError:
        return _categories(column, name)


def _dates(column: TypedColumn) -> Box | None:
    """Return a Box of whole years if all values are dates."""
    days = _all_match_form(column, "date")
    if days is None:
        return None
    ends = (int(days.min()), int(days.max()))
    first, last = (int(str(np.datetime64(day, "D"))[:4]) for day in ends)
    missing = f"{(first + last) // 2:04}-07-01" if column.array.null_count else "error"
    return Box(f"{first:04}-01-01", f"{last:04}-12-31", missing)


def _durations(column: TypedColumn) -> Box | None:
    """Return a Box of hours if all values are durations."""
    hours = _all_match_form(column, "hours")
    if hours is None:
        return None
    low, high = _round_outwards(float(hours.min()), float(hours.max()))
    missing = low + (high - low) / 2 if column.array.null_count else "error"
    return Box(low, high, missing, "hours")


def _all_match_form(column: TypedColumn, form: Form) -> npt.NDArray[np.float64] | None:
    read = NUMBERS[form].read(column)
    numbers = read.values.to_numpy(zero_copy_only=False)
    found = numbers[np.isfinite(numbers)]
    return found if len(found) and not read.foreign.any() else None


def _box(values: npt.NDArray[np.float64], name: str) -> Box:
    finite = values[np.isfinite(values)]
    if not len(finite):
        raise SchemaError(f"Column {name!r} has no values in the sample; declare it by hand.")
    low, high = _round_outwards(float(finite.min()), float(finite.max()))
    missing = bool(np.isnan(values).any())
    return Box(low, high, low + (high - low) / 2) if missing else Box(low, high)


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


def _categories(column: TypedColumn, name: str) -> Categories:
    read = CATEGORIES["text"].read(column)
    if read.foreign.any():
        raise category_refusal(column, name, "text")
    values = sorted(read.values.drop_null().unique().to_pylist())
    if len(values) > _MOST_CATEGORIES:
        raise SchemaError(
            f"Column {name!r} has more than {_MOST_CATEGORIES} categories in the sample; "
            "leave it out or declare it by hand."
        )
    return Categories(values, missing=_missing(read.values.null_count), unknown="other")


def _missing(count: int) -> Any:
    return "category" if count else "error"
