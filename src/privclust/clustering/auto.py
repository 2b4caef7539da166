"""Which method a fit uses if none is named, and which k if the rows are to choose it.

The cells divide the budget among many small questions, which pay where rows are many. Where they
are few, one table of counts does better if it can cover everything, which takes few columns; else a
few questions whose answers are believed as far as their noise allows. The choice rests on public
numbers and on the noisy number of rows, which all methods ask for first, so it costs nothing. With
a δ the grid is made in pure ε, where that keeps the promise, and the cells in ρ.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from privclust.budget import Loss, Share
from privclust.clustering import fitted
from privclust.clustering.cautious import ask_cautious_given_count
from privclust.clustering.cells import (
    COUNT,
    LOST_MEAN,
    SIZES,
    ask_cells_given_count,
    ask_cluster_sizes,
    ask_row_count,
)
from privclust.clustering.choose_k import choose_n_clusters
from privclust.clustering.from_cells import cluster_cells, most_clusters
from privclust.clustering.grid import ask_grid_given_count
from privclust.clustering.result import KMeansResult, SummaryResult
from privclust.clustering.spread import LARGEST_MEAN_SHARE, Allowance, mean_error
from privclust.clustering.summarise import ask_summary
from privclust.data.points.view import PointsView
from privclust.notes import Note, signal_of
from privclust.schema.schema import Schema

# Which method a fit uses if none is named: cells, or for few rows a grid or cautious steps.


def ask_auto(
    view: PointsView, budget: Share, n_clusters: int, rng: np.random.Generator
) -> KMeansResult:
    """Cluster the rows of ``view`` within ``budget``, by the method that should do better."""
    pure = view.pure_share(budget)
    if pure is not None and _pure_may_win(view, budget, pure, n_clusters):
        return _ask_grid_or_cells(view, budget, pure, n_clusters, rng)
    purse = Allowance(budget)
    n_rows = ask_row_count(view, purse)
    chosen = ask_cells_given_count
    if prefers_grid(view, budget, n_rows, n_clusters):
        chosen = ask_grid_given_count
    elif prefers_cautious(view, budget, n_rows, n_clusters):
        chosen = ask_cautious_given_count
    return chosen(view, purse, n_rows, n_clusters, rng)


def _ask_grid_or_cells(
    view: PointsView, budget: Share, pure: Share, n_clusters: int, rng: np.random.Generator
) -> KMeansResult:
    """Cluster within pure ε if that is for a grid, else within ρ; the first answer suits both.

    A table of counts has less noise in pure ε than in ρ, the many questions of cells have more.
    """
    purse = Allowance(pure)
    n_rows = ask_row_count(view, purse)
    if _signal(view, budget, n_rows, n_clusters) < fitted.EITHER_SIGNAL:
        return ask_grid_given_count(view, purse, n_rows, n_clusters, rng)
    return ask_cells_given_count(view, purse.convert_to_rho(budget), n_rows, n_clusters, rng)


def _pure_may_win(view: PointsView, budget: Share, pure: Share, n_clusters: int) -> bool:
    """Return, by public numbers, whether pure ε can have less noise and else leave most of ρ.

    A large δ makes the noise of a count smaller than pure ε does, and of a tiny one the first
    answer in pure ε would leave little.
    """
    if not _grid_is_possible(view, pure, n_clusters):
        return False
    first = Loss.of_pure(pure.take(COUNT).amount)
    less_noise = view.count_error(pure) < view.count_error(budget)
    return less_noise and first.rho <= fitted.MOST_AT_FIRST * budget.amount


def _grid_is_possible(view: PointsView, budget: Share, n_clusters: int) -> bool:
    """Return whether columns are few and clusters many enough; mixed rows have no grid."""
    columns, currency = view.domain.dimension, budget.currency
    fits = columns <= fitted.GRID_COLUMNS[currency] and n_clusters >= fitted.GRID_CLUSTERS[currency]
    return fits and not view.domain.has_shares


def prefers_grid(view: PointsView, budget: Share, n_rows: float, n_clusters: int) -> bool:
    """Return whether a grid should do better than all else."""
    fits = _grid_is_possible(view, budget, n_clusters)
    return fits and _signal(view, budget, n_rows, n_clusters) < fitted.GRID_SIGNAL[budget.currency]


def _signal(view: PointsView, budget: Share, n_rows: float, n_clusters: int) -> float:
    """Return the rows of a cluster in errors of a count, times the columns (two at least)."""
    return n_rows / view.count_error(budget) / n_clusters * max(2, view.domain.dimension)


def prefers_cautious(view: PointsView, budget: Share, n_rows: float, n_clusters: int) -> bool:
    """Return whether cautious steps should do better than the cells.

    The signal is the number of rows, in errors that a count would have if the whole budget paid for
    it, over the root of the number of clusters and, in pure ε, the fourth root of that of columns.
    Where even the mean of the rows would be noise, the cells' centres never see a row, and say so.
    """
    dimension = view.domain.dimension
    lost = mean_error(view, budget.take(LARGEST_MEAN_SHARE), n_rows) > LOST_MEAN
    if lost or dimension > fitted.MOST_COLUMNS:
        return False
    scale = math.sqrt(n_clusters) * math.pow(dimension, fitted.COLUMNS_POWER[budget.currency])
    return n_rows / (scale * view.count_error(budget)) < fitted.CAUTIOUS_SIGNAL[budget.currency]


# k-means with a k that the rows choose: a summary, its choice of k, and its centres.

_UNCLEAR = "There is no clear number of clusters; {k} were taken, as the cells suggest"
_HIDDEN = "The number of clusters cannot be seen at this budget; 1 was taken."


def ask_with_chosen_k(
    view: PointsView, budget: Share, rng: np.random.Generator, schema: Schema | None = None
) -> KMeansResult:
    """Cluster the rows of ``view`` within ``budget``; the number of clusters is chosen.

    For ``n_clusters="auto"``: the number is ``len(result.centres)``, and a warning says so if it is
    not clear. A schema says which coordinates of the view are shares of categories.
    """
    for_sizes = budget.take(SIZES)
    result = ask_summary(view, budget.remainder(for_sizes), rng)
    k, verdict, clear = _number(result, schema)
    notes = result.notes if clear else (*result.notes, Note("k-unclear", verdict))
    found = cluster_cells(result.cells, k)
    places = found.centers, found.centers_error
    return replace(ask_cluster_sizes(view, *places, for_sizes, "summary", notes), verdict=verdict)


def _number(result: SummaryResult, schema: Schema | None) -> tuple[int, str, bool]:
    """Return the number of clusters, what to say about it, and whether it is clear."""
    # If noise hides the rows, cells are synthetic, and with two there is nothing to choose from.
    if signal_of(result.notes) != "seen" or most_clusters(result.cells) <= 2:
        return 1, _HIDDEN, False
    choice = choose_n_clusters(result.cells, schema=schema, whole_curve=False)
    if choice.n_clusters is not None:
        return choice.n_clusters, choice.verdict, True
    words = _UNCLEAR.format(k=choice.suggestion)
    return choice.suggestion, f"{words}; a PrivateSummary shows the curve to choose by.", False
