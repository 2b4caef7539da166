"""What an algorithm may hold of numeric rows: arguments of questions, and noisy answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats
from privclust.data.encode import check_dimension
from privclust.data.public import Noisy

# A radius that reaches from any point of the unit ball to any other: nothing is clipped.
WHOLE = 2.0


@dataclass(frozen=True)
class Projection:
    """A view of the unit ball: shift to ``origin``, project on ``axes``, clip to ``radius``."""

    origin: Floats  # (n_features,): a point of the unit ball
    # (n_features, n_axes): orthonormal columns; ``None`` keeps all coordinates.
    axes: Floats | None = None
    # Rows further than this from the origin, after the projection, are moved to that distance.
    radius: float = WHOLE
    # A grid of 2^11 instead of 2^20 steps to the radius: half the time to find nearest centres.
    coarse: bool = False

    def __post_init__(self) -> None:
        # Exact arithmetic depends on these: they keep every product below 2^53, or 2^24 if coarse.
        check_dimension(len(self.origin))
        close = 1e-9
        if np.linalg.norm(self.origin) > 1 + close or not 0 < self.radius <= WHOLE:
            raise ValueError("A frame needs its origin in the unit ball and a radius of at most 2.")
        if self.axes is not None:
            products = self.axes.T @ self.axes
            if not np.allclose(products, np.eye(len(products)), rtol=0, atol=close):
                raise ValueError("The axes of a frame must be orthonormal.")

    @property
    def dimension(self) -> int:
        """Number of coordinates in the frame."""
        return len(self.origin) if self.axes is None else self.axes.shape[1]


NOT_ASKED = Noisy(np.empty(0), np.inf)


@dataclass(frozen=True)
class ClusterAnswer:
    """What :meth:`PointsView.ask_clusters` releases about the rows nearest to each centre."""

    counts: Noisy = NOT_ASKED  # (n_centres,): numbers of rows
    # (n_centres, n_coordinates): sums of clipped offsets from the centre.
    offsets: Noisy = NOT_ASKED
    square: Noisy = NOT_ASKED  # (1,): the sum over all rows of the squared clipped distance
