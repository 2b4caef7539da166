"""Matrices of counts in any form become compressed rows of exact int64 counts.

Opening reads only shapes and types, so it may precede the charge to a ledger: a missing file, or a
shape that does not fit into memory, is refused before. Entries are read afterwards.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from privclust._typing import Floats
from privclust.data.columns.counts import as_counts, check_has_columns, check_number_type
from privclust.data.columns.refusals import numbers_of
from privclust.data.rows import Block, RowSource
from privclust.exceptions import DataError, MixedTypesError, NoRowsError, as_one_sentence
from privclust.reading.declared import check_numbers
from privclust.reading.locations import FileLocations, resolve_locations
from privclust.reading.matrix_files import (
    check_memory,
    market_shape,
    npz_shape,
    read_market,
    read_npz,
)
from privclust.reading.opening import open_rows
from privclust.unit.matrix import MatrixUnit

Shape = tuple[int, int]

_TRIPLES = ("row", "column", "count")
_WITHOUT_NAME = ("",)  # as pandas writes the labels of rows


class MatrixReader:
    """A matrix of counts, opened; see :class:`privclust.data.matrix.view.CountMatrix`."""

    def __init__(self, data: Any, shape: Any = None) -> None:
        self.shape = _parse_shape(shape)
        self._data = data
        self._path = Path(data) if isinstance(data, (str, os.PathLike)) else None
        self._suffix = "" if self._path is None else self._path.suffix.lower()
        self._triples: RowSource | None = None
        self._wide: RowSource | None = None
        if self._path is not None and self._suffix in (".npz", ".mtx"):
            self._check_file(self._path)
        elif sparse.issparse(data) or isinstance(data, np.ndarray):
            self._check_object()
        elif self._path is not None and not self._is_of_triples(data):
            _refuse_workbooks(resolve_locations(data))
            self._wide = open_rows(data, ignore=_WITHOUT_NAME)
            self._check_columns((0, len(self._wide.selection.names)))
            self._check_types(resolve_locations(data), self._wide.selection.names)
        elif self._path is not None or self.shape is not None:
            self._require_shape()
            data = resolve_locations(data)
            self._triples = open_rows(data, _TRIPLES)
            self._check_types(data, _TRIPLES)
        else:
            _check_two_dimensions(data)
            self._check_types(data, list(getattr(data, "columns", ())))

    def counts(self, unit: MatrixUnit) -> Any:
        """Read the entries as counts of the unit."""
        counts = as_counts(self._read(unit), unit)
        self._check_columns(counts.shape)
        return counts

    @property
    def triples(self) -> RowSource | None:
        """The triples, if the matrix is given as such."""
        return self._triples

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the columns of a wide table in a file."""
        return None if self._wide is None else tuple(self._wide.selection.names)

    def close(self) -> None:
        """Free the source."""
        for source in (self._triples, self._wide):
            if source is not None:
                source.close()

    def _is_of_triples(self, data: Any) -> bool:
        """Return whether the columns of a file are those of triples; no row is read."""
        with open_rows(data, ignore=_WITHOUT_NAME) as source:
            return {*source.selection.names} >= {*_TRIPLES}

    def _check_object(self) -> None:
        if not sparse.issparse(self._data):
            _check_two_dimensions(self._data)
        if self._data.dtype.kind != "O":  # objects may be numbers
            check_number_type(self._data)
        check_has_columns(self._data.shape)
        check_memory(self._data.shape)
        self._check_columns(self._data.shape)

    def _check_types(self, data: Any, names: Sequence[Any]) -> None:
        """Refuse columns that cannot be numbers, as far as their types are known."""
        try:
            check_numbers(data, names)
        except DataError:
            self.close()
            raise

    def _check_columns(self, shape: tuple[int, ...]) -> None:
        if self.shape is not None and shape[1] != self.shape[1]:
            raise DataError(
                f"The matrix has {shape[1]} columns where {self.shape[1]} were declared; "
                "correct the shape."
            )

    def _check_file(self, path: Path) -> None:
        if not path.is_file():
            raise DataError(f"There is no file '{path}'; correct the path.")
        shape = npz_shape(path) if self._suffix == ".npz" else market_shape(path)
        check_memory(shape)
        self._check_columns(shape)

    def _read(self, unit: MatrixUnit) -> Any:
        if sparse.issparse(self._data):
            return self._data
        if self._path is not None and self._suffix == ".npz":
            return read_npz(self._path)
        if self._path is not None and self._suffix == ".mtx":
            return read_market(self._path)
        if self._triples is not None:
            return self._read_triples(self._triples, unit)
        if self._wide is not None:
            return _read_wide(self._wide, unit)
        return _dense_array(self._data, total=unit.unreadable == "zero")

    def _read_triples(self, source: RowSource, unit: MatrixUnit) -> Any:
        shape = self._require_shape()
        try:
            triples = np.concatenate([triples_of(block, unit) for block in source.blocks()])
        except NoRowsError:  # the matrix of zeros
            triples = np.empty((0, 3))
        return matrix_of_triples(triples, shape)

    def _require_shape(self) -> Shape:
        if self.shape is None:
            raise DataError(
                "Triples (row, column, count) need the public shape of the matrix, which is "
                "never taken from the entries; pass shape=(rows, columns) (--shape)."
            )
        return self.shape


def _refuse_workbooks(places: FileLocations) -> None:
    """Refuse a wide table in a workbook, where a row without a value is no record.

    An entry that becomes missing, and so counts as 0, would make the matrix shorter by a row; but
    its shape is public.
    """
    if any(place.format == "excel" for place in places):
        raise DataError(
            "A workbook keeps no row without a value, so it does not say how many rows a matrix "
            "has; save the sheet as CSV."
        )


def _read_wide(source: RowSource, unit: MatrixUnit) -> Any:
    """Return a table with a row for each line of a file, and a column for each name."""
    names = source.selection.names
    lenient = names if unit.unreadable == "zero" else ()
    try:
        parts = [numbers_of(block, names, {}, lenient) for block in source.blocks()]
    except NoRowsError:
        parts = []
    except DataError as error:  # whose cure is that of declared columns
        wrong = str(error).split(";")[0].removesuffix(" where numbers are declared")
        raise DataError(
            f"{wrong}, but a matrix has counts alone; if it names the rows, empty its name in the "
            "header, for a column without a name is not read, or else take it out of the file."
        ) from None
    return sparse.vstack([sparse.csr_array((0, len(names))), *map(sparse.csr_array, parts)])


def triples_of(block: Block, unit: MatrixUnit) -> Floats:
    """Return the triples of a block; a count that is not a number is refused, or NaN."""
    return numbers_of(block, block.names, {}, ("count",) if unit.unreadable == "zero" else ())


def matrix_of_triples(triples: Floats, shape: Shape) -> Any:
    """Return the matrix of rows, columns and counts, which must be whole and within the shape."""
    places = triples[:, :2]
    inside = np.isfinite(places).all() and (places == np.rint(places)).all()
    if not inside or (places < 0).any() or (places >= shape).any():
        raise DataError(
            "A row or column number is not a whole number within the declared shape; number "
            "rows and columns from 0 and declare the whole shape."
        )
    rows, columns = places.astype(np.int64).T
    return sparse.coo_array((triples[:, 2], (rows, columns)), shape=shape)


def _parse_shape(shape: Any) -> Shape | None:
    if shape is None:
        return None
    with as_one_sentence(
        "shape must be a pair of whole numbers (rows, columns).",
        TypeError,
        ValueError,
        OverflowError,
    ):
        n_rows, n_columns = (int(length) for length in shape)
    if n_rows < 1 or n_columns < 1:
        raise DataError("shape must have at least one row and one column.")
    check_memory((n_rows, n_columns))
    return n_rows, n_columns


def _check_two_dimensions(data: Any) -> None:
    # scikit-learn's words, here and below, where it has some.
    with as_one_sentence("The rows differ in length; give every row the same columns.", ValueError):
        dimensions = np.ndim(data)
    if dimensions != 2:
        raise DataError(
            "Reshape your data: a matrix of counts has rows and columns; give a two-dimensional "
            "array, a sparse matrix, or triples with shape=(rows, columns)."
        )


def _dense_array(data: Any, *, total: bool) -> Any:
    """Return a matrix as an array of numbers; with ``total``, anything else is missing."""
    if isinstance(data, np.ma.MaskedArray):  # masked values are missing
        with np.errstate(over="ignore"):
            number = np.float64 if data.dtype.kind in "biuf" else object
            data = np.ma.filled(data.astype(number), np.nan)
    # The type of a list depends on all of its values, so it is read value by value.
    listed = total and not hasattr(data, "dtype") and not hasattr(data, "columns")
    dense = np.asarray(data, dtype=object if listed else None)
    if dense.dtype.kind == "O":
        message = (
            "The matrix holds something other than numbers, but every argument must be a number or "
            "a string that reads as a number; give counts."
        )
        with as_one_sentence(message, Exception, error=MixedTypesError):
            dense = _each_or_nan(dense) if total else dense.astype(np.float64)
    return dense


def _each_or_nan(objects: NDArray[Any]) -> Floats:
    """Return objects as numbers, each by itself; anything else is missing."""

    def number(value: Any) -> float:
        try:
            return float(value)
        except Exception:  # whatever an object does, it is not a number
            return math.nan

    return np.array([number(value) for value in objects.flat]).reshape(objects.shape)
