"""Outputs of many runs as a matrix of numbers, one row for each run.

A :class:`FeatureMap` is built from the first split of the runs alone (which paths exist, how wide
arrays are, which texts are common) and then turns the output of any run into the same columns, so
that every event over them is fixed before the runs that confirm it are made. Four groups of
features can be chosen: the values themselves, shapes, exceptions, and the low bits of numbers,
where the rounding of floating-point noise leaves its traces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privclust._typing import Floats
from privclust.audit.outputs import Column, CustomFeature, Outputs, RaisedError, Structure

GROUPS = ("exceptions", "shapes", "values", "low_bits")
"""The groups of features. Among equally good events, that of the first group is named."""

MAX_VALUES = 128
"""Elements of one array that get columns of their own; summaries always cover the whole array."""

MAX_CODES = 64
"""Texts of one path that get codes of their own; rarer ones share one."""

LARGEST = 1e300
"""Infinities become this, so that sums and midpoints stay finite."""

ZERO_LAST_BIT, NEGATIVE_ZERO_LAST_BIT = 1100, 1101
"""Zero is a multiple of every power of two that a float can reach; its sign is a feature too."""


class Feature(NamedTuple):
    """The meaning of one column."""

    name: str  # in words
    # What the codes 0, 1, ... mean; empty if the column has numbers.
    labels: tuple[str, ...] = ()


_Columns = Iterator[tuple[Feature, Floats]]


class FeatureMap:
    """The columns that describe outputs.

    ``outputs``: the runs, of both data sets, that define the columns. Columns that are constant in
    them are left out. ``groups``: the names from ``GROUPS`` that are wanted.
    """

    def __init__(self, outputs: Outputs, groups: frozenset[str]) -> None:
        self._encoders = {key: _encoder(*key, column) for key, column in outputs.columns.items()}
        self._groups = groups
        columns = self._all_columns(outputs)
        self._kept = [position for position, (_, column) in enumerate(columns) if _varies(column)]
        self.features = [columns[position][0] for position in self._kept]

    def matrix(self, outputs: Outputs) -> Floats:
        """Return an array of shape (runs, columns); what a run does not have is NaN."""
        columns = self._all_columns(outputs)
        kept = [columns[position][1] for position in self._kept]
        return np.column_stack(kept) if kept else np.empty((outputs.runs, 0))

    def _all_columns(self, outputs: Outputs) -> list[tuple[Feature, Floats]]:
        columns: list[tuple[Feature, Floats]] = []
        for group in GROUPS:
            for key, encoder in self._encoders.items():
                if group in self._groups or (group == "values" and key[1] is CustomFeature):
                    column = outputs.columns.get(key, [None] * outputs.runs)
                    columns.extend(encoder.columns(group, column))
        return columns


def low_bits(values: Floats, precision: int = 53) -> dict[str, Floats]:
    """Describe how finely each number is resolved.

    ``precision``: bits in the significand of the type the numbers come from; 24 for single
    precision. ``"last bit"``: the largest e such that the number is a multiple of 2^e. Integers
    have e >= 0; a sum that was rounded at the size of its larger term has e no smaller than the
    last place of that term, which is what betrays floating-point noise. ``"exponent"``: of the
    number in binary. ``"trailing zeros"`` and ``"low four bits"``: of its significand. NaN where
    the number is not finite.
    """
    finite = np.isfinite(values)
    fraction, exponent = np.frexp(np.where(finite, np.abs(values), 0.0))
    significand = np.ldexp(fraction, precision).astype(np.int64)
    zero = significand == 0
    lowest = np.where(zero, 1, significand & -significand)
    trailing = np.where(zero, precision, np.frexp(lowest.astype(np.float64))[1] - 1)
    zero_last_bit = np.where(np.signbit(values), NEGATIVE_ZERO_LAST_BIT, ZERO_LAST_BIT)
    described = {
        "last bit": np.where(zero, zero_last_bit, exponent - precision + trailing),
        "exponent": np.where(zero, -ZERO_LAST_BIT, exponent),
        "trailing zeros": trailing,
        "low four bits": significand & 15,
    }
    return {name: np.where(finite, bits, np.nan) for name, bits in described.items()}


def _varies(column: Floats) -> bool:
    # NaNs are equal here: a value that is always missing reveals nothing.
    return not np.array_equal(column, np.full_like(column, column[0]), equal_nan=True)


def _encoder(path: str, kind: type, column: Column) -> _CodesEncoder | _NumbersEncoder:
    if issubclass(kind, np.ndarray):
        return _NumbersEncoder(path, column)
    if kind is RaisedError:
        codes = {
            "exception type": _Codes(column, lambda leaf: leaf.type_name),
            "exception message": _Codes(column, lambda leaf: leaf.message),
        }
        return _CodesEncoder("exceptions", codes)
    if kind is Structure:
        return _CodesEncoder("shapes", {path: _Codes(column, lambda leaf: leaf.fact)})
    return _CodesEncoder("values", {f"text of {path}": _Codes(column, str)})


class _Codes:
    """Numbers for the common keys of a column: 1 for the most common, 0 for those not listed."""

    def __init__(self, column: Column, key: Callable[[Any], Hashable]) -> None:
        counts = Counter(key(leaf) for leaf in column if leaf is not None)
        common = [value for value, _ in counts.most_common(MAX_CODES)]
        self.labels = ("any other", *map(str, common))
        self._codes = {value: code for code, value in enumerate(common, start=1)}
        self._key = key

    def __call__(self, column: Column) -> Floats:
        codes = [np.nan if leaf is None else self._codes.get(self._key(leaf), 0) for leaf in column]
        return np.array(codes, dtype=np.float64)


@dataclass(frozen=True)
class _CodesEncoder:
    """Columns of codes, all in one group."""

    group: str
    codes: dict[str, _Codes]

    def columns(self, group: str, column: Column) -> _Columns:
        if group == self.group:
            for name, codes in self.codes.items():
                yield Feature(name, codes.labels), codes(column)


class _NumbersEncoder:
    """Columns for the numbers at one path: elements, summaries, size and form, low bits."""

    def __init__(self, path: str, column: Column) -> None:
        arrays = [leaf for leaf in _examples(column) if leaf is not None]
        self._path = path
        self._width = min(max(array.size for array in arrays), MAX_VALUES)
        self._is_scalar = all(array.ndim == 0 for array in arrays)
        self._is_integer = all(array.dtype.kind in "biu" for array in arrays)
        self._precision = max(_precision(array.dtype) for array in arrays)
        self._forms = _Codes(_examples(column), _leaf_kind)

    def columns(self, group: str, column: Column) -> _Columns:
        if group == "values":
            numbers = _pad_to_matrix(column)
            yield from self._elements(np.clip(numbers, -LARGEST, LARGEST))
            if not self._is_scalar:
                yield from self._summaries(numbers)
        elif group == "shapes":
            forms = self._forms(_examples(column))
            feature = Feature(f"form of {self._path}", self._forms.labels)
            yield feature, np.broadcast_to(forms, len(column))
        elif group == "low_bits":
            yield from self._low_bits(_pad_to_matrix(column))

    def _elements(self, numbers: Floats) -> _Columns:
        for position in range(self._width):
            name = self._path if self._is_scalar else f"{self._path}[{position}]"
            exists = position < numbers.shape[1]
            entries = numbers[:, position] if exists else np.full(len(numbers), np.nan)
            yield Feature(name), entries

    def _summaries(self, numbers: Floats) -> _Columns:
        bounded = np.clip(numbers, -LARGEST, LARGEST)
        summaries = {
            "sum of": np.nansum(bounded, axis=1),
            "minimum of": np.fmin.reduce(bounded, axis=1, initial=np.nan),
            "maximum of": np.fmax.reduce(bounded, axis=1, initial=np.nan),
            "zeros in": np.sum(numbers == 0, axis=1, dtype=np.float64),
            "finite numbers in": np.sum(np.isfinite(numbers), axis=1, dtype=np.float64),
        }
        for description, summary in summaries.items():
            yield Feature(f"{description} {self._path}"), summary

    def _low_bits(self, numbers: Floats) -> _Columns:
        numbers = numbers[:, : self._width]
        described = low_bits(numbers, self._precision)
        if self._is_integer:
            described = {"last bit": described["last bit"], "low four bits": np.mod(numbers, 16)}
        for description, bits in described.items():
            for feature, column in self._elements(bits):
                yield Feature(f"{description} of {feature.name}"), column
        if not self._is_scalar:
            finest = np.fmin.reduce(described["last bit"], axis=1, initial=np.nan)
            yield Feature(f"finest last bit of {self._path}"), finest


def _examples(column: Column) -> Column:
    """Return one leaf for all when the column is an array, in which all leaves have one form."""
    return [np.asarray(column[0])] if isinstance(column, np.ndarray) else column


def _leaf_kind(array: NDArray[Any]) -> str:
    return f"{array.dtype.name}{list(array.shape) if array.ndim else ''}"


def _precision(dtype: np.dtype[Any]) -> int:
    return min(np.finfo(dtype).nmant + 1, 53) if dtype.kind == "f" else 53


def _pad_to_matrix(column: Column) -> Floats:
    """Return an array of shape (runs, elements of the largest leaf), filled up with NaN."""
    if isinstance(column, np.ndarray):
        return column.reshape(len(column), -1).astype(np.float64)
    flat = [np.empty(0) if leaf is None else np.ravel(leaf) for leaf in column]
    padded = np.full((len(flat), max(map(len, flat), default=0)), np.nan)
    for row, numbers in zip(padded, flat, strict=True):
        row[: len(numbers)] = numbers
    return padded
