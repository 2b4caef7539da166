"""What every estimator with a learned metric can do: coordinates of rows, distances, names.

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

from privclust._typing import Floats
from privclust.categorical.metric import CategoricalMetric
from privclust.data.table.door import TableRows
from privclust.exceptions import SchemaError
from privclust.schema import Bins, Categories, Schema

__all__ = ["Declared", "MetricMixin", "check_width"]


# A schema, the one fact that holds for every column, or one fact for each.
Declared = Schema | Bins | Categories | Sequence[Bins | Categories]


def check_width(schema: Schema) -> None:
    """Raise unless there are columns to compare values by."""
    if len(schema) < 2:
        raise SchemaError(
            "A categorical metric compares values by other columns, but the data have "
            "1 feature(s) only; declare at least two."
        )


class MetricMixin(TransformerMixin):
    """Coordinates and distances by a learned metric."""

    metric_: CategoricalMetric
    schema_: Schema
    schema: Any

    def transform(self, X: Any) -> Floats:
        """Return Euclidean coordinates of rows; their distances are those of the metric."""
        with self._open_again(X) as rows:
            return rows.coordinates(self.metric_.tables())

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

    def _open_again(self, X: Any) -> TableRows:
        """Open new rows.

        Columns of a schema are looked for by name, at the door. Those of the short form are the
        columns of the fit, and scikit-learn's own message says if they are not.
        """
        check_is_fitted(self)
        ignored = self._ignored()
        by_name = isinstance(self.schema, (Schema, str, PathLike, Mapping)) or ignored
        if not by_name and len(getattr(X, "shape", ())) == 2:
            validate_data(self, X, reset=False, skip_check_array=True)
        unnamed = not hasattr(self, "feature_names_in_")
        declared = list(self.schema_.columns.values()) if unnamed else self.schema_
        return TableRows(X, declared, ignore=ignored)

    def _ignored(self) -> Sequence[str]:
        """Return the columns of new rows that are not read."""
        return ()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
