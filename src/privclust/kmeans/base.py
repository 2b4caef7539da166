"""``KMeansEstimator``: what the private k-means estimators share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from privclust._typing import Floats
from privclust.budget import Share
from privclust.data.points.door import PointRows, Region
from privclust.data.points.view import PointsView
from privclust.data.view import Noisy
from privclust.estimator import Run
from privclust.kmeans.plan import synthetic
from privclust.kmeans.points import PointsEstimator
from privclust.kmeans.predicting import PointLabels
from privclust.kmeans.profiles import ask_profiles, check_numbers, divided
from privclust.kmeans.release import learned_arrays
from privclust.kmeans.result import KMeansResult
from privclust.opening.rows import PublicFacts
from privclust.parameters import check_clusters, whole
from privclust.plan import Plan, Synthetic
from privclust.release.tables import Library, center_table
from privclust.schema import Schema
from privclust.schema.coordinates import Coordinates
from privclust.summary.choosing import DEFAULT_RANGE
from privclust.unit import RowUnit

__all__ = ["AUTO", "PLANNED", "KMeansEstimator"]

AUTO = "auto"  # in place of a number of clusters
PLANNED = 8  # clumps that a plan rehearses on, if the number is to be chosen


class KMeansEstimator(PointLabels, PointsEstimator):
    """What the k-means estimators share; a subclass has the parameters and the algorithm."""

    _kind = "kmeans"
    _checks: ClassVar[Any] = {"n_clusters": whole(), **PointsEstimator._checks}

    n_clusters: Any

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
    def _look_ahead(self, door: PointRows, public: Any = None) -> None:
        check_clusters(self._looked_for(max(DEFAULT_RANGE)), door.domain.dimension)
        if self.profile_share is not None:
            check_numbers(door.schema)
        super()._look_ahead(door, public)

    def _looked_for(self, otherwise: int) -> int:
        """Return the number of clusters, or another one if it is to be chosen."""
        return otherwise if self.n_clusters == AUTO else int(self.n_clusters)

    def _ask(self, door: PointRows, run: Run, public: Any = None) -> KMeansResult:
        view = door.private(run.meter, run.seed)
        share, for_profiles = divided(run.budget.whole, self.profile_share)
        result = self._ask_clusters(view, share, run.choices)
        if for_profiles is None:
            return result
        asked = ask_profiles(view, for_profiles, result.centres, door.schema)
        return replace(result, profiles=asked)

    def _ask_clusters(
        self, view: PointsView, share: Share, rng: np.random.Generator
    ) -> KMeansResult:
        """Run the algorithm of the subclass."""
        raise NotImplementedError

    def _keep(self, facts: PublicFacts, result: KMeansResult, public: Any = None) -> None:
        self._remember_columns(facts.names, facts.n_columns)
        self.schema_, self._rescaled = facts.schema, self._rescales(facts.schema)
        self._learned = result.learned
        self.cluster_centers_error_: Floats | None = None
        if result.learned is None:
            region = self._region(facts.schema)
            self.cluster_centers_ = region.released(result.centres)
            self.cluster_centers_error_ = self._error_of_noise(region, result)
        else:
            self.cluster_centers_ = result.learned.table
        self.cluster_sizes_ = result.sizes.value
        self.cluster_sizes_error_ = np.full(len(result.sizes.value), result.sizes.standard_error)
        self.method_, self._verdict = result.method, result.verdict
        self.n_clusters_ = len(result.centres)
        self._n_features_out = len(result.centres)
        self._keep_profiles(result.profiles)

    def _noisy_number(self, result: KMeansResult) -> Noisy:
        return result.sizes

    def _centres_and_sizes(self, result: KMeansResult) -> tuple[Floats, Noisy]:
        return self.cluster_centers_, result.sizes

    def _error_of_noise(self, region: Region, result: KMeansResult) -> Floats | None:
        """Return the errors of the centres in the units of the data, within the bounds."""
        if result.centres_error is None:
            return None
        coordinates = Coordinates(self.schema_)
        errors = result.centres_error * (region.radius * region.scales)
        return np.minimum(errors, (coordinates.high - coordinates.low) / 2)

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
