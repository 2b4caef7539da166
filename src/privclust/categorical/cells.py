"""The cells of many pair tables as flat vectors: sums over tables, rows and columns of tables.

Ordinary arithmetic on released values. A flat vector holds one number per cell of every table, in
the order of a :class:`PairLayout`; the memory is that of the tables, whatever their shapes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats, Indices
from privclust.data.table.public import PairLayout

__all__ = ["PairCells"]


class PairCells:
    """Where every cell belongs.

    Attributes
    ----------
    layout : PairLayout
    offsets : ndarray of shape (n_attributes + 1,)
        Where the values of each attribute start in a vector of all values.
    pair : ndarray of shape (n_cells,)
        The table of each cell.
    first, second : ndarray of shape (n_cells,)
        The values, numbered over all attributes, that the cell counts together.
    """

    def __init__(self, layout: PairLayout) -> None:
        self.layout = layout
        self.sizes = np.array(layout.sizes, np.intp)
        self.offsets: Indices = np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.intp)
        self.pairs = np.array(layout.pairs, np.intp).reshape(-1, 2)
        self.heights, self.widths = self.sizes[self.pairs[:, 0]], self.sizes[self.pairs[:, 1]]
        n_cells = np.diff(layout.starts)
        self.pair: Indices = np.repeat(np.arange(len(self.pairs)), n_cells)
        inside = np.arange(layout.n_cells) - np.repeat(layout.starts[:-1], n_cells)
        row, column = np.divmod(inside, self.widths[self.pair])
        self.first: Indices = self.offsets[self.pairs[self.pair, 0]] + row
        self.second: Indices = self.offsets[self.pairs[self.pair, 1]] + column
        # Every row and every column of every table has a number of its own.
        self._row = (np.cumsum(self.heights) - self.heights)[self.pair] + row
        self._column = (np.cumsum(self.widths) - self.widths)[self.pair] + column

    @property
    def n_values(self) -> int:
        """Number of values of all attributes."""
        return int(self.offsets[-1])

    def per_table(self, values: Floats) -> Floats:
        """Return the sum over each table."""
        return np.asarray(np.bincount(self.pair, values, minlength=len(self.pairs)), np.float64)

    def spread(self, per_table: NDArray[Any]) -> Floats:
        """Give every cell the number of its table."""
        return np.asarray(per_table[self.pair], np.float64)

    def row_sums(self, values: Floats) -> Floats:
        """Return the sum over its row, for every cell."""
        return np.asarray(np.bincount(self._row, values)[self._row])

    def column_sums(self, values: Floats) -> Floats:
        """Return the sum over its column, for every cell."""
        return np.asarray(np.bincount(self._column, values)[self._column])

    def margins(self, values: Floats, weights: Floats) -> Floats:
        """Return, for every value, the weighted sum over tables of its row or column sums."""
        weighted = values * weights[self.pair]
        return np.asarray(
            np.bincount(self.first, weighted, minlength=self.n_values)
            + np.bincount(self.second, weighted, minlength=self.n_values),
            np.float64,
        )

    def centred(self, values: Floats) -> Floats:
        """Return numbers of all values, less their mean over each attribute."""
        means = np.add.reduceat(values, self.offsets[:-1]) / self.sizes
        return np.asarray(values - np.repeat(means, self.sizes))

    def square(self, values: Floats) -> Floats:
        """Return the symmetric matrix over all values, zero where no table is."""
        matrix = np.zeros((self.n_values, self.n_values))
        matrix[self.first, self.second] = values
        matrix[self.second, self.first] = values
        return matrix

    def slice(self, attribute: int) -> slice:
        """Return where the values of an attribute stand in a vector of all values."""
        return slice(int(self.offsets[attribute]), int(self.offsets[attribute + 1]))
