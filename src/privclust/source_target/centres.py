"""``ChosenCentres``: what fitted models of chosen centres share, private or not.

Targets and chosen centres are public or released, so everything here is arithmetic on public
values: which centre is nearest, and how far away it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from privclust._typing import Floats
from privclust.data.sites.distances import METRICS, MetricName
from privclust.source_target.public_targets import PublicTargets, check_public_table
from privclust.source_target.solution import Solution

# Points whose distances to the centres are held at a time.
_ROWS = 2**16


class ChosenCentres(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin):
    """Scikit-learn's methods of a model with ``metric``, ``centers_`` and ``medoid_indices_``."""

    metric: MetricName
    n_features_in_: int

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the number of the nearest new centre of each point.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)
            Points in the columns of the target; for precomputed distances, those to the candidates.
        """
        return self._nearest(self._points(X))

    def transform(self, X: Any) -> Floats:
        """Return the distance of each point to each new centre, in the units of the metric.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)
            Points in the columns of the target; for precomputed distances, those to the candidates.
        """
        return self._distances(self._points(X))

    def _points(self, X: Any) -> Floats:
        """Check new points: their columns in scikit-learn's own words, their numbers in ours."""
        check_is_fitted(self)
        table = check_public_table(X, "X", METRICS[self.metric])
        validate_data(self, X if hasattr(X, "shape") else table, reset=False, skip_check_array=True)
        return table

    def _distances(self, table: Floats) -> Floats:
        metric = METRICS[self.metric]
        if not metric.has_coordinates:
            return np.asarray(table[:, self.medoid_indices_])
        return metric.distances(metric.embed(table), metric.embed(self.centers_))

    def _nearest(self, table: Floats) -> NDArray[np.int64]:
        labels = np.empty(len(table), np.int64)
        for start in range(0, len(table), _ROWS):
            piece = slice(start, start + _ROWS)
            labels[piece] = self._distances(table[piece]).argmin(axis=1)
        return labels

    def _keep_choice(self, public: PublicTargets, found: Solution) -> None:
        """Keep the columns, the chosen centres, and which of them each target is nearest to."""
        self.medoid_indices_, self.order_ = found.chosen, found.order
        self.centers_ = public.candidates[found.chosen]
        self.order_costs_ = found.order_costs
        self._n_features_out = len(found.chosen)
        # Precomputed distances to the candidates give the nearest centre.
        between = not METRICS[self.metric].has_coordinates
        self.n_features_in_ = len(public.candidates) if between else public.table.shape[1]
        if public.names is not None and len(public.names) == self.n_features_in_:
            self.feature_names_in_ = np.array(public.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.labels_ = self._nearest(public.candidates.T if between else public.table)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        between = not METRICS[self.metric].has_coordinates
        tags.input_tags.pairwise = tags.input_tags.positive_only = between
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags
