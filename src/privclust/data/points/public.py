"""What an algorithm may hold of numeric rows: arguments of questions, and noisy answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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


# Exactness allows for so many components and columns of a mixture, and for axes as long as that.
MOST_COMPONENTS, MOST_COLUMNS, LONGEST_AXIS = 2**10, 2**8, 2.0**13

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
    """Public components of a mixture, and how the rows are seen in the frame of each."""

    means: Floats  # (n_components, n_features): origins of the frames, points of the unit ball
    axes: Floats  # of each component: what takes the offset of a row from its mean into its frame
    heights: Floats  # (n_components,): log weight and density at the mean, up to a common number
    radius: float  # rows further than this from the origin of a frame are moved to that distance
    reach: float  # squared distances are cut off at the square of this
    # Of the squared length of a row's line: for the count, the place, the shape and the square.
    parts: tuple[float, float, float, float]
    shapes: Literal["full", "diagonal", "none"] = "full"
    tied: bool = False  # whether all components share one shape and one square
    background: float | None = None  # the height of rows that belong to none, if there are such

    def __post_init__(self) -> None:
        # Exact arithmetic rests on these: they keep every product and square below 2^53.
        k, d = self.means.shape
        if k > MOST_COMPONENTS or d > MOST_COLUMNS or self.axes.shape != (k, d, d):
            raise ValueError("A mixture has at most 2^10 components of 2^8 columns, and axes.")
        close = 1e-9
        longest = np.linalg.norm(self.axes, axis=2)
        if np.linalg.norm(self.means, axis=1).max() > 1 + close or not (
            0 < longest.min() and longest.max() <= LONGEST_AXIS
        ):
            raise ValueError("Components need means in the unit ball, and widths of at least 2^-13.")
        if min(self.radius, self.reach) < 1 or min(self.parts) < 0 or sum(self.parts) > 1 + close:
            raise ValueError("Frames need a radius and a reach of at least one, and parts of one.")

    @property
    def dimension(self) -> int:
        """Number of coordinates of a frame."""
        return self.means.shape[1]


@dataclass(frozen=True)
class ComponentAnswer:
    """What :meth:`PointsView.ask_components` releases, in the units of the frames."""

    counts: Noisy  # (n_components,): numbers of rows, by their responsibilities
    sums: Noisy  # (n_components, n_features): of clipped places
    # (n_components, n_directions): of the products of places with themselves, less the trace, along
    # orthonormal directions: a column less the mean of those before it, then pairs. One if tied.
    shapes: Noisy
    squares: Noisy  # (n_components,): of squared lengths, each less half the most. One if tied.
