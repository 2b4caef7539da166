"""What fitted co-clusterings tell the holder of a matrix: the labels of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from privclust._typing import Floats, Labels
from privclust.holder.answers import OwnMatrix
from privclust.opening.matrices import OpenedMatrix
from privclust.predicting import PrivateClusterMixin


class MatrixLabels(PrivateClusterMixin):
    """Exact labels of rows by released weights of the columns; they are not a release."""

    shape: tuple[int, int] | None
    column_weights_: Floats

    def predict(self, X: Any) -> Labels:
        """Return the row cluster of each row of ``X``, which must have the same columns."""
        check_is_fitted(self)
        if self.shape is None:
            self._compare_columns(X)
        with self._open(X) as opened:
            return self._labels(self._own(opened))

    def _own(self, opened: OpenedMatrix) -> OwnMatrix:
        return OwnMatrix(opened)

    def _labels(self, own: OwnMatrix) -> Labels:
        return own.labels(self.column_weights_).astype(np.int64, copy=False)
