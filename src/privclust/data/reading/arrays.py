"""Rows in NumPy arrays and SciPy sparse matrices; columns are known by position."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from privclust._typing import AnyArray, Floats, Mask
from privclust.data.reading.base import Block, RowReader, Selection, one_sentence
from privclust.data.reading.convert import array_from, as_kind, as_numbers
from privclust.exceptions import DataError

if TYPE_CHECKING:
    from privclust.schema import Kind

__all__ = ["ArrayBlock", "ArrayRows", "SparseRows", "as_array", "by_rows", "check_places"]


def as_array(data: object) -> AnyArray:
    """Return a 2-d array of a type that can be read, without a copy where possible."""
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
            raise DataError("A masked array must hold numbers; convert it to numbers.")
        # What lies under the mask is not meant to be read.
        with np.errstate(over="ignore"):
            return np.ma.filled(array.astype(np.float64), np.nan)
    return array


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
    """Return a sparse matrix in row order, without a copy if it is so already."""
    if data.ndim != 2:
        raise DataError("A sparse array must have rows and columns; reshape it to 2-d.")
    if data.dtype.kind not in "biuf":
        raise DataError(
            f"A sparse matrix of type {data.dtype} cannot be read{_why_not(data.dtype)}; "
            "use numbers."
        )
    check_places(data)
    # Equal places are added up; as floats, because a sum of small integers would wrap around.
    wide = data if data.dtype.kind in "bf" else data.astype(np.float64)
    matrix: sparse.csr_array[Any, tuple[int, int]] = sparse.csr_array(wide)
    return matrix


def check_places(matrix: Any) -> None:
    """Refuse a sparse matrix that names places outside its shape: reading one is not safe."""
    wrong = (
        "The sparse matrix names rows or columns outside its shape; build it again from its "
        "entries."
    )
    with one_sentence(wrong, ValueError, IndexError, TypeError):
        if matrix.format in ("csr", "csc", "bsr"):
            matrix.check_format(full_check=True)
    if matrix.format == "coo":
        for places, length in zip(matrix.coords, matrix.shape, strict=True):
            if len(places) and not 0 <= places.min() <= places.max() < length:
                raise DataError(wrong)


class ArrayBlock(Block):
    """Rows as a 2-d NumPy array."""

    def __init__(self, rows: AnyArray, names: tuple[str, ...]) -> None:
        self.names = names
        self.n_rows = len(rows)
        self._rows = rows

    def numbers(
        self, names: Sequence[str] | None = None, *, lenient: Collection[str] = ()
    ) -> Floats:
        rows = self._rows
        wanted = self.names if names is None else tuple(names)
        if wanted != self.names:
            places = {name: place for place, name in enumerate(self.names)}
            rows = rows[:, [places[name] for name in wanted]]
        if rows.dtype.kind not in "biuf":
            columns = [
                as_numbers(self.column(name), name, lenient=name in lenient) for name in wanted
            ]
            return np.ascontiguousarray(np.column_stack(columns))
        with np.errstate(over="ignore"):  # a warning would tell that a long double is too large
            floats = np.ascontiguousarray(rows, dtype=np.float64)
        if np.may_share_memory(floats, self._rows):
            floats = floats.view()
            floats.flags.writeable = False
        return floats

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
