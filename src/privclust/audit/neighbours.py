"""Pairs of neighbouring data sets on which mechanisms tend to fail, and suites of them.

Each generator returns one :class:`NeighbourPair` that differs in exactly one record: a row that is
added (unit ``"add-remove-row"``), a row that is replaced (``"replace-row"``), or one entry of a
matrix (``"matrix-entry"``). Rows are NumPy arrays of shape (rows, columns), of floats for points
and of objects for tables; :meth:`NeighbourPair.map` turns them into other forms. ``suites`` builds
whole collections of pairs from public facts alone.

The layouts are fixed, not random: what makes these pairs hard is the one record in which they
differ, and an audit should meet the same pairs every time.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privclust._typing import AnyArray

RowUnit = Literal["add-remove-row", "replace-row"]
Unit = Literal["add-remove-row", "replace-row", "matrix-entry"]


@dataclass(frozen=True, eq=False)
class NeighbourPair:
    """Two data sets that differ in one record.

    Attributes
    ----------
    name : str
        What is special about the pair; shown in the witness of an audit.
    left, right : object
        The data sets.
    unit : {"add-remove-row", "replace-row", "matrix-entry"} or None
        The unit for which the pair is neighbouring; None when only its maker knows.
    """

    name: str
    left: Any
    right: Any
    unit: Unit | None = None

    def map(self, convert: Callable[[Any], Any]) -> NeighbourPair:
        """Return the pair with both data sets converted, for instance to data frames."""
        return NeighbourPair(self.name, convert(self.left), convert(self.right), self.unit)


def far_outlier(
    points: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    distance: float = 0.0,
    unit: RowUnit = "add-remove-row",
) -> NeighbourPair:
    """Add one row as far from the others as the box allows, or farther.

    Parameters
    ----------
    points : array-like of shape (rows, features)
    lower, upper : array-like of shape (features,)
        The declared bounds.
    distance : float, default=0
        How far beyond the bounds, in sides of the box; above zero it tests the clipping.
    unit : {"add-remove-row", "replace-row"}, default="add-remove-row"
        Whether the outlier is added or replaces the last row.
    """
    rows = _rows(points)
    low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    mass_is_low = rows.mean(axis=0) < (low + high) / 2
    beyond = distance * (high - low)
    outlier = np.where(mass_is_low, high + beyond, low - beyond)
    name = "far outlier" if distance == 0 else "outlier beyond the bounds"
    return _one_row_more(name, rows, outlier, unit)


def single_row_cluster(
    centres: ArrayLike, *, copies: int = 8, unit: RowUnit = "add-remove-row"
) -> NeighbourPair:
    """Give the last cluster a single row on the right and none on the left.

    Parameters
    ----------
    centres : array-like of shape (clusters, columns)
        One row for each cluster; all but the last are repeated.
    copies : int, default=8
        Rows in each of the other clusters.
    unit : {"add-remove-row", "replace-row"}, default="add-remove-row"
        Whether the lone row is added or replaces a row of the cluster before it.
    """
    rows = _rows(centres)
    return _one_row_more("emptied cluster", np.repeat(rows[:-1], copies, axis=0), rows[-1], unit)


def duplicate_mass(
    row: ArrayLike, other: ArrayLike, *, copies: int = 20, unit: RowUnit = "add-remove-row"
) -> NeighbourPair:
    """Make all rows the same except one on the right.

    Parameters
    ----------
    row : array-like of shape (columns,)
        The row of which there are ``copies``.
    other : array-like of shape (columns,)
        The last row on the right; with ``unit="add-remove-row"`` it may be ``row`` itself.
    copies : int, default=20
    unit : {"add-remove-row", "replace-row"}, default="add-remove-row"
        Whether ``other`` is added or replaces one copy.
    """
    mass = np.repeat(_row(row), copies, axis=0)
    return _one_row_more("duplicate mass", mass, _row(other)[0], unit)


def another_order(
    rows: ArrayLike, row: ArrayLike, *, unit: RowUnit = "add-remove-row"
) -> NeighbourPair:
    """Reverse the order of the rows on the right, and add one more.

    Data are multisets of rows, so that neighbours may come in any order. Rows that are equal, or
    equally far from something, show whether their order decides anything.

    Parameters
    ----------
    rows : array-like of shape (rows, columns)
    row : array-like of shape (columns,)
        The last row on the right.
    unit : {"add-remove-row", "replace-row"}, default="add-remove-row"
        Whether the row is added or replaces the last one.
    """
    pair = _one_row_more("another order", _rows(rows), _row(row)[0], unit)
    right = np.concatenate([pair.right[-2::-1], pair.right[-1:]])
    return NeighbourPair(pair.name, pair.left, right, pair.unit)


def missing_value(
    rows: ArrayLike, column: int, *, unit: RowUnit = "add-remove-row"
) -> NeighbourPair:
    """Add one row that lacks a value: NaN among numbers, None in a table.

    Parameters
    ----------
    rows : array-like of shape (rows, columns)
    column : int
        Where the value is missing; the other values are those of the first row.
    unit : {"add-remove-row", "replace-row"}, default="add-remove-row"
        Whether the row is added or replaces the last one.
    """
    rows = _rows(rows)
    incomplete = rows[0].copy()
    incomplete[column] = None if rows.dtype == object else np.nan
    return _one_row_more("missing value", rows, incomplete, unit)


def rare_category(
    table: ArrayLike, column: int, category: object, *, unit: RowUnit = "add-remove-row"
) -> NeighbourPair:
    """Add one row with a category that no other row has.

    Parameters
    ----------
    table : array-like of shape (rows, columns)
    column : int
    category : object
        A value that does not occur in ``column``. The other values are those of the first row.
    unit : {"add-remove-row", "replace-row"}, default="add-remove-row"
        Whether the row is added or replaces the last one.
    """
    rows = np.array(table, dtype=object)
    if category in rows[:, column].tolist():
        raise ValueError(f"The table already has {category!r} in column {column}; choose another.")
    rare = rows[0].copy()
    rare[column] = category
    return _one_row_more("rare category", rows, rare, unit)


def single_row(row: ArrayLike, other: ArrayLike | None = None) -> NeighbourPair:
    """Set one row against none, or against one other row.

    Parameters
    ----------
    row : array-like of shape (columns,)
        The only row on the right.
    other : array-like of shape (columns,) or None, default=None
        The only row on the left. With None there is no row on the left and the unit of the pair
        is ``"add-remove-row"``, else it is ``"replace-row"``.
    """
    right = _row(row)
    if other is None:
        return NeighbourPair("single row", right[:0], right, "add-remove-row")
    return _one_row_more("single row", _row(other), right[0], "replace-row")


def fewer_rows_than_clusters(
    rows: ArrayLike, n_clusters: int, *, unit: RowUnit = "add-remove-row"
) -> NeighbourPair:
    """Leave one row fewer than clusters on the left.

    Parameters
    ----------
    rows : array-like of shape (at least n_clusters, columns)
        Rows to take; the first ``n_clusters`` are used.
    n_clusters : int
        At least 2.
    unit : {"add-remove-row", "replace-row"}, default="add-remove-row"
        Whether one row is added, so that the right has exactly enough, or the last is replaced.
    """
    rows = _rows(rows)
    if not 2 <= n_clusters <= len(rows):
        raise ValueError(
            f"n_clusters must be at least 2 and at most the {len(rows)} rows given, "
            f"got {n_clusters}; pass more rows."
        )
    name = "fewer rows than clusters"
    return _one_row_more(name, rows[: n_clusters - 1], rows[n_clusters - 1], unit)


def one_entry(matrix: ArrayLike, row: int, column: int, *, change: int = 1) -> NeighbourPair:
    """Change one entry of a matrix of counts; the unit is ``"matrix-entry"``.

    Parameters
    ----------
    matrix : array-like of shape (rows, columns)
    row, column : int
        Which entry.
    change : int, default=1
        What is added to it on the right; not zero.
    """
    left = np.array(matrix)
    right = left.copy()
    right[row, column] += change
    if change == 0 or right[row, column] < 0:
        raise ValueError("change must not be zero and must leave the entry at zero or above.")
    return NeighbourPair("one matrix entry", left, right, "matrix-entry")


def single_count_row(matrix: ArrayLike, row: int) -> NeighbourPair:
    """Empty a row of a matrix of counts on the left and leave it one count on the right.

    The unit is ``"matrix-entry"``.
    """
    left = np.array(matrix)
    left[row] = 0
    pair = one_entry(left, row, 0)
    return NeighbourPair("emptied matrix row", pair.left, pair.right, pair.unit)


def _rows(rows: Any) -> AnyArray:
    """Return a new 2-D array: of floats if all values are numbers, else of objects."""
    array = np.array(rows, dtype=object)
    if array.ndim != 2:
        raise ValueError(
            f"Rows must form an array of shape (rows, columns), got shape {array.shape}."
        )
    is_table = isinstance(rows, np.ndarray) and rows.dtype == object
    is_numeric = all(isinstance(value, numbers.Number) for value in array.flat)
    return array.astype(float) if is_numeric and not is_table else array


def _row(row: Any) -> AnyArray:
    """Return a single row in two dimensions."""
    return _rows(row[np.newaxis] if isinstance(row, np.ndarray) else [row])


def _one_row_more(name: str, rows: AnyArray, special: AnyArray, unit: RowUnit) -> NeighbourPair:
    """Pair ``rows`` with the data set where ``special`` is added or replaces the last row."""
    if unit not in ("add-remove-row", "replace-row"):
        raise ValueError(f'unit must be "add-remove-row" or "replace-row" for rows, got {unit!r}.')
    if unit == "add-remove-row":
        return NeighbourPair(name, rows, np.concatenate([rows, special[np.newaxis]]), unit)
    if len(rows) == 0 or rows[-1].tolist() == special.tolist():
        raise ValueError(
            f"There is no other row to replace for the pair {name!r}; change the rows."
        )
    return NeighbourPair(name, rows, np.concatenate([rows[:-1], special[np.newaxis]]), unit)


# Collections of neighbouring pairs for a kind of data, built from public facts alone.

BEYOND = 1e6
"""How far outside, in sides of the box, the outlier that tests clipping is."""


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
    centres = _diagonal_rows(low, high, n_clusters)
    copies = max(1, n_rows // n_clusters)
    # All rows in the lowest tenth of the box, so that the opposite corner is far from each.
    crowd = low + 0.1 * (_diagonal_rows(low, high, n_rows) - low)
    corners = np.repeat([low, high], max(1, n_rows // 2), axis=0)
    return [
        far_outlier(crowd, low, high, unit=unit),
        far_outlier(crowd, low, high, distance=BEYOND, unit=unit),
        single_row_cluster(centres, copies=copies, unit=unit),
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
        single_row_cluster(modes, copies=copies, unit=unit),
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
        single_count_row(counts, n_rows - 1),
    ]


def _diagonal_rows(
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
