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
from fractions import Fraction

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from privclust.budget import Loss, Share
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

# The rule of the choice. Every number of it was fitted, on generated sets other than those of the
# research notes (docs/research/few-rows.md), but with the results on these known. To be replaced by
# a rehearsal of each method once that does better; so far it does as well, for eight times the CPU.
#
# Cautious steps: below such a signal, which grows with this power of the columns in pure ε, where
# noise does; and in at most as many columns as were tried, but for a few (digits has 64). From sets
# of 100 to 2000 rows with 2 to 40 columns and 2 to 10 clusters.
_SIGNAL = {"pure": 125.0, "zcdp": 28.0}
_COLUMNS_POWER = {"pure": 0.25, "zcdp": 0.0}
_MOST_COLUMNS = 40
# A grid: for at least this many clusters and at most this many columns, while the rows of a
# cluster, in errors of a count times the columns (two at least), are fewer than this. From five
# sets of two and three columns.
_GRID_CLUSTERS = {"pure": 2, "zcdp": 12}
_GRID_COLUMNS = {"pure": 3, "zcdp": 2}
_GRID_SIGNAL = {"pure": 400.0, "zcdp": 30.0}
# A grid in pure ε instead of cells in ρ: while the signal, in such errors of a count in ρ, is below
# min(a + b k, c), and if the first answers in pure ε leave most of ρ. From 39 further sets.
_EITHER_SIGNAL = 20.0, 5.0, 87.0
_MOST_AT_FIRST = Fraction(1, 5)  # of ρ, for the number of rows and the probe in pure ε
# The probe that rejects a grid: cells along each axis, by the number of columns, and how many of
# eight must have nearly all rows to be too crowded for a grid. Nearly all is this share of them,
# and the error of the probe may be that much of them. A weaker criterion applies when cells could
# still use δ, which also accepts a few cells of the probe for each cluster. From the sets of both
# grids; the last because of clusters along a curve (Birch2-like).
_LOOK_CELLS = {1: 8, 2: 8, 3: 4}
_WINDOW = {"pure": 3, "zcdp": 4}
_NEARLY_ALL, _LOOK_ERROR = 0.9, 0.15
_SOONER, _SOONER_ERROR = 0.8, 0.2
_TIGHT = 0.25


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
        if not ask_is_concentrated(view, purse.take(PROBE_SHARE), n_rows):
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
    at_least, for_each, at_most = _EITHER_SIGNAL
    enough, tight = min(at_least + for_each * n_clusters, at_most), math.ceil(_TIGHT * n_clusters)
    is_few = _signal(view, budget, n_rows, n_clusters) < enough
    if is_few and not ask_is_concentrated(view, purse.take(PROBE_SHARE), n_rows, tight=tight):
        return ask_grid_given_count(view, purse, n_rows, n_clusters, rng, looked=True)
    return ask_cells_given_count(view, purse.convert_to_rho(budget), n_rows, n_clusters, rng)


def ask_is_concentrated(
    view: PointsView, share: Share, n_rows: float, *, tight: int | None = None
) -> bool:
    """Return whether nearly all rows are in a small part of the bounds, by noisy counts.

    The cells of a grid would then be too wide for the clusters. If ``tight`` is given, a weaker
    criterion applies, which also accepts the fullest ``tight`` cells.
    """
    (low, high), d = view.domain.box_in_unit_ball(), view.domain.dimension
    n_cells = _LOOK_CELLS[d]
    middles = (np.arange(n_cells) + 0.5) / n_cells
    places = grid_points(tuple(low[j] + middles * (high[j] - low[j]) for j in range(d)))
    answer = view.ask_clusters("look", Projection(np.zeros(d)), places, 1.0, counts=share).counts
    side = math.ceil(_WINDOW[share.currency] * n_cells / 8)
    table = answer.value.reshape((n_cells,) * d)
    windows = sliding_window_view(table, (side,) * d).sum(axis=tuple(range(d, 2 * d)))
    error = answer.standard_error * math.sqrt(side**d)
    if tight is None:
        return bool(error < _LOOK_ERROR * n_rows and windows.max() > _NEARLY_ALL * n_rows)
    fullest = np.sort(answer.value)[::-1][: min(tight, len(places) // 4)]
    in_few = answer.standard_error * len(fullest) < _LOOK_ERROR / 2 * n_rows  # not by noise alone
    return bool(
        (error < _SOONER_ERROR * n_rows and windows.max() > _SOONER * n_rows)
        or (in_few and fullest.sum() > _NEARLY_ALL * n_rows)
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
    return less_noise and first.rho <= _MOST_AT_FIRST * budget.amount


def _grid_is_possible(view: PointsView, budget: Share, n_clusters: int) -> bool:
    """Return whether columns are few and clusters many enough; mixed rows have no grid."""
    columns, currency = view.domain.dimension, budget.currency
    fits = columns <= _GRID_COLUMNS[currency] and n_clusters >= _GRID_CLUSTERS[currency]
    return fits and not view.domain.has_shares


def prefers_grid(view: PointsView, budget: Share, n_rows: float, n_clusters: int) -> bool:
    """Return whether a grid should do better than all else."""
    fits = _grid_is_possible(view, budget, n_clusters)
    return fits and _signal(view, budget, n_rows, n_clusters) < _GRID_SIGNAL[budget.currency]


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
    if lost or dimension > _MOST_COLUMNS:
        return False
    scale = math.sqrt(n_clusters) * math.pow(dimension, _COLUMNS_POWER[budget.currency])
    return n_rows / (scale * view.count_error(budget)) < _SIGNAL[budget.currency]


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
