"""Rows on the public grid, read from their source once and kept if they are not too many.

An algorithm asks many questions and each is a pass over all rows. Reading and encoding them can
cost more than the question itself, so the grid rows of the first pass are kept, four bytes a
number, up to a limit; beyond it every pass reads the source again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from privclust.data.engines.local import Summed, Total, sum_over, sum_over_blocks
from privclust.data.points.coded import CodedRows, GridPiece
from privclust.data.points.mixed import Region
from privclust.data.reading import Block, RowReader

__all__ = ["KEPT_BYTES", "PIECE", "GridRows"]

# Numbers of a piece, the rows that a statistic sees at a time: two megabytes, for the cache.
PIECE = 2**18

# What may be kept in memory, in bytes.
KEPT_BYTES = 2**28

# Grid coordinates are at most 2^20 in size, so they fit into four bytes.
Kept = list[NDArray[np.int32] | CodedRows]


class GridRows:
    """The rows of a source as integers on the grid of a domain.

    Parameters
    ----------
    source : RowReader
    domain : Domain or MixedDomain
    piece : int
        How many numbers a statistic sees at a time.
    kept_bytes : int
        How much of memory the kept rows may take.
    """

    def __init__(
        self,
        source: RowReader,
        domain: Region,
        *,
        piece: int = PIECE,
        kept_bytes: int = KEPT_BYTES,
    ) -> None:
        self._source = source
        self._domain = domain
        self._piece = piece
        self._kept_bytes = kept_bytes
        self._kept: list[Kept] | None = None

    def sum(self, statistic: Callable[[GridPiece], Total]) -> Summed[Total]:
        """Return the sum of a statistic over all rows, a piece at a time."""
        if self._kept is not None:
            return sum_over(
                self._kept,
                lambda pieces: reduce(add, (statistic(_restored(piece)) for piece in pieces)),
                lambda pieces: sum(map(len, pieces)),
                self._source.n_rows,
            )
        shelf = _Shelf(self._kept_bytes)

        def of_block(block: Block) -> Total:
            pieces = self._domain.pieces(block, self._piece)
            shelf.put(pieces)
            return reduce(add, map(statistic, pieces))

        total = sum_over_blocks(self._source, of_block)
        self._kept = shelf.kept
        return total


class _Shelf:
    """Keeps pieces of rows until they would take more memory than allowed, and then none."""

    def __init__(self, room: int) -> None:
        self.kept: list[Kept] | None = []
        self._room = room
        self._lock = Lock()

    def put(self, pieces: Sequence[GridPiece]) -> None:
        """Keep the pieces, if there is room for them."""
        size = sum(piece.size for piece in pieces) * 4
        with self._lock:
            self._room -= size
            if self._room < 0:
                self.kept = None
        if self.kept is not None:
            compact = [_compact(piece) for piece in pieces]
            with self._lock:
                if self.kept is not None:
                    self.kept.append(compact)


def _compact(piece: GridPiece) -> NDArray[np.int32] | CodedRows:
    return piece.compact() if isinstance(piece, CodedRows) else piece.astype(np.int32)


def _restored(piece: NDArray[np.int32] | CodedRows) -> GridPiece:
    return piece.restored() if isinstance(piece, CodedRows) else piece.astype(np.float64)
