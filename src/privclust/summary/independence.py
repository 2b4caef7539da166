"""Whether clusters of mixed rows are more than what each column shows by itself.

Categories lie on a lattice: every combination of two or three columns is a clump of its own, well
apart from the others, even if the columns have nothing to do with each other. So clusters of mixed
cells are compared with those of cells whose columns are drawn independently of each other, from the
same cells. It is post-processing of released cells.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privclust._typing import Floats
from privclust.kmeans.weighted import weighted_kmeans
from privclust.summary.clustering import squares

__all__ = ["stand_beside_independent_columns"]

# Clusters stand if they leave at most this much of what those of independent columns leave. On
# generated tables planted ones left a half at most, and those of independent columns nine tenths.
_LEFT = 0.75
_DRAWS = 2


def stand_beside_independent_columns(
    places: Floats, weights: Floats, centers: Floats, columns: Sequence[slice]
) -> bool:
    """Tell whether centres explain more of the cells than columns by themselves would.

    Parameters
    ----------
    places : ndarray of shape (n_cells, n_features)
        Around their mean.
    weights : ndarray of shape (n_cells,)
    centers : ndarray of shape (n_clusters, n_features)
    columns : sequence of slice
        Where the coordinates of each column are.
    """
    rng = np.random.default_rng(len(centers))  # public choices; the answer is the same every time
    chances, equal = weights / weights.sum(), np.ones(len(places))
    left = []
    for _ in range(_DRAWS):
        drawn = np.empty_like(places)
        for column in columns:
            drawn[:, column] = places[rng.choice(len(places), len(places), p=chances), column]
        drawn -= drawn.mean(axis=0)
        found = weighted_kmeans(drawn, equal, len(centers), rng)
        left.append(_left(drawn, equal, found))
    return _left(places, weights, centers) <= _LEFT * float(np.mean(left))


def _left(places: Floats, weights: Floats, centers: Floats) -> float:
    """Return which share of the squared distances from the mean the clusters leave."""
    whole = max(float(weights @ (places**2).sum(axis=1)), 1e-300)
    return float(weights @ squares(places, centers).min(axis=1)) / whole
