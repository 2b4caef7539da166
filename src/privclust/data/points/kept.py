"""How numeric rows are kept: on the public grid, four bytes a number, in pieces for the cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats
from privclust.data.encode import Domain
from privclust.data.engines.scratch import scratch
from privclust.data.reading import Block

__all__ = ["PIECE", "GridRows"]

# Numbers of a piece, the rows that a statistic sees at a time: two megabytes, for the cache.
PIECE = 2**18


@dataclass(frozen=True)
class GridRows:
    """The encoder of numeric rows: integers on the grid of a domain.

    Attributes
    ----------
    domain : Domain
    piece : int
        How many numbers a statistic sees at a time; no answer depends on it.
    """

    domain: Domain
    piece: int = PIECE

    def __call__(self, block: Block) -> list[NDArray[np.int32]]:
        """Return the rows of a block on the grid, in pieces."""
        rows = self.domain.numbers(block)
        height = max(1, self.piece // self.domain.dimension)
        # Grid coordinates are at most 2^20 in size, so they fit.
        return [
            self.domain.to_grid(rows[start : start + height]).astype(np.int32)
            for start in range(0, len(rows), height)
        ]

    def unpacked(self, piece: NDArray[np.int32]) -> Floats:
        """Return a piece as exact floats, in memory that the next piece uses again."""
        rows: NDArray[Any] = scratch("grid rows", piece.shape)
        np.copyto(rows, piece)
        return rows

    @property
    def row_bytes(self) -> int:
        """The bytes that a kept row takes."""
        return 4 * self.domain.dimension
