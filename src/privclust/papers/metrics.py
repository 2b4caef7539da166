"""The papers' measures, exact: NOT PRIVATE.

What is judged is fitted models: private ones, or others with the same attributes ``metric_`` and
``contexts_``, such as :class:`privclust.papers.dilca.Dilca`, which is usually the exact side.

The cost uses every source, so it is only for experiments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist

from privclust._typing import Floats
from privclust.coclustering.association import normalised_tau, tau

__all__ = [
    "ContextScores",
    "coclustering_tau",
    "context_scores",
    "cost_gap",
    "distance_l1",
    "distance_pearson",
    "goodman_kruskal_tau",
    "inertia",
    "inertia_ratio",
    "object_l1",
    "object_pearson",
    "share_of_gap",
    "source_target_cost",
    "source_target_curve",
]


# Measures of k-means: inertia, its ratio to the best known, and the papers' CostGap.

# Distances held at a time.
_DISTANCES = 2**21


def inertia(X: ArrayLike, centres: ArrayLike) -> float:
    """Return the sum of squared distances of points to their nearest centre.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
    centres : array-like of shape (n_clusters, n_features)

    Examples
    --------
    >>> inertia([[0.0], [2.0], [9.0]], [[1.0], [9.0]])
    2.0
    """
    middle = np.asarray(centres, dtype=np.float64).mean(axis=0)
    points = np.asarray(X, dtype=np.float64)
    # Around the middle of the centres, so that a large offset common to all costs no digits.
    targets = np.asarray(centres, dtype=np.float64) - middle
    height, total = max(1, _DISTANCES // len(targets)), 0.0
    for start in range(0, len(points), height):
        part = points[start : start + height] - middle
        squares = (part**2).sum(axis=1)[:, None] - 2 * part @ targets.T + (targets**2).sum(axis=1)
        total += float(np.maximum(squares, 0).min(axis=1).sum())
    return total


def inertia_ratio(X: ArrayLike, centres: ArrayLike, best: float) -> float:
    """Return the inertia of some centres divided by the best known; 1 is as good as it gets."""
    return inertia(X, centres) / best


def cost_gap(X: ArrayLike, centres: ArrayLike, baseline: ArrayLike) -> float:
    """Return CostGap: the relative distance of the k-means cost from that of a baseline.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
    centres : array-like of shape (n_clusters, n_features)
        The centres to judge.
    baseline : array-like of shape (n_clusters, n_features)
        The centres of Lloyd's algorithm without privacy.

    Examples
    --------
    >>> cost_gap([[0.0], [2.0]], [[0.0]], [[1.0]])
    1.0
    """
    best = inertia(X, baseline)
    return abs(inertia(X, centres) - best) / best


# Goodman and Kruskal's τ of clusters of rows and columns, both ways, normalised and not.


def goodman_kruskal_tau(
    table: ArrayLike, *, of: Literal["rows", "columns"] = "rows", normalised: bool = True
) -> float:
    """Return how much one side of a table of counts helps to predict the other.

    Parameters
    ----------
    table : array-like of shape (n_row_clusters, n_column_clusters)
        Block totals; negative ones, which noise can leave, count as zero.
    of : {"rows", "columns"}, default="rows"
        What is predicted, given the other side.
    normalised : bool, default=True
        Whether the error that is saved is divided by the error there is to save, so that 1 means
        certainty. The papers on co-clustering write τ for the one and τ̂ for the other.

    Examples
    --------
    >>> goodman_kruskal_tau([[3, 0], [0, 3]])
    1.0
    >>> goodman_kruskal_tau([[3, 0], [0, 3]], normalised=False)
    0.5
    """
    counts = np.asarray(table, dtype=np.float64)
    counts = counts if of == "rows" else counts.T
    return normalised_tau(counts) if normalised else tau(counts)


def coclustering_tau(
    counts: Any,
    row_labels: ArrayLike,
    column_labels: ArrayLike,
    *,
    of: Literal["rows", "columns"] = "rows",
    normalised: bool = True,
) -> float:
    """Return the true τ of clusters on the matrix itself.

    Parameters
    ----------
    counts : array or sparse matrix of shape (n_rows, n_columns)
    row_labels, column_labels : array-like of int
        The clusters; a label below zero belongs to none.
    of, normalised : see :func:`goodman_kruskal_tau`
    """
    rows, columns = (_members(labels) for labels in (row_labels, column_labels))
    table = rows @ sparse.csr_array(counts) @ columns.T
    return goodman_kruskal_tau(table.toarray(), of=of, normalised=normalised)


def _members(labels: ArrayLike) -> Any:
    """Return which members each cluster has, as a sparse matrix."""
    numbers = np.asarray(labels)
    inside = np.flatnonzero(numbers >= 0)
    entries = np.ones(len(inside)), (numbers[inside], inside)
    return sparse.csr_array(entries, shape=(int(numbers.max(initial=0)) + 1, len(numbers)))


# Measures of distances between categories: of matrices, of contexts, of rows.

# A matrix whose distances differ by less has no contrast.
_FLAT = 1e-12


def distance_pearson(found: Any, exact: Any) -> float:
    """Return the mean correlation of the distance matrices of all attributes.

    Diagonals are left out, and so are binary attributes, whose correlation is always 1. A matrix
    without any contrast correlates with nothing: it counts as zero.
    """
    values = []
    for name, part in exact.metric_.attributes.items():
        above = np.triu_indices(len(part.labels), 1)
        right = part.distances()[above]
        if len(right) > 1 and right.std() > _FLAT:
            distances = found.metric_[name].distances()[above]
            flat = distances.std() <= _FLAT
            values.append(0.0 if flat else float(np.corrcoef(right, distances)[0, 1]))
    return float(np.mean(values))


def distance_l1(found: Any, exact: Any) -> float:
    """Return the mean absolute difference of the distance matrices of all attributes."""
    values = [
        float(np.abs(part.distances() - found.metric_[name].distances()).mean())
        for name, part in exact.metric_.attributes.items()
    ]
    return float(np.mean(values))


def object_pearson(found: Any, exact: Any, *, rows: Any) -> float:
    """Return the correlation of the distances between all pairs of some rows."""
    return float(np.corrcoef(_between(found, rows), _between(exact, rows))[0, 1])


def object_l1(found: Any, exact: Any, *, rows: Any) -> float:
    """Return the mean absolute difference of the distances between all pairs of some rows."""
    return float(np.abs(_between(found, rows) - _between(exact, rows)).mean())


def _between(model: Any, rows: Any) -> Any:
    return pdist(model.transform(rows))


@dataclass(frozen=True)
class ContextScores:
    """How well contexts agree with the right ones, on average over the attributes.

    Attributes
    ----------
    precision : float
        The share of the chosen attributes that are right.
    recall : float
        The share of the right attributes that are chosen.
    f : float
        The harmonic mean of both.
    adjusted_f : float
        F adjusted for chance: 0 for a random context, 1 for the right one.
    """

    precision: float
    recall: float
    f: float
    adjusted_f: float


def context_scores(
    found: Mapping[str, Sequence[str]],
    right: Mapping[str, Sequence[str]],
    *,
    n_attributes: int,
) -> ContextScores:
    """Compare the contexts of attributes with the right ones, as in the paper on DP-DILCA.

    Parameters
    ----------
    found, right : mapping of str to sequence of str
        The context of each attribute; those of ``right`` are not empty.
    n_attributes : int
        The number of attributes that a table has.

    Notes
    -----
    If all right contexts are of one size, chance is a random context of that size, otherwise a
    random set of any size.
    """
    sizes = {len(context) for context in right.values()}
    scores, expected = [], []
    for name, context in right.items():
        chosen = found[name]
        hits = len(set(context) & set(chosen))
        precision, recall = hits / max(len(chosen), 1), hits / len(context)
        scores.append((precision, recall, 2 * hits / (len(context) + len(chosen))))
        expected.append(_chance_f(len(context), n_attributes - 1, len(sizes) == 1))
    precision, recall, f = (float(mean) for mean in np.mean(scores, axis=0))
    chance = float(np.mean(expected))
    return ContextScores(precision, recall, f, (f - chance) / (1 - chance) if chance < 1 else f)


@cache
def _chance_f(right: int, others: int, same_size: bool) -> float:
    """Return the expected F of a random context, of the size of the right one or of any."""
    total = weight = 0.0
    for hits in range(right + 1):
        for misses in range(others - right + 1):
            size = hits + misses
            if size == right if same_size else size:
                ways = comb(right, hits) * comb(others - right, misses)
                total += ways
                weight += ways * 2 * hits / (right + size)
    return weight / total


# Measures of source-target clustering: the true cost of a choice, and the share of the gap closed.


def source_target_cost(source: ArrayLike, target: ArrayLike, centres: ArrayLike) -> float:
    """Return the mean distance of targets to the nearest of all sources and new centres.

    Examples
    --------
    >>> source_target_cost([[0.0]], [[0.0], [1.0], [9.0]], [[8.0]])
    0.6666666666666666
    """
    points = np.asarray(target)
    places = np.concatenate([np.asarray(source), np.asarray(centres)])
    return float(np.mean(cKDTree(places).query(points)[0]))


def source_target_curve(
    source: ArrayLike, target: ArrayLike, order: ArrayLike, numbers: Sequence[int]
) -> Floats:
    """Return the cost of the first k of an order of targets, for each k of ``numbers``."""
    points, chosen = np.asarray(target), np.asarray(order)
    base = cKDTree(np.asarray(source)).query(points)[0]
    return np.array(
        [np.minimum(base, cKDTree(points[chosen[:k]]).query(points)[0]).mean() for k in numbers]
    )


def share_of_gap(cost: ArrayLike, alone: ArrayLike, best: ArrayLike) -> float:
    """Return how much of what the source can save is saved; 1 is all of it, below 0 is a loss.

    Parameters
    ----------
    cost : array-like
        Costs of a method, such as one for each run and number of centres.
    alone : array-like
        Costs of ClusterT, which ignores the source.
    best : array-like
        Costs of the solver without privacy.

    Examples
    --------
    >>> share_of_gap([2.5], alone=[3.0], best=[2.0])
    0.5
    """
    costs, ignoring, knowing = (np.asarray(part) for part in (cost, alone, best))
    return float((ignoring - costs).sum() / (ignoring - knowing).sum())
