"""What rows are to the components of a public mixture: one vector for each component, in integers.

A row has a responsibility for every component, a whole number of parts of ``PARTS``. It adds to the
line of a component, so many times, its place in the frame of the component: a one, its clipped
place, what that says of the shape, and its clipped squared distance. Whatever depends on a row is
integer arithmetic, or made of √, ×, ÷ and rounding of single numbers, which IEEE 754 fixes, so that
a row adds the same in whatever company it comes. See ``proofs/mixture.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from privclust._typing import Floats, Integers
from privclust.data.encode import GRID_RADIUS
from privclust.data.points.mixed import GridPiece, dense
from privclust.data.points.public import ComponentAnswer, Components
from privclust.data.public import Noisy
from privclust.data.question import Question, Term

# The parts that responsibilities are counted in, and the length of a line before it is weighted.
PARTS, LENGTH = 2**10, 2**17
# Levels of a squared distance, and the fewest steps of a shape's last direction for each column.
_LEVELS, _FINENESS = 2**10, 8
# Steps of a log density to one nat; what lies twelve nats below the best has no responsibility.
_PER_NAT, _DEPTH = 2**8, 12
_ODDS = np.rint(2.0**20 * np.exp(-np.arange(_DEPTH * _PER_NAT + 1) / _PER_NAT))
# Steps of a frame's axes, relative to the longest entry of each.
_AXIS_STEPS = 2**20
# Rounding in the last place must never let a clipped place leave its ball.
_INWARD = 1 - 2.0**-50
# Numbers of all components that are held at a time, for the cache.
_AT_A_TIME = 2**17


@dataclass(frozen=True)
class ComponentSums:
    """The lines of all components, each weighted by the responsibilities of the rows."""

    of: Components

    @property
    def questions(self) -> dict[str, Question]:
        """A row's lines have lengths that add up to those of a row of a single component.

        Tied components have their counts and places apart from one shape that all of them share.
        """
        places, shape = self._lengths
        if not self.of.tied:
            return {"components": _question("components", places + shape, self.n_entries)}
        split, rest = 1 + self.of.dimension, 1 + len(self._matrix)
        return {
            "components": _question("components", places, split, lambda table: table[:, :split]),
            "shape": _question("shape", shape, rest, lambda table: table[:, split:].sum(0)[None]),
        }

    @property
    def n_entries(self) -> int:
        """The length of a component's line."""
        return 2 + self.of.dimension + len(self._matrix)

    @cached_property
    def steps(self) -> int:
        """The steps of a clipped place to the radius."""
        if not self._matrix.size:
            return 2**8
        room = math.sqrt(self.of.parts[2]) * LENGTH / math.sqrt(1 - 1 / self.of.dimension)
        return max(1, math.isqrt(int(room / (_FINENESS * self.of.dimension))))

    @cached_property
    def factors(self) -> tuple[int, int, int]:
        """What a one, a place and a squared distance are multiplied by."""
        count, place, _, square = (int(math.sqrt(part) * LENGTH) for part in self.of.parts)
        return max(1, count), max(1, place // self.steps), max(1, square // (_LEVELS // 2))

    @property
    def _lengths(self) -> tuple[int, int]:
        """The squared lengths of a row of one component: count and place, shape and square."""
        count, place, square = self.factors
        d, fine = self.of.dimension, _FINENESS * self.of.dimension if self._matrix.size else 0
        shape = -(-(fine**2 * self.steps**4 * (d - 1)) // d)
        return count**2 + (place * self.steps) ** 2, shape + (square * (_LEVELS // 2)) ** 2

    @cached_property
    def _matrix(self) -> Integers:
        """What makes the coordinates of a shape of the products of a place with itself.

        Those of the diagonal are differences between a column and the mean of those before it. As
        the pairs, they are weighted as a matrix without trace has its length, rounded down.
        """
        d, fine = self.of.dimension, _FINENESS * self.of.dimension
        if self.of.shapes == "none" or d == 1:
            return np.zeros((0, d, d), np.int64)
        found = [np.diag([1] * i + [-i] + [0] * (d - i - 1)) for i in range(1, d)]
        found = [math.isqrt(fine**2 // (i * (i + 1))) * one for i, one in enumerate(found, 1)]
        if self.of.shapes == "full":
            for i, j in zip(*np.triu_indices(d, 1), strict=True):
                found.append(np.zeros((d, d), np.int64))
                found[-1][i, j] = math.isqrt(2 * fine**2)
        return np.array(found, np.int64)

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
        total = np.zeros((k, self.n_entries), np.int64)
        height = max(1, _AT_A_TIME // (k * d))
        for start in range(0, len(grid), height):
            places, squares = self._places(grid[start : start + height])
            weights = self._responsibilities(squares)
            for line, *seen in zip(total, places, squares, weights, strict=True):
                line += self._line(*seen)
        return total

    def _places(self, grid: Floats) -> tuple[Floats, Floats]:
        """Return each row in every frame, of shape (k, d, n), and its squared length there."""
        axes, origins, units = self._frames  # every partial sum is below 2^53, so exact
        places = (axes @ grid.T - origins).reshape(*self.of.means.shape, -1) * units
        squares = np.zeros((len(places), len(grid)))
        for column in range(places.shape[1]):  # in the same order for every row
            squares += places[:, column] * places[:, column]
        return places, squares

    def _responsibilities(self, squares: Floats) -> Floats:
        """Return whole parts for each component and row; those of a row add up to ``PARTS``.

        With a background they add up to less: its part is not asked.
        """
        heights = np.rint(self.of.heights * _PER_NAT)[:, None] - np.rint(squares * (_PER_NAT / 2))
        if self.of.background is not None:
            floor = np.full((1, heights.shape[1]), np.rint(self.of.background * _PER_NAT))
            heights = np.concatenate([heights, floor])
        below = np.minimum(heights.max(axis=0) - heights, len(_ODDS) - 1).astype(np.intp)
        ends = np.cumsum(_ODDS[below], axis=0)
        ends = np.floor((2 * PARTS * ends + ends[-1]) / (2 * ends[-1]))
        return np.diff(ends, axis=0, prepend=0)[: len(squares)]

    def _line(self, places: Floats, squares: Floats, weights: Floats) -> Integers:
        (its,) = np.nonzero(weights)
        weights, squares = weights[its], squares[its]
        count, place, square = self.factors
        steps = np.rint(places[:, its] * (self.steps / self.of.radius))
        lengths = np.sqrt(np.maximum((steps * steps).sum(axis=0), 1))
        steps = np.trunc(steps * np.minimum(1, self.steps * _INWARD / lengths))
        weighted = steps * weights
        levels = np.minimum(np.rint(squares * (_LEVELS / self.of.reach**2)), _LEVELS) - _LEVELS // 2
        shape = np.einsum("sij,ij->s", self._matrix, (weighted @ steps.T).astype(np.int64))
        sums = [count * weights.sum()], place * weighted.sum(axis=1)
        return np.concatenate([*sums, shape, [square * (weights @ levels)]]).astype(np.int64)

    def read(self, components: Noisy, shape: Noisy | None = None) -> ComponentAnswer:
        """Return noisy lines in the units of the frames."""
        (count, place, square), d = self.factors, self.of.dimension
        table, last = components.value / PARTS, components if shape is None else shape
        rest = last.value[:, -1 - len(self._matrix) :] / PARTS
        step = self.of.radius / self.steps
        weights = np.abs(self._matrix).max(axis=(1, 2), initial=0).astype(np.float64)
        # A difference has the length √(i (i + 1)), and a pair stands twice in the matrix.
        norms = np.sqrt((self._matrix.astype(np.float64) ** 2).sum(axis=(1, 2)))
        norms[d - 1 :] = weights[d - 1 :] / math.sqrt(2)
        level = self.of.reach**2 / _LEVELS
        noise, late = components.standard_error / PARTS, last.standard_error / PARTS
        fine = float(np.sqrt((1 / norms**2).mean())) if len(norms) else 0.0
        counts = table[:, 0] / count
        return ComponentAnswer(
            counts=Noisy(counts, noise / count),
            sums=Noisy(table[:, 1 : 1 + d] / place * step, noise / place * step),
            shapes=Noisy(rest[:, :-1] / norms * step**2, late * fine * step**2),
            squares=Noisy(rest[:, -1] / square * level, late / square * level),
        )


def _question(name: str, square: int, n_entries: int, part: Any = np.asarray) -> Question:
    length = PARTS * (math.isqrt(square - 1) + 1)
    return Question(name, Term.vector(length), part, dimension=n_entries)
