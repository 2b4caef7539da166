"""Clusters of released cells, for any k, and the errors that the noise leaves in them.

All of it is post-processing. The same cells and the same k give the same clusters every time, with
the data or without them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats, Indices
from privclust.exceptions import ParameterError
from privclust.kmeans.weighted import nearest_of, weighted_kmeans
from privclust.parameters import whole
from privclust.summary.result import Cells

__all__ = ["Clusters", "check_n_clusters", "clustered", "most_clusters", "squares"]


@dataclass(frozen=True)
class Clusters:
    """k clusters of the cells, largest first.

    Attributes
    ----------
    centers, centers_error : ndarray of shape (k, n_features)
        The errors, like all others here, are standard errors of the noise alone.
    sizes, sizes_error : ndarray of shape (k,)
        Unbiased numbers of rows; they may be negative.
    inertia, inertia_error : float
        About the sum of squared distances of the rows to their nearest centre.
    """

    centers: Floats
    centers_error: Floats
    sizes: Floats
    sizes_error: Floats
    inertia: float
    inertia_error: float


def most_clusters(cells: Cells) -> int:
    """Return the number of cells that have rows, which no k can exceed."""
    return int((cells.counts > 0).sum())


def check_n_clusters(cells: Cells, n_clusters: int) -> int:
    """Return k as a plain number; raise unless the cells have so many clusters."""
    whole()("n_clusters", n_clusters)
    most = most_clusters(cells)
    if n_clusters > most:
        raise ParameterError(
            f"n_clusters must be at most {most}, the number of cells that stand out from the "
            f"noise, got {n_clusters}; ask for fewer clusters, or summarise with a larger budget."
        )
    return int(n_clusters)


def clustered(cells: Cells, n_clusters: int) -> Clusters:
    """Return ``n_clusters`` clusters by weighted k-means of the cells."""
    k = check_n_clusters(cells, n_clusters)
    middle = np.average(cells.cells, axis=0, weights=cells.counts)
    around = cells.cells - middle
    centers = weighted_kmeans(around, cells.counts, k, np.random.default_rng(k))
    sizes = _sizes(cells, nearest_of(around, centers), k)[0]
    centers = centers[np.argsort(-sizes, kind="stable")]
    labels = nearest_of(around, centers)
    sizes, sizes_error = _sizes(cells, labels, k)
    inertia, inertia_error = _inertia(cells, squares(around, centers).min(axis=1))
    errors = _centers_error(cells, around, centers, labels)
    return Clusters(centers + middle, errors, sizes, sizes_error, inertia, inertia_error)


def squares(points: Floats, centers: Floats) -> Floats:
    """Return the squared distance of each point to each centre."""
    products = (points**2).sum(axis=1)[:, None] - 2 * points @ centers.T
    return np.asarray(np.maximum(products + (centers**2).sum(axis=1), 0))


def _sizes(cells: Cells, labels: Indices, k: int) -> tuple[Floats, Floats]:
    """Add up the raw counts, also of cells in which noise hides the rows."""
    of_raw = labels[cells.raw_cells]
    terms = np.bincount(of_raw, minlength=k)
    sizes = np.bincount(of_raw, cells.raw_counts, k).astype(np.float64)
    return sizes, np.sqrt(np.maximum(terms, 1)) * cells.raw_counts_error


def _centers_error(cells: Cells, around: Floats, centers: Floats, labels: Indices) -> Floats:
    """Return how far noise alone moves the weighted mean of each cluster.

    Noise of a count moves weight between cells; noise of a place moves a cell; and noise of a
    group's move moves all its cells together.
    """
    k, weights = len(centers), cells.counts
    variance = np.zeros(centers.shape)
    by_counts = cells.counts_error**2 * (around - centers[labels]) ** 2
    by_places = (weights**2 * cells.variances)[:, None] * cells.column_shares
    np.add.at(variance, labels, np.where(weights[:, None] > 0, by_counts + by_places, 0))
    together = np.zeros((k, len(cells.group_variances)))
    np.add.at(together, (labels, cells.groups), weights)
    variance += (together**2 @ cells.group_variances)[:, None]
    totals = np.maximum(np.bincount(labels, weights, k), 1)
    return np.asarray(np.sqrt(variance) / totals[:, None])


def _inertia(cells: Cells, gaps: Floats) -> tuple[float, float]:
    """Return the inertia of centres at such squared distances from the cells, and its error."""
    weights, total = cells.counts, cells.counts.sum()
    between = float(weights @ gaps / total)
    each = between + cells.within
    spread = (gaps - between)[weights > 0]
    by_counts = cells.counts_error**2 * float(spread @ spread) * (cells.n_rows / total) ** 2
    by_rows = (each * cells.n_rows_error) ** 2
    by_within = (cells.n_rows * cells.within_error) ** 2
    return cells.n_rows * each, float(np.sqrt(by_counts + by_rows + by_within))
