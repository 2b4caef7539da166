"""``PrivateContextKMeans``, and what estimators share that release a metric with its clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from privclust._typing import Floats
from privclust.budget import Budget, Number
from privclust.categories.estimator import CategoricalEstimator, Declared
from privclust.categories.learn import MetricResult, Options, ask_metric
from privclust.categories.metric import MOST_AXES, principal_axes, usual_axes
from privclust.categories.predicting import CategoryLabels
from privclust.categories.task import CATEGORICAL, N_CLUSTERS
from privclust.clustering.cells import ask_cells
from privclust.clustering.result import KMeansResult
from privclust.data.public import Noisy
from privclust.data.table.public import ValuePoints
from privclust.data.table.view import TableRows
from privclust.fitting import Run
from privclust.ledger.ledger import Ledger
from privclust.notes import Note
from privclust.opening.rows import PublicFacts
from privclust.papers.dilca.private import (
    METHODS,
    ContextOptions,
    check_context,
    check_published,
    merge_estimates,
)
from privclust.parameters import check_clusters
from privclust.schema.schema import Schema
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


class PrivateContextKMeans(CategoricalClusterer):
    """DP-KMeans-DPMD of Battaglia, Celano and Pensa (2021): clusters by a metric of DP-DILCA.

    The variants know only the pairs that they measured, and treat all others as independent when
    axes are sought. For comparison; ``privclust.PrivateKMeans(metric="dilca")`` is better.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    metric_share : float, default=0.5
        The share of the budget that the metric gets.
    epsilon, delta, budget, schema, method, context_size, selection_share, sigma, noise
        See :class:`PrivateContextDilca`.
    unit, random_state, ledger, dataset
        See :class:`PrivateContextDilca`.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_axes)
        Released centres on the principal axes.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Noisy numbers of rows nearest to each centre; they can be negative.
    cluster_sizes_error_ : ndarray of shape (n_clusters,)
        The standard error of each of them.
    value_points_ : list of ndarray
        The values of each attribute as points of the axes; a row is the sum of its values.
    metric_, contexts_, cell_error_, privacy_, warnings_, schema_, n_features_in_, feature_names_in_
        See :class:`PrivateContextDilca`.
    """

    _methods: ClassVar[Any] = METHODS
    _parameters: ClassVar[Any] = CATEGORICAL.variants[1].parameters

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
        schema: Declared | None = None,
        metric_share: Number = 0.5,
        method: str = "max-relevance",
        context_size: int | Literal["auto"] = 3,
        selection_share: float = 0.3,
        sigma: float = 1.0,
        noise: Literal["exact", "published"] = "exact",
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
        self.context_size = context_size
        self.selection_share = selection_share
        self.sigma = sigma
        self.noise = noise
        self.unit = unit
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def _context_options(self, schema: Schema, targets: Sequence[str]) -> Options:
        options = super()._context_options(schema, targets)
        check_context(self.method, len(schema), options.context_size)
        return ContextOptions(**asdict(options), noise=self.noise)

    def _check_combinations(self) -> None:
        super()._check_combinations()
        if self.noise == "published":
            check_published(self.method, self._budget(), self.unit)

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
        estimate = merge_estimates(learning.learned)
        embedding, radius = principal_axes(learning.metric, estimate, usual_axes(n_clusters))
        points = view.as_points(embedding, radius)
        found = ask_cells(points, for_clusters, n_clusters, run.public_rng)
        return CategoricalClusters(
            learning, embedding, points.domain.to_data_units(found.centres), found
        )

    def _release_fields(self) -> dict[str, Any]:
        published = super()._release_fields()
        published["parameters"] |= {
            "metric_share": float(self.metric_share),
            "selection_share": float(self.selection_share),
            "noise": self.noise,
        }
        return published
