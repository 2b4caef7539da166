"""Starting centres that never saw the data: spheres packed into the declared bounds."""

from __future__ import annotations

import numpy as np

from privclust._typing import Floats

__all__ = ["packed_centres"]

_TRIES = 100


def packed_centres(n_clusters: int, low: Floats, high: Floats, rng: np.random.Generator) -> Floats:
    """Return random points at least 2a apart and a from the bounds, for as large an a as found.

    The start of Su et al. (2016): a is halved until ``n_clusters`` points fit.
    """
    spacing = float((high - low).min()) / 2
    while True:
        centres = _try_packing(n_clusters, low + spacing, high - spacing, 2 * spacing, rng)
        if centres is not None:
            return centres
        spacing /= 2


def _try_packing(
    n_clusters: int, low: Floats, high: Floats, apart: float, rng: np.random.Generator
) -> Floats | None:
    centres = np.empty((n_clusters, len(low)))
    for placed in range(n_clusters):
        for _ in range(_TRIES):
            # On the narrowest side both ends are its middle, except for rounding.
            point = rng.uniform(low, np.maximum(low, high))
            if ((centres[:placed] - point) ** 2).sum(axis=1).min(initial=np.inf) >= apart**2:
                centres[placed] = point
                break
        else:
            return None
    return centres
