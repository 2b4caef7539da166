"""``PrivateCategoricalKMeans``: a private metric, private clusters on it, one budget for both."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from privclust.budget import Number
from privclust.categorical.estimator import learn_metric
from privclust.categorical.metric_mixin import Declared
from privclust.categorical.papers import Options
from privclust.categorical.principal_axes import principal_plane
from privclust.categorical.release import release_arrays
from privclust.categorical.transformer import CategoricalTransformer
from privclust.data.table.door import Embedding
from privclust.exceptions import LowSignalWarning
from privclust.kmeans.cells import by_cells
from privclust.ledger import Ledger
from privclust.privacy.meter import Meter
from privclust.privacy.statement import PrivacyStatement
from privclust.release import Release
from privclust.schema import Schema
from privclust.unit import Unit

__all__ = ["PrivateCategoricalKMeans"]

Floats = NDArray[np.float64]

_METHODS = ("auto", "pairs", "tree")
_FEWEST_AXES, _MOST_AXES = 3, 5


class PrivateCategoricalKMeans(ClusterMixin, CategoricalTransformer):
    """Clusters of categorical rows that may be published, with the metric they were found in.

    Values of an attribute are compared as in :class:`PrivateDilca`; the rows become points of a
    few principal axes, which the tables of the metric give for nothing, and are clustered there.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    epsilon : float, default=1.0
        The privacy loss allowed for metric and clusters together.
    delta : float, default=0
        Zero for pure ε; a tiny number such as 1e-6 buys much accuracy for the same ε.
    schema : Schema, Categories, Bins or None
        The categories or bins of every column, from public knowledge; one Categories or Bins is
        the short form where the same holds for every column.
    metric_share : float, default=0.5
        The share of the budget that the metric gets.
    method : {"auto", "pairs", "tree"}, default="auto"
        How the metric is learned.
    context_rule : str, default="max-relevance"
        How contexts are chosen.
    context_size : int, default=3
        The number of attributes in a context, where the rule fixes it.
    unit : Unit or str, default="add-remove-row"
        Whose presence is hidden; see :mod:`privclust.unit`.
    random_state : int or None, default=None
        ``None`` for private noise. A number makes the fit reproducible and NOT PRIVATE.
    ledger : Ledger or None, default=None
        Where the fit is charged before any row is read.
    dataset : str or None, default=None
        The name of the data set in the ledger.

    Attributes
    ----------
    metric_ : CategoricalMetric
        Coordinates of the values of every attribute.
    contexts_ : dict of str to tuple of str
        The context of every attribute.
    cluster_centers_ : ndarray of shape (n_clusters, n_axes)
        Released centres on the principal axes.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Noisy numbers of rows nearest to each centre; they may be negative.
    cluster_sizes_error_ : float
        The standard error of each of them.
    value_points_ : list of ndarray
        The values of each attribute as points of the axes; a row is the sum of its values.
    privacy_ : PrivacyStatement
        What was promised and what was asked.
    warnings_ : tuple of str
        What the fit warned of: that noise hides the clusters.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: Any = 1.0,
        delta: Any = 0,
        schema: Declared | None = None,
        metric_share: Number = 0.5,
        method: str = "auto",
        context_rule: str = "max-relevance",
        context_size: int = 3,
        unit: Unit | str = "add-remove-row",
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.metric_share = metric_share
        self.method = method
        self.context_rule = context_rule
        self.context_size = context_size
        self.unit = unit
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the metric and the clusters from the rows of ``X``.

        Parameters
        ----------
        X : array, data frame, Arrow data or path of a CSV or Parquet file
            The private rows.
        y : ignored
        """
        budget, (seed, rng) = self._budget(), self._seeds()
        for_metric = budget.whole.take(self.metric_share)
        for_clusters = budget.remainder(for_metric)
        with self._open(X) as rows:
            options = self._options(rows.schema)
            self._warn_of_leaks()
            receipt = self._reserve(budget, rows.unit)
            meter = Meter(budget)
            view = rows.private(meter, seed)
            metric, learned = learn_metric(view, for_metric, self.method, options)
            estimate = next(iter(learned.estimates.values()))
            n_axes = int(np.clip(self.n_clusters, _FEWEST_AXES, _MOST_AXES))
            embedding, radius = principal_plane(metric, estimate, n_axes)
            points = rows.private_points(embedding, radius, meter)
            found = by_cells(points, for_clusters, int(self.n_clusters), rng)
        self._remember_columns(rows.names, rows.n_columns)
        self.schema_, self.metric_ = rows.schema, metric
        self.contexts_ = {name: part.context for name, part in metric.attributes.items()}
        self.cell_error_ = learned.cell_error
        self.cluster_centers_ = points.domain.to_data_units(found.centres)
        self.cluster_sizes_ = found.sizes.value
        self.cluster_sizes_error_ = found.sizes.standard_error
        self.value_points_ = embedding.points
        self.warnings_ = found.warnings
        self.privacy_ = PrivacyStatement.from_meter(
            meter, unit=rows.unit, private=seed is None, receipt=receipt
        )
        self._settle()
        for message in self.warnings_:
            warnings.warn(message, LowSignalWarning, stacklevel=2)
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the index of the nearest released centre of each row."""
        with self._open_again(X) as rows:
            parts = [*rows.label_parts(Embedding(self.value_points_), self.cluster_centers_)]
        return np.concatenate(parts).astype(np.int32)

    def fit_predict(self, X: Any, y: object = None, **_: Any) -> NDArray[np.int32]:
        """Fit, and return the label of each row to the caller; the labels are not kept."""
        return self.fit(X).predict(X)

    def release(self) -> Release:
        """Return what may be published: the metric, the clusters and the privacy statement."""
        check_is_fitted(self)
        arrays = release_arrays(self.metric_, self.schema_, self.cell_error_)
        arrays["cluster_centers"] = self.cluster_centers_
        arrays["cluster_sizes"] = self.cluster_sizes_
        arrays["cluster_sizes_error"] = np.full(self.n_clusters, self.cluster_sizes_error_)
        arrays["value_points"] = np.concatenate(self.value_points_)
        return Release(
            kind="categorical",
            arrays=arrays,
            schema=self.schema_,
            parameters={
                "n_clusters": int(self.n_clusters),
                "method": self.method,
                "context_rule": self.context_rule,
                "context_size": int(self.context_size),
                "metric_share": float(self.metric_share),
                **({"warnings": list(self.warnings_)} if self.warnings_ else {}),
            },
            privacy=self.privacy_,
        )

    def _options(self, schema: Schema) -> Options:
        whole = isinstance(self.n_clusters, (int, np.integer))
        if not whole or isinstance(self.n_clusters, bool) or self.n_clusters < 1:
            raise ValueError(
                f"n_clusters must be a whole number of at least 1, got {self.n_clusters!r}."
            )
        if self.method not in _METHODS:
            raise ValueError(f"method must be one of {_METHODS}, got {self.method!r}.")
        if not 0 < float(self.metric_share) < 1:
            raise ValueError(
                f"metric_share must be above 0 and below 1, got {self.metric_share!r}."
            )
        return self._context_options(schema, schema.names)
