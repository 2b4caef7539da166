"""Exact sums over groups of rows and columns of a sparse matrix of counts.

All arithmetic is in int64, so the result is the same for every order of summation. A pass costs
one step per stored entry; the matrix is never made dense.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from privclust._typing import Floats, Integers, ShortLabels
from privclust.data.engines.base import PerRow
from privclust.data.matrix.rows import MatrixRows, row_pieces
from privclust.data.question import Pick, Question, Scores, Term

# In choices, entries are clipped to this.
LARGEST_ENTRY = 2**20
# The size of a row whose profile is added up, in steps.
ROW_STEPS = 2**14


def table_of(of: str, step: float) -> Question:
    """Return the question for sums over groups: a step of an entry is in one of the cells."""
    return Question(of, Term.cells(), _lines, step=step)


def choice_of(of: str, weights: Integers) -> Pick:
    """Return the choice by scores: a step of an entry adds weights to those of one pick."""
    most, scores = len(weights) * LARGEST_ENTRY, Scores(0, max(1, int(weights.max())))
    pick = Pick(of, scores, _lines, terms=lambda n_steps: min(n_steps, most), bounded=True)
    return replace(pick, words="exponential mechanism with ε = {epsilon:.3g} each")


def _of_profiles(of: str) -> Question:
    """Return the question for sums of rows, each non-negative, in one line, of bounded length."""
    return Question(of, Term.vector(ROW_STEPS, low=0), step=1 / ROW_STEPS)


def _lines(total: PerRow | Integers) -> Integers:
    return np.concatenate(total.parts) if isinstance(total, PerRow) else total


@dataclass(frozen=True)
class _OfRows:
    """A statistic with a public argument for every row, for the rows from ``first`` on."""

    of_rows: Any
    first: int = field(default=0, kw_only=True)

    def within(self, part: Any) -> Self:
        """Return it for a part of the matrix."""
        return replace(self, of_rows=self.of_rows[part.start : part.stop], first=part.start)

    def _for(self, rows: MatrixRows) -> Any:
        start = rows.start - self.first
        return self.of_rows[start : start + len(rows)]


@dataclass(frozen=True)
class RowSums:
    """For each row, the sums over public groups of columns."""

    column_groups: ShortLabels
    n_groups: int

    def __call__(self, rows: MatrixRows) -> PerRow:
        """Return the sums of some rows."""
        return PerRow((row_sums(rows.counts, self.column_groups, self.n_groups),))


@dataclass(frozen=True)
class ColumnSums(_OfRows):
    """For each public group of rows, the sums of each column; ``of_rows`` are the groups."""

    n_groups: int

    def __call__(self, rows: MatrixRows) -> Integers:
        """Return what some rows add."""
        return column_sums(rows.counts, self._for(rows), self.n_groups)


@dataclass(frozen=True)
class BlockSums(_OfRows):
    """The sums over blocks of public groups of rows, which are ``of_rows``, and of columns."""

    column_groups: ShortLabels
    shape: tuple[int, int]

    def __call__(self, rows: MatrixRows) -> Integers:
        """Return what some rows add."""
        return block_sums(rows.counts, self._for(rows), self.column_groups, self.shape)


@dataclass(frozen=True)
class RowScores:
    """For each row, the products with public weights of the columns."""

    weights: Integers

    def __call__(self, rows: MatrixRows) -> PerRow:
        """Return the scores of some rows."""
        return PerRow((row_scores(_cut_off(rows.counts), self.weights),))


@dataclass(frozen=True)
class ColumnScores(_OfRows):
    """For each column, the products with public weights of the rows, which are ``of_rows``."""

    def __call__(self, rows: MatrixRows) -> Integers:
        """Return what some rows add."""
        return column_scores(_cut_off(rows.counts), self._for(rows))


@dataclass(frozen=True)
class ProfileSums:
    """For each public prototype, the sum of the profiles of the rows most similar to it."""

    prototypes: Floats

    question = _of_profiles("profile_sums")

    def __call__(self, rows: MatrixRows) -> Integers:
        """Return what some rows add."""
        rooted = square_root_rows(rows.counts, ROW_STEPS)
        nearest = _most_similar(rooted, self.prototypes)
        return column_sums(rooted, nearest, len(self.prototypes))


@dataclass(frozen=True)
class BlockShares:
    """For each public prototype, the shares of public groups of columns in the rows like it."""

    prototypes: Floats
    column_groups: ShortLabels
    n_groups: int

    question = _of_profiles("block_shares")

    def __call__(self, rows: MatrixRows) -> Integers:
        """Return what some rows add."""
        nearest = _most_similar(square_root_rows(rows.counts, ROW_STEPS), self.prototypes)
        sums = row_sums(rows.counts, self.column_groups, self.n_groups)
        table = np.zeros((len(self.prototypes), self.n_groups), np.int64)
        np.add.at(table, nearest, row_shares(sums, ROW_STEPS))
        return table


@dataclass(frozen=True)
class Steps:
    """The number of entries, the largest, and their sum."""

    entries: int
    largest: int
    total: int

    def __add__(self, other: Steps) -> Steps:
        largest = max(self.largest, other.largest)
        return Steps(self.entries + other.entries, largest, self.total + other.total)


@dataclass(frozen=True)
class StepsOf:
    """The steps of all entries."""

    def __call__(self, rows: MatrixRows) -> Steps:
        """Return those of some rows."""
        data = rows.counts.data
        return Steps(len(data), int(data.max(initial=0)), int(data.sum()))


def _most_similar(rooted: Any, prototypes: Floats) -> ShortLabels:
    nearest: ShortLabels = np.asarray(rooted @ prototypes.T).argmax(axis=1).astype(np.int32)
    return nearest


def _cut_off(counts: Any) -> Any:
    """Return the entries, clipped as in a choice."""
    if counts.data.max(initial=0) <= LARGEST_ENTRY:
        return counts
    small = np.minimum(counts.data, LARGEST_ENTRY)
    return sparse.csr_array((small, counts.indices, counts.indptr), counts.shape)


def row_sums(counts: Any, column_groups: ShortLabels, n_groups: int) -> Integers:
    """Return, for each row, the sums over the groups of columns."""
    sums = np.empty((counts.shape[0], n_groups), np.int64)
    for rows in row_pieces(counts):
        start, piece = rows.start, rows.counts
        grouped = (piece.data, column_groups[piece.indices], piece.indptr)
        shape = (piece.shape[0], n_groups)
        # Equal indices in a row add up when it is written out.
        sums[start : start + len(piece.indptr) - 1] = sparse.csr_array(grouped, shape).toarray()
    return sums


def column_sums(counts: Any, row_groups: ShortLabels, n_groups: int) -> Integers:
    """Return, for each group of rows, the sums of each column."""
    return _sum_groups(counts, row_groups, None, (n_groups, counts.shape[1]))


def block_sums(
    counts: Any, row_groups: ShortLabels, column_groups: ShortLabels, shape: tuple[int, int]
) -> Integers:
    """Return the sums over every block of a group of rows and a group of columns."""
    return _sum_groups(counts, row_groups, column_groups, shape)


def row_scores(counts: Any, weights: Integers) -> Integers:
    """Return the product of the matrix with weights of its columns."""
    return np.asarray(counts @ weights)


def column_scores(counts: Any, weights: Integers) -> Integers:
    """Return the product of the transposed matrix with weights of its rows."""
    return np.asarray(counts.T @ weights)


def square_root_rows(counts: Any, radius: int) -> Any:
    """Return the square roots of the entries, each row brought to length ``radius``.

    Entries are rounded down to integers, and a margin far above any rounding error keeps the length
    of every row at ``radius`` or below. Each row is computed from its own entries alone; a row of
    zeros stays zero, whether or not its zeros are stored.
    """
    totals = np.asarray(counts @ np.ones(counts.shape[1], np.int64))
    shares = counts.data / np.repeat(np.maximum(totals, 1), np.diff(counts.indptr))
    rooted = np.floor(np.sqrt(shares) * (radius * (1 - 2.0**-40))).astype(np.int64)
    return sparse.csr_array((rooted, counts.indices, counts.indptr), counts.shape)


def row_shares(sums: Integers, steps: int) -> Integers:
    """Return rows of sums as shares in steps, rounded down: no row adds up to more than ``steps``.

    The margin is that of :func:`square_root_rows`. A row of zeros stays zero.
    """
    totals = np.maximum(sums.sum(axis=1, keepdims=True), 1)
    shares: Integers = np.floor(sums / totals * (steps * (1 - 2.0**-40))).astype(np.int64)
    return shares


def _sum_groups(
    counts: Any, row_groups: ShortLabels, column_groups: ShortLabels | None, shape: tuple[int, int]
) -> Integers:
    sums = np.zeros(shape, np.int64)
    for part in row_pieces(counts):
        start, piece = part.start, part.counts
        lengths = np.diff(piece.indptr)
        rows = np.repeat(row_groups[start : start + len(lengths)], lengths)
        columns = piece.indices if column_groups is None else column_groups[piece.indices]
        sums += sparse.coo_array((piece.data, (rows, columns)), shape).toarray()
    return sums
