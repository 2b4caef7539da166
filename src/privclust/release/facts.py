"""A release at a glance, and its centres as tables in the declared forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from privclust._typing import Floats
from privclust.exceptions import ParameterError
from privclust.schema.coordinates import Coordinates
from privclust.schema.facts import Bins, Box
from privclust.schema.forms import DURATIONS
from privclust.schema.schema import Schema

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
