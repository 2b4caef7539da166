"""``PrivateZoneKMeans``: private k-means with convergent zones, repaired (Joshi and Thakkar 2022).

The idea of the paper, with every access to the data a question of the view. In each iteration

1. noisy counts and sums move every centre S to a private Lloyd point M;
2. the convergent zone is the ball around M that reaches to S;
3. candidates are M and a few points halfway out in the zone, on the side that S moves to;
4. a private selection picks the candidate around which most rows of the zone lie; or, with
   sub-clusters, the candidates cut the zone into public cells, whose noisy counts are clustered
   into a few sub-clusters, one of which is drawn in proportion to its noisy size, as in the paper.

What is picked lies nearer to M than S did: the invariant that makes the paper's iteration converge,
here on private quantities only. A last noisy Lloyd step replaces the paper's final noise.
``proofs/zones.md`` has the privacy and the convergence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from privclust._typing import Floats
from privclust.budget import Budget, Share
from privclust.clustering.estimator import KMeansEstimator
from privclust.clustering.lloyd import ask_lloyd_points
from privclust.clustering.result import KMeansResult
from privclust.clustering.task import ZONE_PARAMETERS
from privclust.clustering.weighted_kmeans import spread_out_centres
from privclust.data.papers.door import PaperRows
from privclust.data.papers.public import Zones
from privclust.data.papers.view import PapersView
from privclust.data.points.public import Projection
from privclust.exceptions import ParameterError
from privclust.ledger.ledger import Ledger
from privclust.opening.rows import Opened
from privclust.schema.schema import Schema
from privclust.unit import Unit

# Sub-clusters of a zone, found in the noisy counts of its cells. Post-processing only.

_STEPS = 10


def draw_sub_clusters(
    cells: Floats, counts: Floats, n_sub_clusters: int, rng: np.random.Generator
) -> Floats:
    """Return, for each zone, the middle of a sub-cluster drawn in proportion to its noisy size.

    ``cells``: (n_zones, n_cells, n_features), the points that cut each zone into cells; the first
    is its middle. ``counts``: (n_zones, n_cells), noisy numbers of rows; negative ones count as
    none. Returns (n_zones, n_features), means of points of the zone, so points of the zone; its
    middle where nothing was counted.
    """
    weights = np.maximum(counts, 0)
    return np.array(
        [
            _draw(points, sizes, n_sub_clusters, rng) if sizes.sum() > 0 else points[0]
            for points, sizes in zip(cells, weights, strict=True)
        ]
    )


def _draw(points: Floats, sizes: Floats, n_sub_clusters: int, rng: np.random.Generator) -> Floats:
    """Cluster the cells of one zone by Lloyd's algorithm with weights, and draw a cluster."""
    (filled,) = np.nonzero(sizes)
    points, sizes = points[filled], sizes[filled]
    wanted = min(n_sub_clusters, len(points))
    middles = points[rng.choice(len(points), wanted, replace=False, p=sizes / sizes.sum())]
    for _ in range(_STEPS):
        gaps = ((points[:, None] - middles[None]) ** 2).sum(axis=2)
        nearest = gaps.argmin(axis=1)
        totals = np.bincount(nearest, sizes, minlength=wanted)
        sums = np.array([np.bincount(nearest, sizes * column, wanted) for column in points.T]).T
        kept = totals > 0
        middles = np.where(kept[:, None], sums / np.where(kept, totals, 1)[:, None], middles)
    return np.asarray(middles[rng.choice(wanted, p=totals / totals.sum())])


# The share of the budget for the sizes. The last Lloyd step has a share of its own, and the
# iterations divide what is left.
_SIZES = 0.03
LARGEST_LAST_SHARE = 0.97

# How far out in the zone the candidates lie. Below 1, so that every pick satisfies the invariant.
_REACH = 0.5


@dataclass(frozen=True)
class ZoneMoves:
    """How a centre moves within its zone."""

    n_candidates: int = 4  # points of the zone besides its middle
    # The number of sub-clusters; None picks a candidate without sub-clusters.
    internal_k: int | None = None
    choice_share: float = 0.20  # the share of an iteration that pays for this


@dataclass(frozen=True)
class ZoneStep:
    """One iteration; all of it is released, none of it exact."""

    before: Floats  # (n_clusters, n_features): the centres S
    lloyd: Floats  # (n_clusters, n_features): the private Lloyd points M, the middles of the zones
    after: Floats  # (n_clusters, n_features): the centres picked, nearer to M than S was


def ask_zone_clusters(
    view: PapersView,
    budget: Share,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    moves: ZoneMoves,
    n_steps: int,
    last_share: float = 0.30,
) -> KMeansResult:
    """Cluster the rows of ``view`` within ``budget``."""
    for_steps, for_last, for_sizes = budget.split([1 - last_share - _SIZES, last_share, _SIZES])
    start = spread_out_centres(n_clusters, *view.domain.box_in_unit_ball(), rng)
    shares = for_steps.split([1] * n_steps)
    step = ask_zone_steps(view, shares, start, moves, rng)[-1]
    centres, errors = ask_lloyd_points(view, "last step", step.after, for_last)
    frame = Projection(np.zeros(view.domain.dimension))
    sizes = view.ask_clusters("cluster sizes", frame, centres, 1.0, counts=for_sizes).counts
    return KMeansResult(centres, errors, sizes, "zones")


def ask_zone_steps(
    view: PapersView,
    shares: tuple[Share, ...],
    centres: Floats,
    moves: ZoneMoves,
    rng: np.random.Generator,
) -> list[ZoneStep]:
    """Run one iteration for each share, and return them all."""
    steps = []
    for number, share in enumerate(shares, start=1):
        for_points, for_choice = share.split([1 - moves.choice_share, moves.choice_share])
        lloyd, _ = ask_lloyd_points(view, f"step {number}", centres, for_points)
        zones = _zones(view, centres, lloyd, moves.n_candidates, rng)
        if moves.internal_k is None:
            picks = view.ask_choices(f"step {number}: candidate", zones, for_choice)
            after = zones.candidates[np.arange(len(picks)), picks]
        else:
            counts = view.ask_zone_cells(f"step {number}: cells of zones", zones, for_choice)
            after = draw_sub_clusters(zones.candidates, counts.value, moves.internal_k, rng)
        steps.append(ZoneStep(centres, lloyd, after))
        centres = after
    return steps


def _zones(
    view: PapersView,
    centres: Floats,
    lloyd: Floats,
    n_candidates: int,
    rng: np.random.Generator,
) -> Zones:
    """Return the convergent zones and their candidates, of which the Lloyd point is the first."""
    moves = lloyd - centres
    radii = np.linalg.norm(moves, axis=1)
    directions = rng.standard_normal((len(centres), n_candidates, centres.shape[1]))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    # Within 90 degrees of the Lloyd step, as the orientation controller of the paper.
    backwards = np.einsum("ijk,ik->ij", directions, moves) < 0
    directions[backwards] *= -1
    around = lloyd[:, None] + _REACH * radii[:, None, None] * directions
    # Clipping to a box that contains the Lloyd point moves no candidate further from it.
    around = np.clip(around, *view.domain.box_in_unit_ball())
    return Zones(centres, lloyd, radii, np.concatenate([lloyd[:, None], around], axis=1))


class PrivateZoneKMeans(KMeansEstimator):
    """k-means with convergent zones, after Joshi and Thakkar (2022), private.

    The published algorithm is not private; here every access to the data is a question answered
    with noise. In each step a centre moves to a privately chosen point of its convergent zone, the
    ball around the noisy Lloyd point that reaches to the old centre. This is the paper's idea made
    private, for comparison; :class:`privclust.PrivateKMeans` is more accurate and the one to use.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    n_candidates : int, default=4
        The number of points of each zone, besides its middle, that a centre may move to, or that
        cut the zone into cells.
    internal_k : int or None, default=None
        The number of sub-clusters in a zone, as in the paper: the cells of the zone are counted
        with noise, and a sub-cluster of them is drawn. None moves the centre to one of the points,
        picked privately, which has less noise and finds no sub-clusters.
    n_steps : int, default=3
        The number of iterations before the last noisy step.
    choice_share : float, default=0.2
        The share of an iteration that pays for the move within the zone: what the paper gives its
        exponential mechanism.
    last_share : float, default=0.3
        The share of the budget that pays for the last noisy step: what the paper spends on its
        final noise.
    epsilon : float, default=1.0
        The privacy loss allowed. Smaller is more private and less accurate.
    delta : float, default=0
        Zero for pure ε; a tiny number such as 1e-6 buys more accuracy for the same ε.
    budget : Budget or None, default=None
        Given instead of ``epsilon`` and ``delta``; for example ``Budget.of_rho(0.1, 1e-6)``.
    schema : Schema or None
        Public bounds of every column.
    bounds : tuple of (low, high) or None
        Shorthand for a schema: bounds that hold for all columns, or one value per column.
    unit : Unit or str, default="add-remove-row"
        Whose presence is hidden; see :mod:`privclust.unit`.
    rescale : bool or None, default=None
        Measure distances in units of the declared width of each column; ``None`` means True with a
        schema and False with bounds.
    random_state : int or None, default=None
        ``None`` for private noise. A number makes the fit reproducible and NOT PRIVATE.
    ledger : Ledger or None, default=None
        Where the fit is charged before any row is read.
    dataset : str or None, default=None
        The name of the data set in the ledger.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Released centres, within the declared bounds.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Noisy numbers of rows nearest to each centre; they can be negative.
    cluster_sizes_error_ : ndarray of shape (n_clusters,)
        The standard error of each of them.
    cluster_centers_error_ : ndarray of shape (n_clusters, n_features)
        Standard errors of their coordinates, from noise alone.
    n_clusters_ : int
        The number of clusters.
    method_ : str
        ``"zones"``.
    privacy_ : PrivacyStatement
        What is promised, and which questions were asked.
    schema_ : Schema
        The schema used.
    warnings_ : tuple of str
        The warnings of the fit: that noise hides the clusters.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if the data had names.

    References
    ----------
    Joshi, Thakkar, "k-Means SubClustering: A Differentially Private Algorithm with Improved
    Clustering Quality" (2022), after Lu, Shen (2021).

    Examples
    --------
    >>> from privclust.papers.zones import PrivateZoneKMeans
    >>> model = PrivateZoneKMeans(3, epsilon=1.0, bounds=(0, 8))
    >>> model.fit([[0.0, 1.0], [7.0, 5.0], [4.0, 4.0]]).cluster_centers_.shape
    (3, 2)
    """

    _parameters: ClassVar[Any] = ZONE_PARAMETERS

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_candidates: int = 4,
        internal_k: int | None = None,
        n_steps: int = 3,
        choice_share: float = 0.2,
        last_share: float = 0.3,
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
        self.n_candidates = n_candidates
        self.internal_k = internal_k
        self.n_steps = n_steps
        self.choice_share = choice_share
        self.last_share = last_share
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
        return PaperRows(opened, rescale=self._is_rescaled(opened.schema))

    def _ask_clusters(  # type: ignore[override]  # its own door gives its own view
        self, view: PapersView, share: Share, rng: np.random.Generator
    ) -> KMeansResult:
        internal_k = None if self.internal_k is None else int(self.internal_k)
        moves = ZoneMoves(int(self.n_candidates), internal_k, self.choice_share)
        return ask_zone_clusters(
            view,
            share,
            int(self.n_clusters),
            rng,
            moves=moves,
            n_steps=int(self.n_steps),
            last_share=self.last_share,
        )

    def _check_combinations(self) -> None:
        super()._check_combinations()
        if self.last_share >= LARGEST_LAST_SHARE:
            raise ParameterError(
                f"last_share must be below {LARGEST_LAST_SHARE}, for sizes have the rest; lower it."
            )

    def _options(self) -> dict[str, Any]:
        return {
            "n_candidates": int(self.n_candidates),
            "internal_k": None if self.internal_k is None else int(self.internal_k),
            "n_steps": int(self.n_steps),
        }
