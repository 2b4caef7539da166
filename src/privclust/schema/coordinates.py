"""The coordinates of a row in distances: one for each number, one for each category.

They follow the schema: a Box column is one coordinate, in the units of the data; a Categories or
Bins column is one for each of its categories. A released centre is a row of these: numbers, and
for each of the other columns the shares of its categories. All of it is known from the schema.

How much a column counts is public too. Columns are made alike by the *gap* of each, the mean
squared distance of two rows in it, as assumed: a number is assumed to spread by a fifth of its
declared width, and categories to be equally frequent. No row is used for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from privclust._typing import Floats, Indices
from privclust.exceptions import SchemaError
from privclust.schema.facts import Bins, Box, Categories, Fact

if TYPE_CHECKING:
    from privclust.schema.schema import Schema


# The assumed spread of a number, in declared widths, and its gap: twice the square of that.
SPREAD, NUMBER_GAP = 0.2, 0.08
# The gap of categories, compared with a number's. Chosen on ten public tables without noise,
# between the best of two ways to scale numbers (0.7 and 1), before any table that it is reported on
# was made.
CATEGORY_PART = 0.8
CATEGORY_GAP = CATEGORY_PART * NUMBER_GAP


@dataclass(frozen=True)
class Column:
    """One column of a schema, and the indices of its coordinates."""

    name: str
    fact: Fact
    start: int  # the index of its first coordinate

    @property
    def labels(self) -> tuple[str, ...] | None:
        """What its categories are called; ``None`` for a column of numbers."""
        return None if isinstance(self.fact, Box) else self.fact.labels

    @property
    def size(self) -> int:
        """The number of its coordinates."""
        return 1 if isinstance(self.fact, Box) else self.fact.size

    @property
    def places(self) -> slice:
        """The indices of its coordinates."""
        return slice(self.start, self.start + self.size)

    @property
    def names(self) -> list[str]:
        """A name for each coordinate: ``age``, or ``sex=f`` and ``sex=m``."""
        if self.labels is None:
            return [self.name]
        return [f"{self.name}={label}" for label in self.labels]

    @property
    def omits(self) -> bool:
        """Whether missing values are left out, so that shares may add up to less than one."""
        return isinstance(self.fact, Bins | Categories) and self.fact.missing == "omit"

    def apart(self, gap: float | None) -> float:
        """Return how far two different categories are apart.

        Equally frequent categories then have the given gap: two rows are in different ones of K
        with a chance of 1 - 1/K. Without a gap it is the weight of the column alone.
        """
        if gap is None:
            return self.fact.weight
        return float(self.fact.weight * np.sqrt(gap / (1 - 1 / max(self.size, 2))))

    def taken_gap(self, rescale: bool, gap: float | None) -> float:
        """Return the assumed mean squared distance of two rows."""
        fact = self.fact
        if isinstance(fact, Box):
            width = 1.0 if rescale else fact.high - fact.low
            return NUMBER_GAP * (width * fact.weight) ** 2
        return self.apart(gap) ** 2 * (1 - 1 / self.size)


class Coordinates:
    """How the columns of a schema become coordinates."""

    def __init__(self, schema: Schema) -> None:
        columns, start = [], 0
        for name, fact in schema.columns.items():
            columns.append(Column(name, fact, start))
            start += columns[-1].size
        self.columns = tuple(columns)
        self.dimension = start

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name for each coordinate."""
        return tuple(name for column in self.columns for name in column.names)

    @cached_property
    def numbers(self) -> Indices:
        """The indices of the coordinates that are numbers."""
        return np.array([c.start for c in self.columns if c.labels is None], np.intp)

    @property
    def categorical(self) -> list[Column]:
        """The columns that have categories."""
        return [column for column in self.columns if column.labels is not None]

    @cached_property
    def low(self) -> Floats:
        """The least value of each coordinate: a declared bound, or a share of zero."""
        return np.array(
            [x for c in self.columns for x in _duplicates(c, 0.0, lambda box: box.low)], np.float64
        )

    @cached_property
    def high(self) -> Floats:
        """The largest value of each coordinate: a declared bound, or a share of one."""
        return np.array(
            [x for c in self.columns for x in _duplicates(c, 1.0, lambda box: box.high)], np.float64
        )

    def scales(self, rescale: bool, gap: float | None = None) -> Floats:
        """Return what counts as one in each coordinate.

        Shares of two different categories differ in two coordinates by one, so a share counts
        1 / √2 of what they are apart: by their gap, or 1 without one. A number counts in declared
        widths, or as it is without ``rescale``. A weight multiplies the difference.
        """
        parts: list[float] = []
        for column in self.columns:
            fact = column.fact
            if isinstance(fact, Box):
                parts.append((fact.high - fact.low if rescale else 1.0) / fact.weight)
            else:
                parts += [np.sqrt(2) / column.apart(gap)] * column.size
        return np.array(parts, np.float64)

    def project(self, centers: Floats) -> Floats:
        """Return the nearest numbers within the bounds, and the nearest possible shares.

        Shares are at least zero and add up to one, or to at most one where missing values are
        left out: what is lacking is their share.
        """
        table = np.clip(centers, self.low, self.high)
        for column in self.categorical:
            shares = centers[:, column.places]
            table[:, column.places] = project_shares(shares, at_most=column.omits)
        return table

    def describe(self, center: Sequence[float]) -> dict[str, Any]:
        """Return a centre by column: a number, or a dict of the shares of the categories."""
        values: dict[str, Any] = {}
        for column in self.columns:
            part = list(center[column.places])
            labels = column.labels
            values[column.name] = (
                part[0] if labels is None else dict(zip(labels, part, strict=True))
            )
        return values


def category_gap(schema: Schema, rescale: bool) -> float | None:
    """Return the gap of categories, if there are also numbers that count in their widths."""
    return CATEGORY_GAP if rescale and schema.numeric and schema.categorical else None


def assumed_shares(schema: Schema, rescale: bool, gap: float | None) -> dict[str, float]:
    """Return the assumed share of each column in the squared distance of two rows."""
    gaps = {c.name: c.taken_gap(rescale, gap) for c in Coordinates(schema).columns}
    whole = sum(gaps.values()) or 1.0
    return {name: found / whole for name, found in gaps.items()}


def refuse_weights(schema: Schema) -> None:
    """Raise if a column has a weight, for estimators that measure distances without weights."""
    for name, fact in schema.columns.items():
        if fact.weight != 1:
            raise SchemaError(
                f"Column {name!r} has a weight, which only k-means and summaries take; drop it."
            )


def _duplicates(column: Column, share: float, of_box: Any) -> list[float]:
    return [of_box(column.fact)] if column.labels is None else [share] * column.size


def project_shares(vectors: Floats, *, at_most: bool = False) -> Floats:
    """Return the nearest points whose entries are at least zero and add up to one.

    ``vectors``: (n, size). ``at_most``: whether they may add up to less.
    """
    size = vectors.shape[1]
    falling = -np.sort(-vectors, axis=1)
    excess = (np.cumsum(falling, axis=1) - 1) / np.arange(1, size + 1)
    kept = np.maximum((falling > excess).sum(axis=1), 1)
    level = excess[np.arange(len(vectors)), kept - 1]
    if at_most:
        inside = np.maximum(vectors, 0).sum(axis=1) <= 1
        level = np.where(inside, 0, level)
    return np.asarray(np.maximum(vectors - level[:, None], 0))
