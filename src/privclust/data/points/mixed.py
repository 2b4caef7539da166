"""Mixed rows on the public grid: numbers clipped and scaled, categories as codes.

A row of the grid has one coordinate for each number and one for each category. The coordinates of a
column of categories are equal except that of the row's category, so they are kept as its code, and
products with public vectors are looked up by it. The rows themselves are never made dense, except a
piece at a time where a statistic needs it.

The declared domain is a product of intervals and simplices. A category is a corner of its simplex,
w / √2 along its own axis, so that two different ones are w apart; a missing value that is left
out is the origin. The whole becomes the ball of radius one around the middle of the product.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Codes, Floats, Indices
from privclust.data.encode import GRID_RADIUS, Domain, check_dimension
from privclust.data.engines.base import scratch
from privclust.data.public import PublicShares
from privclust.data.rows import Block
from privclust.data.table.codes import ColumnCoder
from privclust.exceptions import SchemaError
from privclust.schema.coordinates import Column, Coordinates
from privclust.schema.facts import Box
from privclust.schema.schema import Schema


@dataclass(frozen=True)
class GridCodes:
    """What codes mean on the grid; public, made from the schema alone."""

    numbers: Indices  # (n_numbers,): the coordinates that are numbers
    # (n_columns,): the first coordinate of each column of categories, and how many it has.
    starts: Indices
    sizes: Indices
    # (dimension,): the integer for a category that a row does not have; zero for numbers.
    off: Floats
    steps: Floats  # (n_columns,): what is added to it for the category that the row has

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return len(self.off)

    def tables(self, matrix: Floats) -> list[Floats]:
        """Return, for each column, what each code adds to the product with a matrix.

        The last line, of zeros, is for a value that is left out.
        """
        none = np.zeros((1, matrix.shape[1]))
        columns = zip(self.starts, self.sizes, self.steps, strict=True)
        return [
            np.concatenate([step * matrix[start : start + size], none])
            for start, size, step in columns
        ]


@dataclass(frozen=True)
class MixedRows:
    """A piece of rows on the grid."""

    layout: GridCodes
    # (n_rows, n_numbers): integers; held in float64, or in int32 where they are kept.
    numbers: Floats
    codes: Codes  # (n_rows, n_columns)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the dense rows."""
        return len(self), self.layout.dimension

    @property
    def nbytes(self) -> int:
        """Its size in memory."""
        return self.numbers.nbytes + self.codes.nbytes

    def compact(self) -> MixedRows:
        """Return the same rows in as few bytes as possible."""
        return MixedRows(self.layout, self.numbers.astype(np.int32), self.codes)

    def restore(self) -> MixedRows:
        """Return kept rows with numbers in float64."""
        return MixedRows(self.layout, self.numbers.astype(np.float64), self.codes)

    def dense(self) -> Floats:
        """Return dense rows, in memory that the next call reuses."""
        layout = self.layout
        rows: Floats = scratch("rows written out", self.shape)
        rows[:] = layout.off
        rows[:, layout.numbers] = self.numbers
        flat, places = rows.reshape(-1), np.arange(len(self)) * layout.dimension
        columns = zip(self.codes.T, layout.starts, layout.sizes, layout.steps, strict=True)
        for code, start, size, step in columns:
            at = places + (start + code.astype(np.intp))
            flat[at if code.max(initial=0) < size else at[code < size]] += step
        return rows

    def products(self, matrix: Floats) -> Floats:
        """Return the product of the rows with an integer matrix, exactly."""
        layout = self.layout
        shape = len(self), matrix.shape[1]
        total: Floats = scratch("products of rows", shape)
        np.matmul(self.numbers, matrix[layout.numbers], out=total)
        total += layout.off @ matrix
        looked_up: Floats = scratch("products by code", total.shape)
        for code, table in zip(self.codes.T, layout.tables(matrix), strict=True):
            total += np.take(table, code, axis=0, out=looked_up, mode="clip")
        return total


# What a statistic of points is called with.
GridPiece = Floats | MixedRows


def dense(rows: GridPiece) -> Floats:
    """Return dense grid rows."""
    return rows.dense() if isinstance(rows, MixedRows) else rows


@dataclass(frozen=True)
class MixedDomain(PublicShares):
    """The declared region of mixed rows, mapped to the ball of radius one around the origin."""

    coordinates: Coordinates  # how columns become coordinates
    numbers: Domain | None  # how the columns of numbers are read and clipped, if there are any
    coder: ColumnCoder  # how the others are coded
    scales: Floats  # (dimension,): what counts as one in each coordinate
    # (dimension,): what becomes the origin: the middle of each interval, and equal shares.
    center: Floats
    radius: float  # the distance from the center, in the units above, that becomes one

    def __post_init__(self) -> None:
        check_dimension(self.dimension)

    @classmethod
    def from_schema(
        cls, schema: Schema, *, rescale: bool = False, gap: float | None = None
    ) -> MixedDomain:
        """Return the domain of a schema with categories; see ``Coordinates.scales``."""
        if schema.ball is not None:
            raise SchemaError(
                "A schema with categories cannot have a Ball, which bounds numbers alone; drop it."
            )
        coordinates, numbers = Coordinates(schema), None
        square = sum(_square(column, gap) for column in coordinates.categorical)
        if schema.numeric:
            numbers = Domain.from_schema(schema.only(schema.numeric), rescale=rescale)
            square += numbers.radius**2
        if not square > 0:
            raise SchemaError(
                "Every declared column has only one category, so that no two rows differ; declare "
                "a column with more."
            )
        # A little more, so that rounding leaves no corner outside.
        radius = float(np.sqrt(square)) * (1 + 2.0**-40)
        numbers = None if numbers is None else replace(numbers, radius=radius)
        center = np.concatenate([_middle(column) for column in coordinates.columns])
        scales = coordinates.scales(rescale, gap)
        return cls(coordinates, numbers, ColumnCoder(schema), scales, center, radius)

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return self.coordinates.dimension

    @cached_property
    def grid(self) -> GridCodes:
        """What codes mean on the grid."""
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


# The declared region of rows, with or without categories.
Region = Domain | MixedDomain


def region_of(schema: Schema, *, rescale: bool = False, gap: float | None = None) -> Region:
    """Return the declared region of rows of numbers, or of numbers and categories."""
    if schema.categorical:
        return MixedDomain.from_schema(schema, rescale=rescale, gap=gap)
    return Domain.from_schema(schema, rescale=rescale)


def _middle(column: Column) -> Floats:
    """Return the middle of an interval, or equal shares."""
    fact = column.fact
    if isinstance(fact, Box):
        return np.array([fact.low / 2 + fact.high / 2])
    return np.full(column.size, 1 / column.size)


def _square(column: Column, gap: float | None) -> float:
    """Return the largest squared distance of a category, or a missing one, from equal shares."""
    share = 1 / column.size
    return column.apart(gap) ** 2 / 2 * max(1 - share, share if column.omits else 0.0)


# How rows are kept as points: on the public grid, four bytes a number, in pieces for the cache.

# Numbers in a piece, the rows that a statistic sees at a time: two megabytes, for the cache.
PIECE = 2**18

# Grid coordinates are at most 2^20 in size, so they fit into four bytes.
Kept = NDArray[np.int32] | MixedRows


@dataclass(frozen=True)
class GridRows:
    """The encoder of rows seen as points: integers on the grid of a domain."""

    domain: Region
    piece: int = PIECE  # how many numbers a statistic sees at a time; no answer depends on it

    def __call__(self, block: Block) -> list[Kept]:
        """Return the rows of a block on the grid, in pieces."""
        return [
            piece.compact() if isinstance(piece, MixedRows) else piece.astype(np.int32)
            for piece in self.domain.pieces(block, self.piece)
        ]

    def unpack(self, piece: Kept) -> GridPiece:
        """Return a piece as exact floats, in memory that the next piece reuses."""
        if isinstance(piece, MixedRows):
            return piece.restore()
        rows: NDArray[Any] = scratch("grid rows", piece.shape)
        np.copyto(rows, piece)
        return rows

    @property
    def row_bytes(self) -> int:
        """The bytes that a kept row takes."""
        return self.domain.row_bytes
