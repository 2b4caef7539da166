"""``PrivateCategoricalKMeans``: a metric on categories, and k-means by it, both released."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from privclust._typing import Floats
from privclust.budget import Budget, Number
from privclust.categories.estimator import CategoricalEstimator, Declared
from privclust.categories.learn import MetricResult, MetricTables, ask_metric
from privclust.categories.metric import MOST_AXES, principal_axes
from privclust.categories.predicting import CategoryLabels
from privclust.categories.shrinkage import Estimate
from privclust.categories.task import CATEGORICAL, N_CLUSTERS
from privclust.clustering.cells import ask_cells
from privclust.clustering.result import KMeansResult
from privclust.data.public import Noisy
from privclust.data.table.door import TableRows
from privclust.data.table.public import ValuePoints
from privclust.fitting import Run
from privclust.ledger.ledger import Ledger
from privclust.notes import Note
from privclust.opening.rows import PublicFacts
from privclust.parameters import check_clusters
from privclust.unit import Unit


@dataclass(frozen=True)
class CategoricalClusters:
    """A learned metric, the points that rows become under it, and the clusters of these points."""

    learning: MetricResult
    embedding: ValuePoints  # the points of the values; a row is the sum of those of its values
    centres: Floats  # (n_clusters, n_axes)
    found: KMeansResult  # the same centres in the unit ball, with their sizes

    @property
    def notes(self) -> tuple[Note, ...]:
        """Reasons not to trust the metric or the clusters, if any."""
        return (*self.learning.notes, *self.found.notes)


class CategoricalClusterer(CategoryLabels, CategoricalEstimator):
    """What they keep and publish; a subclass has the parameters and the algorithm."""

    _parameters: ClassVar[Any] = (N_CLUSTERS,)

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

    def _release_fields(self) -> dict[str, Any]:
        published, n_clusters = super()._release_fields(), len(self.cluster_centers_)
        published["arrays"] |= {
            "cluster_centers": self.cluster_centers_,
            "cluster_sizes": self.cluster_sizes_,
            "cluster_sizes_error": self.cluster_sizes_error_,
            "value_points": np.concatenate(self.value_points_),
        }
        published["parameters"] |= {"n_clusters": n_clusters}
        return published


class PrivateCategoricalKMeans(CategoricalClusterer):
    """Clusters of categorical rows that may be published, with the metric they were found in.

    Values of an attribute are compared as in :class:`PrivateDilca`; the rows become points of a
    few principal axes, which the tables of the metric give for nothing, and are clustered there.
    :class:`PrivateKMeans` clusters such rows too, with ``metric="dilca"``; this one stays apart
    because it also releases the metric itself, the distances between values.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    epsilon : float, default=1.0
        The privacy loss allowed for metric and clusters together.
    delta : float, default=0
        Zero for pure ε; a tiny number such as 1e-6 buys much more accuracy for the same ε.
    budget : Budget or None, default=None
        Given instead of ``epsilon`` and ``delta``; for example ``Budget.of_rho(0.1, 1e-6)``.
    schema : Schema, Categories, Bins or None
        The categories or bins of every column, from public knowledge; a single Categories or Bins
        if the same holds for every column.
    metric_share : float, default=0.5
        The share of the budget that the metric gets.
    method : {"auto", "pairs", "tree"}, default="auto"
        How the metric is learned; see :class:`PrivateDilca`.
    context_rule : {"max-relevance", "mean-su", "relevant-non-redundant", "all"}, \
            default="max-relevance"
        How contexts are chosen.
    context_size : int, default=3
        The number of attributes in a context, where the rule fixes it.
    sigma : float, default=1.0
        The factor on the mean in ``"mean-su"``.
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
    cell_error_ : float
        The standard error of the noise on a cell of the tables that were measured.
    cluster_centers_ : ndarray of shape (n_clusters, n_axes)
        Released centres on the principal axes.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Noisy numbers of rows nearest to each centre; they can be negative.
    cluster_sizes_error_ : ndarray of shape (n_clusters,)
        The standard error of each of them.
    value_points_ : list of ndarray
        The values of each attribute as points of the axes; a row is the sum of its values.
    privacy_ : PrivacyStatement
        What is promised, and which questions were asked.
    warnings_ : tuple of str
        The warnings of the fit: that noise hides the clusters.
    schema_ : Schema
        The schema used.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they have any.

    Notes
    -----
    Labels of the training rows are exact statements about private rows. They are not kept:
    ``fit_predict`` returns them to the holder of the rows.
    """

    _parameters: ClassVar[Any] = CATEGORICAL.variants[0].parameters

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
        schema: Declared | None = None,
        metric_share: Number = 0.5,
        method: str = "auto",
        context_rule: str = "max-relevance",
        context_size: int = 3,
        sigma: float = 1.0,
        unit: Unit | str = "add-remove-row",
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.budget = budget
        self.schema = schema
        self.metric_share = metric_share
        self.method = method
        self.context_rule = context_rule
        self.context_size = context_size
        self.sigma = sigma
        self.unit = unit
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def _check_before_charge(self, door: TableRows, public: Any = None) -> None:
        super()._check_before_charge(door, public)
        check_clusters(int(self.n_clusters), MOST_AXES)

    def _ask(self, door: TableRows, run: Run, public: Any = None) -> CategoricalClusters:
        for_metric = run.budget.whole.take(self.metric_share)
        for_clusters = run.budget.remainder(for_metric)
        n_clusters = int(self.n_clusters)
        view = door.private(run.meter, run.seed)
        ask = self._methods[self._method_name()]
        learning = ask_metric(view, for_metric, ask, self._options(door.schema))
        estimate = self._all_tables(learning.learned)
        embedding, radius = principal_axes(learning.metric, estimate, n_clusters)
        points = view.as_points(embedding, radius)
        found = ask_cells(points, for_clusters, n_clusters, run.public_rng)
        return CategoricalClusters(
            learning, embedding, points.domain.to_data_units(found.centres), found
        )

    def _all_tables(self, learned: MetricTables) -> Estimate:
        """Return the tables of all pairs, which all targets share."""
        return next(iter(learned.estimates.values()))

    def _release_fields(self) -> dict[str, Any]:
        published = super()._release_fields()
        published["parameters"]["metric_share"] = float(self.metric_share)
        return published
