"""What an audit of mixtures runs, on synthetic neighbours."""

from __future__ import annotations

from typing import Any

from privclust.audit.neighbours import NeighbourPair, point_pairs
from privclust.mixture.estimator import PrivateGaussianMixture
from privclust.schema.facts import Box
from privclust.schema.schema import Schema

_SQUARE = Schema({name: Box(0, 1, missing=0.5) for name in ("x", "y")})


def subject(epsilon: float, delta: float) -> tuple[Any, list[NeighbourPair]]:
    """Return a mixture, and pairs of neighbouring data sets for it."""
    model = PrivateGaussianMixture(2, epsilon=epsilon, delta=delta, schema=_SQUARE)
    return model, point_pairs([0, 0], [1, 1])
