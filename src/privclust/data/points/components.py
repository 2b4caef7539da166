"""What rows are to the components of a public mixture: one vector for each component, in integers.

A row has a responsibility for every component, a whole number of parts of ``PARTS``. It adds to the
line of a component, as often as that, its place in the frame of the component: a one, its clipped
place, what that says of the shape, and its clipped squared distance. Whatever depends on a row is
integer arithmetic, or made of √, ×, ÷ and rounding of single numbers, which IEEE 754 fixes, so that
a row adds the same in whatever company it comes. See ``proofs/mixture.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privclust._typing import Floats, Integers
from privclust.data.encode import GRID_RADIUS
from privclust.data.engines.base import scratch
from privclust.data.points.mixed import GridPiece, dense
from privclust.data.points.public import LEVELS, Components
from privclust.data.question import Question, Term

# The parts that responsibilities are counted in.
PARTS = 2**10
# Steps of a log density to one nat; what lies twelve nats below the best has no responsibility.
_PER_NAT, _DEPTH = 2**8, 12
_ODDS = np.rint(2.0**20 * np.exp(-np.arange(_DEPTH * _PER_NAT + 1) / _PER_NAT))
# Steps of a frame's axes, relative to the longest entry of each.
_AXIS_STEPS = 2**20
# Rounding in the last place must never let a clipped place leave its ball.
_INWARD = 1 - 2.0**-50
# Numbers of all components that are held at a time, for the cache.
_AT_A_TIME = 2**19


@dataclass(frozen=True)
class ComponentSums:
    """The lines of all components, each weighted by the responsibilities of the rows."""

    of: Components

    @property
    def questions(self) -> dict[str, Question]:
        """A row's lines have lengths that add up to those of a row of a single component.

        Tied components have their counts and places apart from one shape that all of them share.
        """
        places, shape = self._squared_lengths
        if not self.of.tied:
            whole = self._question("components", places + shape, self._n_entries, np.asarray)
            return {"components": whole}
        split, rest = 1 + self.of.dimension, 1 + len(self.of.weights)
        return {
            "components": self._question("components", places, split, lambda t: t[:, :split]),
            "shape": self._question("shape", shape, rest, lambda t: t[:, split:].sum(0)[None]),
        }

    def _question(
        self, name: str, square: int, n_entries: int, part: Callable[[Integers], Integers]
    ) -> Question:
        """Return a question whose steps are such that a row counts as one."""
        term = Term.vector(PARTS * (math.isqrt(max(square, 1) - 1) + 1))
        step = 1 / (PARTS * self.of.factors[0])
        return Question(name, term, part, step=step, dimension=n_entries)

    @property
    def _n_entries(self) -> int:
        return 2 + self.of.dimension + len(self.of.weights)

    @property
    def _squared_lengths(self) -> tuple[int, int]:
        """The squared lengths of a row of one component: count and place, shape and square."""
        (count, place, square), d, steps = self.of.factors, self.of.dimension, self.of.steps
        widest = [weight**2 * i * (i + 1) for i, weight in enumerate(self.of.weights[: d - 1], 1)]
        widest += [-(-(weight**2) // 2) for weight in self.of.weights[d - 1 :]]
        shape = -(-(max(widest, default=0) * steps**4 * (d - 1)) // d)
        return count**2 + (place * steps) ** 2, shape + (square * (LEVELS // 2)) ** 2

    @cached_property
    def _matrix(self) -> Integers:
        """What makes the coordinates of a shape of the products of a place with itself."""
        d, weights = self.of.dimension, self.of.weights
        found = np.zeros((len(weights), d, d), np.int64)
        for i, (one, weight) in enumerate(zip(found, weights[: d - 1], strict=False), 1):
            np.fill_diagonal(one, [weight] * i + [-weight * i] + [0] * (d - i - 1))
        for one, weight, *pair in zip(
            found[d - 1 :], weights[d - 1 :], *np.triu_indices(d, 1), strict=False
        ):
            one[tuple(pair)] = weight
        return found

    @cached_property
    def _frames(self) -> tuple[Floats, Floats, Floats]:
        """The axes of all frames on a grid, where their origins lie on them, and their units."""
        longest = np.abs(self.of.axes).max(axis=2, keepdims=True)
        axes = np.rint(self.of.axes / longest * _AXIS_STEPS)
        origins = np.einsum("kij,kj->ki", axes, np.rint(self.of.means * GRID_RADIUS))
        units = longest[:, :, 0] / (_AXIS_STEPS * float(GRID_RADIUS))
        return axes.reshape(-1, self.of.dimension), origins.reshape(-1, 1), units[:, :, None]

    def __call__(self, rows: GridPiece) -> Integers:
        """Return what a piece of grid rows adds, of shape (n_components, n_entries)."""
        grid, (k, d) = dense(rows), self.of.means.shape
        total = np.zeros((k, self._n_entries), np.int64)
        height = max(1, _AT_A_TIME // (k * d))
        for start in range(0, len(grid), height):
            places, squares = self._places(grid[start : start + height])
            weights = self._responsibilities(squares)
            for line, *seen in zip(total, places, squares, weights, strict=True):
                line += self._line(*seen)
        return total

    def _places(self, grid: Floats) -> tuple[Floats, Floats]:
        """Return each row in every frame, of shape (k, d, n), and its squared length there."""
        (axes, origins, units), n = self._frames, len(grid)
        room = scratch("rows in frames", (len(axes), n))
        np.matmul(axes, grid.T, out=room)  # every partial sum is below 2^53, so exact
        room -= origins
        places = room.reshape(*self.of.means.shape, n)
        places *= units
        squares, one = scratch("squares in frames", (2, len(places), n))
        squares[:] = 0
        for column in range(places.shape[1]):  # in the same order for every row
            squares += np.square(places[:, column], out=one)
        return places, squares

    def _responsibilities(self, squares: Floats) -> Floats:
        """Return whole parts for each component and row; those of a row add up to ``PARTS``.

        With a background they add up to less: its part is not asked.
        """
        heights = np.rint(self.of.heights * _PER_NAT)[:, None] - np.rint(squares * (_PER_NAT / 2))
        if self.of.background is not None:
            floor = np.full((1, heights.shape[1]), np.rint(self.of.background * _PER_NAT))
            heights = np.concatenate([heights, floor])
        np.subtract(heights.max(axis=0), heights, out=heights)
        ends = _ODDS[np.minimum(heights, len(_ODDS) - 1, out=heights).astype(np.intp)]
        for line, before in zip(ends[1:], ends, strict=False):
            line += before
        ends = np.floor((2 * PARTS * ends + ends[-1]) / (2 * ends[-1]))
        ends[1:] -= ends[:-1].copy()
        return np.asarray(ends[: len(squares)])

    def _line(self, places: Floats, squares: Floats, weights: Floats) -> Integers:
        (its,) = np.nonzero(weights)
        weights, squares = weights[its], squares[its]
        count, place, square = self.of.factors
        steps = np.rint(places[:, its] * (self.of.steps / self.of.radius))
        lengths = np.sqrt(np.maximum((steps * steps).sum(axis=0), 1))
        steps = np.trunc(steps * np.minimum(1, self.of.steps * _INWARD / lengths))
        weighted = steps * weights
        levels = np.minimum(np.rint(squares * (LEVELS / self.of.reach**2)), LEVELS) - LEVELS // 2
        shape = np.einsum("sij,ij->s", self._matrix, (weighted @ steps.T).astype(np.int64))
        sums = [count * weights.sum()], place * weighted.sum(axis=1)
        return np.concatenate([*sums, shape, [square * (weights @ levels)]]).astype(np.int64)
