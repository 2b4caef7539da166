"""Mixed rows on the grid: numbers as they are, categories as codes.

A row of the grid has one coordinate for each number and one for each category. The coordinates of a
column of categories are alike in all but the one that the row has, so they are kept as its code,
and products with public vectors are looked up by it. The rows themselves are never written out, but
for a piece of them at a time where a statistic needs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privclust._typing import Codes, Floats, Indices

__all__ = ["CodedRows", "GridCodes", "GridPiece", "dense"]


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
class CodedRows:
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
    def size(self) -> int:
        """How much is kept of it, in numbers of four bytes."""
        return self.numbers.size + -(-self.codes.nbytes // 4)

    def compact(self) -> CodedRows:
        """Return the same rows in as few bytes as they need."""
        return CodedRows(self.layout, self.numbers.astype(np.int32), self.codes)

    def restored(self) -> CodedRows:
        """Return kept rows with numbers that can be computed with."""
        return CodedRows(self.layout, self.numbers.astype(np.float64), self.codes)

    @cached_property
    def dense(self) -> Floats:
        """The rows written out."""
        layout = self.layout
        # One place more, for what is left out.
        rows = np.empty((len(self), layout.dimension + 1))
        rows[:, :-1] = layout.off
        rows[:, layout.numbers] = self.numbers
        places = np.arange(len(self)) * rows.shape[1]
        flat = rows.reshape(-1)
        for column, code in enumerate(self.codes.T):
            start, size = layout.starts[column], layout.sizes[column]
            at = np.where(code < size, start + code.astype(np.intp), layout.dimension)
            flat[places + at] += layout.steps[column]
        return rows[:, :-1]

    def squares(self) -> Floats:
        """Return the squared length of each row, exactly."""
        layout = self.layout
        total = (self.numbers**2).sum(axis=1) + (layout.off**2).sum()
        columns = zip(self.codes.T, layout.starts, layout.sizes, layout.steps, strict=True)
        for code, start, size, step in columns:
            added = step * (2 * layout.off[start] + step)
            total += np.where(code < size, added, 0)
        return np.asarray(total)

    def products(self, matrix: Floats) -> Floats:
        """Return the product of the rows with an integer matrix, exactly."""
        layout = self.layout
        total: Floats = self.numbers @ matrix[layout.numbers]
        total += layout.off @ matrix
        for code, table in zip(self.codes.T, layout.tables(matrix), strict=True):
            total += table[code]
        return total


# What a statistic of points is called with.
GridPiece = Floats | CodedRows


def dense(rows: GridPiece) -> Floats:
    """Return grid rows written out."""
    return rows.dense if isinstance(rows, CodedRows) else rows
