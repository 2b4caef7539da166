"""Cutting a source into parts of about equal size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np

__all__ = ["runs"]

Sized = TypeVar("Sized")


def runs(
    pieces: Sequence[Sized], count: int, size: Callable[[Sized], int]
) -> list[tuple[Sized, ...]]:
    """Return consecutive pieces in about ``count`` runs of about equal size, none of them empty."""
    sizes = np.array([max(1, size(piece)) for piece in pieces], np.float64)
    # A piece belongs to the run in which its middle lies.
    middles = np.cumsum(sizes) - sizes / 2
    numbers = np.floor(middles * (max(1, count) / sizes.sum())).astype(np.int64)
    starts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(pieces)]
    return [tuple(pieces[a:b]) for a, b in pairwise(starts)]
