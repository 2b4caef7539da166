"""What a private table releases, how far its noise reaches, and what is too large to be asked."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privclust.data.encode import Floats
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.kernels import PairLayout
from privclust.exceptions import SchemaError
from privclust.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace

__all__ = ["Additive", "NoisyTables", "check_cells", "check_subsets", "reach"]

# Cells of all pair tables together: a quarter of a gigabyte of counts.
MOST_CELLS = 2**25

# Subsets of attributes that the search for the best context may compare.
_MOST_SUBSETS = 2**21

Additive = DiscreteGaussian | DiscreteLaplace


@dataclass(frozen=True)
class NoisyTables:
    """Released tables of pairs of attributes.

    Attributes
    ----------
    layout : PairLayout
        Which pairs, and how their cells lie in ``cells``.
    cells : ndarray of shape (layout.n_cells,)
        Noisy counts.
    standard_error : float
        The standard deviation of the noise on each cell.
    reach : float
        About the largest noise to expect among all cells.
    """

    layout: PairLayout
    cells: Floats
    standard_error: float
    reach: float

    def table(self, first: int, second: int) -> Floats:
        """Return one table, the values of ``first`` in rows."""
        return np.asarray(self.layout.table(self.cells, (first, second)), np.float64)


def reach(noise: Additive, n_cells: int) -> float:
    """Return about the largest noise to expect among so many cells."""
    many = math.log(max(n_cells, 2))
    if isinstance(noise, DiscreteLaplace):
        return float(noise.scale) * many
    return noise.standard_error() * math.sqrt(2 * many)


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
