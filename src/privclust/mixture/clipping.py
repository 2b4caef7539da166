"""What clipping does to a Gaussian component, and how a row's line is divided among its parts.

Rows are seen in the frame of their component, in which it should be round and of width one, and are
clipped there. Of a round Gaussian of another width the effect is known, so that it can be undone: a
close clip then has less noise than one that leaves all rows alone, at the price of trusting the
Gaussian form.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.stats import chi2

from privclust._typing import Floats
from privclust.mixture.model import CovarianceType

_QUANTILES, _SCALES = 4000, np.geomspace(0.02, 30, 241)
# How far beyond the usual length of a row its squared length is followed.
_BEYOND = 0.5


@dataclass(frozen=True)
class Clip:
    """How rows are clipped in the frame of a component."""

    dimension: int
    kind: CovarianceType  # the type of the covariances, which says what is asked of shapes
    width: float = 1.0  # the radius, in root mean square lengths of a row

    @property
    def radius(self) -> float:
        """The length to which places are shortened."""
        return self.width * np.sqrt(self.dimension) if self.dimension > 1 else 1.3 * self.width

    @property
    def reach(self) -> float:
        """The length at which squared lengths are cut off."""
        beyond = max(_BEYOND, (self.width - 1) * np.sqrt(self.dimension))
        return float(np.sqrt(self.dimension) + beyond)

    @property
    def n_directions(self) -> int:
        """The number of coordinates of a shape: none, of columns, or of pairs of them as well."""
        if self.kind == "spherical":
            return 0
        columns, pairs = self.dimension - 1, self.dimension * (self.dimension - 1) // 2
        return columns if self.kind == "diag" else columns + pairs

    @cached_property
    def effect(self) -> Effect:
        """What the clip does."""
        return _effect(self.dimension, self.radius, self.reach)

    @cached_property
    def costs(self) -> Floats:
        """What noise on count, place, shape and square costs, in nats and for unit noise."""
        d, (place, shape) = self.dimension, self.effect.gains(1.0)
        unit = self.radius**2 * np.sqrt(1 - 1 / d) / shape
        half = self.reach**2 / 2 / self.effect.slope
        of_place, of_shape = d / 2 * (self.radius / place) ** 2, self.n_directions / 4 * unit**2
        return np.array([0.5, of_place, of_shape, d / 4 * half**2])

    @property
    def parts(self) -> tuple[float, float, float, float]:
        """The parts of a line's squared length, so that noise costs least."""
        roots = np.sqrt(self.costs)
        count, place, shape, square = (roots / roots.sum()).tolist()
        return count, place, shape, square

    def shape_noise(self, unit_error: float, rows: float) -> float:
        """Return the noise to expect in a coordinate of the shape of a component with ``rows``.

        ``unit_error`` is the noise of a line of length one.
        """
        if not self.n_directions:
            return 0.0
        per_unit = np.sqrt(4 * self.costs[2] / self.n_directions / self.parts[2])
        return float(per_unit * unit_error / rows)

    @cached_property
    def directions(self) -> Floats:
        """Orthonormal matrices without trace, in the order of the answers' coordinates."""
        d = self.dimension
        found = np.zeros((self.n_directions, d, d))
        for i in range(1, min(d, len(found) + 1)):
            np.fill_diagonal(found[i - 1], [1] * i + [-i] + [0] * (d - i - 1))
            found[i - 1] /= np.sqrt(i * (i + 1))
        for one, *pair in zip(found[d - 1 :], *np.triu_indices(d, 1), strict=False):
            one[tuple(pair)] = one[tuple(pair[::-1])] = np.sqrt(0.5)
        return found


@dataclass(frozen=True)
class Effect:
    """What a clip does to N(0, s I), for many s."""

    squares: Floats  # the mean clipped squared length, for each s
    # The shares of a small move and of a small change of shape that are left.
    places: Floats
    shapes: Floats

    @property
    def slope(self) -> float:
        """How the mean clipped square grows with s, at one."""
        i = int(np.searchsorted(_SCALES, 1.0))
        rise = self.squares[i + 1] - self.squares[i - 1]
        return float(rise / (_SCALES[i + 1] - _SCALES[i - 1]))

    def scale_of(self, square: Floats) -> Floats:
        """Return the s whose mean clipped square this is."""
        return np.interp(square, self.squares, _SCALES)

    def gains(self, scale: Floats | float) -> tuple[Floats, Floats]:
        """Return how much of a small move, and of a small change of shape, is left at some s."""
        places, shapes = (np.interp(scale, _SCALES, one) for one in (self.places, self.shapes))
        return np.asarray(places), np.asarray(shapes)


@lru_cache(maxsize=64)
def _effect(dimension: int, radius: float, reach: float) -> Effect:
    """Return the effect of a clip, by the quantiles of the chi-square distribution."""
    d = dimension
    chi = chi2.ppf((np.arange(_QUANTILES) + 0.5) / _QUANTILES, d)
    squares = _SCALES[:, None] * chi
    inside = squares < radius**2
    outside = np.where(inside, 0, radius / np.sqrt(squares)).mean(axis=1)
    return Effect(
        np.minimum(squares, reach**2).mean(axis=1),
        inside.mean(axis=1) + (d - 1) / d * outside,
        (np.minimum(squares, radius**2) * chi).mean(axis=1) / (d * (d + 2)),
    )
