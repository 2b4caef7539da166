"""What one run released, taken apart into named leaves.

Any output becomes a flat dictionary from a path such as ``cluster_centers_`` or ``output[0]`` to a
leaf of one of five kinds: numbers, a text, a fact about structure (a length, the keys of a
dictionary, a type), a raised exception, or what a feature function of the user returned.
:class:`Outputs` holds the leaves of many runs by path; ``features`` turns it into numbers.
"""

from __future__ import annotations

import dataclasses
import numbers
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

MAX_ELEMENTS = 256
"""Elements of a list of mixed content that are examined one by one; its length always is."""

MAX_DEPTH = 8
"""How deep nested outputs are followed."""


class Structure(NamedTuple):
    """A fact about the form of an output, such as its keys or its length."""

    fact: str


class RaisedError(NamedTuple):
    """An exception that a run ended with; it is an output like any other."""

    type_name: str
    message: str


class CustomFeature(np.ndarray):
    """Numbers that a feature function of the user computed from an output."""


Leaf = NDArray[Any] | str | Structure | RaisedError
Leaves = dict[str, Leaf]
Column = NDArray[Any] | list[Any]
"""The leaves of one path and kind over all runs: an array whose first axis is the run when all are
arrays of one form, else a list with None for a run without the leaf."""
_Above = tuple[int, ...]
"""Identities of the enclosing objects, so that one that contains itself is noticed."""
_Walk = Iterator[tuple[str, Leaf]]


def list_leaves(output: object, path: str = "output") -> Leaves:
    """Take an output apart.

    ``output``: numbers, arrays, texts, frames, sparse matrices, sequences, mappings, dataclasses,
    fitted estimators (see :func:`fitted_attributes`) and objects with public attributes, nested.
    """
    return dict(_walk(output, path, ()))


def fitted_attributes(estimator: object) -> dict[str, Any]:
    """Return what a fitted estimator releases: its attributes ``name_`` that are not methods."""
    released = {}
    with warnings.catch_warnings():
        # A deprecated attribute is released as well.
        warnings.simplefilter("ignore")
        for name in dir(estimator):
            if name.endswith("_") and not name.startswith("_"):
                value = getattr(estimator, name, None)
                if value is not None and not callable(value):
                    released[name] = value
    return released


def _walk(value: Any, path: str, above: _Above) -> _Walk:
    if isinstance(value, (numbers.Number, np.generic)):
        yield from _number(value, path)
    elif value is None or isinstance(value, (str, bytes)):
        yield path, str(value) if isinstance(value, str) else repr(value)
    elif id(value) in above or len(above) == MAX_DEPTH:
        yield f"{path}.type", Structure(type(value).__name__)
    elif isinstance(value, np.ndarray):
        yield from _array(value, path, (*above, id(value)))
    else:
        yield from _container(value, path, (*above, id(value)))


def _number(value: Any, path: str) -> _Walk:
    array = np.asarray(value)
    if array.dtype.kind == "O":
        # Fractions, decimals and integers beyond 64 bits: a float alone would hide the last digits.
        yield f"{path}.digits", str(value)
        array = np.asarray(_nearest_float(value))
    yield from _array(array, path, above=())


def _nearest_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _array(array: NDArray[Any], path: str, above: _Above) -> _Walk:
    kind = array.dtype.kind
    if kind in "biuf":
        yield path, np.asarray(array)
    elif kind == "c":
        yield path, np.stack([array.real, array.imag], axis=-1)
    elif kind in "mM":
        yield path, array.astype(np.int64)
    elif array.ndim == 0:
        yield path, repr(array.item())
    else:
        yield f"{path}.shape", Structure(str(array.shape))
        yield from _elements(array.ravel().tolist(), path, above)


def _container(value: Any, path: str, above: _Above) -> _Walk:
    if sparse.issparse(value):
        yield from _sparse(value, path, above)
    elif hasattr(value, "to_numpy"):
        yield from _frame(value, path, above)
    elif isinstance(value, Mapping):
        yield f"{path}.keys", Structure(repr(list(value)))
        yield from _members(value, path, above, "{}[{!r}]")
    elif isinstance(value, (Sequence, Set)):
        elements = sorted(value, key=repr) if isinstance(value, Set) else list(value)
        yield f"{path}.length", Structure(f"{type(value).__name__} of {len(elements)}")
        yield from _elements(elements, path, above)
    else:
        yield from _object(value, path, above)


def _sparse(value: Any, path: str, above: _Above) -> _Walk:
    """Walk the stored entries: their positions may reveal more than their values."""
    entries = value.tocoo()
    axes = {f"axis {axis}": positions for axis, positions in enumerate(entries.coords)}
    parts = {**axes, "data": entries.data}
    yield f"{path}.shape", Structure(str(value.shape))
    yield from _members(parts, path, above, "{}.{}")


def _frame(value: Any, path: str, above: _Above) -> _Walk:
    """Walk a data frame or series by column; its row labels may reveal which rows it came from."""
    if hasattr(value, "index") and not callable(value.index):
        yield from _array(np.asarray(value.index), f"{path}.index", above)
    if hasattr(value, "columns"):
        columns = {str(name): value[name].to_numpy() for name in value.columns}
        yield f"{path}.columns", Structure(repr(list(columns)))
        yield from _members(columns, path, above, "{}[{!r}]")
    else:
        yield from _array(np.asarray(value.to_numpy()), path, above)


def _object(value: Any, path: str, above: _Above) -> _Walk:
    attributes = _attributes(value)
    yield f"{path}.type", Structure(type(value).__name__)
    yield from _members(attributes, path, above, "{}.{}")
    # The representation that every object inherits shows an address, which says nothing.
    if not attributes and repr(value) != object.__repr__(value):
        yield path, repr(value)


def _members(members: Mapping[Any, Any], path: str, above: _Above, style: str) -> _Walk:
    for name, member in members.items():
        yield from _walk(member, style.format(path, name), above)


def _elements(elements: list[Any], path: str, above: _Above) -> _Walk:
    if elements and all(isinstance(element, (bool, int, float, np.number)) for element in elements):
        array = np.asarray(elements)
        if array.dtype.kind in "biuf":
            yield path, array
            return
    for position, element in enumerate(elements[:MAX_ELEMENTS]):
        yield from _walk(element, f"{path}[{position}]", above)


def _attributes(value: object) -> Mapping[str, Any]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "fit"):
        return fitted_attributes(value)
    public = getattr(value, "__dict__", {})
    return {name: member for name, member in public.items() if not name.startswith("_")}


@dataclasses.dataclass(frozen=True)
class Outputs:
    """The outputs of many independent runs."""

    runs: int  # how many runs there are
    # A path can have leaves of different kinds in different runs.
    columns: dict[tuple[str, type], Column]

    @classmethod
    def from_leaves(cls, runs: Sequence[Leaves]) -> Outputs:
        """Gather the leaves of each run by path."""
        columns: dict[tuple[str, type], list[Any]] = {}
        for position, leaves in enumerate(runs):
            for path, leaf in leaves.items():
                column = columns.setdefault((path, type(leaf)), [None] * len(runs))
                column[position] = leaf
        return cls(len(runs), {key: _compact(column) for key, column in columns.items()})

    @classmethod
    def concatenate(cls, parts: Iterable[Outputs]) -> Outputs:
        """Concatenate the runs of several parts."""
        parts = list(parts)
        keys = dict.fromkeys(key for part in parts for key in part.columns)
        columns = {}
        for key in keys:
            pieces = [part.columns.get(key, [None] * part.runs) for part in parts]
            columns[key] = _concatenate(pieces)
        return cls(sum(part.runs for part in parts), columns)


def _compact(column: list[Any]) -> Column:
    first = column[0]
    if isinstance(first, np.ndarray) and all(
        leaf is not None and leaf.shape == first.shape and leaf.dtype == first.dtype
        for leaf in column
    ):
        return np.stack(column)
    return column


def _concatenate(pieces: list[Column]) -> Column:
    arrays = [piece for piece in pieces if isinstance(piece, np.ndarray)]
    forms = {(array.shape[1:], array.dtype) for array in arrays}
    if len(arrays) == len(pieces) and len(forms) == 1:
        return np.concatenate(arrays)
    return [leaf for piece in pieces for leaf in piece]
