"""What the holder of rows of numbers and categories may ask about them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats
from privclust.data.points.mixed import region_of
from privclust.data.table.binned import BinnedCoder
from privclust.data.table.public import ValuePoints
from privclust.exceptions import SchemaError
from privclust.holder.distances import EmbeddedRegion, Seen, squares
from privclust.holder.each import each
from privclust.holder.kernels import AsRead, NearestCentre
from privclust.opening.rows import Opened

__all__ = ["OwnPoints"]


class OwnPoints:
    """The caller's own rows, seen as points.

    Parameters
    ----------
    opened : Opened
    rescale : bool
        Whether distances are measured in units of the declared widths.
    """

    def __init__(self, opened: Opened, *, rescale: bool = False) -> None:
        self._opened = opened
        self._seen: Seen = region_of(opened.schema, rescale=rescale)

    def see_as(self, values: Floats) -> None:
        """Measure distances between points of a public embedding from now on.

        Parameters
        ----------
        values : ndarray of shape (n_values, n_axes)
            The points of the values of all columns, numbers in bins, one column after another.
        """
        coder = BinnedCoder(self._opened.schema)
        if len(values) != sum(coder.sizes):
            raise SchemaError(
                f"There are points for {len(values)} values where the schema declares "
                f"{sum(coder.sizes)}, numbers in bins; give one for each."
            )
        ends = np.cumsum(coder.sizes)[:-1]
        self._seen = EmbeddedRegion(coder, ValuePoints(np.split(values, ends)))

    def labels(self, centres: Floats) -> NDArray[np.intp]:
        """Return the nearest centre of each row."""
        return np.concatenate([*self.label_parts(centres)])

    def label_parts(self, centres: Floats) -> Iterator[NDArray[np.intp]]:
        """Yield the nearest centre of each row, while the rows are read."""
        return each(self._opened.rows, AsRead(), NearestCentre(self._seen, centres))

    def distances(self, centres: Floats) -> Floats:
        """Return the distance of each row to each centre."""
        return np.concatenate([np.sqrt(part) for part in self._squares(centres)])

    def inertia(self, centres: Floats) -> float:
        """Return the sum of squared distances of the rows to their nearest centre."""
        return float(sum(part.min(axis=1).sum() for part in self._squares(centres)))

    def _squares(self, centres: Floats) -> Iterator[Floats]:
        for block in self._opened.rows.blocks():
            yield squares(self._seen, block, centres)
