"""Which noisy cells hold rows for sure, and the smallest run of cells that holds most of them."""

from __future__ import annotations

import math

import numpy as np

from privclust._typing import Floats, Mask

__all__ = ["covered", "held", "is_covered", "smallest_run"]

# Cells that do not stand out alone may do so together.
_TOGETHER = 1, 2, 4


def held(cells: Floats, largest_noise: float, mirror: int | None = None) -> Mask:
    """Return which cells stand out from the noise, alone or with their neighbours.

    Parameters
    ----------
    cells : ndarray of shape (n_cells,)
        Noisy counts.
    largest_noise : float
        What the noise of no cell is likely to exceed. The noise of L cells together is then
        unlikely to exceed √L times as much, because sums have lighter tails.
    mirror : int or None
        The cell of zero: those at equal distances from it are also looked at together.
    """
    found = np.zeros(len(cells), bool)
    for length in _TOGETHER:
        least = largest_noise * math.sqrt(length)
        left = np.where(found, 0, cells)
        (starts,) = np.nonzero(np.convolve(left, np.ones(length), "valid") > least)
        for start in starts:
            found[start : start + length] = True
        if mirror is None:
            continue
        left = np.where(found, 0, cells)
        both = left[mirror + 1 :] + left[:mirror][::-1]
        sums = np.convolve(both, np.ones(length), "valid")
        for start in np.nonzero(sums > math.sqrt(2) * least)[0]:
            found[mirror + 1 + start : mirror + 1 + start + length] = True
            found[mirror - start - length : mirror - start] = True
    return found


def smallest_run(counts: Floats, edges: Floats, wanted: float) -> tuple[int, int]:
    """Return the first and last cell of the narrowest run that holds a given number of rows.

    If none does, it is the whole run between cells that hold any. The cells lie between ``edges``.
    """
    (some,) = np.nonzero(counts)
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    best, narrowest = (int(some[0]), int(some[-1])), math.inf
    first = 0
    for last in range(len(counts)):
        while sums[last + 1] - sums[first] >= wanted and first <= last:
            width = float(edges[last + 1] - edges[first])
            if width < narrowest:
                best, narrowest = (first, last), width
            first += 1
    return best


def is_covered(
    cells: Floats, run: tuple[int, int], wanted: float, error: float, wanted_error: float
) -> bool:
    """Tell whether a run leaves out no more rows than the noise may hide.

    Parameters
    ----------
    cells : ndarray of shape (n_cells,)
        Noisy counts.
    run : tuple of int
        The first and the last cell.
    wanted : float
        How many rows it should hold.
    error, wanted_error : float
        The standard errors of a count and of what is wanted.
    """
    first, last = run
    inside = float(cells[first : last + 1].sum())
    return wanted - inside <= math.hypot(error * math.sqrt(last - first + 1), wanted_error)


def covered(
    cells: Floats, run: tuple[int, int], wanted: float, error: float, wanted_error: float
) -> tuple[int, int]:
    """Return a run, grown on both sides until it is covered or there are no more cells."""
    first, last = run
    while first > 0 or last < len(cells) - 1:
        if is_covered(cells, (first, last), wanted, error, wanted_error):
            break
        first, last = max(first - 1, 0), min(last + 1, len(cells) - 1)
    return first, last
