"""What an audit of a summary runs, on made-up neighbours."""

from __future__ import annotations

from typing import Any

from privclust.audit.neighbours import NeighbourPair, point_pairs
from privclust.clustering.summary import PrivateSummary
from privclust.schema.facts import Box
from privclust.schema.schema import Schema


def subject(epsilon: float, delta: float) -> tuple[Any, list[NeighbourPair]]:
    """Return a model, and pairs of neighbouring data sets for it."""
    square = Schema({name: Box(0, 1, missing=0.5) for name in ("x", "y")})
    model = PrivateSummary(epsilon=epsilon, delta=delta, schema=square)
    return model, point_pairs([0, 0], [1, 1])
