"""What fitted metrics tell the holder of rows: coordinates, distances, labels.

Private or not: it needs a fitted ``metric_`` and the ``schema_`` it was learned under.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from privclust._typing import Floats, Labels
from privclust.categories.metric import CategoricalMetric
from privclust.data.table.public import ValuePoints
from privclust.holder.answers import OwnTable
from privclust.opening.rows import Opened, open_table
from privclust.predicting import PrivateClusterMixin
from privclust.schema.schema import Schema


class MetricMixin(TransformerMixin):
    """Coordinates and distances by a learned metric."""

    metric_: CategoricalMetric
    schema_: Schema
    schema: Any

    def transform(self, X: Any) -> Floats:
        """Return Euclidean coordinates of rows; their distances are those of the metric."""
        with self._open_again(X) as opened:
            return OwnTable(opened).coordinates(self.metric_.tables())

    def pairwise_distances(self, X: Any, Y: Any = None) -> Floats:
        """Return the distances between the rows of ``X`` and those of ``Y``, or of ``X``."""
        left = self.transform(X)
        return np.asarray(cdist(left, left if Y is None else self.transform(Y)))

    def distance_matrix(self, attribute: str, *, as_frame: bool = False) -> Any:
        """Return the distances between the values of one attribute.

        Parameters
        ----------
        attribute : str
            The name of the column.
        as_frame : bool, default=False
            Return a pandas data frame labelled with the values, instead of an array in their
            declared order.
        """
        check_is_fitted(self)
        part = self.metric_[attribute]
        if not as_frame:
            return part.distances()
        import pandas as pd

        return pd.DataFrame(part.distances(), index=part.labels, columns=part.labels)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return a name for every coordinate."""
        check_is_fitted(self)
        names = [
            f"{name}_{axis}"
            for name, part in self.metric_.attributes.items()
            for axis in range(part.coordinates.shape[1])
        ]
        return np.array(names, dtype=object)

    def _open_again(self, X: Any) -> Opened:
        """Open new rows.

        Columns of a schema are looked for by name. Those of the short form are the
        columns of the fit, and scikit-learn's own message says if they are not.
        """
        check_is_fitted(self)
        ignored = self._columns_to_ignore()
        by_name = isinstance(self.schema, (Schema, str, PathLike, Mapping)) or ignored
        if not by_name and len(getattr(X, "shape", ())) == 2:
            validate_data(self, X, reset=False, skip_check_array=True)
        unnamed = not hasattr(self, "feature_names_in_")
        declared = list(self.schema_.columns.values()) if unnamed else self.schema_
        return open_table(X, declared, ignore=ignored)

    def _columns_to_ignore(self) -> Sequence[str]:
        """Return the columns of new rows that are not read."""
        return ()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


class CategoryLabels(PrivateClusterMixin):
    """Exact labels of rows by released centres; they are not a release."""

    cluster_centers_: Floats
    value_points_: list[Floats]

    def predict(self, X: Any) -> Labels:
        """Return the index of the nearest released centre of each row."""
        with self._open_again(X) as opened:
            return self._labels(self._own(opened))

    def _own(self, opened: Opened) -> OwnTable:
        return OwnTable(opened)

    def _labels(self, own: OwnTable) -> Labels:
        parts = own.label_parts(ValuePoints(self.value_points_), self.cluster_centers_)
        return np.concatenate([*parts]).astype(np.int64, copy=False)
