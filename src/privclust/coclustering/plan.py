"""The plan of a co-clustering fit: synthetic matrices with planted blocks to rehearse on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from privclust._typing import AnyArray
from privclust.coclustering.association import normalised_tau
from privclust.plan import Measure, Rehearsal

# The share of a row's counts that falls into its own block.
_IN_BLOCK = 0.8


GUESSING = Measure("error of guessing the row cluster of a count from its column")
MOST_REHEARSED = 20_000


@dataclass(frozen=True)
class PlantedMatrix:
    """A synthetic matrix and the clusters planted in it."""

    counts: Any
    rows: AnyArray
    columns: AnyArray


def synthetic(
    shape: tuple[int, int], n_row_clusters: int, n_column_clusters: int, row_total: float, seed: int
) -> Rehearsal:
    """Return a matrix with planted blocks; the error is that of the clusters found in it."""
    planted = synthetic_counts(shape, n_row_clusters, n_column_clusters, row_total, seed)

    def error(model: Any) -> float:
        return error_ratio(planted, model.predict(planted.counts), model.column_labels_)

    return Rehearsal((planted.counts,), error)


def synthetic_counts(
    shape: tuple[int, int], n_row_clusters: int, n_column_clusters: int, row_total: float, seed: int
) -> PlantedMatrix:
    """Return a sparse matrix whose rows keep most of their counts to the columns of their block."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = shape
    rows = rng.permutation(np.arange(n_rows) % n_row_clusters)
    columns = rng.permutation(np.arange(n_columns) % n_column_clusters)
    # Some columns are far more frequent than others, like words and goods.
    popular = 1 / np.arange(1, n_columns + 1)
    lengths = rng.poisson(row_total, n_rows)
    owners = np.repeat(np.arange(n_rows), lengths)
    places = rng.choice(n_columns, len(owners), p=popular / popular.sum())
    wanted = rows[owners] % n_column_clusters
    for cluster in range(n_column_clusters):
        members = np.flatnonzero(columns == cluster)
        inside = (wanted == cluster) & (rng.random(len(owners)) < _IN_BLOCK)
        if len(members):
            chances = popular[members] / popular[members].sum()
            places[inside] = rng.choice(members, int(inside.sum()), p=chances)
    ones = np.ones(len(owners), np.int64)
    return PlantedMatrix(
        sparse.coo_array((ones, (owners, places)), shape=shape).tocsr(), rows, columns
    )


def error_ratio(planted: PlantedMatrix, rows: AnyArray, columns: AnyArray) -> float:
    """Return the error of the clusters found, over that of the planted ones."""
    return _error(planted.counts, rows, columns) / _error(
        planted.counts, planted.rows, planted.columns
    )


def _error(counts: Any, rows: AnyArray, columns: AnyArray) -> float:
    """Return one minus the normalised τ: how badly a column predicts the row cluster."""
    entries = counts.tocoo()
    table = np.zeros((int(rows.max()) + 1, int(columns.max()) + 1))
    np.add.at(table, (rows[entries.row], columns[entries.col]), entries.data)
    return max(1 - normalised_tau(table), 1e-3)
