"""``KMeansEstimator``: the scikit-learn shell that the private k-means estimators share."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from privclust.budget import Share
from privclust.data.points.door import PointRows, schema_from_bounds
from privclust.data.points.view import PointsView
from privclust.estimator import PrivateEstimator
from privclust.exceptions import LowSignalWarning
from privclust.kmeans.plan import as_table, best_inertia, synthetic_rows
from privclust.kmeans.result import KMeansResult
from privclust.plan import Plan
from privclust.privacy.meter import Meter
from privclust.privacy.statement import PrivacyStatement
from privclust.release import Release
from privclust.schema import Schema
from privclust.unit import Person, Unit, unit_from

__all__ = ["KMeansEstimator"]

Floats = NDArray[np.float64]

_REHEARSALS = 3
_MOST_REHEARSED = 100_000


class KMeansEstimator(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, PrivateEstimator
):
    """What the k-means estimators share; a subclass has the parameters and the algorithm."""

    n_clusters: int
    schema: Schema | None
    bounds: tuple[Any, Any] | None
    unit: Unit | str
    rescale: bool

    def fit(self, X: Any, y: object = None) -> Self:
        """Cluster the rows of ``X`` and keep the released centres.

        Parameters
        ----------
        X : array, sparse matrix, data frame, Arrow data or path of a CSV or Parquet file
            The private rows.
        y : ignored
        """
        with self._open(X) as rows:
            return self._fit(rows)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the index of the nearest released centre of each row."""
        with self._open_again(X) as rows:
            return self._labels(rows)

    def fit_predict(self, X: Any, y: object = None) -> NDArray[np.intp]:
        """Fit, and return the label of each row to the caller; the labels are not kept."""
        with self._open(X) as rows:
            return self._fit(rows)._labels(rows)

    def transform(self, X: Any) -> Floats:
        """Return the distance of each row to each released centre."""
        with self._open_again(X) as rows:
            return rows.distances(self.cluster_centers_)

    def score(self, X: Any, y: object = None) -> float:
        """Return minus the inertia of the rows; an exact statement about them, not a release."""
        with self._open_again(X) as rows:
            return -rows.inertia(self.cluster_centers_)

    def plan(self, n_rows: int = 10_000, n_features: int | None = None) -> Plan:
        """Rehearse the fit on synthetic rows; no data are touched and nothing is spent.

        Parameters
        ----------
        n_rows : int, default=10_000
            About how many rows the data have, from public knowledge; at most 100 000 are made.
        n_features : int or None
            The number of columns, if neither the schema nor the bounds tell it.
        """
        self._check_parameters()
        unit = unit_from(self.unit)
        schema = self.schema or schema_from_bounds(self.bounds, None, n_features)
        n_rows = min(int(n_rows), _MOST_REHEARSED)
        known = {"schema": schema, "bounds": None, "ledger": None}
        rehearsal = type(self)(**{**self.get_params(deep=False), **known})
        ratios = []
        for seed in range(_REHEARSALS):
            rows = synthetic_rows(schema, self.n_clusters, n_rows, seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LowSignalWarning)  # the plan's advice says it
                rehearsal.set_params(random_state=seed).fit(as_table(rows, schema, unit))
            best = best_inertia(rows / rehearsal._widths(schema), self.n_clusters)
            ratios.append(-rehearsal.score(as_table(rows, schema, unit)) / best)
        statement = replace(rehearsal.privacy_, flaws=())
        return Plan(statement, n_rows, float(np.mean(ratios)), "inertia")

    def release(self) -> Release:
        """Return what may be published: centres, sizes and the privacy statement."""
        check_is_fitted(self)
        return Release(
            kind="kmeans",
            arrays={
                "cluster_centers": self.cluster_centers_,
                "cluster_sizes": self.cluster_sizes_,
                "cluster_sizes_error": np.full(self.n_clusters, self.cluster_sizes_error_),
            },
            schema=self.schema_,
            parameters={
                "n_clusters": int(self.n_clusters),
                **self._method(),
                "rescale": bool(self.rescale),
                **({"warnings": list(self.warnings_)} if self.warnings_ else {}),
            },
            privacy=self.privacy_,
        )

    def _open(self, X: Any) -> PointRows:
        self._check_parameters()
        return PointRows(
            X,
            schema=self.schema,
            bounds=self.bounds,
            unit=unit_from(self.unit),
            rescale=self.rescale,
        )

    def _open_again(self, X: Any) -> PointRows:
        """Open new rows; a schema and an id column are looked for by name, at the door."""
        check_is_fitted(self)
        unit, schema = unit_from(self.unit), self.schema_
        if self.schema is None and not isinstance(unit, Person):
            self._compare_columns(X)
        if not hasattr(self, "feature_names_in_"):
            return PointRows(X, bounds=(schema.low, schema.high), rescale=self.rescale)
        ignore = [unit.id_column] if isinstance(unit, Person) else []
        return PointRows(X, schema=schema, rescale=self.rescale, ignore=ignore)

    def _fit(self, rows: PointRows) -> Self:
        budget, (seed, rng) = self._budget(), self._seeds()
        self._warn_of_leaks()
        receipt = self._reserve(budget, rows.unit)
        meter = Meter(budget)
        view = rows.private(meter, seed)
        result = self._cluster(view, budget.whole, rng)
        centres = rows.domain.to_data_units(result.centres)
        self._remember_columns(rows.names, rows.n_columns)
        self.schema_ = rows.schema
        self.cluster_centers_ = np.clip(centres, rows.schema.low, rows.schema.high)
        self.cluster_sizes_ = result.sizes.value
        self.cluster_sizes_error_ = result.sizes.standard_error
        self.privacy_ = PrivacyStatement.from_meter(
            meter, unit=rows.unit, private=seed is None, receipt=receipt
        )
        self.warnings_ = result.warnings
        self._n_features_out = self.n_clusters
        self._settle()
        for message in self.warnings_:
            warnings.warn(message, LowSignalWarning, stacklevel=3)
        return self

    def _cluster(self, view: PointsView, budget: Share, rng: np.random.Generator) -> KMeansResult:
        """Run the algorithm of the subclass."""
        raise NotImplementedError

    def _method(self) -> dict[str, Any]:
        """Return the parameters of the algorithm, for the release."""
        raise NotImplementedError

    def _labels(self, rows: PointRows) -> NDArray[np.intp]:
        return rows.labels(self.cluster_centers_)

    def _widths(self, schema: Schema) -> Floats:
        """Return the unit in which each column is measured."""
        widths: Floats = schema.high - schema.low
        return widths if self.rescale else np.ones_like(widths)

    def _check_parameters(self) -> None:
        self._check_whole("n_clusters")
        self._budget()

    def _check_whole(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            if not whole or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
