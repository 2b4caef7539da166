"""The door for matrices of counts: they come in here, and only noisy answers go out.

A matrix is kept sparse, as exact int64 counts. Opening looks at shapes and types only, so it may
precede the charge to a ledger; entries are read and checked afterwards. Errors never quote one.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import mmread

from privclust.data.door import noise_from
from privclust.data.matrix.view import MatrixView, ProfilesView
from privclust.data.reading import open_rows
from privclust.data.reading.base import one_sentence
from privclust.exceptions import DataError, MixedTypesError
from privclust.privacy.meter import Meter
from privclust.privacy.noise import NoiseSource
from privclust.unit import MatrixCount, MatrixEntry, MatrixRow, MatrixUnit

__all__ = ["CountMatrix"]

Floats = NDArray[np.float64]
Shape = tuple[int, int]

# Sums of fewer than 2^31 entries of this size stay within int64.
_LARGEST_COUNT = 2**31 - 1
_TRIPLES = ("row", "column", "count")


class CountMatrix:
    """A matrix of non-negative counts, opened under a privacy unit.

    Parameters
    ----------
    data : sparse matrix, array, data frame or path
        A SciPy sparse matrix of any format; a dense array or nested list; the path of an ``.npz``
        file (as SciPy saves one, or with the arrays data, indices, indptr and shape) or of an
        ``.mtx`` file. With ``shape``, also the path of a CSV or Parquet file, or a data frame,
        with the columns row, column and count, numbered from zero.
    unit : MatrixUnit
        The privacy unit.
    shape : tuple of int or None
        The public shape, which triples need, because it is never read off the entries.
    noise : NoiseSource or None
        In the place of the system's noise; for tests.
    """

    def __init__(
        self,
        data: Any,
        *,
        unit: MatrixUnit,
        shape: Shape | None = None,
        noise: NoiseSource | None = None,
    ) -> None:
        self.unit = unit
        self._given_noise = noise
        self._data = data
        self._shape = _checked_shape(shape)
        if _is_path(data) and Path(data).suffix.lower() not in (".npz", ".mtx"):
            self._need_shape()
        elif not _is_path(data) and self._shape is None:
            _check_two_dimensions(data)

    @cached_property
    def _counts(self) -> Any:
        counts = _as_counts(self._read(), self.unit)
        if self._shape is not None and counts.shape[1] != self._shape[1]:
            raise DataError(
                f"The matrix has {counts.shape[1]} columns where {self._shape[1]} were declared; "
                "correct the shape."
            )
        return counts

    @property
    def known_shape(self) -> Shape | None:
        """The shape, as far as it is known before an entry is read."""
        if self._shape is not None:
            return self._shape
        rows, columns = getattr(self._data, "shape", (0, 0))
        return (int(rows), int(columns)) if rows else None

    @property
    def names(self) -> list[str] | None:
        """Names of the columns, of a data frame with a column for each of the matrix."""
        columns = getattr(self._data, "columns", None) if self._shape is None else None
        names = [] if columns is None else list(columns)
        return names if names and all(isinstance(name, str) for name in names) else None

    @property
    def n_columns(self) -> int:
        """Number of columns, which is public."""
        return int(self._counts.shape[1])

    def private(
        self, meter: Meter, seed: np.random.SeedSequence | None
    ) -> MatrixView | ProfilesView:
        """Return the matrix behind noise; with a seed it is reproducible and NOT PRIVATE."""
        noise = noise_from(seed, self._given_noise)
        if isinstance(self.unit, MatrixRow):
            return ProfilesView(self._counts, meter, noise)
        return MatrixView(self._counts, self.unit, meter, noise)

    # For the caller who holds the rows: answers about single rows, which are no release.
    def labels(self, column_weights: Floats) -> NDArray[np.intp]:
        """Return the group of each row whose weights of the columns speak most for it.

        Where whole rows are protected, the square roots of the entries are weighed.
        """
        if len(column_weights) != self.n_columns:
            raise DataError(
                f"The matrix has {self.n_columns} columns where {len(column_weights)} were "
                "fitted; give a matrix with the same columns."
            )
        entries = self._counts
        if isinstance(self.unit, MatrixRow):
            entries = entries.astype(np.float64)
            entries.data = np.sqrt(entries.data)
        step = float(self.unit.step) if isinstance(self.unit, MatrixEntry) else 1.0
        return np.asarray((entries @ (column_weights * step)).argmax(axis=1))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def _read(self) -> Any:
        if sparse.issparse(self._data):
            return self._data
        if _is_path(self._data):
            suffix = Path(self._data).suffix.lower()
            if suffix == ".npz":
                return _read_npz(Path(self._data))
            if suffix == ".mtx":
                return _read_market(Path(self._data))
            return self._read_triples()
        if self._shape is not None and not isinstance(self._data, np.ndarray):
            return self._read_triples()
        _check_two_dimensions(self._data)
        return _dense_array(self._data)

    def _read_triples(self) -> Any:
        shape = self._need_shape()
        with open_rows(self._data, _TRIPLES) as source:
            parts = [block.numbers() for block in source.blocks()]
        triples = np.concatenate(parts) if parts else np.empty((0, 3))
        places = triples[:, :2]
        inside = np.isfinite(places).all() and (places == np.rint(places)).all()
        if not inside or (places < 0).any() or (places >= shape).any():
            raise DataError(
                "A row or column number is not a whole number within the declared shape; number "
                "rows and columns from 0 and declare the whole shape."
            )
        rows, columns = places.astype(np.int64).T
        return sparse.coo_array((triples[:, 2], (rows, columns)), shape=shape)

    def _need_shape(self) -> Shape:
        if self._shape is None:
            raise DataError(
                "Triples (row, column, count) need the public shape of the matrix, which is never "
                "read off the entries; pass shape=(rows, columns)."
            )
        return self._shape


def _is_path(data: object) -> bool:
    return isinstance(data, (str, os.PathLike))


def _checked_shape(shape: Any) -> Shape | None:
    if shape is None:
        return None
    try:
        n_rows, n_columns = (int(length) for length in shape)
    except (TypeError, ValueError):
        raise DataError("shape must be a pair of whole numbers (rows, columns).") from None
    if n_rows < 1 or n_columns < 1:
        raise DataError("shape must have at least one row and one column.")
    return n_rows, n_columns


def _check_two_dimensions(data: Any) -> None:
    # scikit-learn's words, here and below, where it has some.
    with one_sentence("The rows differ in length; give every row the same columns.", ValueError):
        dimensions = np.ndim(data)
    if dimensions != 2:
        raise DataError(
            "Reshape your data: a matrix of counts has rows and columns; give a two-dimensional "
            "array, a sparse matrix, or triples with shape=(rows, columns)."
        )


def _dense_array(data: Any) -> Any:
    # What lies under a mask is missing, and is refused as such.
    masked = isinstance(data, np.ma.MaskedArray) and data.dtype.kind in "biuf"
    dense = np.ma.filled(data.astype(np.float64), np.nan) if masked else np.asarray(data)
    if dense.dtype.kind == "O":
        message = (
            "The matrix holds something else than numbers, but every argument must be a number or "
            "a string that reads as a number; give counts."
        )
        with one_sentence(message, TypeError, ValueError, error=MixedTypesError):
            dense = dense.astype(np.float64)
    return dense


def _read_npz(path: Path) -> Any:
    try:
        with np.load(path, allow_pickle=False) as stored:
            if "format" in stored:
                return sparse.load_npz(path)
            parts = stored["data"], stored["indices"], stored["indptr"]
            n_rows, n_columns = (int(length) for length in stored["shape"])
            return sparse.csr_array(parts, shape=(n_rows, n_columns))
    except FileNotFoundError:
        raise DataError(f"There is no file '{path}'; correct the path.") from None
    except (OSError, KeyError, ValueError, TypeError):
        raise DataError(
            f"'{path}' holds no sparse matrix; save one with scipy.sparse.save_npz."
        ) from None


def _read_market(path: Path) -> Any:
    try:
        return mmread(path, spmatrix=False)
    except FileNotFoundError:
        raise DataError(f"There is no file '{path}'; correct the path.") from None
    except (OSError, ValueError, TypeError, OverflowError):
        raise DataError(f"'{path}' holds no matrix in Matrix Market format; write one.") from None


def _as_counts(matrix: Any, unit: MatrixUnit) -> Any:
    """Return the matrix in compressed rows of int64, equal places added up and then capped."""
    if matrix.dtype.kind not in "biuf":
        complex_ = " (Complex data not supported)" if matrix.dtype.kind == "c" else ""
        raise DataError(
            f"The matrix holds something else than real numbers{complex_}; give counts."
        )
    # Wide numbers first: equal places are added up, and a sum of small integers could overflow.
    wide = np.int64 if matrix.dtype.kind in "bi" or matrix.dtype.itemsize < 8 else np.float64
    wide = np.float64 if matrix.dtype.kind == "f" else wide
    matrix = matrix.astype(wide, copy=False)
    # Entries are checked before they are added up, so that none can hide behind another.
    stored = matrix.data if getattr(matrix, "format", "") in ("coo", "csc", "csr") else None
    rows = sparse.csr_array(matrix)
    _check_shape(rows.shape, unit)
    whole = not isinstance(unit, MatrixEntry) or unit.step == 1
    _check_values(rows.data if stored is None else stored, whole=whole)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    counts = _levels_of(rows.data, unit)
    if isinstance(unit, (MatrixCount, MatrixRow)) and counts.max(initial=0) > _LARGEST_COUNT:
        raise DataError(
            f"An entry of the matrix is above {_LARGEST_COUNT}; count in larger pieces or use the "
            "unit MatrixEntry(cap)."
        )
    return sparse.csr_array((counts, rows.indices, rows.indptr), shape=rows.shape)


def _check_shape(shape: Shape, unit: MatrixUnit) -> None:
    if shape[1] == 0:
        raise DataError(
            "The matrix has no columns, 0 feature(s) (shape=(, 0)) while a minimum of 1 is "
            "required; give at least one."
        )
    if shape[0] == 0 and not isinstance(unit, MatrixRow):
        raise DataError("The matrix has no rows; give at least one.")


def _check_values(values: NDArray[Any], *, whole: bool) -> None:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise DataError("The matrix has missing or infinite entries; replace them by counts.")
    if values.min(initial=0) < 0:
        raise DataError("Negative values in data are no counts; replace negative entries.")
    if whole and values.dtype.kind == "f" and (values != np.rint(values)).any():
        raise DataError(
            "The matrix has fractional entries; give whole counts, or declare "
            "MatrixEntry(cap, step) as the unit to round them."
        )


def _levels_of(values: NDArray[Any], unit: MatrixUnit) -> NDArray[np.int64]:
    """Return entries in steps of the unit, at most its cap."""
    if isinstance(unit, MatrixEntry):
        steps = values if unit.step == 1 else np.rint(values / float(unit.step))
        levels: NDArray[np.int64] = np.minimum(steps, unit.levels).astype(np.int64)
        return levels
    # Larger floats would not fit; the caller refuses what is above the largest count anyway.
    counts: NDArray[np.int64] = values
    if values.dtype != np.int64:
        counts = np.minimum(values, _LARGEST_COUNT + 1).astype(np.int64)
    return counts
