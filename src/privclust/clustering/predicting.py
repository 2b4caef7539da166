"""What fitted k-means models tell: their centres as a table, and labels, distances, a score."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from privclust._typing import Floats, Labels
from privclust.clustering.result import LearnedCenters
from privclust.exceptions import ParameterError
from privclust.holder.answers import OwnPoints
from privclust.opening.rows import Opened, open_points
from privclust.parameters import OneOf
from privclust.predicting import NotKept, PrivateClusterMixin
from privclust.release.facts import Library, center_table
from privclust.schema.schema import Schema
from privclust.unit import row_unit

# What distances are measured in: as the fit did, or in the units of the data.
Units = Literal["model", "data"]
_UNITS = OneOf(get_args(Units))


def label_by_nearest(
    X: Any, schema: Schema, scaling: dict[str, Any], cells: Floats, labels: Labels
) -> Iterator[Labels]:
    """Yield the label of the cell that is nearest to each row, while the rows are read."""
    with open_points(X, schema=schema, ignore=None) as opened:
        for part in OwnPoints(opened, **scaling).label_parts(cells):
            yield labels[part]


class OpenedAgain:
    """How a fitted model opens new rows."""

    schema: Any
    unit: Any
    schema_: Schema
    _compare_columns: Callable[[Any], None]

    def _open_again(self, X: Any) -> Opened:
        """Open new rows; a schema and an id column are looked for by name."""
        check_is_fitted(self)
        id_column, schema = row_unit(self.unit).id_column, self.schema_
        if self.schema is None and id_column is None:
            self._compare_columns(X)
        if not hasattr(self, "feature_names_in_"):
            opened = open_points(X, bounds=(schema.low, schema.high))
            facts = zip(opened.schema.names, schema.columns.values(), strict=True)
            return replace(opened, schema=opened.schema.with_columns(dict(facts)))
        return open_points(X, schema=schema, ignore=[] if id_column is None else [id_column])


class PointLabels(
    OpenedAgain, ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateClusterMixin
):
    """Exact answers about rows by released centres; they are not a release."""

    inertia_ = NotKept(
        "inertia_ is not kept, because the inertia of the training rows is an exact fact about "
        "them; score(X) gives minus the inertia to you, and PrivateSummary.inertia() a noisy one "
        "that may be published."
    )
    cluster_centers_: Floats
    _learned: LearnedCenters | None
    _scaled: dict[str, Any]

    def centers_table(self, library: Library = "pandas") -> Any:
        """Return the centres as a data frame: numbers, and a share for each category.

        Parameters
        ----------
        library : {"pandas", "polars", "arrow"}, default="pandas"
        """
        check_is_fitted(self)
        return center_table(self.schema_, self.cluster_centers_, library)

    def predict(self, X: Any) -> Labels:
        """Return the index of the nearest released centre of each row."""
        with self._open_again(X) as opened:
            return self._labels(self._own(opened))

    def transform(self, X: Any, *, units: Units = "model") -> Floats:
        """Return the distance of each row to each released centre.

        Parameters
        ----------
        X : array, data frame, Arrow data or path
            The rows.
        units : {"model", "data"}, default="model"
            ``"model"``: as the fit measured distances, with a schema in declared widths of the
            columns. ``"data"``: in the units of the data, as scikit-learn would; two different
            categories are then 1 apart.
        """
        with self._open_again(X) as opened:
            return self._own(opened, units).distances(self._to_points)

    def score(self, X: Any, y: object = None, *, units: Units = "model") -> float:
        """Return minus the inertia of the rows; an exact statement about them, not a release.

        Do not choose parameters by it: a model that is fitted again after its score was seen
        says that it is not private.

        Parameters
        ----------
        X : array, data frame, Arrow data or path
            The rows.
        y : ignored
        units : {"model", "data"}, default="model"
            The units of the distances, as in :meth:`transform`. Compare the inertia of
            scikit-learn's ``KMeans`` with ``"data"``.
        """
        with self._open_again(X) as opened:
            own = self._own(opened, units)
            self._scored = True
            return -own.inertia(self._to_points)

    def _own(self, opened: Opened, units: Units = "model") -> OwnPoints:
        _UNITS.check("units", units)
        if units == "data":
            if self._learned is not None:
                raise ParameterError(
                    "Distances that were learned have no units of the data; use units='model'."
                )
            return OwnPoints(opened)
        own = OwnPoints(opened, **self._scaled)
        if self._learned is not None:
            own.use_value_points(self._learned.values)
        return own

    def _labels(self, own: OwnPoints) -> Labels:
        return own.labels(self._to_points).astype(np.int64, copy=False)

    @property
    def _to_points(self) -> Floats:
        """The centres as distances are measured to them."""
        return self.cluster_centers_ if self._learned is None else self._learned.places
