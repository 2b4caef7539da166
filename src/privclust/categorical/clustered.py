"""``ClusteredCategories``: what the estimators with clusters of categorical rows share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from privclust.categorical.base import CategoricalEstimator
from privclust.categorical.predicting import CategoryLabels
from privclust.categorical.result import CategoricalClusters
from privclust.data.view import Noisy
from privclust.opening.rows import PublicFacts
from privclust.parameters import whole

__all__ = ["ClusteredCategories"]


class ClusteredCategories(CategoryLabels, CategoricalEstimator):
    """What they keep and publish; a subclass has the parameters and the algorithm."""

    _checks: ClassVar[Any] = {**CategoricalEstimator._checks, "n_clusters": whole()}

    n_clusters: int

    def _keep(self, facts: PublicFacts, result: CategoricalClusters, public: Any = None) -> None:
        self._keep_metric(facts, result.learning)
        self.cluster_centers_ = result.centres
        self.cluster_sizes_ = result.found.sizes.value
        error = result.found.sizes.standard_error
        self.cluster_sizes_error_ = np.full(len(result.found.sizes.value), error)
        self.value_points_ = result.embedding.points

    def _noisy_number(self, result: CategoricalClusters) -> Noisy:
        return result.found.sizes

    def _published(self) -> dict[str, Any]:
        published, n_clusters = super()._published(), len(self.cluster_centers_)
        published["arrays"] |= {
            "cluster_centers": self.cluster_centers_,
            "cluster_sizes": self.cluster_sizes_,
            "cluster_sizes_error": self.cluster_sizes_error_,
            "value_points": np.concatenate(self.value_points_),
        }
        published["parameters"] |= {"n_clusters": n_clusters}
        return published
