"""Categorical rows seen as points: a row becomes the sum of the public points of its values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privclust._typing import Floats
from privclust.data.reading import Block, RowReader
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.public import ValuePoints
from privclust.schema import Kind

__all__ = ["EmbeddedRows"]


class _EmbeddedBlock(Block):
    """A block of categorical rows, seen as points."""

    def __init__(self, block: Block, coder: CategoryCoder, embedding: ValuePoints) -> None:
        self.names = tuple(f"axis {axis}" for axis in range(embedding.dimension))
        self.n_rows = block.n_rows
        self._block, self._coder, self._embedding = block, coder, embedding

    def numbers(
        self, names: Sequence[str] | None = None, *, lenient: Collection[str] = ()
    ) -> Floats:
        return self._embedding.rows(self._coder.codes(self._block))

    def column(self, name: str, kind: Kind | None = None) -> pa.Array:
        raise NotImplementedError("Points have no categories.")

    def keep(self, mask: NDArray[np.bool_]) -> Block:
        return _EmbeddedBlock(self._block.keep(mask), self._coder, self._embedding)


class EmbeddedRows(RowReader):
    """The rows of another source as points; blocks are coded anew in each pass."""

    def __init__(self, source: RowReader, coder: CategoryCoder, embedding: ValuePoints) -> None:
        super().__init__(source.selection, block_rows=source.block_rows)
        self._source, self._coder, self._embedding = source, coder, embedding

    def _blocks(self) -> Iterator[Block]:
        for block in self._source.blocks():
            yield _EmbeddedBlock(block, self._coder, self._embedding)
