"""Which method a fit takes if none is named: the cells, or Lloyd's iteration where rows are few.

The cells divide the budget among more questions than Lloyd's iteration does. In pure ε noise grows
as fast as a share shrinks, so with few rows in few columns the fewer questions win, unless the rows
are so few that Lloyd's centres are noise. The choice rests on public numbers and on the noisy
number of rows, which both methods ask for first, so it costs nothing.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from privclust.budget import Share
from privclust.data.points.view import PointsView
from privclust.kmeans.cells import HIDDEN, SIZES, cells_of_so_many, counted
from privclust.kmeans.lloyd import lloyd_of_so_many
from privclust.kmeans.result import KMeansResult
from privclust.kmeans.spread import Purse

__all__ = ["by_number_of_rows", "prefers_lloyd"]

# Chosen on generated sets of 100 to 2000 rows with 2 to 8 clusters: up to so many columns and
# clusters, and between these signals, Lloyd's iteration does better in pure ε.
_MOST_COLUMNS, _MOST_CLUSTERS = 5, 6
_SIGNALS = 5.0, 28.0
# How many standard errors noise may have moved a centre by.
_CAUTION = 2


def by_number_of_rows(
    view: PointsView, budget: Share, n_clusters: int, rng: np.random.Generator
) -> KMeansResult:
    """Cluster the rows of ``view`` within ``budget``, by the method that should do better."""
    purse = Purse(budget)
    n_rows = counted(view, purse)
    if prefers_lloyd(view, budget, n_rows, n_clusters):
        for_sizes = purse.take(SIZES)
        found = lloyd_of_so_many(view, n_rows, for_sizes, purse.rest, n_clusters, rng)
        return replace(found, warnings=(HIDDEN,)) if _is_hidden(found) else found
    return cells_of_so_many(view, purse, n_rows, n_clusters, rng)


def _is_hidden(found: KMeansResult) -> bool:
    """Tell whether noise could have moved some centre to where another one is."""
    if found.centres_error is None or len(found.centres) < 2:
        return False
    gaps = np.linalg.norm(found.centres[:, None] - found.centres, axis=2)
    np.fill_diagonal(gaps, np.inf)
    return bool((_CAUTION * np.linalg.norm(found.centres_error, axis=1) > gaps.min(axis=1)).any())


def prefers_lloyd(view: PointsView, budget: Share, n_rows: float, n_clusters: int) -> bool:
    """Tell whether Lloyd's iteration should do better than the cells.

    The signal is the number of rows of a cluster, in errors that a count would have if the whole
    budget paid for it, over the root of the number of columns.
    """
    dimension = view.domain.dimension
    few = dimension <= _MOST_COLUMNS and n_clusters <= _MOST_CLUSTERS
    if budget.currency != "pure" or not few:
        return False
    signal = n_rows / (n_clusters * math.sqrt(dimension) * view.count_error(budget))
    return _SIGNALS[0] < signal < _SIGNALS[1]
