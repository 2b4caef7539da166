"""What an audit of private bounds runs, on synthetic neighbours."""

from __future__ import annotations

from typing import Any

from privclust.audit.neighbours import NeighbourPair, point_pairs
from privclust.bounds.estimator import PrivateBounds


def subject(epsilon: float, delta: float) -> tuple[Any, list[NeighbourPair]]:
    """Return a model, and pairs of neighbouring data sets for it."""
    model = PrivateBounds(epsilon, delta=delta, unreadable="missing")
    return model, point_pairs([0, 0], [1, 1])
