"""Exact counts of one block of grid rows inside zones: a ball per cluster, with candidates in it.

The clusters are those of public centres, and so are all balls and candidates. Every number is an
integer held in float64, as in ``kernels.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privclust._typing import Floats, Integers
from privclust.data.points.coded import GridPiece, dense
from privclust.data.points.kernels import ProjectionGrid, nearest
from privclust.data.points.public import Projection, Zones
from privclust.data.question import Pick, Question, Scores, Term


@dataclass(frozen=True)
class ZoneCounts:
    """The numbers of rows that lie in each zone, nearest to each of its candidates."""

    zones: Zones

    question = Question("zone_cells", Term.cells())
    pick = Pick("choices", Scores(0, 1), words="{title}, scale {scale:.3g} rows")

    @cached_property
    def _on_grid(self) -> Zones:
        return on_grid(self.zones)

    def __call__(self, rows: GridPiece) -> Integers:
        """Return what a piece of grid rows adds."""
        return zone_counts(dense(rows), self._on_grid)


def on_grid(zones: Zones) -> Zones:
    """Return zones in whole steps of the grid of rows."""
    grid = ProjectionGrid(Projection(np.zeros(zones.centres.shape[1])))
    flat = zones.candidates.reshape(-1, zones.centres.shape[1])
    return Zones(
        grid.centres(zones.centres),
        grid.centres(zones.middles),
        np.array([grid.length(radius) for radius in zones.radii], np.float64),
        grid.centres(flat).reshape(zones.candidates.shape),
    )


def zone_counts(rows: Floats, zones: Zones) -> Integers:
    """Count, for each cluster and candidate, the cluster's rows in its zone nearest to it.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Grid rows.
    zones : Zones
        On the grid.

    Returns
    -------
    ndarray of shape (n_clusters, n_candidates)
    """
    n_clusters, n_candidates, _ = zones.candidates.shape
    labels = nearest(rows, zones.centres)
    gaps = rows - zones.middles[labels]
    inside = np.einsum("ij,ij->i", gaps, gaps) <= zones.radii[labels] ** 2
    rows, labels = rows[inside], labels[inside]
    counts = np.zeros((n_clusters, n_candidates), np.int64)
    for cluster in range(n_clusters):
        closest = nearest(rows[labels == cluster], zones.candidates[cluster])
        counts[cluster] = np.bincount(closest, minlength=n_candidates)
    return counts
