"""``PrivateClusterMixin``: exact labels of rows for their holder, as in scikit-learn.

What a fitted model tells the holder of rows is in the module ``predicting`` of its family. Such
answers are exact and not a release; none of them is kept.
"""

from __future__ import annotations

from typing import Any, NoReturn

from sklearn.base import ClusterMixin

from privclust._typing import Labels


class NotKept:
    """An attribute of scikit-learn's clusterers that would be exact about private rows.

    An estimator has none, as ``hasattr`` says; reading it says why, and what to use instead.
    """

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def __get__(self, model: object, owner: type | None = None) -> NoReturn:
        raise AttributeError(self._reason)


class PrivateClusterMixin(ClusterMixin):
    """``fit_predict`` that opens the data once, because they may be a stream."""

    labels_ = NotKept(
        "labels_ is not kept, because labels of the training rows are exact facts about them; use "
        "fit_predict(X) or predict(X), which give labels to you and keep none."
    )

    def fit_predict(self, X: Any, y: object = None, **_: Any) -> Labels:
        """Fit, and return the label of each row to the caller; the labels are not kept."""
        labels: Labels = self._fit(X, then=lambda opened: self._labels(self._own(opened)))
        return labels

    def _own(self, opened: Any) -> Any:
        """Return what the holder may ask about opened rows."""
        raise NotImplementedError

    def _labels(self, own: Any) -> Labels:
        raise NotImplementedError
