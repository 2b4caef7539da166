"""Fast-τCC of Battaglia, Peiretti and Pensa (2024), without privacy, for comparison.

Rows and columns move in turn to the cluster that raises Goodman and Kruskal's τ most. The result
is an exact statement about the data: it must never be published if the data are private.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from privclust._typing import Floats, Indices
from privclust.coclustering.association import tau, tau_weights
from privclust.coclustering.estimator import BlockMixin


class TauCoclustering(BlockMixin, BaseEstimator):
    """Fast-τCC: co-clustering WITHOUT ANY PRIVACY.

    Parameters
    ----------
    n_row_clusters, n_column_clusters : int, default=5
        The numbers of clusters to start with; more than expected is fine, empty ones are removed.
    max_iter : int, default=100
        The most rounds of moving rows and then columns.
    inner_iter : int, default=1
        How often one side moves before it is the other's turn. The paper moves it until nothing
        changes, which settles on fewer clusters; once comes nearer to the paper's figures.
    random_state : int or None, default=None
        Seed of the random start.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray
        The clusters. EXACT: they say something about single rows and are not a release.
    block_totals_ : ndarray of shape (clusters of rows, clusters of columns)
        Exact sums of the blocks.
    tau_history_ : list of tuple
        After each step which side moved, ``"rows"`` or ``"columns"``, and τ of that side given the
        other before and after the move.
    tau_ : float
        τ of the rows given the columns.
    n_iter_ : int
        The rounds that were run.
    """

    def __init__(
        self,
        n_row_clusters: int = 5,
        n_column_clusters: int = 5,
        *,
        max_iter: int = 100,
        inner_iter: int = 1,
        random_state: int | None = None,
    ) -> None:
        self.n_row_clusters = n_row_clusters
        self.n_column_clusters = n_column_clusters
        self.max_iter = max_iter
        self.inner_iter = inner_iter
        self.random_state = random_state

    def fit(self, X: Any, y: object = None) -> Self:
        """Co-cluster the matrix ``X`` of non-negative numbers; nothing is protected."""
        counts = sparse.csr_array(
            validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_non_negative=True)
        )
        rng = np.random.default_rng(self.random_state)
        rows: Indices = rng.permutation(np.arange(counts.shape[0]) % self.n_row_clusters)
        columns: Indices = rng.permutation(np.arange(counts.shape[1]) % self.n_column_clusters)
        self.tau_history_: list[tuple[str, float, float]] = []
        for round_number in range(1, self.max_iter + 1):
            before = rows, columns
            rows = self._move_members(_sums(counts, columns), rows, "rows")
            columns = self._move_members(_sums(counts.T.tocsr(), rows), columns, "columns")
            self.n_iter_ = round_number
            if all(map(np.array_equal, before, (rows, columns))):
                break
        self.row_labels_, self.column_labels_ = rows, columns
        self.block_totals_ = _table(_sums(counts, columns), rows)
        self.tau_ = tau(self.block_totals_)
        return self

    def _move_members(self, sums: Floats, labels: Indices, side: str) -> Indices:
        """Move members to where they raise τ most (supplement, Algorithm 1)."""
        labels = _compact(labels)
        table = _table(sums, labels)
        for _ in range(self.inner_iter):
            moved = _compact((sums @ tau_weights(table).T).argmax(axis=1))
            after = _table(sums, moved)
            self.tau_history_.append((side, tau(table), tau(after)))
            settled = np.array_equal(moved, labels)
            labels, table = moved, after
            if settled:
                break
        return labels


def _sums(counts: Any, groups: Indices) -> Floats:
    """Return the sums of each row over groups of columns."""
    n_groups = int(groups.max()) + 1
    grouped = (counts.data, groups[counts.indices], counts.indptr)
    return np.asarray(sparse.csr_array(grouped, shape=(counts.shape[0], n_groups)).toarray())


def _table(sums: Floats, labels: Indices) -> Floats:
    n_clusters = int(labels.max()) + 1
    return np.stack([np.bincount(labels, column, n_clusters) for column in sums.T], axis=1)


def _compact(labels: Indices) -> Indices:
    """Renumber clusters so that none is empty."""
    compact: Indices = np.unique(labels, return_inverse=True)[1]
    return compact
