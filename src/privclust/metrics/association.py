"""Goodman and Kruskal's τ of clusters of rows and columns, both ways, normalised and not."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from privclust.coclustering.association import normalised_tau, tau

__all__ = ["coclustering_tau", "goodman_kruskal_tau"]


def goodman_kruskal_tau(
    table: ArrayLike, *, of: Literal["rows", "columns"] = "rows", normalised: bool = True
) -> float:
    """Return by how much one side of a table of counts helps to predict the other.

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
