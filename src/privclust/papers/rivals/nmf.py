"""``PrivateHighDimKMeans`` and ``PrivateNMF``: baselines of k-means, and what they run.

Every step asks once, with public components W, for the sums of h hᵀ and h vᵀ over all rows v and
their own loadings h, and improves W by what is answered. Unlike in the authors' notebook, the start
is drawn without data, rows and loadings are bounded at the door, the number of steps is fixed, and
all of them together cost the budget. ``proofs/rivals.md``.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from privclust._typing import Floats
from privclust.budget import Budget, Share
from privclust.clustering.estimator import KMeansEstimator
from privclust.clustering.result import KMeansResult
from privclust.data.papers.door import NonNegativeRows, around_origin
from privclust.data.papers.public import FactorAnswer
from privclust.data.papers.view import PapersView
from privclust.data.points.door import Region
from privclust.data.points.public import Projection
from privclust.exceptions import ParameterError
from privclust.ledger.ledger import Ledger
from privclust.opening.rows import Opened, PublicFacts
from privclust.papers.rivals.predicting import Loadings
from privclust.parameters import WHOLE, Parameter
from privclust.schema.schema import Schema
from privclust.unit import Unit

# DPNMF of Saha and Imtiaz (2024), correct: V ≈ H W with non-negative factors, of which W is kept.

_SIZES = 0.03
_SWEEPS = 5
_LEAST_LENGTH = 0.05


def ask_factors(
    view: PapersView,
    budget: Share,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_steps: int,
    start: Floats | None = None,
) -> KMeansResult:
    """Factorise the rows of ``view`` within ``budget``, from public components if there are some.

    The centres are the components, brought to one length: the nearest of them is the one with the
    largest inner product.
    """
    for_steps, for_sizes = budget.split([1 - _SIZES, _SIZES])
    dimension = view.domain.dimension
    drawn = np.abs(rng.standard_normal((n_clusters, dimension)))
    components = _normalise(drawn if start is None else start)
    for number, share in enumerate(for_steps.split([1] * n_steps), start=1):
        answer = view.ask_factor_sums(f"factors, step {number}", components, share)
        components = _update_components(components, answer)
    whole = Projection(np.zeros(dimension))
    sizes = view.ask_clusters("cluster sizes", whole, components, 1.0, counts=for_sizes).counts
    energy = float(np.trace(answer.loadings)) / max(float(sizes.value.sum()), 1.0)
    centres = components * math.sqrt(np.clip(energy, _LEAST_LENGTH**2, 1.0))
    return KMeansResult(centres, None, sizes, "nmf")


def _update_components(components: Floats, answer: FactorAnswer) -> Floats:
    """Return the components that explain the products best, one after the other."""
    better, noise = components.copy(), answer.standard_error
    for _ in range(_SWEEPS):
        for k, square in enumerate(np.diag(answer.loadings)):
            if square <= noise:  # noise hides the rows of this component
                continue
            left = answer.products[k] - answer.loadings[k] @ better + square * better[k]
            moved = np.maximum(left / square, 0)
            if moved.any():
                better[k] = moved
        better = _normalise(better)
    return better


def _normalise(components: Floats) -> Floats:
    return np.asarray(components / np.linalg.norm(components, axis=1, keepdims=True))


class PrivateNMF(Loadings, KMeansEstimator):
    """DPNMF, a baseline: private non-negative matrix factorisation. NOT RECOMMENDED.

    The idea of Saha and Imtiaz (2024), correct where the authors' code is not. Rows are clipped to
    a ball around the origin. The centres are the components of the factorisation, brought to one
    length. :class:`~privclust.PrivateCoclustering` and :class:`~privclust.PrivateKMeans` are
    better; use this one to compare with.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of components.
    n_steps : int, default=10
        How often the components are improved; the steps divide the budget.
    radius : float or None, default=None
        The public length to which rows are shortened, in the units in which distances are
        measured; by default that of the far corner of the bounds, which is much too long for rows
        that are mostly zero.
    epsilon, delta, budget, schema, bounds, unit, rescale, random_state, ledger, dataset
        See :class:`PrivateKMeans`.

    Attributes
    ----------
    components_ : ndarray of shape (n_clusters, n_features)
        The components, of length one.
    cluster_centers_, cluster_centers_error_, cluster_sizes_, cluster_sizes_error_
        See :class:`PrivateKMeans`.
    n_clusters_, method_, privacy_, schema_, warnings_
        See :class:`PrivateKMeans`.
    n_features_in_, feature_names_in_
        Number and names of the columns.

    Examples
    --------
    >>> from privclust.papers.rivals import PrivateNMF
    >>> model = PrivateNMF(2, bounds=(0, 8), delta=1e-6)
    >>> model.fit([[0.0, 1.0], [7.0, 5.0], [4.0, 4.0]]).components_.shape
    (2, 2)
    """

    _parameters: ClassVar[Any] = (
        *KMeansEstimator._parameters,
        Parameter("n_steps", WHOLE, 10, "How often the components are improved."),
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_steps: int = 10,
        radius: float | None = None,
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
        self.radius = radius
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

    def _check_combinations(self) -> None:
        super()._check_combinations()
        number = isinstance(self.radius, (int, float, np.number))
        if self.radius is not None and not (number and 0 < float(self.radius) < np.inf):
            raise ParameterError(f"radius must be None or above zero, got {self.radius!r}.")

    def _door(self, opened: Opened) -> NonNegativeRows:
        rescale = self._is_rescaled(opened.schema)
        return NonNegativeRows(opened, radius=self.radius, rescale=rescale)

    def _region(self, schema: Schema, scaling: dict[str, Any] | None = None) -> Region:
        return around_origin(super()._region(schema, scaling), self.radius)

    def _ask_clusters(self, view: Any, share: Share, rng: np.random.Generator) -> KMeansResult:
        return ask_factors(view, share, int(self.n_clusters), rng, n_steps=int(self.n_steps))

    def _keep(self, facts: PublicFacts, result: KMeansResult, public: Any = None) -> None:
        super()._keep(facts, result, public)
        lengths = np.linalg.norm(result.centres, axis=1, keepdims=True)
        self.components_ = result.centres / lengths

    def _options(self) -> dict[str, Any]:
        radius = None if self.radius is None else float(self.radius)
        return {"n_steps": int(self.n_steps), "radius": radius}
