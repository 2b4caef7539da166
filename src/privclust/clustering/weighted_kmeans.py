"""k-means of weighted cells, and starts that never saw the data: ordinary post-processing.

There are at most a few thousand cells and many restarts, so all restarts run side by side as one
computation on arrays; the leading axis is the restart.
"""

from __future__ import annotations

import numpy as np

from privclust._typing import Floats, Indices

_RESTARTS = 40
_FIRST_ITERATIONS, _ITERATIONS = 5, 100
_FINISHED = 6

# Distances held at a time; more restarts than fit run one batch after the other.
_DISTANCES = 2**21


def nearest_centre(points: Floats, centres: Floats) -> Indices:
    """Return the index of the nearest centre of each public point."""
    labels: Indices = np.argmin(_squared_distances(points, centres), axis=-1)
    return labels


def weighted_kmeans(
    cells: Floats,
    weights: Floats,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    restarts: int = _RESTARTS,
) -> Floats:
    """Return ``n_clusters`` centres of the cells of positive weight, the best of many restarts."""
    cells, weights = cells[weights > 0], weights[weights > 0]
    if len(cells) <= n_clusters:
        cells = cells if len(cells) else np.zeros((1, cells.shape[1]))
        return cells[np.arange(n_clusters) % len(cells)]
    batch = int(np.clip(_DISTANCES // (len(cells) * n_clusters), 1, restarts))
    found = [
        _best_of(cells, weights, n_clusters, min(batch, restarts - start), rng)
        for start in range(0, restarts, batch)
    ]
    return min(found, key=lambda pair: pair[0])[1]


def _best_of(
    cells: Floats, weights: Floats, n_clusters: int, restarts: int, rng: np.random.Generator
) -> tuple[float, Floats]:
    """Begin many restarts, then finish the best few."""
    centres = _spread_starts(cells, weights, n_clusters, restarts, rng)
    errors, centres = _lloyd_step(cells, weights, centres, _FIRST_ITERATIONS)
    few = errors.argsort()[:_FINISHED]
    errors, centres = _lloyd_step(cells, weights, centres[few], _ITERATIONS)
    best = int(errors.argmin())
    return float(errors[best]), centres[best]


def _lloyd_step(
    cells: Floats, weights: Floats, centres: Floats, iterations: int
) -> tuple[Floats, Floats]:
    """Run Lloyd's iteration, and return the weighted error and the centres of each restart."""
    labels = np.argmin(_squared_distances(cells, centres), axis=-1)
    tiled = [np.tile(column, len(centres)) for column in (weights, *(weights * x for x in cells.T))]
    for _ in range(iterations):
        centres = _weighted_means(tiled, labels, centres)
        before, labels = labels, np.argmin(_squared_distances(cells, centres), axis=-1)
        if (before == labels).all():
            break
    return np.asarray(_squared_distances(cells, centres).min(axis=-1) @ weights), centres


def _spread_starts(
    cells: Floats, weights: Floats, n_clusters: int, restarts: int, rng: np.random.Generator
) -> Floats:
    """Draw cells in proportion to weight times squared distance to those drawn (k-means++).

    Of several cells drawn at a time, the one that lowers the error most is kept.
    """
    tries = 2 + int(np.log(n_clusters))
    rows = np.arange(restarts)
    centres = np.empty((restarts, n_clusters, cells.shape[1]))
    nearest = np.full((restarts, len(cells)), np.inf)
    chances = np.broadcast_to(weights, nearest.shape)
    squared = (cells**2).sum(axis=1)
    for index in range(n_clusters):
        sums = np.cumsum(chances, axis=1)
        positions = rng.random((restarts, tries, 1)) * sums[:, None, -1:]
        drawn = np.minimum((sums[:, None] < positions).sum(axis=-1), len(cells) - 1)
        squares = squared + squared[drawn][..., None] - 2 * cells[drawn] @ cells.T
        lowered = np.minimum(np.maximum(squares, 0), nearest[:, None])
        taken = (lowered @ weights).argmin(axis=1)
        centres[:, index] = cells[drawn[rows, taken]]
        nearest = lowered[rows, taken]
        chances = weights * nearest
    return centres


def _weighted_means(tiled: list[Floats], labels: Indices, centres: Floats) -> Floats:
    """Return the weighted mean of each cluster; an empty one keeps its centre.

    ``tiled`` are the weights and the weighted coordinates of the cells, once for each restart.
    """
    restarts, n_clusters, dimension = centres.shape
    places = (labels + np.arange(restarts)[:, None] * n_clusters).ravel()
    size = restarts * n_clusters
    totals, *sums = (np.bincount(places, column, size) for column in tiled)
    means = np.array(sums).T / np.maximum(totals, 1e-300)[:, None]
    moved = np.where(totals[:, None] > 0, means, centres.reshape(size, dimension))
    return np.asarray(moved.reshape(centres.shape))


def _squared_distances(points: Floats, centres: Floats) -> Floats:
    """Return half the squared distance of points to centres, less half that to the origin."""
    halves = (centres**2).sum(axis=-1) / 2
    return np.asarray(halves[..., None, :] - points @ np.swapaxes(centres, -1, -2))


def squares(points: Floats, centers: Floats) -> Floats:
    """Return the squared distance of each point to each centre."""
    products = (points**2).sum(axis=1)[:, None] - 2 * points @ centers.T
    return np.asarray(np.maximum(products + (centers**2).sum(axis=1), 0))


# Starting centres that never saw the data: spheres packed into the declared bounds.

_TRIES = 100


def spread_out_centres(
    n_clusters: int, low: Floats, high: Floats, rng: np.random.Generator
) -> Floats:
    """Return random points at least 2a apart and a from the bounds, for as large an a as found.

    The start of Su et al. (2016): a is halved until ``n_clusters`` points fit.
    """
    spacing = float((high - low).min()) / 2
    while True:
        centres = _try_packing(n_clusters, low + spacing, high - spacing, 2 * spacing, rng)
        if centres is not None:
            return centres
        spacing /= 2


def _try_packing(
    n_clusters: int, low: Floats, high: Floats, apart: float, rng: np.random.Generator
) -> Floats | None:
    centres = np.empty((n_clusters, len(low)))
    for placed in range(n_clusters):
        for _ in range(_TRIES):
            # On the narrowest side both ends are its middle, except for rounding.
            point = rng.uniform(low, np.maximum(low, high))
            if ((centres[:placed] - point) ** 2).sum(axis=1).min(initial=np.inf) >= apart**2:
                centres[placed] = point
                break
        else:
            return None
    return centres
