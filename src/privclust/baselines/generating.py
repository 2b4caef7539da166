"""``PrivateWGAN``: a private generator of rows, a baseline of source-target clustering."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from privclust._typing import Floats
from privclust.baselines.questions.door import BaselineRows
from privclust.baselines.wgan import ask_generator
from privclust.budget import Budget, Share
from privclust.data.points.door import region_of
from privclust.kmeans.base import KMeansEstimator
from privclust.kmeans.result import KMeansResult
from privclust.ledger import Ledger
from privclust.opening.rows import Opened
from privclust.parameters import whole
from privclust.schema import Schema
from privclust.unit import Unit

__all__ = ["PrivateWGAN"]


class PrivateWGAN(KMeansEstimator):
    """DP-WGAN, a baseline: a generator of rows learned from private gradients. NOT RECOMMENDED.

    The released centres are those of generated rows. Source-target clustering is compared with it:
    generated rows stand for the private source. :class:`~privclust.PrivateKMeans`,
    :class:`~privclust.PrivateSummary` and :class:`~privclust.PrivateSourceTargetMedoids` are
    better; use this one to compare with.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters of generated rows.
    n_steps : int, default=100
        How often the critic is improved; the steps divide the budget.
    epsilon, delta, budget, schema, bounds, unit, rescale, random_state, ledger, dataset
        See :class:`PrivateKMeans`.

    Attributes
    ----------
    generator_ : Generator
        The network that :meth:`sample` draws from; it saw noisy gradients alone.
    cluster_centers_, cluster_centers_error_, cluster_sizes_, cluster_sizes_error_
        See :class:`PrivateKMeans`.
    n_clusters_, method_, privacy_, schema_, warnings_
        See :class:`PrivateKMeans`.
    n_features_in_, feature_names_in_
        Number and names of the columns.

    Examples
    --------
    >>> from privclust.baselines import PrivateWGAN
    >>> model = PrivateWGAN(2, n_steps=3, bounds=(0, 8), delta=1e-6)
    >>> model.fit([[0.0, 1.0], [7.0, 5.0], [4.0, 4.0]]).sample(4).shape
    (4, 2)
    """

    _checks: ClassVar[Any] = {**KMeansEstimator._checks, "n_steps": whole()}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_steps: int = 100,
        epsilon: Any = 1.0,
        delta: Any = 0,
        budget: Budget | None = None,
        schema: Schema | None = None,
        bounds: tuple[Any, Any] | None = None,
        unit: Unit | str = "add-remove-row",
        rescale: bool | None = None,
        random_state: int | None = None,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_steps = n_steps
        self.epsilon = epsilon
        self.delta = delta
        self.budget = budget
        self.schema = schema
        self.bounds = bounds
        self.unit = unit
        self.rescale = rescale
        self.random_state = random_state
        self.ledger = ledger
        self.dataset = dataset

    def sample(self, n_rows: int, seed: int | None = None) -> Floats:
        """Return generated rows within the declared bounds; it costs nothing."""
        check_is_fitted(self)
        whole()("n_rows", n_rows)
        points = self.generator_.points(int(n_rows), np.random.default_rng(seed))
        return region_of(self.schema_, rescale=self._rescaled).released(points)

    def _ask_clusters(self, view: Any, share: Share, rng: np.random.Generator) -> KMeansResult:
        steps = int(self.n_steps)
        result, self.generator_ = ask_generator(
            view, share, int(self.n_clusters), rng, n_steps=steps
        )
        return result

    def _door(self, opened: Opened) -> BaselineRows:
        return BaselineRows(opened, rescale=self._rescales(opened.schema))

    def _options(self) -> dict[str, Any]:
        return {"n_steps": int(self.n_steps)}
