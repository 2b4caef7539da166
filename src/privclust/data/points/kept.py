"""How rows are kept as points: on the public grid, four bytes a number, in pieces for the cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privclust.data.engines.scratch import scratch
from privclust.data.points.coded import GridPiece, MixedRows
from privclust.data.points.mixed import Region
from privclust.data.rows import Block

# Numbers of a piece, the rows that a statistic sees at a time: two megabytes, for the cache.
PIECE = 2**18

# Grid coordinates are at most 2^20 in size, so they fit into four bytes.
Kept = NDArray[np.int32] | MixedRows


@dataclass(frozen=True)
class GridRows:
    """The encoder of rows seen as points: integers on the grid of a domain.

    Attributes
    ----------
    domain : Domain or MixedDomain
    piece : int
        How many numbers a statistic sees at a time; no answer depends on it.
    """

    domain: Region
    piece: int = PIECE

    def __call__(self, block: Block) -> list[Kept]:
        """Return the rows of a block on the grid, in pieces."""
        return [
            piece.compact() if isinstance(piece, MixedRows) else piece.astype(np.int32)
            for piece in self.domain.pieces(block, self.piece)
        ]

    def unpacked(self, piece: Kept) -> GridPiece:
        """Return a piece as exact floats, in memory that the next piece uses again."""
        if isinstance(piece, MixedRows):
            return piece.restored()
        rows: NDArray[Any] = scratch("grid rows", piece.shape)
        np.copyto(rows, piece)
        return rows

    @property
    def row_bytes(self) -> int:
        """The bytes that a kept row takes."""
        return self.domain.row_bytes
