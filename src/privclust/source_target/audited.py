"""What an audit of source-target clustering runs, on synthetic neighbours."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from privclust.audit.neighbours import NeighbourPair, point_pairs
from privclust.schema.facts import Box
from privclust.schema.schema import Schema
from privclust.source_target.estimator import PrivateSourceTargetMedoids


def subject(epsilon: float, delta: float) -> tuple[Any, list[NeighbourPair]]:
    """Return a fit for a source, and pairs of neighbouring sources for it."""
    square = Schema({name: Box(0, 1, missing=0.5) for name in ("x", "y")})
    model = PrivateSourceTargetMedoids(2, epsilon=epsilon, delta=delta, schema=square)
    towns = np.stack(np.meshgrid(*[np.linspace(0, 1, 6)] * 2), axis=-1).reshape(-1, 2)
    return partial(_beside, model, towns), point_pairs([0, 0], [1, 1])


def _beside(model: Any, towns: Any, source: Any, rng: Any) -> Any:
    """Return what is released about a choice of centres for a source, seeded by ``rng``."""
    seeded = clone(model).set_params(random_state=int(rng.integers(2**31)))
    found = seeded.fit(towns, source=source)
    return np.append(found.medoid_indices_, [found.cost_estimate_, *found.served_by_source_])
