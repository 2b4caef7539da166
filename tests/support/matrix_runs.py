"""Whole runs of every co-clustering method on a tiny matrix and on its neighbour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

from privclust.coclustering import table_method as module_of_tables
from privclust.coclustering.row_method import ask_row_clusters
from privclust.coclustering.table_method import ask_table_clusters
from privclust.papers.tau.private import ask_sizes_and_clusters, ask_tau_clusters
from privclust.unit.matrix import MatrixCount, MatrixEntry, MatrixRow
from support.transcripts import Transcript
from support.views import matrix_view_of, plenty_of


def one_round(*arguments):
    """Pay for tables mostly: choices, audited on their own, give little away by themselves."""
    return ask_tau_clusters(*arguments, n_rounds=1, choice=0.05)


def sizes_found(view, budget, n_row_clusters, n_column_clusters, rng):
    """The same with numbers of clusters that are found, so none is given."""
    return ask_sizes_and_clusters(view, budget, 1.0, rng, n_rounds=1, choice=0.005)


def blocks(largest, first=0):
    """Return two blocks of equal entries, but for the first entry."""
    matrix = np.kron(np.eye(2, dtype=int), np.full((3, 3), largest))
    matrix[0, 0] = first
    return matrix


@dataclass(frozen=True)
class Run:
    """A method with a pair of neighbours under a unit."""

    method: Any
    unit: Any
    pair: tuple[np.ndarray, np.ndarray]

    def transcript(self, side, budget, noise, rng):
        """Run the method on one side and return all that was answered."""
        # Asked for many clusters, the table method makes do with three tables: more to see in each.
        n_clusters = 40 if self.method is ask_table_clusters else 2
        plenty = plenty_of(budget)
        views = [matrix_view_of(m, self.unit, budget=plenty, noise=noise) for m in self.pair]
        transcript = Transcript(views, side)
        # The restarts of k-means come after the noise and take most of the time.
        with patch.multiple(module_of_tables, _STARTS=1, _LAST_STARTS=1):
            self.method(transcript, budget.whole, n_clusters, 2, rng)
        return transcript


_ROWS = np.kron(np.eye(2, dtype=int), np.ones((4, 3), dtype=int))
_COUNT, _ENTRY = (blocks(1), blocks(1, 1)), (blocks(3), blocks(3, 3))
RUNS = {
    "tables, count": Run(ask_table_clusters, MatrixCount(), _COUNT),
    "tables, entry": Run(ask_table_clusters, MatrixEntry(3), _ENTRY),
    "tau, count": Run(one_round, MatrixCount(), _COUNT),
    "tau, entry": Run(one_round, MatrixEntry(3), _ENTRY),
    "tau, sizes found": Run(sizes_found, MatrixCount(), _COUNT),
    "row": Run(ask_row_clusters, MatrixRow(), (_ROWS[:-1], _ROWS)),
}
