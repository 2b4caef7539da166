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


# What exactness allows for: components, columns, steps, and the length of axes.
MOST_COMPONENTS, MOST_COLUMNS, MOST_STEPS, LONGEST_AXIS = 2**10, 2**8, 2**8, 2.0**13
# The levels that the squared length of a row is rounded to.
LEVELS = 2**10

NOT_ASKED = Noisy(np.empty(0), np.inf)


@dataclass(frozen=True)
class ClusterAnswer:
    """What :meth:`PointsView.ask_clusters` releases about the rows nearest to each centre."""

    counts: Noisy = NOT_ASKED  # (n_centres,): numbers of rows
    # (n_centres, n_coordinates): sums of clipped offsets from the centre.
    offsets: Noisy = NOT_ASKED
    square: Noisy = NOT_ASKED  # (1,): the sum over all rows of the squared clipped distance


@dataclass(frozen=True)
class Components:
    """Public components of a mixture, and how the rows are seen in the frame of each.

    A row's line has a one, its place in ``steps`` to the radius, coordinates of the products of the
    place with itself less their trace, and its squared length in ``LEVELS`` to that of the reach
    less half of them. Coordinates are along the columns, each less the mean of those before it, and
    along pairs of columns.
    """

    means: Floats  # (n_components, n_features): origins of the frames, points of the unit ball
    axes: Floats  # of each component: what takes the offset of a row from its mean into its frame
    heights: Floats  # (n_components,): log weight and density at the mean, up to a common number
    radius: float  # rows further than this from the origin of a frame are moved to that distance
    reach: float  # squared distances are cut off at the square of this
    steps: int
    factors: tuple[int, int, int]  # of the one, the place and the squared length
    weights: tuple[int, ...] = ()  # of the coordinates: none, of columns alone, or of pairs as well
    tied: bool = False  # whether all components share one shape and one squared length
    background: float | None = None  # the height of rows that belong to none, if there are such

    def __post_init__(self) -> None:
        # Exact arithmetic rests on these: they keep every product and square below 2^53.
        (k, d), close = self.means.shape, 1e-9
        if k > MOST_COMPONENTS or d > MOST_COLUMNS or self.axes.shape != (k, d, d):
            raise ValueError("A mixture has at most 2^10 components of 2^8 columns, and axes.")
        lengths = np.linalg.norm(self.axes, axis=2)
        narrow = not 0 < lengths.min() <= lengths.max() <= LONGEST_AXIS
        if narrow or np.linalg.norm(self.means, axis=1).max() > 1 + close:
            raise ValueError(
                "Components need means in the unit ball, and widths of at least 2^-13."
            )
        if min(self.radius, self.reach, *self.factors) < 1 or not 1 <= self.steps <= MOST_STEPS:
            raise ValueError("Frames need a radius, a reach and factors of at least 1, and steps.")

    @property
    def dimension(self) -> int:
        """Number of coordinates of a frame."""
        return int(self.means.shape[1])
