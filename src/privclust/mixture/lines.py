"""The line of a component in integers: how long its parts are, and what an answer means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privclust._typing import Floats
from privclust.data.points.public import LEVELS, MOST_STEPS, Components
from privclust.data.public import Noisy
from privclust.mixture.clipping import Clip
from privclust.mixture.model import Gaussians

# The length of a line in steps; where noise is longer than a row by this factor, the coarse one is
# fine enough, and the other would need noise beyond what can be drawn.
_FINE, _COARSE, _NOISY = 2**17, 2**10, 2.0**18
# The fewest steps of the last direction of a shape, for each column.
_FINENESS = 8


@dataclass(frozen=True)
class ComponentTotals:
    """What a noisy answer says of each component, in the units of its frame."""

    counts: Noisy  # (n_components,): numbers of rows, by their responsibilities
    sums: Noisy  # (n_components, n_features): of clipped places
    shapes: Noisy  # (n_components, n_directions): of their products with themselves; one if tied
    squares: Noisy  # (n_components,): of clipped squared lengths, each less half the most; likewise


@dataclass(frozen=True)
class LineGrid:
    """How a line is put into integers, and read again."""

    clip: Clip
    length: int = _FINE

    @classmethod
    def within(cls, clip: Clip, unit_error: float) -> LineGrid:
        """Return a grid for noise of this size on a line of length one."""
        longest = unit_error * (2 + clip.dimension + clip.n_directions)
        return cls(clip, _FINE if longest < _NOISY else _COARSE)

    @cached_property
    def steps(self) -> int:
        """The steps of a place to the radius."""
        if not self.clip.n_directions:
            return MOST_STEPS
        d = self.clip.dimension
        room = math.sqrt(self.clip.parts[2] / (1 - 1 / d)) * self.length / (_FINENESS * d)
        return max(1, min(MOST_STEPS, math.isqrt(int(room))))

    @cached_property
    def factors(self) -> tuple[int, int, int]:
        """What a one, a place and a squared length are multiplied by."""
        count, place, _, square = (int(math.sqrt(part) * self.length) for part in self.clip.parts)
        return max(1, count), max(1, place // self.steps), max(1, square // (LEVELS // 2))

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """What the coordinates of a shape are multiplied by: as near to orthonormal as can be."""
        d, n = self.clip.dimension, self.clip.n_directions
        fine = _FINENESS * d
        columns = [math.isqrt(fine**2 // (i * (i + 1))) for i in range(1, d)][:n]
        return (*columns, *[math.isqrt(2 * fine**2)] * (n - len(columns)))

    def components(
        self, mixture: Gaussians, background: float | None, heights: Floats
    ) -> Components:
        """Return what to ask about a mixture."""
        return Components(
            mixture.means,
            mixture.axes,
            heights,
            self.clip.radius,
            self.clip.reach,
            self.steps,
            self.factors,
            self.weights,
            self.clip.kind == "tied",
            background,
        )

    def read(self, components: Noisy, shape: Noisy | None = None) -> ComponentTotals:
        """Return what the noisy lines mean, in which a row counts as one."""
        (count, place, square), d = self.factors, self.clip.dimension
        last = components if shape is None else shape
        table, noise = count * components.value, count * components.standard_error
        rest = count * last.value[:, -1 - len(self.weights) :]
        late = count * last.standard_error
        step, level = self.clip.radius / self.steps, self.clip.reach**2 / LEVELS
        # A column's direction has the length √(i (i + 1)), and a pair stands twice in the matrix.
        norms = np.array(self.weights, np.float64)
        norms[: d - 1] *= np.sqrt([i * (i + 1) for i in range(1, d)][: len(norms)])
        norms[d - 1 :] /= math.sqrt(2)
        fine = float(np.sqrt((1 / norms**2).mean())) if len(norms) else 0.0
        return ComponentTotals(
            counts=Noisy(table[:, 0] / count, noise / count),
            sums=Noisy(table[:, 1 : 1 + d] / place * step, noise / place * step),
            shapes=Noisy(rest[:, :-1] / norms * step**2, late * fine * step**2),
            squares=Noisy(rest[:, -1] / square * level, late / square * level),
        )
