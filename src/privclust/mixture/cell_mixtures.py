"""A mixture of released cells: the start of the noisy steps, and a guide to how many components.

Every cell stands for rows around it, which spread as the summary says that rows do within cells.
All of it is post-processing, which costs nothing.
"""

from __future__ import annotations

import numpy as np

from privclust._typing import Floats
from privclust.clustering.result import Cells
from privclust.clustering.weighted_kmeans import nearest_centre, weighted_kmeans
from privclust.mixture.model import CovarianceType, Gaussians, responsibilities, restrict

_STARTS, _ROUNDS, _SETTLED = 8, 100, 1e-5
# A component has at least this share of an equal part of the rows.
_LEAST_SHARE = 1e-3
# As many observations a cell is when numbers of components are compared.
_OF_A_CELL = 8


def fit_cells(
    cells: Cells, n_components: int, kind: CovarianceType, least: float, rng: np.random.Generator
) -> tuple[Gaussians, float]:
    """Return the likeliest mixture of several starts, and its mean log likelihood.

    Every other start sees the cells as wide in one direction as in another, so that long clusters
    side by side are found as well.
    """
    live = cells.counts > 0
    places, counts = cells.cells[live], cells.counts[live] / cells.counts[live].sum()
    gaps = places - counts @ places
    spread = (gaps * counts[:, None]).T @ gaps + least * np.eye(places.shape[1])
    seen = places, gaps @ np.linalg.inv(np.linalg.cholesky(spread)).T
    found = []
    for start in range(_STARTS):
        own = seen[start % 2]
        centres = weighted_kmeans(own, counts, n_components, rng, restarts=1)
        shares = np.eye(n_components)[nearest_centre(own, centres)]
        found.append(_climb(places, counts, cells.within, shares, kind, least))
    return max(found, key=lambda pair: pair[1])


def _climb(
    places: Floats,
    counts: Floats,
    within: float,
    shares: Floats,
    kind: CovarianceType,
    least: float,
) -> tuple[Gaussians, float]:
    """Run expectation and maximisation from first shares of the cells."""
    around, last = within / places.shape[1], -np.inf
    for _ in range(_ROUNDS):
        mixture = _maximise(places, counts, around, shares, kind, least)
        shares, density = responsibilities(mixture.joint(places, around))
        likelihood = float(counts @ density)
        if likelihood - last < _SETTLED:
            break
        last = likelihood
    return mixture, likelihood


def _maximise(
    places: Floats,
    counts: Floats,
    around: float,
    shares: Floats,
    kind: CovarianceType,
    least: float,
) -> Gaussians:
    d, k = places.shape[1], shares.shape[1]
    weighted = shares * counts[:, None]
    sizes, fewest = weighted.sum(axis=0), _LEAST_SHARE / k
    weights = np.maximum(sizes, fewest)
    means = weighted.T @ places / weights[:, None]
    means[sizes < fewest] = counts @ places  # a component without cells waits in the middle
    gaps = places[:, None] - means
    spread = np.einsum("nk,nki,nkj->kij", weighted, gaps, gaps, optimize=True)
    covariances = spread / weights[:, None, None] + around * np.eye(d)
    weights = weights / weights.sum()
    return Gaussians(weights, means, restrict(covariances, weights, kind, least))


def score_numbers(
    cells: Cells, most: int, kind: CovarianceType, least: float, rng: np.random.Generator
) -> Floats:
    """Return a score for each number of components from one; the lowest is the best guess.

    It is the Bayesian information criterion of a mixture of the cells, each of which counts as
    several observations: as one it would ask for too few components, as all its rows for too many.
    """
    live, d = cells.counts > 0, cells.cells.shape[1]
    observed = min(_OF_A_CELL * int(live.sum()), float(cells.counts[live].sum()))
    shape = {"full": d * (d + 1) // 2, "tied": 0, "diag": d, "spherical": 1}[kind]
    scores = []
    for k in range(1, min(most, int(live.sum())) + 1):
        likelihood = fit_cells(cells, k, kind, least, rng)[1]
        scores.append(-2 * observed * likelihood + (k * (1 + d + shape) - 1) * np.log(observed))
    return np.array(scores)
