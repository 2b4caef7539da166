"""What is computed from each row for the holder of the rows; it is sent to workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats, Indices
from privclust.data.encode import GRID_RADIUS, Domain
from privclust.data.engines.base import PerRow
from privclust.data.matrix.rows import MatrixRows
from privclust.data.points.mixed import MixedDomain, MixedRows
from privclust.data.rows import Block
from privclust.data.table.as_points import rows_of
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.public import ValuePoints

# Squared distances of rows to public centres, for each kind of rows.

# Unclipped rows are moved in to this distance, in the units of their domain.
_FARTHEST = 1e150


@dataclass(frozen=True)
class EmbeddingDomain:
    """Rows as points of a public embedding."""

    coder: CategoryCoder
    points: ValuePoints  # the points of the values of every column


Seen = Domain | MixedDomain | EmbeddingDomain


def squares(seen: Seen, block: Block, centers: Floats, *, up_to_row: bool = False) -> Floats:
    """Return the squared distances of the rows of a block to public centres.

    ``seen``: what the rows are seen as. Those of a mixed domain are seen on the grid, clipped and
    rounded as in a fit: to a millionth of the radius. ``centers``: (n_centers, n_coordinates),
    numbers in the units of the data, and shares; or points of the embedding. ``up_to_row``: leave
    out the squared length of the row: it is the same for all centres, and for a row far out it
    would drown their differences.
    """
    if isinstance(seen, Domain):
        return _of_numbers(seen, block, centers, up_to_row)
    if isinstance(seen, MixedDomain):
        return _of_mixed(seen, block, centers, up_to_row)
    rows = rows_of(seen.points, seen.coder.codes(block))
    found = (centers**2).sum(axis=1) - 2 * rows @ centers.T
    if not up_to_row:
        found = np.maximum(found + (rows**2).sum(axis=1)[:, None], 0)
    return np.asarray(found)


def _of_numbers(domain: Domain, block: Block, centers: Floats, up_to_row: bool) -> Floats:
    # Around the center, so that a large offset common to all rows loses no digits.
    targets = (centers - domain.center) / domain.widths
    with np.errstate(over="ignore"):
        rows = (domain.rows(block) - domain.center) / domain.widths
    np.clip(rows, -_FARTHEST, _FARTHEST, out=rows)
    found = (targets**2).sum(axis=1) - 2 * rows @ targets.T
    if not up_to_row:
        found = np.maximum(found + (rows**2).sum(axis=1)[:, None], 0)
    return np.asarray(found)


def _of_mixed(domain: MixedDomain, block: Block, centers: Floats, up_to_row: bool) -> Floats:
    (rows,) = domain.pieces(block, block.n_rows * domain.dimension)
    targets = domain.to_unit_ball(centers) * GRID_RADIUS
    found = (targets**2).sum(axis=1) - 2 * rows.products(targets.T)
    if not up_to_row:
        found = np.maximum(found + square_lengths(rows)[:, None], 0)
    return np.asarray(found * (domain.radius / GRID_RADIUS) ** 2)


def square_lengths(rows: MixedRows) -> Floats:
    """Return the squared length of each row on the grid, exactly."""
    layout = rows.layout
    total = (rows.numbers**2).sum(axis=1) + (layout.off**2).sum()
    columns = zip(rows.codes.T, layout.starts, layout.sizes, layout.steps, strict=True)
    for code, start, size, step in columns:
        added = step * (2 * layout.off[start] + step)
        total += np.where(code < size, added, 0)
    return np.asarray(total)


@dataclass(frozen=True)
class RawBlocks:
    """The encoder that leaves blocks as they are."""

    row_bytes = 0

    def __call__(self, block: Block) -> list[Block]:
        """Return the block."""
        return [block]

    def unpack(self, piece: Block) -> Block:
        """Return the block."""
        return piece


@dataclass(frozen=True)
class NearestCentre:
    """The index of the nearest centre of each row, in the units of the data."""

    seen: Seen
    centres: Floats

    def __call__(self, block: Block) -> PerRow:
        """Return the labels of a block."""
        return PerRow((squares(self.seen, block, self.centres, up_to_row=True).argmin(axis=1),))


@dataclass(frozen=True)
class CellOfGrid:
    """The label of the cell of a public grid that each row lies in."""

    seen: Domain
    cuts: tuple[Floats, ...]  # the edges between the cells of each column
    labels: Indices  # with an axis for each column

    def __call__(self, block: Block) -> PerRow:
        """Return the labels of a block."""
        columns = zip(self.cuts, self.seen.rows(block).T, strict=True)
        places = tuple(np.searchsorted(cuts, values, "right") for cuts, values in columns)
        return PerRow((self.labels[places],))


@dataclass(frozen=True)
class OfNumbers:
    """What a function makes of numeric rows, in the units of the data."""

    seen: Domain
    of: Callable[[Floats], NDArray[Any]]

    def __call__(self, block: Block) -> PerRow:
        """Return it for the rows of a block."""
        return PerRow((self.of(np.clip(self.seen.rows(block), -_FARTHEST, _FARTHEST)),))


@dataclass(frozen=True)
class NearestEmbeddedCentre:
    """The index of the nearest public centre of each row."""

    coder: CategoryCoder
    points: ValuePoints
    centres: Floats

    def __call__(self, block: Block) -> PerRow:
        """Return the labels of a block."""
        rows = rows_of(self.points, self.coder.codes(block))
        halves = (self.centres**2).sum(axis=1) / 2
        return PerRow(((halves - rows @ self.centres.T).argmin(axis=1),))


@dataclass(frozen=True)
class HeaviestGroup:
    """The group with the largest weighted sum for each row.

    Where whole rows are protected, the square roots of the entries are weighed.
    """

    weights: Floats
    rooted: bool

    def __call__(self, rows: MatrixRows) -> PerRow:
        """Return the groups of some rows."""
        entries = rows.counts
        if self.rooted:
            entries = entries.astype(np.float64)
            entries.data = np.sqrt(entries.data)
        return PerRow((np.asarray((entries @ self.weights).argmax(axis=1)),))
