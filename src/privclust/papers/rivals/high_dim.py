"""DPHD of Balcan, Dick, Liang, Mou and Zhang (2017), correct: k-means in high dimensions.

1. Project the rows at random, and in public, to about ½ ln n dimensions, and clip them.
2. Noisy quadtrees give candidates: all children of a cell whose noisy count passes are counted.
3. Local search: in every round a private selection picks the swap of a centre for a candidate.
4. Lift back: the noisy means of the clusters in all dimensions, then three noisy Lloyd steps.

Unlike in the public code of the paper, noise never depends on the data, sizes are noisy, empty
cells are noised like all others, and the shares add up to the budget. ``proofs/rivals.md``.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, ClassVar

import numpy as np

from privclust._typing import Floats
from privclust.budget import Budget, Share
from privclust.clustering.estimator import KMeansEstimator
from privclust.clustering.lloyd import ask_lloyd_points
from privclust.clustering.result import KMeansResult
from privclust.data.papers.door import PaperRows
from privclust.data.papers.view import PapersView
from privclust.data.points.public import Projection
from privclust.ledger.ledger import Ledger
from privclust.opening.rows import Opened
from privclust.parameters import WHOLE, Parameter
from privclust.schema.schema import Schema
from privclust.unit import Unit

# Shares of the budget: the number of rows, the trees, the swaps, the means, the sizes.
_SHARES = 0.02, 0.31, 0.31, 0.33, 0.03
_LLOYD_STEPS = 3
_LEVELS = 6
# Cells that are counted at a level, and candidates that the search may choose from.
_MOST_CELLS, _MOST_CANDIDATES = 4096, 400
# Projected rows are clipped at this many times the length that a row of length one usually has.
_REACH = 2.0


def ask_high_dim_centres(
    view: PapersView,
    budget: Share,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_swaps: int,
) -> KMeansResult:
    """Cluster the rows of ``view`` within ``budget``."""
    for_count, for_trees, for_swaps, for_means, for_sizes = budget.split(_SHARES)
    n_rows = max(2.0, float(view.ask_count("number of rows", for_count).value[0]))
    frame = _projection(view.domain.dimension, n_rows, rng)
    candidates = _ask_candidates(view, frame, for_trees, rng)
    centres = candidates[rng.choice(len(candidates), n_clusters, len(candidates) < n_clusters)]
    for number, share in enumerate(for_swaps.split([1] * n_swaps), start=1):
        swap = view.ask_best_swap(f"swap {number}", frame, centres, candidates, share)
        if swap is not None:
            centres = centres.copy()
            centres[swap.centre] = candidates[swap.candidate]
    # A row is nearest to the same centre in the projection and, lifted, in all dimensions.
    lifted = centres if frame.axes is None else centres @ frame.axes.T
    for number, share in enumerate(for_means.split([1] * (1 + _LLOYD_STEPS))):
        name = f"Lloyd step {number}" if number else "means in all dimensions"
        lifted, _ = ask_lloyd_points(view, name, lifted, share)
    whole = Projection(np.zeros(view.domain.dimension))
    sizes = view.ask_clusters("cluster sizes", whole, lifted, 1.0, counts=for_sizes).counts
    return KMeansResult(lifted, None, sizes, "dphd")


def _projection(dimension: int, n_rows: float, rng: np.random.Generator) -> Projection:
    """Return a random frame of about ½ ln n dimensions, drawn without looking at any row."""
    few = max(2, math.ceil(math.log(n_rows) / 2))
    if few >= dimension:
        return Projection(np.zeros(dimension), radius=1.0, coarse=True)
    axes = np.linalg.qr(rng.standard_normal((dimension, few)))[0]
    radius = min(1.0, _REACH * math.sqrt(few / dimension))
    return Projection(np.zeros(dimension), axes, radius, coarse=True)


def _ask_candidates(
    view: PapersView, frame: Projection, budget: Share, rng: np.random.Generator
) -> Floats:
    """Return the middles of the cells of a randomly shifted quadtree that stand out from noise."""
    side = 4 * frame.radius
    cells = rng.uniform(-frame.radius, frame.radius, (1, frame.dimension))
    found, weights = [np.zeros((1, frame.dimension))], [np.zeros(1)]
    for level, share in enumerate(budget.split([1] * _LEVELS), start=1):
        side /= 2
        cells = _children(cells, side, frame.radius)
        answer = view.ask_clusters(
            f"cells of level {level}", frame, cells, 1.0, counts=share
        ).counts
        # Roughly the largest noise among these cells.
        seen = answer.value > answer.standard_error * math.log(len(cells) + 1)
        found.append(cells[seen])
        weights.append(answer.value[seen])
        if not seen.any():
            break
        heavy = np.argsort(-answer.value[seen], kind="stable")
        cells = cells[seen][heavy[: max(1, _MOST_CELLS >> frame.dimension)]]
    # Small cells first, because they say most; within a level, the heavy ones.
    order = [part[np.argsort(-w, kind="stable")] for part, w in zip(found, weights, strict=True)]
    return _inside_cube(np.concatenate(order[::-1])[:_MOST_CANDIDATES], frame.radius)


def _children(cells: Floats, side: float, radius: float) -> Floats:
    """Return the middles of the halves, along every axis, of cells that touch the ball."""
    dimension = cells.shape[1]
    if dimension > math.log2(_MOST_CELLS):
        raise ValueError(
            "A quadtree with this many dimensions has too many cells; project to fewer."
        )
    corners = np.array(list(itertools.product((-0.5, 0.5), repeat=dimension)))
    halves = (cells[:, None] + corners * side).reshape(-1, dimension)
    nearest = np.maximum(np.abs(halves) - side / 2, 0)
    touching: Floats = halves[np.linalg.norm(nearest, axis=1) <= radius]
    return touching


def _inside_cube(points: Floats, radius: float) -> Floats:
    lengths = np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-300)
    return np.asarray(points * np.minimum(1, radius / lengths))


class PrivateHighDimKMeans(KMeansEstimator):
    """DPHD, a baseline: private k-means by local search in few dimensions. NOT RECOMMENDED.

    The algorithm of Balcan, Dick, Liang, Mou and Zhang (2017), correct where its public code is
    not. :class:`~privclust.PrivateKMeans` is better; use this one to compare with.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    n_swaps : int, default=20
        How many swaps the local search tries.
    epsilon, delta, budget, schema, bounds, unit, rescale, random_state, ledger, dataset
        See :class:`PrivateKMeans`.

    Attributes
    ----------
    cluster_centers_, cluster_centers_error_, cluster_sizes_, cluster_sizes_error_
        See :class:`PrivateKMeans`.
    n_clusters_, method_, privacy_, schema_, warnings_
        See :class:`PrivateKMeans`.
    n_features_in_, feature_names_in_
        Number and names of the columns.

    Examples
    --------
    >>> from privclust.papers.rivals import PrivateHighDimKMeans
    >>> model = PrivateHighDimKMeans(2, bounds=(0, 8))
    >>> model.fit([[0.0, 1.0], [7.0, 5.0], [4.0, 4.0]]).cluster_centers_.shape
    (2, 2)
    """

    _parameters: ClassVar[Any] = (
        *KMeansEstimator._parameters,
        Parameter("n_swaps", WHOLE, 20, "Swaps that the local search tries."),
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_swaps: int = 20,
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
        self.n_swaps = n_swaps
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

    def _door(self, opened: Opened) -> PaperRows:
        return PaperRows(opened, **self._scaling(opened.schema))

    def _ask_clusters(self, view: Any, share: Share, rng: np.random.Generator) -> KMeansResult:
        return ask_high_dim_centres(
            view, share, int(self.n_clusters), rng, n_swaps=int(self.n_swaps)
        )

    def _options(self) -> dict[str, Any]:
        return {"n_swaps": int(self.n_swaps)}
