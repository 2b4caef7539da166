"""Exact statistics of one block of grid rows around public centres.

Every number here is an integer held in a float of enough digits, so that products and sums are
exact in any order; BLAS may add up as it likes. A ``Projection`` is the public view of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from privclust.data.encode import GRID_RADIUS, Floats, clip_to_ball

__all__ = ["BlockSums", "Projection", "ProjectionGrid", "block_sums", "nearest", "outer_products"]

Labels = NDArray[np.intp]
Integers = NDArray[np.int64]
Precision = type[np.float32] | type[np.float64]

# Rows compared with all centres at a time, so that the table of products stays in the cache.
_PRODUCTS = 1 << 18

# Up to this radius, in steps, inner products stay below 2^24 and single precision is exact.
SINGLE_PRECISION_RADIUS = 2**11

# The number of levels that a squared distance is rounded down to.
SQUARE_LEVELS = 2**20

_AXIS_STEPS = 2**20

# A radius that reaches from any point of the unit ball to any other: nothing is clipped.
WHOLE = 2.0


@dataclass(frozen=True)
class Projection:
    """A public view of the unit ball: shift to ``origin``, project on ``axes``, clip to ``radius``.

    Parameters
    ----------
    origin : ndarray of shape (n_features,)
        A point of the unit ball.
    axes : ndarray of shape (n_features, n_axes) or None
        Orthonormal columns; ``None`` keeps all coordinates.
    radius : float
        Rows further than this from the origin, after the projection, are moved to that distance.
    coarse : bool
        A grid of 2^11 instead of 2^20 steps to the radius: half the time to find nearest centres.
    """

    origin: Floats
    axes: Floats | None = None
    radius: float = WHOLE
    coarse: bool = False

    def __post_init__(self) -> None:
        # Exact arithmetic rests on these: they keep every product below 2^53, or 2^24 if coarse.
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


class ProjectionGrid:
    """The integer grid of a frame: ``steps`` steps of length ``step`` to its radius."""

    def __init__(self, frame: Projection) -> None:
        self.step = frame.radius / SINGLE_PRECISION_RADIUS if frame.coarse else 1 / GRID_RADIUS
        self.steps = round(frame.radius / self.step)
        self.dtype: Precision = np.float32 if frame.coarse else np.float64
        self._clipped = frame.radius < WHOLE
        self._origin = np.rint(frame.origin * GRID_RADIUS)
        self._axes = None if frame.axes is None else np.rint(frame.axes * _AXIS_STEPS)
        unit = GRID_RADIUS if self._axes is None else GRID_RADIUS * _AXIS_STEPS
        self._factor = 1 / (unit * self.step)

    def rows(self, grid: Floats) -> Floats:
        """Return grid rows as integer coordinates of the frame, clipped to its radius."""
        moved = grid - self._origin
        if self._axes is not None:
            moved = moved @ self._axes  # every partial sum is below 2^42, so exact
        if self._factor != 1:
            moved *= self._factor
            np.rint(moved, out=moved)
        return clip_to_ball(moved, self.steps) if self._clipped else moved

    def centres(self, centres: Floats) -> Floats:
        """Return public centres, given in the frame's coordinates, on its grid."""
        return clip_to_ball(np.rint(centres / self.step), self.steps)

    def length(self, distance: float) -> int:
        """Return a distance in steps, at least one."""
        return max(1, int(distance / self.step))


@dataclass(frozen=True)
class BlockSums:
    """What one block adds to the statistics of the clusters around public centres."""

    counts: Integers
    offsets: Integers
    square: Integers

    def __add__(self, other: BlockSums) -> BlockSums:
        return BlockSums(
            self.counts + other.counts, self.offsets + other.offsets, self.square + other.square
        )


def nearest(rows: Floats, centres: Floats, dtype: Precision = np.float64) -> Labels:
    """Return the index of the nearest centre of each row; the lower index wins a tie."""
    if len(centres) == 1:
        return np.zeros(len(rows), np.intp)
    # The nearest centre c has the largest x·c - |c|²/2; a last coordinate of one brings in |c|²/2.
    halves = np.einsum("ij,ij->i", centres, centres) / 2
    targets: NDArray[Any] = np.column_stack([centres, -halves]).T.astype(dtype)
    labels = np.empty(len(rows), np.intp)
    height = max(1, _PRODUCTS // len(centres))
    part = np.ones((min(height, len(rows)), len(targets)), dtype)
    for start in range(0, len(rows), height):
        piece = part[: len(rows) - start]
        piece[:, :-1] = rows[start : start + height]
        np.argmax(piece @ targets, axis=1, out=labels[start : start + height])
    return labels


def block_sums(
    rows: Floats,
    centres: Floats,
    clip: int,
    dtype: Precision = np.float64,
    *,
    offsets: bool = True,
    square: bool = True,
) -> BlockSums:
    """Return, per nearest centre, the number of rows and the sum of their clipped offsets.

    Also returned, in a single number, is the sum over all rows of the squared distance to the
    nearest centre, at most ``clip`` squared, in units of that square over ``SQUARE_LEVELS``. The
    offsets and the square are zero if they are not wanted.
    """
    labels = nearest(rows, centres, dtype)
    counts = np.bincount(labels, minlength=len(centres)).astype(np.int64)
    sums, levels = np.zeros(centres.shape), 0.0
    if offsets or square:
        gaps = rows - centres[labels]
        distances = np.einsum("ij,ij->i", gaps, gaps)
        if square:
            shares = np.minimum(distances / (float(clip) * clip), 1)
            levels = np.floor(shares * SQUARE_LEVELS).sum()
        if offsets:
            sums = _sums_by_label(clip_to_ball(gaps, clip, distances), labels, len(centres))
    return BlockSums(counts, sums.astype(np.int64), np.array([levels]).astype(np.int64))


def _sums_by_label(rows: Floats, labels: Labels, n_labels: int) -> Floats:
    """Add up the rows of each label."""
    if n_labels == 1:
        return np.asarray(rows.sum(axis=0, keepdims=True))
    # A product with the matrix that has, for each row, a single one in the place of its label.
    ones, ends = np.ones(len(rows)), np.arange(len(rows) + 1)
    membership = sparse.csc_array((ones, labels, ends), shape=(n_labels, len(rows)))
    return np.asarray(membership @ rows)


def outer_products(rows: Floats) -> Integers:
    """Return the sum of the outer products of the rows with themselves."""
    return (rows.T @ rows).astype(np.int64)
