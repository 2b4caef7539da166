"""What fitted k-means models tell the holder of rows: labels, distances, a score."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from privclust._typing import Floats, Labels
from privclust.clustering.result import LearnedCenters
from privclust.holder.answers import OwnPoints
from privclust.opening.rows import Opened, open_points
from privclust.predicting import PrivateClusterMixin
from privclust.schema.schema import Schema
from privclust.unit import row_unit


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

    cluster_centers_: Floats
    _learned: LearnedCenters | None
    _scaled: dict[str, Any]

    def predict(self, X: Any) -> Labels:
        """Return the index of the nearest released centre of each row."""
        with self._open_again(X) as opened:
            return self._labels(self._own(opened))

    def transform(self, X: Any) -> Floats:
        """Return the distance of each row to each released centre."""
        with self._open_again(X) as opened:
            return self._own(opened).distances(self._to_points)

    def score(self, X: Any, y: object = None) -> float:
        """Return minus the inertia of the rows; an exact statement about them, not a release.

        Do not choose parameters by it: a model that is fitted again after its score was seen
        says that it is not private.
        """
        with self._open_again(X) as opened:
            self._scored = True
            return -self._own(opened).inertia(self._to_points)

    def _own(self, opened: Opened) -> OwnPoints:
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
