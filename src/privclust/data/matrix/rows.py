"""Matrices of counts as sources for an engine: runs of rows, their encoder, and in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from privclust.data.rows import IN_MEMORY, Part, WholePart

Shape = tuple[int, int]

# Entries handled at a time, so that temporary arrays stay small.
PIECE = 2**20
# Approximate bytes of a file, or of triples, read together if rows stay on one machine.
_PART_BYTES = 2**26
# Kept entries take twelve bytes; compressed entries in files are smaller by about this factor.
_COMPRESSION = 4


@dataclass(frozen=True, repr=False)
class MatrixRows:
    """Consecutive rows of a matrix of counts."""

    start: int  # the number of the first row in the whole matrix
    counts: Any

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    @property
    def nbytes(self) -> int:
        """Their size in bytes."""
        parts = (self.counts.data, self.counts.indices, self.counts.indptr)
        return sum(int(part.nbytes) for part in parts)


@dataclass(frozen=True)
class CountRows:
    """The encoder of matrices, whose rows are kept as they are."""

    row_bytes: int = 0

    def __call__(self, block: MatrixRows) -> list[MatrixRows]:
        """Return the rows in one piece."""
        return [block]

    def unpack(self, piece: MatrixRows) -> MatrixRows:
        """Return the rows as they are."""
        return piece


def row_pieces(counts: Any, start: int = 0) -> Iterator[MatrixRows]:
    """Yield runs of rows of about ``PIECE`` entries."""
    if counts.nnz <= PIECE:
        yield MatrixRows(start, counts)
        return
    n_rows, first = counts.shape[0], 0
    while first < n_rows:
        limit = counts.indptr[first] + PIECE
        stop = max(first + 1, int(np.searchsorted(counts.indptr, limit, "right")) - 1)
        yield MatrixRows(start + first, counts[first:stop])
        first = stop


class MatrixSource(ABC):
    """A matrix of counts that an engine can read; see :class:`privclust.data.rows.PartedSource`."""

    shape: Shape
    stays_here: str | None = None

    def __init__(self) -> None:
        self._at_close: list[Callable[[], object]] = []

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.shape[0]

    @property
    def n_bytes(self) -> int:
        """Its approximate size in storage."""
        return 0

    @abstractmethod
    def parts(self, count: int = 1) -> Sequence[Part]:
        """Return the rows in about ``count`` parts."""

    def blocks(self) -> Iterator[MatrixRows]:
        """Read the rows from the beginning."""
        for part in self.parts(1 + self.n_bytes // _PART_BYTES):
            yield from part.blocks()

    def at_close(self, call: Callable[[], object]) -> None:
        """Call ``call`` when the source is closed."""
        self._at_close.append(call)

    def close(self) -> None:
        """Free what the source allocated."""
        while self._at_close:
            self._at_close.pop()()

    @property
    def encoder(self) -> CountRows:
        """How its rows are kept."""
        return CountRows(_COMPRESSION * self.n_bytes // max(1, self.n_rows))


class MemoryMatrix(MatrixSource):
    """A matrix in memory, which is not examined until it is read."""

    stays_here = IN_MEMORY

    def __init__(self, counts: Any) -> None:
        super().__init__()
        self._counts = counts

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        """Number of rows and columns."""
        n_rows, n_columns = self._counts.shape
        return int(n_rows), int(n_columns)

    def parts(self, count: int = 1) -> Sequence[Part]:
        """Return all of it."""
        return (WholePart(self),)

    def blocks(self) -> Iterator[MatrixRows]:
        """Yield its rows."""
        return row_pieces(self._counts)

    @property
    def encoder(self) -> CountRows:
        """How its rows are kept."""
        return CountRows()


def source_from(counts: Any) -> MatrixSource:
    """Return a matrix of any form as a source."""
    return counts if isinstance(counts, MatrixSource) else MemoryMatrix(counts)
