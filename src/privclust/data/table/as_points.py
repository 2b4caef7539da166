"""Rows of a table in another form: numbers in declared bins, categories as public points.

A learned metric compares values by tables of counts, so it needs categories in every column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Codes, Floats
from privclust.data.encode import Domain
from privclust.data.rows import Block, DenseBlock
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.cut import CutCoder
from privclust.data.table.public import BINS, ValuePoints
from privclust.schema.facts import Bins, Box, Fact
from privclust.schema.schema import Schema

# Mixed rows as rows of categories: numbers in bins of equal width, by the declared bounds alone.


def bin_numbers(schema: Schema) -> Schema:
    """Return the schema with Bins for every Box, in which missing values have a category."""
    pairs = [(name, _bin_fact(fact)) for name, fact in schema.columns.items()]
    return Schema(pairs, csv=schema.csv)


def _bin_fact(fact: Fact) -> Bins | Fact:
    if not isinstance(fact, Box):
        return replace(fact, missing="category") if fact.missing == "omit" else fact
    # Halved before they are subtracted, so that no width overflows.
    edges = fact.low + (fact.high / 2 - fact.low / 2) * (np.arange(BINS + 1) / (BINS / 2))
    return Bins([fact.low, *edges[1:-1].tolist(), fact.high])


class BinCoder(CategoryCoder):
    """Turns rows of any schema into codes.

    ``schema``: as it is declared, with a Box for numbers.
    """

    def __init__(self, schema: Schema) -> None:
        super().__init__(bin_numbers(schema))
        self._boxes = {name: Domain.from_schema(schema.only([name])) for name in schema.numeric}

    def _bin_codes(self, block: Block, name: str, fact: Bins) -> NDArray[np.integer]:
        if name not in self._boxes:
            return super()._bin_codes(block, name, fact)
        domain = self._boxes[name]
        numbers = domain.rows(block)[:, 0]
        return np.searchsorted(np.array(fact.edges[1:-1]), numbers, side="right")


# Categorical rows seen as points: a row becomes the sum of the public points of its values.


@dataclass(frozen=True)
class EmbedRows:
    """The step from a block of categorical rows to points; blocks are encoded anew in each pass."""

    coder: CategoryCoder | CutCoder
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
