"""Private k-means with convergent zones: the repaired algorithm of Joshi and Thakkar (2022).

The idea of the paper, with every touch of the data a question of the view. In each iteration

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

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.data.points.public import Projection, Zones
from privclust.data.points.view import PointsView
from privclust.kmeans.lloyd import ask_lloyd_points
from privclust.kmeans.packing import packed_centres
from privclust.kmeans.result import KMeansResult
from privclust.kmeans.sub_clusters import drawn_sub_clusters

__all__ = ["LARGEST_LAST_SHARE", "ZoneMoves", "ZoneStep", "ask_zone_clusters", "ask_zone_steps"]

# The share of the budget for the sizes. The last Lloyd step has a share of its own, and the
# iterations divide what is left.
_SIZES = 0.03
LARGEST_LAST_SHARE = 0.97

# How far out in the zone the candidates lie. Below 1, so that every pick satisfies the invariant.
_REACH = 0.5


@dataclass(frozen=True)
class ZoneMoves:
    """How a centre moves within its zone.

    Attributes
    ----------
    n_candidates : int
        Points of the zone besides its middle.
    internal_k : int or None
        The number of sub-clusters; None picks a candidate without sub-clusters.
    choice_share : float
        The share of an iteration that pays for this.
    """

    n_candidates: int = 4
    internal_k: int | None = None
    choice_share: float = 0.20


@dataclass(frozen=True)
class ZoneStep:
    """One iteration; all of it is released, none of it exact.

    Attributes
    ----------
    before : ndarray of shape (n_clusters, n_features)
        The centres S.
    lloyd : ndarray of shape (n_clusters, n_features)
        The private Lloyd points M, the middles of the zones.
    after : ndarray of shape (n_clusters, n_features)
        The centres picked, nearer to M than S was.
    """

    before: Floats
    lloyd: Floats
    after: Floats


def ask_zone_clusters(
    view: PointsView,
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
    start = packed_centres(n_clusters, *view.domain.box_in_unit_ball(), rng)
    shares = for_steps.split([1] * n_steps)
    step = ask_zone_steps(view, shares, start, moves, rng)[-1]
    centres, errors = ask_lloyd_points(view, "last step", step.after, for_last)
    frame = Projection(np.zeros(view.domain.dimension))
    sizes = view.ask_clusters("cluster sizes", frame, centres, 1.0, counts=for_sizes).counts
    return KMeansResult(centres, errors, sizes, "zones")


def ask_zone_steps(
    view: PointsView,
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
            after = drawn_sub_clusters(zones.candidates, counts.value, moves.internal_k, rng)
        steps.append(ZoneStep(centres, lloyd, after))
        centres = after
    return steps


def _zones(
    view: PointsView,
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
    # Clipping to a box that holds the Lloyd point takes no candidate further from it.
    around = np.clip(around, *view.domain.box_in_unit_ball())
    return Zones(centres, lloyd, radii, np.concatenate([lloyd[:, None], around], axis=1))
