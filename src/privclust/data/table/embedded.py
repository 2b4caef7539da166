"""Categorical rows seen as points: a row becomes the sum of the public points of its values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privclust._typing import Floats
from privclust.data.reading import Block
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.public import ValuePoints
from privclust.schema import Kind

__all__ = ["Embedding"]


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


@dataclass(frozen=True)
class Embedding:
    """The step from a block of categorical rows to points; blocks are coded again in each pass."""

    coder: CategoryCoder
    points: ValuePoints

    def __call__(self, block: Block) -> Block:
        """Return the block, seen as points."""
        return _EmbeddedBlock(block, self.coder, self.points)
