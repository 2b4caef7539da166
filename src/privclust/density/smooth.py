"""A released grid, smoothed: how dense the rows are at each cell, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from privclust._typing import Floats
from privclust.density.grid_counts import CountedGrid

# Tried in turn, in cells, until the cells that stand out hold this share of the rows. The first is
# a little less where there are few cells along an axis.
_WIDTHS, _LEAST_WIDTH = (1.0, 1.4, 2.0, 2.8), 0.7
_FEW_CELLS, _ENOUGH_CELLS = 24, 48
_VISIBLE = 0.9
# Errors of the noise by which a cell stands out, and by which one cell of each piece does.
_STANDS_OUT, _PEAK = 3.0, 5.0


@dataclass(frozen=True)
class Smoothed:
    """A grid whose counts are means over neighbours; all of it in the shape of the grid."""

    density: Floats  # rows of a cell
    noise: Floats  # the standard error that noise leaves in it
    error: Floats  # that of noise and chance: as many other rows would differ by as much

    @property
    def stands_out(self) -> np.ndarray:
        """The cells in which there are more rows than noise explains."""
        return np.asarray(self.density > _STANDS_OUT * self.noise)

    def or_else(self, other: Smoothed, kept: np.ndarray) -> Smoothed:
        """Return the cells that are kept, and those of another smoothing in place of the rest."""
        return Smoothed(
            np.where(kept, self.density, other.density),
            np.where(kept, self.noise, other.noise),
            np.where(kept, self.error, other.error),
        )

    def foreground(self, few: float) -> np.ndarray:
        """Return the cells of connected pieces that hold more than a few rows, for sure."""
        pieces, count = ndimage.label(self.stands_out, np.ones((3,) * self.density.ndim))
        names = np.arange(1, count + 1)
        rows = ndimage.sum(self.density, pieces, names)
        peaks = ndimage.maximum(self.density / self.noise, pieces, names)
        good = (np.asarray(rows) >= few) & (np.asarray(peaks) >= _PEAK)
        return np.append(False, good)[pieces]


def smooth(counted: CountedGrid) -> Smoothed:
    """Return the grid smoothed as little as shows the rows, at each cell for itself.

    Sparse rows need wide means, in which dense ones would run into each other. So a cell that
    stands out keeps its mean, and the others are tried with the next width.
    """
    finest = max(counted.grid.sides)
    first = _LEAST_WIDTH + (1 - _LEAST_WIDTH) * (finest - _FEW_CELLS) / (_ENOUGH_CELLS - _FEW_CELLS)
    width = float(np.clip(first, _LEAST_WIDTH, 1))
    found = _smooth_by(counted, width)
    for wider in (one for one in _WIDTHS if one > width):
        shown = found.stands_out
        if found.density[shown].sum() >= _VISIBLE * counted.n_rows:
            break
        found = found.or_else(_smooth_by(counted, wider), shown)
    return found


def _smooth_by(counted: CountedGrid, width: float) -> Smoothed:
    # An axis with fewer cells, of whole numbers, has wider ones: they need less.
    counts, sides = counted.counts, np.array(counted.grid.sides)
    widths = width * sides / sides.max()
    share = ndimage.gaussian_filter(np.ones_like(counts), widths, mode="constant")
    density = ndimage.gaussian_filter(counts, widths, mode="constant") / share
    squares = float(np.prod([_sum_of_squares(one) for one in widths]))
    nearby = ndimage.gaussian_filter(
        np.maximum(density, 0), widths / np.sqrt(2), mode="nearest"
    )  # by the squares of the weights, which are those of a narrower bell
    noise = np.sqrt(squares) * counted.counts_error / share
    error = np.sqrt(squares * (counted.counts_error**2 + nearby)) / share
    return Smoothed(density, np.maximum(noise, 1e-9), np.maximum(error, 1e-9))


def _sum_of_squares(width: float) -> float:
    """Return what smoothing by this width leaves of a variance along one axis."""
    single = np.zeros(2 * int(4 * width + 1) + 1)
    single[len(single) // 2] = 1
    return float((ndimage.gaussian_filter1d(single, width) ** 2).sum()) if width > 0 else 1.0
