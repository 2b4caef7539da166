"""Entries of a matrix as exact int64 counts; see :mod:`privclust.data.columns` for tables.

*Every entry is read by itself.* A stored part of it that is not a count follows the rule of the
unit: the matrix is refused, or the part counts as 0. Parts are clipped before they are added up,
and the sum is clipped again, so that no entry leaves its range, whatever is stored and how often.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from privclust.exceptions import DataError, as_one_sentence
from privclust.unit.matrix import MatrixUnit

# Larger counts are clipped to this: sums of fewer than 2^31 such entries stay within int64.
LARGEST_COUNT = 2**31 - 1


def as_counts(matrix: Any, unit: MatrixUnit) -> Any:
    """Return a matrix in compressed rows of int64, duplicates added up, without stored zeros.

    ``unit``: sets the step in which entries count and their cap.

    Notes
    -----
    *Why this is private.* Neighbours differ in one entry (or one row of entries), and each entry
    becomes a count by itself, so the counts of neighbours differ in that place only. An entry is
    the sum s of its parts as they are read, none of them negative: where ``unreadable="zero"``, a
    part p counts as p if it is a whole number of at least 0, else as 0, and one more in p is one
    more or nothing. With a fractional step, parts are added up by size, so that the sum is one of
    the multiset of them and not of their order. With a limit c, min(s, c) = min(Σ min(part, c),
    c), and the right side is what is computed; its sum has fewer than 2^32 terms below 2^31 and
    does not wrap. s → min(s, c) never moves two values further apart, so entries that differ by
    one give counts that differ by one at most, and under ``MatrixEntry(cap)`` all counts lie
    between 0 and the cap. See ``proofs/contribution.md``.
    """
    check_number_type(matrix)
    if sparse.issparse(matrix):
        check_places(matrix)
    parts = sparse.coo_array(matrix)
    _check_shape(parts.shape, unit)
    step = unit.step
    readable = _read(parts.data, unit)
    limit = LARGEST_COUNT if unit.cap is None else unit.cap
    counts = _add_up(_cut_off(readable, limit, step), parts.coords, parts.shape)
    whole = np.minimum(counts.data, limit)
    if step != 1:
        whole = np.rint(whole / float(step))
    counts = sparse.csr_array(
        (whole.astype(np.int64), counts.indices, counts.indptr), shape=counts.shape
    )
    counts.eliminate_zeros()
    return counts


def _read(values: NDArray[Any], unit: MatrixUnit) -> NDArray[Any]:
    """Return stored entries; one that is not a count is refused or 0, as the unit says."""
    readable = values >= 0  # false of NaN
    if values.dtype.kind == "f":
        readable &= np.isfinite(values)
        if unit.step == 1:
            readable &= values == np.rint(values)
    if unit.unreadable == "zero":
        return np.where(readable, values, values.dtype.type(0))
    if not readable.all():
        raise _refusal(values[~readable])
    return values


def _add_up(parts: NDArray[Any], coords: Any, shape: tuple[int, ...]) -> Any:
    """Return compressed rows in which each position occurs once, with the sum of its parts."""
    if parts.dtype.kind == "f":
        order = np.lexsort((parts, *reversed(coords)))
        parts, coords = parts[order], tuple(places[order] for places in coords)
    return sparse.csr_array(sparse.coo_array((parts, coords), shape=shape))


def _cut_off(values: NDArray[Any], limit: float, step: float) -> NDArray[Any]:
    """Return values clipped to the limit: integers, or floats for a fractional step."""
    if step != 1:
        return _cut_off_floats(values, limit)
    if values.dtype.kind == "f":
        return _cut_off_floats(values, limit).astype(np.int64)
    most = min(math.floor(limit), 2**63 - 1)
    if values.dtype == np.uint64:
        return np.asarray(np.minimum(values, np.uint64(most)).astype(np.int64))
    return np.asarray(np.minimum(values.astype(np.int64), most))


def _cut_off_floats(values: NDArray[Any], limit: float) -> NDArray[Any]:
    with np.errstate(over="ignore"):  # a long double that is too large is clipped as well
        return np.asarray(np.minimum(values.astype(np.float64), float(limit)))


def check_number_type(matrix: Any) -> None:
    """Refuse a matrix whose type is not one of real numbers."""
    if matrix.dtype.kind not in "biuf":
        complex_ = " (Complex data not supported)" if matrix.dtype.kind == "c" else ""
        raise DataError(
            f"The matrix holds something other than real numbers{complex_}; give counts."
        )


def _check_shape(shape: tuple[int, ...], unit: MatrixUnit) -> None:
    check_has_columns(shape)
    if shape[0] == 0 and not unit.whole_rows:
        raise DataError("The matrix has no rows; give at least one.")


def check_has_columns(shape: tuple[int, ...]) -> None:
    """Refuse a matrix without a column."""
    if len(shape) != 2:
        raise DataError("A sparse array must have rows and columns; reshape it to 2-d.")
    if shape[1] == 0:
        raise DataError(
            "The matrix has no columns, 0 feature(s) (shape=(, 0)) while a minimum of 1 is "
            "required; give at least one."
        )


def _refusal(wrong: NDArray[Any]) -> DataError:
    """Return the error about entries that are not counts."""
    if not np.isfinite(wrong).all():
        return DataError(
            "The matrix has missing or infinite entries; replace them by counts, or declare "
            'unreadable="zero" for the unit.'
        )
    if (wrong < 0).any():
        return DataError(
            "Negative values in data are not counts; replace negative entries, or declare "
            'unreadable="zero" for the unit.'
        )
    return DataError(
        "The matrix has fractional entries; give whole counts, or declare "
        "MatrixEntry(cap, step) as the unit to round them."
    )


def check_places(matrix: Any) -> None:
    """Refuse a sparse matrix with indices outside its shape: reading one is not safe."""
    wrong = "The sparse matrix has indices outside its shape; build it again from its entries."
    with as_one_sentence(wrong, ValueError, IndexError, TypeError):
        if matrix.format in ("csr", "csc", "bsr"):
            matrix.check_format(full_check=True)
    if matrix.format == "coo":
        for places, length in zip(matrix.coords, matrix.shape, strict=True):
            if len(places) and not 0 <= places.min() <= places.max() < length:
                raise DataError(wrong)
