"""What the holder of a matrix of counts may ask about its rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats
from privclust.exceptions import DataError
from privclust.holder.each import each
from privclust.holder.kernels import HeaviestGroup
from privclust.opening.matrices import OpenedMatrix

__all__ = ["OwnMatrix"]


class OwnMatrix:
    """The caller's own matrix.

    Parameters
    ----------
    opened : OpenedMatrix
    """

    def __init__(self, opened: OpenedMatrix) -> None:
        self._opened = opened

    def labels(self, column_weights: Floats) -> NDArray[np.intp]:
        """Return the group of each row whose weights of the columns speak most for it.

        Where whole rows are protected, the square roots of the entries are weighed.
        """
        return np.concatenate([*self.label_parts(column_weights)])

    def label_parts(self, column_weights: Floats) -> Iterator[NDArray[np.intp]]:
        """Yield the labels as :meth:`labels` gives them, while the matrix is read."""
        source, unit = self._opened.source, self._opened.unit
        if len(column_weights) != source.shape[1]:
            raise DataError(
                f"The matrix has {source.shape[1]} columns where {len(column_weights)} were "
                "fitted; give a matrix with the same columns."
            )
        heaviest = HeaviestGroup(column_weights * float(unit.step), unit.whole_rows)
        return each(source, source.encoder, heaviest)
