"""Applying public centres to rows that the caller holds: labels and distances of those rows.

Nothing here is noisy and nothing is released: the answers are about single rows and go back to
whoever brought them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from privclust.data.encode import Domain, Floats
from privclust.data.reading import RowReader

__all__ = ["distances_to", "nearest_labels", "squared_distance_sum"]


def distances_to(source: RowReader, domain: Domain, centres: Floats) -> Floats:
    """Return the distance of each row to each centre, in the units of the data."""
    return np.concatenate([np.sqrt(squares) for squares in _squares(source, domain, centres)])


def nearest_labels(
    source: RowReader, domain: Domain, centres: Floats
) -> Iterator[NDArray[np.intp]]:
    """Yield the index of the nearest centre of each row, block by block."""
    for _, gaps in _gaps(source, domain, centres):
        yield gaps.argmin(axis=1)


def squared_distance_sum(source: RowReader, domain: Domain, centres: Floats) -> float:
    """Return the sum over the rows of the squared distance to the nearest centre."""
    return float(sum(squares.min(axis=1).sum() for squares in _squares(source, domain, centres)))


def _squares(source: RowReader, domain: Domain, centres: Floats) -> Iterator[Floats]:
    """Yield the squared distances of blocks of rows, as the model measures them."""
    for rows, gaps in _gaps(source, domain, centres):
        gaps += (rows**2).sum(axis=1)[:, None]
        yield np.maximum(gaps, 0)


def _gaps(source: RowReader, domain: Domain, centres: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield blocks of rows, and their squared distances less the squared length of the row.

    The length is the same for all centres, and for a row far out it would drown their differences.
    """
    # Around the center of the domain, so that a large offset common to all rows costs no digits.
    targets = (centres - domain.center) / domain.widths
    for block in source.blocks():
        rows = (domain.rows(block) - domain.center) / domain.widths
        yield rows, (targets**2).sum(axis=1) - 2 * rows @ targets.T
