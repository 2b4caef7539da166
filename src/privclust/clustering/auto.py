"""Which method a fit uses if none is named, and which k if the rows are to choose it.

The cells divide the budget among many small questions, which pay where rows are many. Where they
are few, one table of counts does better if it can cover everything, which takes few columns; else a
few questions whose answers are believed as far as their noise allows. The choice rests on public
numbers and on the noisy number of rows, which all methods ask for first, so it costs nothing. A
grid is rejected after a cheap probe if the rows are concentrated in a small part of the bounds.
With a δ the grid is made in pure ε, where that keeps the promise, and the cells in ρ.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

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
from privclust.clustering.grid import PROBE_SHARE, ask_grid_given_count, grid_points
from privclust.clustering.result import KMeansResult, SummaryResult
from privclust.clustering.spread import LARGEST_MEAN_SHARE, Allowance, mean_error
from privclust.clustering.summarise import ask_summary
from privclust.data.points.public import Projection
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
        if not ask_is_concentrated(view, purse.take(PROBE_SHARE), n_rows, n_clusters):
            return ask_grid_given_count(view, purse, n_rows, n_clusters, rng, looked=True)
    elif prefers_cautious(view, budget, n_rows, n_clusters):
        chosen = ask_cautious_given_count
    return chosen(view, purse, n_rows, n_clusters, rng)


def _ask_grid_or_cells(
    view: PointsView, budget: Share, pure: Share, n_clusters: int, rng: np.random.Generator
) -> KMeansResult:
    """Cluster within pure ε if that is for a grid, else within ρ; the first answers suit both.

    A table of counts has less noise in pure ε than in ρ, the many questions of cells have more.
    """
    purse = Allowance(pure)
    n_rows = ask_row_count(view, purse)
    at_least, for_each, at_most = fitted.EITHER_SIGNAL
    enough = min(at_least + for_each * n_clusters, at_most)
    is_few = _signal(view, budget, n_rows, n_clusters) < enough
    if is_few and not ask_is_concentrated(
        view, purse.take(PROBE_SHARE), n_rows, n_clusters, sooner=True
    ):
        return ask_grid_given_count(view, purse, n_rows, n_clusters, rng, looked=True)
    return ask_cells_given_count(view, purse.convert_to_rho(budget), n_rows, n_clusters, rng)


def ask_is_concentrated(
    view: PointsView, share: Share, n_rows: float, n_clusters: int, *, sooner: bool = False
) -> bool:
    """Return whether nearly all rows are in a small part of the bounds, by noisy counts.

    The cells of a grid would then be too wide for the clusters. If ``sooner``, less will do.
    """
    (low, high), d = view.domain.box_in_unit_ball(), view.domain.dimension
    n_cells = fitted.LOOK_CELLS[d]
    middles = (np.arange(n_cells) + 0.5) / n_cells
    places = grid_points(tuple(low[j] + middles * (high[j] - low[j]) for j in range(d)))
    answer = view.ask_clusters("look", Projection(np.zeros(d)), places, 1.0, counts=share).counts
    side = math.ceil(fitted.WINDOW[share.currency] * n_cells / 8)
    table = answer.value.reshape((n_cells,) * d)
    windows = sliding_window_view(table, (side,) * d).sum(axis=tuple(range(d, 2 * d)))
    error = answer.standard_error * math.sqrt(side**d)
    few = min(math.ceil(fitted.TIGHT * n_clusters), len(places) // 4)
    fullest = np.sort(answer.value)[::-1][:few]
    in_few = answer.standard_error * few < fitted.LOOK_ERROR / 2 * n_rows  # not by noise alone
    most, doubt = (
        (fitted.SOONER, fitted.SOONER_ERROR) if sooner else (fitted.NEARLY_ALL, fitted.LOOK_ERROR)
    )
    return bool(
        (error < doubt * n_rows and windows.max() > most * n_rows)
        or (in_few and fullest.sum() > fitted.NEARLY_ALL * n_rows)
    )


def _pure_may_win(view: PointsView, budget: Share, pure: Share, n_clusters: int) -> bool:
    """Return, by public numbers, whether pure ε can have less noise and else leave most of ρ.

    A large δ makes the noise of a count smaller than pure ε does, and of a tiny one the first
    answers in pure ε would leave little.
    """
    if not _grid_is_possible(view, pure, n_clusters):
        return False
    first = Loss.total(Loss.of_pure(pure.take(part).amount) for part in (COUNT, PROBE_SHARE))
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
