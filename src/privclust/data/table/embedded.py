"""Categorical rows seen as points: a row becomes the sum of the public points of its values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privclust._typing import Codes, Floats
from privclust.data.rows import Block, DenseBlock
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.public import ValuePoints


@dataclass(frozen=True)
class Embedding:
    """The step from a block of categorical rows to points; blocks are coded again in each pass."""

    coder: CategoryCoder
    points: ValuePoints

    def __call__(self, block: Block) -> Block:
        """Return the block, seen as points."""
        axes = [f"axis {axis}" for axis in range(self.points.dimension)]
        return DenseBlock(axes, rows_of(self.points, self.coder.codes(block)))


def rows_of(values: ValuePoints, codes: Codes) -> Floats:
    """Return the points of rows; each is computed from its own codes in a fixed order."""
    total = np.zeros((len(codes), values.dimension))
    for column, part in zip(codes.T, values.points, strict=True):
        total += part[column]
    return total
