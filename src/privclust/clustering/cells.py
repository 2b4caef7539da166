"""Private k-means by sub-clustering first: count many small cells, cluster the cells, then refine.

A cell needs only a noisy count and a noisy mean offset, clipped to its own small radius, and so
hundreds of cells cost little; and clustering the cells afterwards is free. Five stages, each a few
questions:

1. the number of rows, their mean and their spread;
2. the axes along which they spread most;
3. cells along these axes, in few columns thrown where a scout has counted rows, and moved twice;
4. k centres of the cells (no question);
5. a few noisy Lloyd steps in all dimensions, with offsets clipped to the clusters' own radius.

Everything here is computed from noisy answers, public facts and public random choices.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from privclust._typing import Floats
from privclust.budget import Share
from privclust.clustering.refine import ask_refined_centres, uninformative_errors
from privclust.clustering.result import KMeansResult
from privclust.clustering.seeds import ask_seeds
from privclust.clustering.spread import (
    LARGEST_MEAN_SHARE,
    Allowance,
    ask_axes,
    ask_spread,
    mean_error,
)
from privclust.clustering.weighted_kmeans import spread_out_centres
from privclust.data.points.public import Projection
from privclust.data.points.view import PointsView
from privclust.notes import Note

# Shares of the budget. The cells and the steps divide what these and ``spread`` leave.
COUNT, SIZES = 0.03, 0.03
# An error of the mean, in radii of the domain, at which centres that never saw the data are no
# worse.
LOST_MEAN = 1.0

_REMEDY = "raise epsilon, allow a delta, or ask plan() what to expect"
HIDDEN = Note("clusters-hidden", f"Noise hides some of the clusters at this budget; {_REMEDY}.")
_MOSTLY_HIDDEN = Note(
    "clusters-hidden",
    "Noise hides most of the clusters at this budget, so that most centres and sizes are noise; "
    f"ask for fewer clusters, {_REMEDY}.",
)
_UNSEEN = Note(
    "rows-unseen",
    "At this budget even the mean of the rows would be noise, so the centres are spread over the "
    f"declared bounds and never saw the rows; {_REMEDY}.",
)


# Clusters the rows of a view within a budget.
Method = Callable[[PointsView, Share, int, np.random.Generator], KMeansResult]
# The same, given an already released row count.
MethodGivenCount = Callable[[PointsView, Allowance, float, int, np.random.Generator], KMeansResult]


def ask_with_row_count(
    method: MethodGivenCount,
    view: PointsView,
    budget: Share,
    n_clusters: int,
    rng: np.random.Generator,
) -> KMeansResult:
    """Cluster the rows of ``view`` within ``budget``: ask for their number, then run ``method``."""
    purse = Allowance(budget)
    return method(view, purse, ask_row_count(view, purse), n_clusters, rng)


def ask_row_count(view: PointsView, purse: Allowance) -> float:
    """Ask for the number of rows."""
    return max(1.0, float(view.ask_count("number of rows", purse.take(COUNT)).value[0]))


def ask_cells_given_count(
    view: PointsView, purse: Allowance, n_rows: float, n_clusters: int, rng: np.random.Generator
) -> KMeansResult:
    """Cluster rows, given an already released row count."""
    if mean_error(view, purse.share(LARGEST_MEAN_SHARE), n_rows) > LOST_MEAN:
        centres = spread_out_centres(n_clusters, *view.domain.box_in_unit_ball(), rng)
        errors = uninformative_errors(n_clusters, *view.domain.box_in_unit_ball())
        return ask_cluster_sizes(view, centres, errors, purse.remaining, "cells", (_UNSEEN,))
    for_sizes = purse.take(SIZES)
    spread = ask_spread(view, purse, n_rows)
    axes = ask_axes(view, purse, spread, n_clusters, rng)
    seeds = ask_seeds(view, purse, spread, axes, n_clusters, rng)
    centres, errors = ask_refined_centres(
        view, purse.remaining, n_rows, seeds.centres, seeds.within, seeds.sketch
    )
    hidden = _MOSTLY_HIDDEN if seeds.n_live <= n_clusters / 2 else HIDDEN
    notes = () if seeds.n_live >= n_clusters else (hidden,)
    return ask_cluster_sizes(view, centres, errors, for_sizes, "cells", notes)


ask_cells: Method = partial(ask_with_row_count, ask_cells_given_count)


def ask_cluster_sizes(
    view: PointsView,
    centres: Floats,
    errors: Floats,
    share: Share,
    method: str,
    notes: tuple[Note, ...],
) -> KMeansResult:
    """Ask for the sizes of the clusters, and return all that ``method`` has found."""
    centres, frame = view.domain.feasible(centres), Projection(np.zeros(view.domain.dimension))
    sizes = view.ask_clusters("cluster sizes", frame, centres, 1.0, counts=share).counts
    return KMeansResult(centres, errors, sizes, method, notes)
