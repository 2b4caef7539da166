"""Values in memory as Arrow arrays: of the type that they have, or of cells, one by one.

Objects have no type. If all values of a block are of one plain Python type, they are passed on as a
column of that type, which is faster, and otherwise as cells. It makes no difference to any row: the
table reads a cell as it reads a column of its tag's kind.
"""

from __future__ import annotations

import datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from privclust._lazy import loaded_module
from privclust.data.columns.kinds import MOST_DAYS, TypedColumn, to_cells
from privclust.data.rows import Block

_FAILURES = (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError)
_INTEGERS = frozenset({int, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32})
_FLOATS = frozenset({float, np.float64, np.float32, np.float16})
_PLAIN = (
    (frozenset({str, np.str_}), pa.large_string()),
    (frozenset({bool, np.bool_}), pa.bool_()),
    (_INTEGERS, pa.int64()),
    (_FLOATS, pa.float64()),
    (frozenset({datetime.date}), pa.date32()),
    (frozenset({datetime.datetime}), pa.timestamp("us")),
    (frozenset({datetime.timedelta}), pa.duration("us")),
)
# By name, because pandas is optional.
_MISSING_TYPES = ("NoneType", "NAType", "NaTType")
_DATES = frozenset({"Y", "M", "W", "D"})


def array_from(values: Any) -> pa.Array:
    """Return a NumPy or pandas column as an Arrow array; NaN and None become null."""
    dtype = getattr(values, "dtype", None)
    if _holds_objects(dtype):
        return _array_of_objects(np.asarray(values, dtype=object))
    categories = getattr(dtype, "categories", None)
    if _holds_objects(getattr(categories, "dtype", None)):
        codes = values.cat.codes.to_numpy()
        words = _array_of_objects(np.asarray(categories, dtype=object))
        return words.take(pa.array(codes, mask=codes < 0))
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        return _array_of_moments(values)
    try:
        array = pa.array(values, from_pandas=True)
    except _FAILURES:  # of a type that Arrow does not know, or with a value that it does not take
        each = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)
        return to_cells(list(each))
    return _one_chunk(array)


def _holds_objects(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def _array_of_objects(values: npt.NDArray[np.object_]) -> pa.Array:
    try:
        stored = _shared_type(values)
        if stored is not None:
            return _one_chunk(pa.array(values, stored, from_pandas=True))
    except Exception:  # noqa: S110  # a value or its class may do anything; a cell is made of each
        pass
    return to_cells(values)


def _shared_type(values: npt.NDArray[np.object_]) -> pa.DataType | None:
    """Return the Arrow type that is that of every value, if there is one."""
    types = {kind for kind in set(map(type, values)) if kind.__name__ not in _MISSING_TYPES}
    if types & _FLOATS and _floats_are_missing(values):
        types -= _FLOATS
    if not types:
        return pa.null()
    if (pandas := loaded_module("pandas")) and pandas.Timestamp in types:  # which is a datetime
        types = types - {pandas.Timestamp} | {datetime.datetime}
    for shared, stored in _PLAIN:
        if types <= shared and (not pt.is_timestamp(stored) or _are_usual(values)):
            return stored
    return None


def _floats_are_missing(values: npt.NDArray[np.object_]) -> bool:
    """Return whether every float is a NaN, which is how pandas marks a gap among other values."""
    return all(value != value for value in values if type(value) in _FLOATS)


def _are_usual(values: npt.NDArray[np.object_]) -> bool:
    """Return whether Arrow reads times as cells do: of Python's years, whole seconds from UTC."""
    years = (getattr(value, "year", 1) for value in values)
    zones = {id(zone): zone for zone in (getattr(value, "tzinfo", None) for value in values)}
    return not any(year < 1 or year > 9999 for year in years) and all(
        zone is None or type(zone) is ZoneInfo or _is_in_seconds(zone) for zone in zones.values()
    )


def _is_in_seconds(zone: datetime.tzinfo) -> bool:
    return type(zone) is datetime.timezone and not zone.utcoffset(None).microseconds


def _array_of_moments(values: npt.NDArray[Any]) -> pa.Array:
    unit, count = np.datetime_data(values.dtype)
    try:
        if unit in _DATES:
            days = values.astype("datetime64[D]").astype(np.int64)
            near = np.clip(days, -MOST_DAYS, MOST_DAYS).astype(np.int32)
            return pa.array(near, mask=np.isnat(values)).view(pa.date32())
        if count == 1:  # Arrow would take ticks of 25 seconds for seconds
            return pa.array(values, from_pandas=True)
    except _FAILURES:
        pass
    return to_cells(list(values))


def _one_chunk(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    if not isinstance(array, pa.ChunkedArray):
        return array
    if array.num_chunks == 1:
        return array.chunk(0)
    chunks = array.chunks or [pa.nulls(0, array.type)]
    return pa.concat_arrays([_joinable(chunk) for chunk in chunks])


def array_from_stream(values: Any) -> pa.Array:
    """Return a column that speaks Arrow, as polars' do, as an Arrow array."""
    if str(values.dtype) == "Object":  # Arrow does not know them, and older polars crash on it
        return to_cells(values.to_list())
    try:
        return _one_chunk(pa.chunked_array(values))
    except (pa.ArrowException, OSError, TypeError):  # of types that it cannot export
        return to_cells(values.to_list())


def plain(array: pa.Array) -> pa.Array:
    """Return a column without the encodings that the door does not accept."""
    if pt.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    if pt.is_dictionary(array.type):
        words = plain(array.dictionary)
        if pt.is_dictionary(words.type) or pt.is_struct(words.type):
            return words.take(array.indices)
        same = words.type == array.type.value_type
        return array if same else pa.DictionaryArray.from_arrays(array.indices, words)
    return array.cast(pa.large_string()) if pt.is_string_view(array.type) else array


def plain_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch that can be joined with others: no encodings, and text of any length."""
    return pa.RecordBatch.from_arrays([_joinable(c) for c in batch.columns], batch.schema.names)


def _joinable(array: pa.Array) -> pa.Array:
    array = plain(array)
    if pt.is_dictionary(array.type):  # dictionaries differ, and joined may need larger numbers
        return _joinable(array.dictionary).take(array.indices)
    return array.cast(pa.large_string()) if pt.is_string(array.type) else array


def block_of(batch: pa.RecordBatch, names: tuple[str, ...], untyped: frozenset[str]) -> Block:
    """Return a record batch as a block; text of untyped columns may represent numbers."""
    columns = zip(batch.schema.names, batch.columns, strict=True)
    return Block(names, {n: TypedColumn.of(plain(c), untyped=n in untyped) for n, c in columns})
