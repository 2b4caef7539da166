"""What every co-clustering method returns: released values only."""

from __future__ import annotations

from dataclasses import dataclass

from privclust._typing import Floats
from privclust.data.matrix.public import Groups
from privclust.data.public import Noisy
from privclust.notes import Note


@dataclass(frozen=True)
class CoclusteringResult:
    """A released co-clustering."""

    block_totals: Floats  # (n_row_clusters, n_column_clusters): noisy sums of the blocks
    block_error: Floats  # (n_row_clusters, n_column_clusters): their standard errors
    columns: Groups  # the cluster of each column
    # (n_columns, n_row_clusters): how much one count in a column favours each row cluster; rows are
    # labelled with these.
    column_weights: Floats
    # (n_row_clusters, n_columns): noisy sums of each column over each row cluster.
    profiles: Noisy | None = None
    rows: Groups | None = None  # a released cluster of each row
    # How many directions of the last table of rows stand out from the noise.
    directions: int | None = None
    notes: tuple[Note, ...] = ()  # reasons not to trust the clusters, if any
