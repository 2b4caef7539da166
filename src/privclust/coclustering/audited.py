"""What an audit of co-clustering runs, on synthetic neighbours."""

from __future__ import annotations

from typing import Any

from privclust.audit.neighbours import NeighbourPair, matrix_pairs
from privclust.coclustering.estimator import PrivateCoclustering


def subject(epsilon: float, delta: float) -> tuple[Any, list[NeighbourPair]]:
    """Return a model, and pairs of neighbouring data sets for it."""
    return PrivateCoclustering(2, 2, epsilon=epsilon, delta=delta), matrix_pairs(12, 8)
