"""What an algorithm may hold of categorical rows: arguments of questions, and noisy answers.

Also what is too large to be asked, which is a fact of the schema.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats, Integers
from privclust.data.encode import Domain
from privclust.data.public import Noisy
from privclust.exceptions import SchemaError

if TYPE_CHECKING:
    from privclust.data.table.codes import CategoryCoder


# How many bins a column of numbers is cut into.
BINS = 8

# Cells of all pair tables together: a quarter of a gigabyte of counts.
MOST_CELLS = 2**25

# Subsets of attributes that the search for the best context may compare.
_MOST_SUBSETS = 2**21


@dataclass(frozen=True)
class PairLayout:
    """How the tables of several pairs of attributes are laid out in one vector."""

    sizes: tuple[int, ...]  # the number of values of every attribute
    pairs: tuple[tuple[int, int], ...]  # the pairs, the lower index first

    @classmethod
    def all_pairs(cls, sizes: Sequence[int]) -> PairLayout:
        """Return the layout of all pairs of attributes."""
        return cls(tuple(sizes), tuple(combinations(range(len(sizes)), 2)))

    @cached_property
    def starts(self) -> Integers:
        """Where each table starts, and the end."""
        cells = [self.sizes[i] * self.sizes[j] for i, j in self.pairs]
        return np.concatenate([[0], np.cumsum(cells, dtype=np.int64)]).astype(np.int64)

    @property
    def n_cells(self) -> int:
        """Number of cells of all tables."""
        return int(self.starts[-1])

    @cached_property
    def places(self) -> dict[tuple[int, int], int]:
        """The position of each pair in the list."""
        return {pair: place for place, pair in enumerate(self.pairs)}

    def table(self, cells: NDArray[np.generic], pair: tuple[int, int]) -> NDArray[np.generic]:
        """Return one table, the values of ``pair[0]`` in rows; the pair may be in either order."""
        i, j = sorted(pair)
        place = self.places[i, j]
        flat = cells[self.starts[place] : self.starts[place + 1]]
        table = flat.reshape(self.sizes[i], self.sizes[j])
        return table if pair == (i, j) else table.T


def independent_tables(margins: Sequence[Floats]) -> dict[tuple[int, int], Floats]:
    """Return the table of each pair that the margins imply under independence."""
    products = {
        (i, j): np.outer(margins[i], margins[j]) for i, j in combinations(range(len(margins)), 2)
    }
    return {pair: table / max(float(table.sum()) ** 0.5, 1.0) for pair, table in products.items()}


@dataclass(frozen=True)
class Cut:
    """How the values of one column become codes: public cells, and a code for each of them."""

    # The position of the column among the numbers of a row, which come first, and its categories.
    column: int
    edges: Floats  # (n_cells - 1,): rising; an edge belongs to the cell above it
    codes: Integers  # (n_cells,): the codes, 0 to max(codes)

    @property
    def size(self) -> int:
        """The number of codes."""
        return int(self.codes.max()) + 1


@dataclass(frozen=True)
class CellGroups:
    """Public points of the unit ball, each with a group; a row has that of its nearest point."""

    points: Floats  # (n_points, dimension)
    groups: Integers  # (n_points,): from 0

    @property
    def size(self) -> int:
        """The number of groups."""
        return int(self.groups.max()) + 1


@dataclass(frozen=True)
class NoisyTables:
    """Released tables of pairs of attributes."""

    layout: PairLayout  # which pairs, and how their cells are laid out in ``cells``
    cells: Floats  # (layout.n_cells,)
    standard_error: float  # the standard deviation of the noise on each cell
    largest_noise: float  # about the largest noise to expect among all cells

    @property
    def n_rows(self) -> Noisy:
        """The mean of the sums of the tables, each of which has all rows."""
        n_tables = max(len(self.layout.pairs), 1)
        error = self.standard_error * math.sqrt(len(self.cells)) / n_tables
        return Noisy(np.array([self.cells.sum() / n_tables]), error)

    def table(self, first: int, second: int) -> Floats:
        """Return one table, the values of ``first`` in rows."""
        return np.asarray(self.layout.table(self.cells, (first, second)), np.float64)


class ValuePoints:
    """Public points for the values of every attribute; a row becomes the sum of its points.

    ``points``: (n_values, dimension).
    """

    def __init__(self, points: Sequence[Floats]) -> None:
        self.points = [np.ascontiguousarray(part, np.float64) for part in points]
        self.dimension = int(self.points[0].shape[1])

    def domain(self, radius: float) -> Domain:
        """Return the region that rows are clipped to: the bounds of all rows, within a ball."""
        low = sum((part.min(axis=0) for part in self.points), np.zeros(self.dimension))
        high = sum((part.max(axis=0) for part in self.points), np.zeros(self.dimension))
        low, high = np.minimum(low, 0) - 1e-9, np.maximum(high, 0) + 1e-9
        names = tuple(f"axis {axis}" for axis in range(self.dimension))
        ones, zeros = np.ones(self.dimension), np.zeros(self.dimension)
        return Domain(names, low, high, ones, zeros, radius, zeros, within_ball=True)


# Both are facts of the schema and are checked before a ledger is charged.
def check_cells(coder: CategoryCoder) -> None:
    """Raise if the tables of all pairs would not fit into memory."""
    n_cells = PairLayout.all_pairs(coder.sizes).n_cells
    if n_cells > MOST_CELLS:
        largest = coder.names[int(np.argmax(coder.sizes))]
        raise SchemaError(
            f"The declared categories make {n_cells:,} pairs of values, more than "
            f"{MOST_CELLS:,}; group rare values, of column {largest!r} first."
        )


def check_subsets(n_attributes: int, size: int) -> None:
    """Raise if there are too many contexts of ``size`` attributes to compare."""
    n_subsets = math.comb(n_attributes, size + 1)
    if n_subsets > _MOST_SUBSETS:
        raise ValueError(
            f"The best context of {size} among {n_attributes} attributes needs {n_subsets:,} "
            "tables; ask for a smaller context or use max-relevance."
        )
