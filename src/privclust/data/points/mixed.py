"""From mixed rows to the public grid: numbers clipped and scaled, categories as codes.

The declared domain is a product of intervals and simplices. A category is a corner of its simplex,
1 / √2 along its own axis, so that two different ones are one apart; a missing value that is left
out is the origin. The whole becomes the ball of radius one around the middle of the product.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from privclust._typing import Floats
from privclust.data.dimension import check_dimension
from privclust.data.encode import GRID_RADIUS, Domain
from privclust.data.points.coded import GridCodes, MixedRows
from privclust.data.public import PublicShares
from privclust.data.rows import Block
from privclust.data.table.codes import ColumnCoder
from privclust.exceptions import SchemaError
from privclust.schema import Box, Schema
from privclust.schema.coordinates import Column, Coordinates


@dataclass(frozen=True)
class MixedDomain(PublicShares):
    """The declared region of mixed rows, mapped to the ball of radius one around the origin.

    Attributes
    ----------
    coordinates : Coordinates
        How columns become coordinates.
    numbers : Domain or None
        How the columns of numbers are read and clipped, if there are any.
    coder : ColumnCoder
        How the others are coded.
    scales : ndarray of shape (dimension,)
        What counts as one in each coordinate.
    center : ndarray of shape (dimension,)
        What becomes the origin: the middle of each interval, and equal shares.
    radius : float
        The distance from the center, in the units above, that becomes one.
    """

    coordinates: Coordinates
    numbers: Domain | None
    coder: ColumnCoder
    scales: Floats
    center: Floats
    radius: float

    def __post_init__(self) -> None:
        check_dimension(self.dimension)

    @classmethod
    def from_schema(cls, schema: Schema, *, rescale: bool = False) -> MixedDomain:
        """Return the domain of a schema with categories."""
        if schema.ball is not None:
            raise SchemaError(
                "A schema with categories cannot have a Ball, which bounds numbers alone; drop it."
            )
        coordinates, numbers = Coordinates(schema), None
        square = sum(_square(column) for column in coordinates.categorical)
        if schema.numeric:
            numbers = Domain.from_schema(schema.only(schema.numeric), rescale=rescale)
            square += numbers.radius**2
        if not square > 0:
            raise SchemaError(
                "Every declared column has one category only, so that no two rows differ; declare "
                "a column with more."
            )
        # A little more, so that rounding leaves no corner outside.
        radius = float(np.sqrt(square)) * (1 + 2.0**-40)
        numbers = None if numbers is None else replace(numbers, radius=radius)
        center = np.concatenate([_middle(column) for column in coordinates.columns])
        scales = coordinates.scales(rescale)
        return cls(coordinates, numbers, ColumnCoder(schema), scales, center, radius)

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return self.coordinates.dimension

    @cached_property
    def grid(self) -> GridCodes:
        """What codes stand for on the grid."""
        columns = self.coordinates.categorical
        per_unit = GRID_RADIUS / (self.scales * self.radius)
        off, steps = np.zeros(self.dimension), []
        for column in columns:
            if column.size == 1 and not column.omits:  # the same for all rows
                steps.append(0.0)
                continue
            unit, share = per_unit[column.start], 1 / column.size
            low = np.rint(-share * unit)
            off[column.places] = low
            steps.append(np.rint((1 - share) * unit) - low)
        return GridCodes(
            self.coordinates.numbers,
            np.array([column.start for column in columns], np.intp),
            np.array([column.size for column in columns], np.intp),
            off,
            np.array(steps, np.float64),
        )

    def rows(self, block: Block) -> Floats:
        """Return numbers and codes of a block: all that a view ever sees of its rows."""
        codes = self.coder.codes(block).astype(np.float64)
        if self.numbers is None:
            return codes
        numbers = self.numbers.rows(block)
        return np.column_stack([numbers, codes])

    @property
    def row_bytes(self) -> int:
        """The bytes that a kept row takes."""
        numbers = 0 if self.numbers is None else self.numbers.dimension
        return 4 * numbers + self.coder.dtype.itemsize * len(self.coder.names)

    def pieces(self, block: Block, piece: int) -> list[MixedRows]:
        """Return the rows of a block on the grid, about ``piece`` coordinates at a time."""
        codes = self.coder.codes(block)
        grid = np.empty((block.n_rows, 0))
        if self.numbers is not None:
            grid = self.numbers.to_grid(self.numbers.numbers(block))
        height = max(1, piece // self.dimension)
        return [
            MixedRows(self.grid, grid[start : start + height], codes[start : start + height])
            for start in range(0, block.n_rows, height)
        ]


# The declared region of rows, whatever they hold.
Region = Domain | MixedDomain


def region_of(schema: Schema, *, rescale: bool = False) -> Region:
    """Return the declared region of rows of numbers, or of numbers and categories."""
    kind = MixedDomain if schema.categorical else Domain
    return kind.from_schema(schema, rescale=rescale)


def _middle(column: Column) -> Floats:
    """Return the middle of an interval, or equal shares."""
    fact = column.fact
    if isinstance(fact, Box):
        return np.array([fact.low / 2 + fact.high / 2])
    return np.full(column.size, 1 / column.size)


def _square(column: Column) -> float:
    """Return how far a category, or a missing one, lies at most from equal shares, squared."""
    share, weight = 1 / column.size, column.fact.weight
    return weight**2 / 2 * max(1 - share, share if column.omits else 0.0)
