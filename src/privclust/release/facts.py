"""A release at a glance, and its centres as tables in the declared forms and as CSV files."""

from __future__ import annotations

import codecs
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from privclust._typing import Floats
from privclust.exceptions import ParameterError, ReleaseError
from privclust.reports.findings import missing_rules
from privclust.reports.values import counted_missing
from privclust.schema.coordinates import Coordinates
from privclust.schema.facts import Bins, Box
from privclust.schema.forms import DURATIONS
from privclust.schema.schema import Schema

if TYPE_CHECKING:
    from privclust.release.release import Release

# A release at a glance, the same for the command line, the service and notebooks.


@dataclass(frozen=True)
class Listing:
    """A table for people, every cell as text; the first columns matter most."""

    headings: Sequence[str]
    lines: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Facts:
    """The released values of one kind of release, for people and for machines.

    Attributes
    ----------
    summary : sequence of (label, text)
        A few short pairs, such as ``("clusters", "8")``.
    listings : sequence of Listing
        The values as tables.
    values : mapping
        The same and more as plain data for JSON.
    """

    summary: Sequence[tuple[str, str]]
    listings: Sequence[Listing] = ()
    values: Mapping[str, Any] = field(default_factory=dict)


MISSING_ARRAYS = ("missing_counts", "missing_counts_error")


def check_missing(release: Release) -> None:
    """Raise unless the numbers of missing values, if there are any, fit the columns."""
    columns = len(release.schema.uncounted)
    given = [release.arrays[name] for name in MISSING_ARRAYS if name in release.arrays]
    fits = len(given) in (0, 2) and all(array.shape == (columns,) for array in given)
    if not fits or (given and (given[1] < 0).any()):
        raise ReleaseError(
            "The numbers of missing values do not fit the columns that have a rule for them; "
            "correct them."
        )


def missing_values(release: Release) -> dict[str, Any]:
    """Return the numbers of missing values as plain data, if they were asked."""
    if "missing_counts" not in release.arrays:
        return {}
    numbers = (release.arrays[name].tolist() for name in MISSING_ARRAYS)
    told = zip(release.schema.uncounted, *numbers, strict=True)
    return {"missing": {name: {"rows": rows, "error": error} for name, rows, error in told}}


def missing_listing(release: Release) -> list[Listing]:
    """Return the rules for missing values as a table for a terminal, if there are any."""
    rules = missing_rules(release.schema, counted_missing(release))
    lines = [[*rule.values()] for rule in rules]
    return [Listing(["column", "missing values"], lines)] if lines else []


# Released centres as tables, and numbers in the form in which a schema declares them.

Library = Literal["pandas", "polars", "arrow"]

_DAY = 86_400_000  # milliseconds


def center_table(schema: Schema, centers: Floats, library: Library = "pandas") -> Any:
    """Return centres as a data frame, one line each.

    A column of numbers is a column, dates as dates; of any other column each category is one, such
    as ``sex=f``, with its share of the rows.

    ``centers``: (n_centers, n_coordinates).
    """
    columns: dict[str, Any] = {}
    for column in Coordinates(schema).columns:
        values = np.asarray(centers[:, column.places], np.float64).T
        if isinstance(column.fact, Box):
            columns[column.name] = in_declared_form(values[0], column.fact)
        else:
            columns |= dict(zip(column.names, map(pa.array, values), strict=True))
    table = pa.table(columns)
    if library == "arrow":
        return table
    if library == "pandas":
        try:
            return table.to_pandas()
        except ModuleNotFoundError:
            raise ParameterError(
                "A table for pandas needs pandas; run pip install pandas, or pass library='arrow'."
            ) from None
    if library == "polars":
        import polars

        return polars.from_arrow(table)
    raise ParameterError(f"library must be 'pandas', 'polars' or 'arrow', got {library!r}.")


def in_declared_form(numbers: Floats, fact: Box | Bins, missing: Any = None) -> pa.Array:
    """Return numbers in the declared form: dates as dates, durations as durations.

    Whole numbers of a column of integers are integers; a centre of them is a mean, and need not be.
    """
    if fact.form == "integer" and (np.isnan(numbers) | (numbers == np.rint(numbers))).all():
        gaps = np.isnan(numbers) if missing is None else missing
        return pa.array(np.nan_to_num(numbers).astype(np.int64), mask=gaps)
    if fact.form == "date":
        return pa.array(np.rint(numbers).astype(np.int32), mask=missing).cast(pa.date32())
    if fact.form == "time" or fact.form in DURATIONS:
        unit = _DAY if fact.form == "time" else 1000 * DURATIONS[fact.form]
        kind = pa.timestamp("ms") if fact.form == "time" else pa.duration("ms")
        return pa.array(np.rint(numbers * unit).astype(np.int64), mask=missing).cast(kind)
    return pa.array(numbers, mask=missing)


# Released values for spreadsheets, with as many digits as a reader can use.

_DIGITS = 6
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would run


def cluster_tables(
    schema: Schema,
    centers: Floats,
    centers_error: Floats | None,
    sizes: Floats,
    noise: Floats,
    names: Sequence[str] = (),
) -> dict[str, pa.Table]:
    """Return ``centres.csv`` and ``clusters.csv`` by name: values, and two standard errors."""
    centres = _number_lines(_centre_columns(schema, centers, centers_error), names)
    return {"centres.csv": centres, "clusters.csv": size_table(sizes, noise, names)}


def size_table(sizes: Floats, noise: Floats, names: Sequence[str] = ()) -> pa.Table:
    """Return a line for each cluster: its noisy number of rows, two errors, its share."""
    shares = 100 * np.maximum(sizes, 0) / (float(np.maximum(sizes, 0).sum()) or 1.0)
    rows = np.rint(sizes).astype(np.int64)
    return _number_lines({"rows": rows, "± rows": 2 * noise, "share in %": shares}, names)


def place_table(schema: Schema, places: Floats, **columns: Any) -> pa.Table:
    """Return places in the space of the columns as a table, with further columns before them."""
    names = [*columns, *(written := _centre_columns(schema, places, None))]
    return pa.table([pa.array(values) for values in (*columns.values(), *written.values())], names)


def _centre_columns(schema: Schema, centers: Floats, errors: Floats | None) -> dict[str, Any]:
    """Return a column for each coordinate, and one for its errors if they are known."""
    columns: dict[str, Any] = {}
    for column in Coordinates(schema).columns:
        for place, name in enumerate(column.names, start=column.start):
            values = np.asarray(centers[:, place], np.float64)
            columns[name] = _as_written(values, column.fact) if column.labels is None else values
            if errors is not None:
                columns[f"± {name}"] = 2 * np.asarray(errors[:, place], np.float64)
    return columns


def _as_written(numbers: Floats, fact: Any) -> Any:
    """Return numbers as files have them: whole ones, dates; durations stay numbers."""
    if fact.form == "integer":
        return np.rint(numbers).astype(np.int64)
    return numbers if fact.form in DURATIONS else in_declared_form(numbers, fact)


def _number_lines(columns: Mapping[str, Any], names: Sequence[str]) -> pa.Table:
    """Return a table whose first column numbers its lines; the next names them, if anything."""
    lines = len(next(iter(columns.values())))
    first = {"cluster": range(lines)} | ({"name": names} if names else {})
    written = [pa.array(values) for values in (*first.values(), *columns.values())]
    return pa.table(written, names=[*first, *columns])


def to_csv(table: pa.Table) -> bytes:
    """Return a table as a CSV file that a spreadsheet opens as it is."""
    from pyarrow import csv

    columns = []
    for column in table.columns:
        if pa.types.is_floating(column.type):
            column = pa.array(_round_alike(np.asarray(column, np.float64)))
        elif pa.types.is_string(column.type):
            column = pa.array([_inert(text) for text in column.to_pylist()])
        columns.append(column)
    made = pa.table(columns, names=[_inert(name) for name in table.column_names])
    sink = pa.BufferOutputStream()
    csv.write_csv(made, sink)
    return codecs.BOM_UTF8 + bytes(sink.getvalue())  # without it Excel takes ± for two letters


def _round_alike(numbers: Floats) -> Floats:
    """Return numbers with as many decimals as the largest of them needs."""
    largest = float(np.abs(numbers).max(initial=0.0))
    decimals = _DIGITS - 1 - math.floor(math.log10(largest)) if largest else 0
    return np.round(numbers, decimals) + 0.0  # no minus before a zero


def _inert(text: str) -> str:
    """Return text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text
