"""Numbers of one block of rows, each by itself, and exact counts of them in cells; integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from privclust._typing import Floats, Integers
from privclust.data.columns.refusals import numbers_of
from privclust.data.question import Question, Term
from privclust.data.rows import Block
from privclust.schema.writing import Writing


@dataclass(frozen=True)
class FiniteNumbers:
    """The encoder of columns of numbers: as they are, and NaN for what is not finite."""

    n_columns: int
    # Columns in which a value that is not a number is missing; in others it is refused.
    lenient: tuple[str, ...] = ()
    # The forms of columns that are not stored as numbers.
    writings: Mapping[str, Writing] = field(default_factory=dict)

    def __call__(self, block: Block) -> list[Floats]:
        """Return the numbers of a block, in one piece."""
        return [self.rows(block)]

    def rows(self, block: Block) -> Floats:
        """Return the numbers of a block, with a single kind of NaN."""
        numbers = numbers_of(block, block.names, self.writings, self.lenient)
        return np.where(np.isfinite(numbers), numbers, np.nan)

    def unpack(self, piece: Floats) -> Floats:
        """Return the numbers as they are."""
        return piece

    @property
    def row_bytes(self) -> int:
        """The bytes that a kept row takes."""
        return 8 * self.n_columns


@dataclass(frozen=True)
class CellCounts:
    """The numbers of rows in the cells of some columns, one column after the other."""

    # The rising edges of each column that is counted. It has one more cell than edges, and one
    # further entry for numbers that are missing or not finite.
    edges: Mapping[int, Floats]

    @property
    def question(self) -> Question:
        """A row is in one entry of each table."""
        return Question("histograms", Term.cells(len(self.edges)))

    def __call__(self, rows: Floats) -> Integers:
        """Return what a block of numbers adds."""
        counted = [_counts(rows[:, column], edges) for column, edges in self.edges.items()]
        return np.concatenate(counted)


def _counts(numbers: Floats, edges: Floats) -> Integers:
    # Comparisons do not round: a finite number lands in exactly its cell.
    cells = np.searchsorted(edges, numbers, side="right")
    cells[~np.isfinite(numbers)] = len(edges) + 1
    return np.bincount(cells, minlength=len(edges) + 2).astype(np.int64)
