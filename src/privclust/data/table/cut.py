"""From rows to codes by public cuts of every column, and by public groups of points.

The cuts come from earlier noisy answers or from the schema; the codes of a row depend on that
row alone, whatever the cuts are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privclust._typing import Codes, Floats, Indices
from privclust.data.points.kernels import ProjectionGrid, nearest
from privclust.data.points.mixed import PIECE, Region
from privclust.data.points.public import Projection
from privclust.data.rows import Block
from privclust.data.table.public import CellGroups, Cut


@dataclass(frozen=True)
class CutCoder:
    """Turns rows into codes for tables of counts; every row has a cell in each."""

    domain: Region  # how rows are read
    cuts: tuple[Cut, ...]  # the attributes, in this order
    # Further attributes: the group of the point that is nearest to the row.
    groups: tuple[CellGroups, ...] = ()

    labels = n_listed = ()  # attributes without a name

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of codes of each attribute."""
        return (*(cut.size for cut in self.cuts), *(part.size for part in self.groups))

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each attribute."""
        return tuple(map(str, range(len(self.sizes))))

    @property
    def dtype(self) -> np.dtype[np.unsignedinteger]:
        """The smallest type for all codes."""
        return np.min_scalar_type(max(self.sizes) - 1)

    def codes(self, block: Block) -> Codes:
        """Return the codes of a block, of shape (n_rows, n_attributes)."""
        values = self.domain.rows(block).T
        codes = [c.codes[np.searchsorted(c.edges, values[c.column], "right")] for c in self.cuts]
        codes += [groups.groups[self._nearest(block, groups.points)] for groups in self.groups]
        return np.stack(codes, axis=1).astype(self.dtype)

    def _nearest(self, block: Block, points: Floats) -> Indices:
        """Return the nearest point of each row, on the coarse grid of the unit ball."""
        grid = ProjectionGrid(Projection(np.zeros(self.domain.dimension), coarse=True))
        pieces = map(grid.rows, self.domain.pieces(block, PIECE))
        return np.concatenate([nearest(p, grid.centres(points), grid.dtype) for p in pieces])
