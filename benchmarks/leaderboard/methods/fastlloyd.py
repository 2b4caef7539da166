"""FastLloyd: Lloyd steps within a radius after Diaa, Humphries and Kerschbaum (2024), in our words.

Centres start as packed spheres. A row moves its centre by its offset, shortened to a radius that
shrinks with the distance of the spheres; so the noise needs to hide that radius only, and not the
whole domain. One server is meant here, not the protocol between several. The questions go through
the library's door, so the noise is exact and paid for.
"""

import numpy as np

from privclust.budget import Budget
from privclust.clustering.weighted_kmeans import spread_out_centres
from privclust.data.points.door import PointRows
from privclust.data.points.public import Projection
from privclust.opening.rows import open_points
from privclust.papers.datasets.points import PointSet
from privclust.privacy.meter import Meter

STEPS = 5
RADIUS = 0.8  # of the usual distance between neighbouring spheres
COUNTS = 0.2  # of a step's budget


def centres(data: PointSet, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Return the released centres."""
    budget = Budget(epsilon, delta)
    with open_points(data.points, schema=data.schema) as opened:
        rows = PointRows(opened)
        view, domain = rows.private(Meter(budget), None), rows.domain
        low, high = domain.box_in_unit_ball()
        found = spread_out_centres(data.n_clusters, low, high, np.random.default_rng(seed))
        radius = min(2.0, RADIUS * neighbour_distance(found))
        whole = Projection(np.zeros(domain.dimension))
        for number, share in enumerate(budget.split([1] * STEPS)):
            for_counts, for_sums = share.split([COUNTS, 1 - COUNTS])
            answer = view.ask_clusters(
                f"step {number}", whole, found, radius, counts=for_counts, offsets=for_sums
            )
            sizes = answer.counts.value[:, None]
            moves = answer.offsets.value / np.maximum(sizes, 1)
            lengths = np.linalg.norm(moves, axis=1, keepdims=True)
            moves *= np.minimum(1, radius / np.maximum(lengths, 1e-300))
            found = np.where(sizes >= 1, np.clip(found + moves, low, high), found)
        return domain.to_data_units(found)


def neighbour_distance(points: np.ndarray) -> float:
    """Return the mean distance of points to the nearest other one."""
    if len(points) == 1:
        return 2.0
    gaps = np.linalg.norm(points[:, None] - points, axis=2)
    return float((gaps + 9 * np.eye(len(points))).min(axis=1).mean())
