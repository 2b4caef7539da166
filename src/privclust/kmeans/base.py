"""``KMeansEstimator``: what the private k-means estimators share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from privclust._typing import Floats, Labels
from privclust.budget import Share
from privclust.data.points.door import PointRows
from privclust.data.points.view import PointsView
from privclust.estimator import PrivateClusterMixin, Run
from privclust.kmeans.doubts import bounds_in_doubt, delta_in_doubt
from privclust.kmeans.plan import synthetic
from privclust.kmeans.points import PointsEstimator
from privclust.kmeans.profiles import ask_profiles, check_numbers, divided
from privclust.kmeans.release import learned_arrays
from privclust.kmeans.result import KMeansResult, LearnedCenters
from privclust.parameters import check_clusters, whole
from privclust.plan import Plan, Synthetic
from privclust.release.tables import Library, center_table
from privclust.schema import Schema
from privclust.schema.coordinates import Coordinates
from privclust.summary.choosing import DEFAULT_RANGE
from privclust.unit import RowUnit, row_unit

__all__ = ["AUTO", "PLANNED", "KMeansEstimator"]

AUTO = "auto"  # in place of a number of clusters
PLANNED = 8  # clumps that a plan rehearses on, if the number is to be chosen


class KMeansEstimator(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateClusterMixin, PointsEstimator
):
    """What the k-means estimators share; a subclass has the parameters and the algorithm."""

    _kind = "kmeans"
    _checks: ClassVar[Any] = {"n_clusters": whole(), **PointsEstimator._checks}

    n_clusters: Any
    _learned: LearnedCenters | None

    def predict(self, X: Any) -> Labels:
        """Return the index of the nearest released centre of each row."""
        with self._open_again(X) as rows:
            return self._labels(rows)

    def transform(self, X: Any) -> Floats:
        """Return the distance of each row to each released centre."""
        with self._open_again(X) as rows:
            return rows.distances(self._places)

    def score(self, X: Any, y: object = None) -> float:
        """Return minus the inertia of the rows; an exact statement about them, not a release.

        Do not choose parameters by it: a model that is fitted again after its score was looked at
        says that it is not private.
        """
        with self._open_again(X) as rows:
            self._scored = True
            return -rows.inertia(self._places)

    def centers_table(self, library: Library = "pandas") -> Any:
        """Return the centres as a data frame: numbers, and a share for each category.

        Parameters
        ----------
        library : {"pandas", "polars", "arrow"}, default="pandas"
        """
        check_is_fitted(self)
        return center_table(self.schema_, self.cluster_centers_, library)

    def plan(self, n_rows: int = 10_000, n_features: int | None = None) -> Plan:
        """Rehearse the fit on synthetic rows; no data are touched and nothing is spent.

        Parameters
        ----------
        n_rows : int, default=10_000
            About how many rows the data have, from public knowledge; at most 100 000 are generated.
        n_features : int or None
            The number of columns, if neither the schema nor the bounds determine it.

        Notes
        -----
        With ``n_clusters="auto"`` the rows are in 8 clumps, and the error is the inertia of the
        clusters that are found over that of ordinary k-means with 8.
        """

        def clumps(schema: Schema, count: int, unit: RowUnit, seed: int) -> Synthetic:
            return synthetic(schema, self._looked_for(PLANNED), count, unit, seed)

        plan = self._rehearsed(n_rows, n_features, clumps)
        return self._with_profiles(plan, self._looked_for(PLANNED), n_features)

    # The way of a fit.
    def _open_again(self, X: Any) -> PointRows:
        """Open new rows."""
        rows = PointRows(X, **self._known(X))
        if self._learned is not None:
            rows.see_as(self._learned.values)
        return rows

    def _known(self, X: Any) -> dict[str, Any]:
        """Return how to open new rows; a schema and an id column are looked for by name."""
        check_is_fitted(self)
        id_column, schema = row_unit(self.unit).id_column, self.schema_
        if self.schema is None and id_column is None:
            self._compare_columns(X)
        if not hasattr(self, "feature_names_in_"):
            return {"bounds": (schema.low, schema.high), "rescale": self._rescaled}
        ignore = [] if id_column is None else [id_column]
        return {"schema": schema, "rescale": self._rescaled, "ignore": ignore}

    @property
    def _places(self) -> Floats:
        """The centres as distances are measured to them."""
        return self.cluster_centers_ if self._learned is None else self._learned.places

    def _look_ahead(self, data: PointRows, public: Any = None) -> None:
        check_clusters(self._looked_for(max(DEFAULT_RANGE)), data.domain.dimension)
        if self.profile_share is not None:
            check_numbers(data.schema)
        super()._look_ahead(data, public)

    def _ask(self, data: PointRows, run: Run, public: Any = None) -> KMeansResult:
        result = self._found(data, run)
        if result.learned is None:
            centres = data.domain.to_data_units(result.centres)
        else:
            centres = result.learned.table
        doubts = (
            *bounds_in_doubt(centres, result.sizes, data.schema),
            *delta_in_doubt(result.sizes, run.budget),
        )
        return replace(result, warnings=(*result.warnings, *doubts))

    def _looked_for(self, otherwise: int) -> int:
        """Return the number of clusters, or another one if it is to be chosen."""
        return otherwise if self.n_clusters == AUTO else int(self.n_clusters)

    def _found(self, data: PointRows, run: Run) -> KMeansResult:
        view = data.private(run.meter, run.seed)
        share, for_profiles = divided(run.budget.whole, self.profile_share)
        result = self._cluster(view, share, run.choices)
        if for_profiles is None:
            return result
        asked = ask_profiles(view, for_profiles, result.centres, data.schema)
        return replace(result, profiles=asked)

    def _cluster(self, view: PointsView, share: Share, rng: np.random.Generator) -> KMeansResult:
        """Run the algorithm of the subclass."""
        raise NotImplementedError

    def _keep(self, data: PointRows, result: KMeansResult, public: Any = None) -> None:
        self._remember_columns(data.names, data.n_columns)
        self.schema_ = data.schema
        self._rescaled = data.rescale
        self._learned = result.learned
        self.cluster_centers_error_: Floats | None = None
        if result.learned is None:
            self.cluster_centers_ = data.domain.released(result.centres)
            self.cluster_centers_error_ = self._error_of_noise(data, result)
        else:
            self.cluster_centers_ = result.learned.table
        self.cluster_sizes_ = result.sizes.value
        self.cluster_sizes_error_ = np.full(len(result.sizes.value), result.sizes.standard_error)
        self.method_, self._verdict = result.method, result.verdict
        self.n_clusters_ = len(result.centres)
        self._n_features_out = len(result.centres)
        self._keep_profiles(result.profiles)

    def _error_of_noise(self, data: PointRows, result: KMeansResult) -> Floats | None:
        """Return the errors of the centres in the units of the data, within the bounds."""
        if result.centres_error is None:
            return None
        coordinates = Coordinates(data.schema)
        errors = result.centres_error * (data.domain.radius * data.domain.scales)
        return np.minimum(errors, (coordinates.high - coordinates.low) / 2)

    def _labels(self, data: PointRows) -> Labels:
        if self._learned is not None:
            data.see_as(self._learned.values)
        return data.labels(self._places).astype(np.int64, copy=False)

    def _published(self) -> dict[str, Any]:
        n_clusters = len(self.cluster_centers_)
        arrays = {} if self._learned is None else learned_arrays(self._learned)
        if self.cluster_centers_error_ is not None:
            arrays["cluster_centers_error"] = self.cluster_centers_error_
        return {
            "arrays": arrays
            | {
                "cluster_centers": self.cluster_centers_,
                "cluster_sizes": self.cluster_sizes_,
                "cluster_sizes_error": self.cluster_sizes_error_,
                **self._published_profiles(),
            },
            "schema": self.schema_,
            "parameters": {
                "n_clusters": n_clusters,
                "method": self.method_,
                **self._options(),
                "rescale": self._rescaled,
                **({"verdict": self._verdict} if self._verdict else {}),
            },
        }

    def _options(self) -> dict[str, Any]:
        """Return further parameters of the algorithm, for the release."""
        return {}
