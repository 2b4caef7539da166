"""What a run of private bounds releases: a range of every column, and how many rows it holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privclust._typing import Floats, Mask
from privclust.notes import Note

__all__ = ["BoundsResult", "Range"]


@dataclass(frozen=True)
class Range:
    """The range of one column.

    Attributes
    ----------
    low, high : float
        It is infinite on both sides if noise hides the column.
    inside, inside_error : float
        The noisy number of rows within it, and its standard error.
    missing, missing_error : float
        That of rows whose number is missing or not finite.
    """

    low: float
    high: float
    inside: float
    inside_error: float
    missing: float
    missing_error: float

    @property
    def found(self) -> bool:
        """Whether any number of the column stands out from the noise."""
        return bool(np.isfinite(self.high))


@dataclass(frozen=True)
class BoundsResult:
    """The ranges of all columns, in their order.

    Attributes
    ----------
    ranges : tuple of Range
    n_rows, n_rows_error : float
        The noisy number of rows.
    notes : tuple of Note
        Of columns that noise hides, and of bounds that leave out more than was declared.
    """

    ranges: tuple[Range, ...]
    n_rows: float
    n_rows_error: float
    notes: tuple[Note, ...] = ()

    @property
    def found(self) -> Mask:
        """Which columns have a range."""
        return np.array([found.found for found in self.ranges])

    def column_of(self, name: str) -> Floats:
        """Return one number of every range."""
        return np.array([getattr(found, name) for found in self.ranges], np.float64)
