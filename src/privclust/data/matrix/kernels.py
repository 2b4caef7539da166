"""Exact sums over groups of rows and columns of a sparse matrix of counts.

All arithmetic is in int64, so the result is the same for every order of summation. A pass costs
one step per stored entry; the dense form of the matrix is never made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from privclust._typing import Integers, ShortLabels
from privclust.data.terms import ONE_CELL, Term

__all__ = [
    "CELL_TERM",
    "block_sums",
    "column_scores",
    "column_sums",
    "profile_term",
    "rooted_rows",
    "row_scores",
    "row_sums",
    "score_term",
]


# Entries handled at a time, so that what is made beside the matrix stays small.
_PIECE = 1 << 20

# The terms of tables and scores are single steps of entries: a step lies in one cell of a table.
CELL_TERM = ONE_CELL


def score_term(largest_weight: int) -> Term:
    """Return what one step of an entry adds to each score."""
    return Term(0, largest_weight)


def profile_term(radius: int) -> Term:
    """Return what one row adds to each entry of a sum of profiles of length ``radius``."""
    return Term(0, radius)


def row_sums(counts: Any, column_groups: ShortLabels, n_groups: int) -> Integers:
    """Return, for each row, the sums over the groups of columns."""
    sums = np.empty((counts.shape[0], n_groups), np.int64)
    for start, piece in _pieces(counts):
        grouped = (piece.data, column_groups[piece.indices], piece.indptr)
        shape = (piece.shape[0], n_groups)
        # Equal indices in a row add up when it is written out.
        sums[start : start + len(piece.indptr) - 1] = sparse.csr_array(grouped, shape).toarray()
    return sums


def column_sums(counts: Any, row_groups: ShortLabels, n_groups: int) -> Integers:
    """Return, for each group of rows, the sums of each column."""
    return _grouped(counts, row_groups, None, (n_groups, counts.shape[1]))


def block_sums(
    counts: Any, row_groups: ShortLabels, column_groups: ShortLabels, shape: tuple[int, int]
) -> Integers:
    """Return the sums over every block of a group of rows and a group of columns."""
    return _grouped(counts, row_groups, column_groups, shape)


def row_scores(counts: Any, weights: Integers) -> Integers:
    """Return the product of the matrix with weights of its columns."""
    return np.asarray(counts @ weights)


def column_scores(counts: Any, weights: Integers) -> Integers:
    """Return the product of the transposed matrix with weights of its rows."""
    return np.asarray(counts.T @ weights)


def rooted_rows(counts: Any, radius: int) -> Any:
    """Return the square roots of the entries, each row brought to length ``radius``.

    Entries are rounded down to integers, and a margin far above any rounding error keeps the length
    of every row at ``radius`` or below. Each row is computed from its own entries alone; a row of
    zeros stays one, whether or not its zeros are stored.
    """
    totals = np.asarray(counts @ np.ones(counts.shape[1], np.int64))
    shares = counts.data / np.repeat(np.maximum(totals, 1), np.diff(counts.indptr))
    rooted = np.floor(np.sqrt(shares) * (radius * (1 - 2.0**-40))).astype(np.int64)
    return sparse.csr_array((rooted, counts.indices, counts.indptr), counts.shape)


def _grouped(
    counts: Any, row_groups: ShortLabels, column_groups: ShortLabels | None, shape: tuple[int, int]
) -> Integers:
    sums = np.zeros(shape, np.int64)
    for start, piece in _pieces(counts):
        lengths = np.diff(piece.indptr)
        rows = np.repeat(row_groups[start : start + len(lengths)], lengths)
        columns = piece.indices if column_groups is None else column_groups[piece.indices]
        sums += sparse.coo_array((piece.data, (rows, columns)), shape).toarray()
    return sums


def _pieces(counts: Any) -> Iterator[tuple[int, Any]]:
    """Yield runs of rows of about ``_PIECE`` entries, each with the index of its first row."""
    if counts.nnz <= _PIECE:
        yield 0, counts
        return
    n_rows, start = counts.shape[0], 0
    while start < n_rows:
        limit = counts.indptr[start] + _PIECE
        stop = max(start + 1, int(np.searchsorted(counts.indptr, limit, "right")) - 1)
        yield start, counts[start:stop]
        start = stop
