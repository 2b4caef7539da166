"""Collections of neighbouring pairs for a kind of data, built from public facts alone.

The layouts are fixed, not random: what makes these pairs hard is the one record in which they
differ, and an audit should meet the same pairs every time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privclust.audit.neighbours import (
    NeighbourPair,
    RowUnit,
    another_order,
    duplicate_mass,
    emptied_cluster,
    emptied_row,
    far_outlier,
    fewer_rows_than_clusters,
    missing_value,
    one_entry,
    rare_category,
    single_row,
)

__all__ = ["matrix_pairs", "point_pairs", "table_pairs"]

BEYOND = 1e6
"""Sides of the box by which the outlier that tests clipping lies outside."""


def point_pairs(
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    n_clusters: int = 3,
    n_rows: int = 24,
    unit: RowUnit = "add-remove-row",
) -> list[NeighbourPair]:
    """Return every pair for points in a box.

    Parameters
    ----------
    lower, upper : array-like of shape (features,)
        The declared bounds.
    n_clusters : int, default=3
        The number of clusters that the mechanism under audit looks for, at least 2.
    n_rows : int, default=24
        About how many rows the larger data sets have.
    unit : {"add-remove-row", "replace-row"}, default="add-remove-row"
    """
    low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    _check_clusters(n_clusters)
    centres = _along_diagonal(low, high, n_clusters)
    copies = max(1, n_rows // n_clusters)
    # All rows in the lowest tenth of the box, so that the opposite corner is far from each.
    crowd = low + 0.1 * (_along_diagonal(low, high, n_rows) - low)
    corners = np.repeat([low, high], max(1, n_rows // 2), axis=0)
    return [
        far_outlier(crowd, low, high, unit=unit),
        far_outlier(crowd, low, high, distance=BEYOND, unit=unit),
        emptied_cluster(centres, copies=copies, unit=unit),
        duplicate_mass(low, high, copies=n_rows, unit=unit),
        missing_value(crowd, 0, unit=unit),
        another_order(corners, (low + high) / 2, unit=unit),
        single_row(high, low if unit == "replace-row" else None),
        fewer_rows_than_clusters(centres, n_clusters, unit=unit),
    ]


def table_pairs(
    categories: Sequence[Sequence[object]],
    *,
    n_clusters: int = 3,
    n_rows: int = 24,
    unit: RowUnit = "add-remove-row",
) -> list[NeighbourPair]:
    """Return every pair for tables of categories.

    Parameters
    ----------
    categories : sequence of sequences
        The declared categories of each column, at least two of each.
    n_clusters : int, default=3
        The number of clusters that the mechanism under audit looks for, at least 2.
    n_rows : int, default=24
        About how many rows the larger data sets have.
    unit : {"add-remove-row", "replace-row"}, default="add-remove-row"
    """
    if not categories or min(map(len, categories)) < 2:
        raise ValueError("table_pairs needs columns with at least two categories each.")
    _check_clusters(n_clusters)
    if math.prod(map(len, categories)) < n_clusters:
        raise ValueError(
            f"{n_clusters} clusters need as many different rows; declare more categories or "
            "columns, or lower n_clusters."
        )
    # The last category of each column is kept for the rare row.
    common = _table([column[:-1] for column in categories], n_rows)
    modes = _table(categories, n_clusters)
    first, last = common[0], _table([column[::-1] for column in categories], 1)[0]
    copies = max(1, n_rows // n_clusters)
    return [
        rare_category(common, 0, categories[0][-1], unit=unit),
        emptied_cluster(modes, copies=copies, unit=unit),
        duplicate_mass(first, last, copies=n_rows, unit=unit),
        missing_value(common, 0, unit=unit),
        another_order(common, last, unit=unit),
        single_row(last, first if unit == "replace-row" else None),
        fewer_rows_than_clusters(modes, n_clusters, unit=unit),
    ]


def matrix_pairs(n_rows: int, n_columns: int, *, largest: int = 10) -> list[NeighbourPair]:
    """Return every pair for matrices of counts; their unit is one entry.

    Parameters
    ----------
    n_rows, n_columns : int
        Shape of the matrices.
    largest : int, default=10
        The largest count in them.
    """
    counts = np.arange(n_rows * n_columns).reshape(n_rows, n_columns) % (largest + 1)
    return [
        one_entry(counts, 0, 0),
        one_entry(np.zeros_like(counts), n_rows - 1, n_columns - 1),
        emptied_row(counts, n_rows - 1),
    ]


def _along_diagonal(
    low: NDArray[np.float64], high: NDArray[np.float64], count: int
) -> NDArray[np.float64]:
    return low + (np.arange(count)[:, np.newaxis] + 0.5) / count * (high - low)


def _table(categories: Sequence[Sequence[object]], count: int) -> NDArray[np.object_]:
    """Return ``count`` rows spread evenly over all combinations of categories."""
    sizes = [len(column) for column in categories]
    combinations = np.arange(count) * math.prod(sizes) // count
    choices = np.transpose(np.unravel_index(combinations, sizes))
    rows = [
        [column[choice] for column, choice in zip(categories, row, strict=True)] for row in choices
    ]
    return np.array(rows, dtype=object)


def _check_clusters(n_clusters: int) -> None:
    if n_clusters < 2:
        raise ValueError(f"n_clusters must be at least 2, got {n_clusters}.")
