"""What every co-clustering method returns: released values only."""

from __future__ import annotations

from dataclasses import dataclass

from privclust._typing import Floats
from privclust.data.matrix.public import Groups
from privclust.data.public import Noisy
from privclust.notes import Note


@dataclass(frozen=True)
class CoclusteringResult:
    """A released co-clustering.

    Attributes
    ----------
    block_totals : ndarray of shape (n_row_clusters, n_column_clusters)
        Noisy sums of the blocks.
    block_error : ndarray of shape (n_row_clusters, n_column_clusters)
        Their standard errors.
    columns : Groups
        The cluster of each column.
    column_weights : ndarray of shape (n_columns, n_row_clusters)
        How much one count in a column favours each row cluster; rows are labelled with these.
    profiles : Noisy or None, value of shape (n_row_clusters, n_columns)
        Noisy sums of each column over each row cluster.
    rows : Groups or None
        A released cluster of each row.
    directions : int or None
        How many directions of the last table of rows stand out from the noise.
    notes : tuple of Note
        Reasons not to trust the clusters, if any.
    """

    block_totals: Floats
    block_error: Floats
    columns: Groups
    column_weights: Floats
    profiles: Noisy | None = None
    rows: Groups | None = None
    directions: int | None = None
    notes: tuple[Note, ...] = ()
