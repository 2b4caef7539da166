"""What is computed of each row for whoever holds the rows; it travels to workers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats
from privclust.data.engines.base import Stacked
from privclust.data.matrix.rows import MatrixRows
from privclust.data.rows import Block
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.embedded import rows_of
from privclust.data.table.public import ValuePoints
from privclust.holder.distances import Seen, squares

__all__ = ["AsRead", "HeaviestGroup", "NearestCentre", "NearestEmbeddedCentre"]


@dataclass(frozen=True)
class AsRead:
    """The encoder that leaves blocks as they are."""

    row_bytes = 0

    def __call__(self, block: Block) -> list[Block]:
        """Return the block."""
        return [block]

    def unpacked(self, piece: Block) -> Block:
        """Return the block."""
        return piece


@dataclass(frozen=True)
class NearestCentre:
    """The index of the nearest centre of each row, in the units of the data."""

    seen: Seen
    centres: Floats

    def __call__(self, block: Block) -> Stacked:
        """Return the labels of a block."""
        return Stacked((squares(self.seen, block, self.centres, up_to_row=True).argmin(axis=1),))


@dataclass(frozen=True)
class NearestEmbeddedCentre:
    """The index of the nearest public centre of each row."""

    coder: CategoryCoder
    points: ValuePoints
    centres: Floats

    def __call__(self, block: Block) -> Stacked:
        """Return the labels of a block."""
        rows = rows_of(self.points, self.coder.codes(block))
        halves = (self.centres**2).sum(axis=1) / 2
        return Stacked(((halves - rows @ self.centres.T).argmin(axis=1),))


@dataclass(frozen=True)
class HeaviestGroup:
    """The group of each row whose weights of the columns speak most for it.

    Where whole rows are protected, the square roots of the entries are weighed.
    """

    weights: Floats
    rooted: bool

    def __call__(self, rows: MatrixRows) -> Stacked:
        """Return the groups of some rows."""
        entries = rows.counts
        if self.rooted:
            entries = entries.astype(np.float64)
            entries.data = np.sqrt(entries.data)
        return Stacked((np.asarray((entries @ self.weights).argmax(axis=1)),))
