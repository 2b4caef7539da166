"""Exact histograms of one block of grid rows, of each cluster and coordinate; integers.

The clusters are those of public centres, and the edges of the cells are public too. Every number is
an integer held in float64, as in ``kernels.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privclust._typing import Floats, Indices, Integers
from privclust.data.points.coded import GridPiece
from privclust.data.points.kernels import ProjectionGrid, nearest
from privclust.data.points.public import Projection
from privclust.data.question import Question, Term


@dataclass(frozen=True)
class ClusterHistograms:
    """The numbers of rows of each cluster, in cells of some coordinates.

    Attributes
    ----------
    centres : ndarray of shape (n_clusters, n_features)
        Points of the unit ball; a row belongs to the cluster of the nearest one.
    coordinates : ndarray of shape (n_counted,)
        The coordinates that are counted.
    edges : ndarray of shape (n_counted, n_cells - 1)
        Rising edges within the unit ball; an edge belongs to the cell above it.
    """

    centres: Floats
    coordinates: Indices
    edges: Floats

    @property
    def question(self) -> Question:
        """A row stands in one place of the table of each coordinate."""
        return Question("cluster_histograms", Term.cells(len(self.coordinates)))

    @cached_property
    def _grid(self) -> ProjectionGrid:
        return ProjectionGrid(Projection(np.zeros(self.centres.shape[1])))

    @cached_property
    def _targets(self) -> Floats:
        return self._grid.centres(self.centres)

    def __call__(self, rows: GridPiece) -> Integers:
        """Return what a piece of grid rows adds, of shape (n_clusters, n_counted, n_cells)."""
        seen, n_clusters = self._grid.rows(rows), len(self.centres)
        labels, n_cells = nearest(seen, self._targets), self.edges.shape[1] + 1
        steps = np.rint(self.edges / self._grid.step)
        counts = np.empty((n_clusters, len(self.coordinates), n_cells), np.int64)
        for place, coordinate in enumerate(self.coordinates):
            cells = np.searchsorted(steps[place], seen[:, coordinate], side="right")
            flat = np.bincount(labels * n_cells + cells, minlength=n_clusters * n_cells)
            counts[:, place] = flat.reshape(n_clusters, n_cells)
        return counts
