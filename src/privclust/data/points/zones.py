"""Exact counts of one block of grid rows inside zones: a ball per cluster, with candidates in it.

The clusters are those of public centres, and so are all balls and candidates. Every number is an
integer held in float64, as in ``kernels.points``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privclust.data.encode import Floats
from privclust.data.points.kernels import Integers, Projection, ProjectionGrid, nearest

__all__ = ["Zones", "zone_counts"]


@dataclass(frozen=True)
class Zones:
    """A ball for each cluster, and the candidates that its rows are counted for.

    Attributes
    ----------
    centres : ndarray of shape (n_clusters, n_features)
        Points of the unit ball; a row belongs to the cluster of the nearest one.
    middles : ndarray of shape (n_clusters, n_features)
        The middle of each ball.
    radii : ndarray of shape (n_clusters,)
        The radius of each ball.
    candidates : ndarray of shape (n_clusters, n_candidates, n_features)
        The candidates of each cluster.
    """

    centres: Floats
    middles: Floats
    radii: Floats
    candidates: Floats

    def on_grid(self) -> Zones:
        """Return the zones in whole steps of the grid of rows."""
        grid = ProjectionGrid(Projection(np.zeros(self.centres.shape[1])))
        flat = self.candidates.reshape(-1, self.centres.shape[1])
        return Zones(
            grid.centres(self.centres),
            grid.centres(self.middles),
            np.array([grid.length(radius) for radius in self.radii], np.float64),
            grid.centres(flat).reshape(self.candidates.shape),
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
