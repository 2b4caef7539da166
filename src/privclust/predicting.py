"""``PrivateClusterMixin``: exact labels of rows for their holder, as in scikit-learn.

What a fitted model tells the holder of rows is in the module ``predicting`` of its family. Such
answers are exact and not a release; none of them is kept.
"""

from __future__ import annotations

from typing import Any

from sklearn.base import ClusterMixin

from privclust._typing import Labels


class PrivateClusterMixin(ClusterMixin):
    """``fit_predict`` that opens the data once, because they may be a stream."""

    def fit_predict(self, X: Any, y: object = None, **_: Any) -> Labels:
        """Fit, and return the label of each row to the caller; the labels are not kept."""
        labels: Labels = self._fit(X, then=lambda opened: self._labels(self._own(opened)))
        return labels

    def _own(self, opened: Any) -> Any:
        """Return what the holder may ask about opened rows."""
        raise NotImplementedError

    def _labels(self, own: Any) -> Labels:
        raise NotImplementedError
