"""Categorical rows seen as points: a row becomes the sum of the public points of its values."""

from __future__ import annotations

from dataclasses import dataclass

from privclust.data.rows import Block, DenseBlock
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.public import ValuePoints

__all__ = ["Embedding"]


@dataclass(frozen=True)
class Embedding:
    """The step from a block of categorical rows to points; blocks are coded again in each pass."""

    coder: CategoryCoder
    points: ValuePoints

    def __call__(self, block: Block) -> Block:
        """Return the block, seen as points."""
        axes = [f"axis {axis}" for axis in range(self.points.dimension)]
        return DenseBlock(axes, self.points.rows(self.coder.codes(block)))
