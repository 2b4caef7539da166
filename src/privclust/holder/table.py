"""What the holder of categorical rows may ask about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Codes, Floats
from privclust.data.table.codes import CategoryCoder
from privclust.data.table.public import ValuePoints, check_cells
from privclust.holder.each import each
from privclust.holder.kernels import AsRead, NearestEmbeddedCentre
from privclust.opening.rows import Opened
from privclust.schema.coordinates import refuse_weights

__all__ = ["OwnTable"]


class OwnTable:
    """The caller's own rows of categories.

    Parameters
    ----------
    opened : Opened

    Attributes
    ----------
    coder : CategoryCoder
        How values become codes.
    """

    def __init__(self, opened: Opened) -> None:
        refuse_weights(opened.schema)
        self._opened, self.coder = opened, CategoryCoder(opened.schema)
        check_cells(self.coder)

    def codes(self) -> Codes:
        """Return the codes of all rows."""
        return np.concatenate([*self._blocks()])

    def coordinates(self, tables: Sequence[tuple[int, Floats]]) -> Floats:
        """Return for each row the coordinates of its values, column after column.

        Parameters
        ----------
        tables : sequence of (int, ndarray of shape (n_values, n_axes))
            The number of a column, and the public coordinates of its values.
        """
        parts = [
            np.concatenate([table[codes[:, column]] for column, table in tables], axis=1)
            for codes in self._blocks()
        ]
        return np.concatenate(parts)

    def label_parts(self, embedding: ValuePoints, centres: Floats) -> Iterator[NDArray[np.intp]]:
        """Yield the nearest centre of each row in a public embedding, while the rows are read."""
        nearest = NearestEmbeddedCentre(self.coder, embedding, centres)
        return each(self._opened.rows, AsRead(), nearest)

    def _blocks(self) -> Iterator[Codes]:
        return (self.coder.codes(block) for block in self._opened.rows.blocks())
