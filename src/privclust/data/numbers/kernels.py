"""Exact counts of one block of rows in the cells of each column; integers, each row by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats, Integers
from privclust.data.terms import ONE_CELL

__all__ = ["CellCounts"]


@dataclass(frozen=True)
class CellCounts:
    """The numbers of rows in the cells of some columns, one column after the other.

    Attributes
    ----------
    edges : mapping of int to ndarray
        The rising edges of each column that is counted. It has a cell more than edges, and one
        further place for numbers that are missing or not finite.
    """

    edges: Mapping[int, Floats]

    term = ONE_CELL

    def __call__(self, rows: Floats) -> Integers:
        """Return what a block of numbers adds."""
        counted = [_counts(rows[:, column], edges) for column, edges in self.edges.items()]
        return np.concatenate(counted)


def _counts(numbers: Floats, edges: Floats) -> Integers:
    # Comparisons round nothing: a number lands in its cell to the bit, infinities aside.
    cells = np.searchsorted(edges, numbers, side="right")
    cells[~np.isfinite(numbers)] = len(edges) + 1
    return np.bincount(cells, minlength=len(edges) + 2).astype(np.int64)
