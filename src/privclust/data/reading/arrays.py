"""Rows in NumPy arrays and SciPy sparse matrices; columns are known by position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from privclust.data.reading.base import Block, Mask, RowReader, Rows, Selection
from privclust.data.reading.convert import array_from, as_kind, as_numbers
from privclust.exceptions import DataError

if TYPE_CHECKING:
    from privclust.schema import Kind

__all__ = ["ArrayBlock", "ArrayRows", "SparseRows", "as_array", "by_rows"]

AnyArray = npt.NDArray[Any]


def as_array(data: object) -> AnyArray:
    """Return a 2-d array of a type that can be read, without a copy where possible."""
    try:
        array = data if isinstance(data, np.ma.MaskedArray) else np.asarray(data)
    except ValueError:
        raise DataError("The rows differ in length; give every row the same columns.") from None
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
            raise DataError("A masked array must hold numbers; convert it to numbers.")
        # What lies under the mask is not meant to be read.
        return np.ma.filled(array.astype(np.float64), np.nan)
    return array


def _why_not(dtype: np.dtype[Any]) -> str:
    return " (Complex data not supported)" if dtype.kind == "c" else ""


def by_rows(data: Any) -> sparse.csr_array[Any, tuple[int, int]]:
    """Return a sparse matrix in row order, without a copy if it is so already."""
    if data.ndim != 2:
        raise DataError("A sparse array must have rows and columns; reshape it to 2-d.")
    if data.dtype.kind not in "biuf":
        raise DataError(
            f"A sparse matrix of type {data.dtype} cannot be read{_why_not(data.dtype)}; "
            "use numbers."
        )
    matrix: sparse.csr_array[Any, tuple[int, int]] = sparse.csr_array(data)
    return matrix


class ArrayBlock(Block):
    """Rows as a 2-d NumPy array."""

    def __init__(self, rows: AnyArray, names: tuple[str, ...]) -> None:
        self.names = names
        self.n_rows = len(rows)
        self._rows = rows

    def numbers(self, names: Sequence[str] | None = None) -> Rows:
        rows = self._rows
        wanted = self.names if names is None else tuple(names)
        if wanted != self.names:
            rows = rows[:, [self.names.index(name) for name in wanted]]
        if rows.dtype.kind not in "biuf":
            columns = [self._numeric_column(name) for name in wanted]
            return np.ascontiguousarray(np.column_stack(columns))
        floats = np.ascontiguousarray(rows, dtype=np.float64)
        if np.may_share_memory(floats, self._rows):
            floats = floats.view()
            floats.flags.writeable = False
        return floats

    def _numeric_column(self, name: str) -> npt.NDArray[np.float64]:
        return as_numbers(self.column(name), name)

    def column(self, name: str, kind: Kind | None = None) -> pa.Array:
        array = array_from(self._rows[:, self.names.index(name)], name)
        return array if kind is None else as_kind(array, name, kind)

    def keep(self, mask: Mask) -> ArrayBlock:
        return ArrayBlock(self._rows[mask], self.names)


class ArrayRows(RowReader):
    """A 2-d array; its blocks are slices of it, not copies."""

    def __init__(
        self, array: AnyArray, selection: Selection, *, named: bool, block_rows: int | None
    ) -> None:
        super().__init__(selection, named=named, n_rows=len(array), block_rows=block_rows)
        self._array = array

    def _blocks(self) -> Iterator[Block]:
        for start in range(0, len(self._array), self.block_rows):
            yield ArrayBlock(self._array[start : start + self.block_rows], self.selection.names)


class SparseRows(RowReader):
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
            yield ArrayBlock(np.asarray(rows), self.selection.names)
