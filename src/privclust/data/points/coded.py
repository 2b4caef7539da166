"""Mixed rows on the grid: numbers as they are, categories as codes.

A row of the grid has one coordinate for each number and one for each category. The coordinates of a
column of categories are alike in all but the one that the row has, so they are kept as its code,
and products with public vectors are looked up by it. The rows themselves are never written out,
except a piece at a time where a statistic needs it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privclust._typing import Codes, Floats, Indices
from privclust.data.engines.scratch import scratch


@dataclass(frozen=True)
class GridCodes:
    """What codes stand for on the grid; public, made from the schema alone.

    Attributes
    ----------
    numbers : ndarray of shape (n_numbers,)
        The coordinates that are numbers.
    starts, sizes : ndarray of shape (n_columns,)
        The first coordinate of each column of categories, and how many it has.
    off : ndarray of shape (dimension,)
        The integer in the place of a category that a row does not have; zero for numbers.
    steps : ndarray of shape (n_columns,)
        What is added to it in the place of the category that the row has.
    """

    numbers: Indices
    starts: Indices
    sizes: Indices
    off: Floats
    steps: Floats

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return len(self.off)

    def tables(self, matrix: Floats) -> list[Floats]:
        """Return for each column what each code adds to the product with a matrix.

        The last line, of zeros, is that of a value that is left out.
        """
        none = np.zeros((1, matrix.shape[1]))
        columns = zip(self.starts, self.sizes, self.steps, strict=True)
        return [
            np.concatenate([step * matrix[start : start + size], none])
            for start, size, step in columns
        ]


@dataclass(frozen=True)
class MixedRows:
    """A piece of rows on the grid.

    Attributes
    ----------
    layout : GridCodes
    numbers : ndarray of shape (n_rows, n_numbers)
        Integers; held in float64, or in int32 where they are kept.
    codes : ndarray of shape (n_rows, n_columns)
    """

    layout: GridCodes
    numbers: Floats
    codes: Codes

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the rows, if they were written out."""
        return len(self), self.layout.dimension

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.numbers.nbytes + self.codes.nbytes

    def compact(self) -> MixedRows:
        """Return the same rows in as few bytes as they need."""
        return MixedRows(self.layout, self.numbers.astype(np.int32), self.codes)

    def restored(self) -> MixedRows:
        """Return kept rows with numbers that can be computed with."""
        return MixedRows(self.layout, self.numbers.astype(np.float64), self.codes)

    def dense(self) -> Floats:
        """Return the rows written out, in memory that the next call uses again."""
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
    """Return grid rows written out."""
    return rows.dense() if isinstance(rows, MixedRows) else rows
