"""Rows in NumPy arrays and SciPy sparse matrices; columns are known by position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from privclust._typing import AnyArray
from privclust.data.columns.counts import check_places
from privclust.data.columns.kinds import TypedColumn
from privclust.data.rows import Block, DenseBlock, RowSource, Selection
from privclust.exceptions import DataError
from privclust.reading.objects import array_from


def as_array(data: object) -> AnyArray:
    """Return a 2-d array of a type that can be read, without a copy where possible."""
    if isinstance(data, (list, tuple)) and data and all(isinstance(r, Mapping) for r in data):
        raise DataError(
            "Rows are given as dicts; make a table of them first, such as pandas.DataFrame(rows) "
            "or pyarrow.Table.from_pylist(rows)."
        )
    array = _from_lists(data) if isinstance(data, (list, tuple)) else data
    if not isinstance(array, np.ndarray):
        array = np.asarray(array)
    if array.ndim != 2:
        raise DataError(
            "Reshape your data; a 2-d array of rows and columns is needed, "
            f"got {array.ndim} dimension(s)."
        )
    if array.dtype.kind not in "biufOUTM":
        raise DataError(
            f"An array of type {array.dtype} cannot be read{_why_not(array.dtype)}; "
            "convert it to numbers or text."
        )
    if isinstance(array, np.ma.MaskedArray):
        if array.dtype.kind not in "biuf":
            raise DataError("A masked array must have numbers; convert it to numbers.")
        # Values under the mask are not meant to be read.
        with np.errstate(over="ignore"):
            return np.ma.filled(array.astype(np.float64), np.nan)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _from_lists(rows: list[Any] | tuple[Any, ...]) -> AnyArray:
    """Return nested lists as an array of objects, so that no value decides how others are read.

    NumPy would find one type for all of them, and a single text would turn every number into text.
    """
    lists = [row for row in rows if _is_list(row)]
    if not lists:
        return np.empty(len(rows), object)
    widths = {len(row) for row in lists}
    if len(widths) > 1 or len(lists) < len(rows):
        raise DataError("The rows differ in length; give every row the same columns.")
    width = widths.pop()
    values = np.fromiter(chain.from_iterable(lists), object, len(lists) * width)
    return values.reshape(len(lists), width)


def _is_list(row: object) -> bool:
    if isinstance(row, np.ndarray):
        return row.ndim > 0
    return hasattr(row, "__len__") and not isinstance(row, (str, bytes, dict, set))


def _why_not(dtype: np.dtype[Any]) -> str:
    return " (Complex data not supported)" if dtype.kind == "c" else ""


def by_rows(data: Any) -> sparse.csr_array[Any, tuple[int, int]]:
    """Return a sparse matrix in row order, without a copy if possible."""
    if data.ndim != 2:
        raise DataError("A sparse array must have rows and columns; reshape it to 2-d.")
    if data.dtype.kind not in "biuf":
        raise DataError(
            f"A sparse matrix of type {data.dtype} cannot be read{_why_not(data.dtype)}; "
            "use numbers."
        )
    check_places(data)
    # Duplicate entries are added up; as floats, because a sum of small integers would wrap around.
    wide = data if data.dtype.kind in "bf" else data.astype(np.float64)
    matrix: sparse.csr_array[Any, tuple[int, int]] = sparse.csr_array(wide)
    return matrix


class ArrayRows(RowSource):
    """A 2-d array; its blocks are slices of it, not copies."""

    def __init__(
        self, array: AnyArray, selection: Selection, *, named: bool, block_rows: int | None
    ) -> None:
        super().__init__(selection, named=named, n_rows=len(array), block_rows=block_rows)
        self._array = array

    def _blocks(self) -> Iterator[Block]:
        for start in range(0, len(self._array), self.block_rows):
            yield _block(self.selection.names, self._array[start : start + self.block_rows])


def _block(names: tuple[str, ...], rows: AnyArray) -> Block:
    if rows.dtype.kind in "biuf":
        return DenseBlock(names, rows)
    columns = {name: TypedColumn.of(array_from(rows[:, place])) for place, name in enumerate(names)}
    return Block(names, columns)


class SparseRows(RowSource):
    """A sparse matrix in row order; one block at a time is made dense."""

    def __init__(
        self,
        matrix: sparse.csr_array[Any, tuple[int, int]],
        selection: Selection,
        *,
        named: bool,
        block_rows: int | None,
    ) -> None:
        super().__init__(selection, named=named, n_rows=matrix.shape[0], block_rows=block_rows)
        self._matrix = matrix

    def _blocks(self) -> Iterator[Block]:
        for start in range(0, self._matrix.shape[0], self.block_rows):
            rows = self._matrix[start : start + self.block_rows].toarray()
            yield DenseBlock(self.selection.names, np.asarray(rows))
