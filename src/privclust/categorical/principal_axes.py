"""The few axes along which embedded rows spread most, free of charge from the estimated tables.

The tables of all pairs give the covariance of the coordinates of the rows, and so their principal
axes; no question is asked for them.
"""

from __future__ import annotations

import math

import numpy as np

from privclust.categorical.cells import PairCells
from privclust.categorical.metric import CategoricalMetric
from privclust.categorical.shrinkage import Estimate
from privclust.data.table.public import ValuePoints

__all__ = ["MOST_AXES", "principal_axes"]


# Rows further from the mean than this many times the usual distance are moved to that distance.
_RADIUS_IN_SPREADS = 2.0
_FEWEST_AXES, MOST_AXES = 3, 5


def principal_axes(
    metric: CategoricalMetric, estimate: Estimate, n_clusters: int
) -> tuple[ValuePoints, float]:
    """Return the values as points on the leading axes, and a radius that holds most rows.

    Parameters
    ----------
    metric : CategoricalMetric
        A metric on all attributes.
    estimate : Estimate
        Tables of all pairs.
    n_clusters : int
        Clusters to be told apart: at most this many axes are kept, within limits.
    """
    n_axes = int(np.clip(n_clusters, _FEWEST_AXES, MOST_AXES))
    cells = PairCells(estimate.layout)
    shares = estimate.margins / max(estimate.n_rows, 1.0)
    sizes = estimate.layout.sizes
    points = np.concatenate(metric.points())
    if not points.shape[1]:  # no distance was learned: all rows are one point
        points = np.zeros((len(points), 1))
    own = np.repeat(np.arange(len(sizes)), sizes)
    means = np.stack([shares[own == a] @ points[own == a] for a in range(len(sizes))])
    points = points - means[own]
    joint = cells.square(estimate.counts / max(estimate.n_rows, 1.0)) + np.diag(shares)
    # The points are centred, so products of shares drop out of the covariance.
    values, vectors = np.linalg.eigh(points.T @ joint @ points)
    kept = [axis for axis in range(len(values))[::-1] if values[axis] > 1e-12][:n_axes]
    if not kept:
        kept = [len(values) - 1]
    spread = math.sqrt(max(float(values[kept].sum()), 1e-12))
    ends = np.cumsum(sizes)[:-1]
    return ValuePoints(np.split(points @ vectors[:, kept], ends)), _RADIUS_IN_SPREADS * spread
