"""Exact second moments of one block of grid rows; integers, as in ``kernels.py``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privclust._typing import Floats, Indices, Integers
from privclust.data.encode import clip_to_ball
from privclust.data.points.coded import GridPiece
from privclust.data.points.kernels import ProjectionGrid
from privclust.data.points.public import Projection
from privclust.data.question import Question, Term

# Second moments are taken on a grid of this many steps to the radius of the frame. It is coarse
# beside the noise, and keeps the noise of thousands of entries cheap to draw.
MOMENT_STEPS = 2**7

# The diagonal entries of second moments, and the pairs, which stand twice in the matrix, are
# weighted so that both get their due of the precision.
DIAGONAL_WEIGHT, PAIR_WEIGHT = 5, 7


@dataclass(frozen=True)
class Moments:
    """Weighted sums of the products of the coordinates of rows, each pair once."""

    frame: Projection

    @cached_property
    def grid(self) -> ProjectionGrid:
        """The grid that rows are seen on, before the coarser one of the moments."""
        return ProjectionGrid(self.frame)

    @cached_property
    def upper(self) -> tuple[Indices, Indices]:
        """The places of the entries in the matrix."""
        return np.triu_indices(self.frame.dimension)

    @cached_property
    def weights(self) -> Integers:
        """What each entry is multiplied by."""
        return np.where(self.upper[0] == self.upper[1], DIAGONAL_WEIGHT, PAIR_WEIGHT)

    @property
    def question(self) -> Question:
        """A row x adds 5 x_i² and, for i < j, 7 x_i x_j: a vector of at most 5 times its square.

        Of a row of length r no entry is more than x_i² ≤ r² or, in size, x_i x_j ≤ r²/2 allows.
        """
        diagonal = self.weights == DIAGONAL_WEIGHT
        high = np.where(diagonal, MOMENT_STEPS**2, MOMENT_STEPS**2 // 2) * self.weights
        term = Term.vector(DIAGONAL_WEIGHT * MOMENT_STEPS**2, np.where(diagonal, 0, -high), high)
        step, dimension = (self.frame.radius / MOMENT_STEPS) ** 2, len(self.weights)
        return Question("second_moments", term, as_line, step=step, dimension=dimension)

    def __call__(self, rows: GridPiece) -> Integers:
        """Return what a piece of grid rows adds to each entry."""
        moments = self.grid.rows(rows)  # in scratch memory, so it may be written to
        moments *= MOMENT_STEPS / self.grid.steps
        np.rint(moments, out=moments)
        products = outer_products(clip_to_ball(moments, MOMENT_STEPS))
        return np.asarray(products[self.upper] * self.weights)


def as_line(vector: Integers) -> Integers:
    """Return a vector as a table of one line, so that it is noised as a whole."""
    return vector[None, :]


def outer_products(rows: Floats) -> Integers:
    """Return the sum of the outer products of the rows with themselves."""
    return (rows.T @ rows).astype(np.int64)
