"""New rows for prediction, from whatever holds them, as batches of plain numbers.

These rows belong to the caller, who labels them with a published release; nothing here takes part
in a fit. A column keeps the type it was stored with: text is parsed in CSV files only, and whatever
cannot be read as numbers is answered by one sentence that names the column.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
import pyarrow.parquet as pq
import pyarrow.types as pt

from privclust.release.errors import ReleaseError

__all__ = ["check_new_column", "number_batches", "with_column"]

Floats = npt.NDArray[np.float64]
Names = Sequence[str]

_BATCH_ROWS = 65_536
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")


def number_batches(data: Any, columns: Names) -> Iterator[Floats]:
    """Read the columns as numbers, batch by batch.

    Parameters
    ----------
    data : array, sparse matrix, data frame, Arrow data or path
        See :meth:`privclust.release.Release.predict`.
    columns : sequence of str
        The columns, in the order wanted.

    Yields
    ------
    batch : ndarray of shape (rows, len(columns)), float64
        Missing values are NaN.
    """
    if isinstance(data, (str, os.PathLike)):
        return _from_path(Path(data), columns)
    if isinstance(data, (np.ndarray, list, tuple)) or hasattr(data, "tocsr"):
        return _from_array(data, columns)
    if _is_a(data, "pandas", "DataFrame"):
        return _from_pandas(data, columns)
    if _is_a(data, "polars", "LazyFrame"):
        _check_names(data.collect_schema().names(), columns)
        data = data.select(columns).collect()
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if hasattr(data, "__arrow_c_stream__"):
        return _from_stream(data, columns)
    raise ReleaseError(
        f"Rows cannot be read from an object of type {type(data).__name__}; give an array, a data "
        "frame, Arrow data or the path of a CSV or Parquet file."
    )


def check_new_column(frame: Any, column: str) -> None:
    """Raise if a column of this name cannot be added to the frame."""
    if not any(_is_a(frame, *kind) for kind in _ADDERS):
        raise ReleaseError(
            f"A column cannot be added to an object of type {type(frame).__name__}; give a pandas "
            "or polars frame or an Arrow table, or use predict."
        )
    names = frame.column_names if isinstance(frame, pa.Table) else list(frame.columns)
    if column in names:
        raise ReleaseError(f"Column {column!r} is there already; name another for the labels.")


def with_column(frame: Any, column: str, labels: npt.NDArray[np.intp]) -> Any:
    """Return the frame with the labels added as its last column."""
    return next(add for kind, add in _ADDERS.items() if _is_a(frame, *kind))(frame, column, labels)


_ADDERS: dict[tuple[str, str], Callable[..., Any]] = {
    ("pandas", "DataFrame"): lambda frame, name, labels: frame.assign(**{name: labels}),
    ("polars", "DataFrame"): lambda frame, name, labels: frame.with_columns(
        sys.modules["polars"].Series(name, labels)
    ),
    ("pyarrow", "Table"): lambda frame, name, labels: frame.append_column(name, pa.array(labels)),
}


def _is_a(data: object, module: str, name: str) -> bool:
    """Tell whether ``data`` is of a class of a library that need not be installed."""
    library = sys.modules.get(module)
    return library is not None and isinstance(data, getattr(library, name))


def _check_names(available: Iterable[str], columns: Names) -> None:
    names = list(available)
    for column in columns:
        if column not in names:
            raise ReleaseError(f"Column {column!r} is not in the data; add it or rename one.")
        if names.count(column) > 1:
            raise ReleaseError(f"Column {column!r} is there twice; rename one of them.")


def _check_width(width: int, columns: Names) -> None:
    if width != len(columns):
        raise ReleaseError(
            f"The rows have {width} columns where the release has {len(columns)}; give the columns "
            "of its schema in their order."
        )


def _from_array(data: Any, columns: Names) -> Iterator[Floats]:
    try:
        array = data.tocsr() if hasattr(data, "tocsr") else np.ma.asanyarray(data)
    except ValueError:
        raise ReleaseError("The rows are of different lengths; give a 2-d array.") from None
    if array.ndim != 2:
        raise ReleaseError(f"The rows come as a {array.ndim}-d array; give a 2-d array.")
    _check_width(array.shape[1], columns)
    for start in range(0, array.shape[0], _BATCH_ROWS):
        part = array[start : start + _BATCH_ROWS]
        yield _array_numbers(part.toarray() if hasattr(part, "tocsr") else part, columns)


def _array_numbers(part: Any, columns: Names) -> Floats:
    if part.dtype.kind in "biuf":
        floats = part.astype(np.float64)
        return np.asarray(np.ma.filled(floats, np.nan))
    return _stacked(
        _numbers(_arrow(np.ma.filled(part[:, j]).tolist(), name), name)
        for j, name in enumerate(columns)
    )


def _from_pandas(frame: Any, columns: Names) -> Iterator[Floats]:
    if not any(isinstance(label, str) for label in frame.columns):
        _check_width(frame.shape[1], columns)  # the columns are only numbered
        frame = frame.set_axis(list(columns), axis=1)
    _check_names(frame.columns, columns)
    for start in range(0, len(frame), _BATCH_ROWS):
        part = frame.iloc[start : start + _BATCH_ROWS]
        yield _stacked(_numbers(_arrow(part[name], name), name) for name in columns)


def _from_stream(data: Any, columns: Names) -> Iterator[Floats]:
    try:
        reader = pa.RecordBatchReader.from_stream(data)
    except (pa.ArrowException, TypeError):
        raise ReleaseError("The rows have no named columns; give a table.") from None
    _check_names(reader.schema.names, columns)
    return _from_batches(reader, columns)


def _from_batches(batches: Iterable[Any], columns: Names, parse: bool = False) -> Iterator[Floats]:
    for batch in batches:
        yield _stacked(_numbers(batch.column(name), name, parse) for name in columns)


def _from_path(path: Path, columns: Names) -> Iterator[Floats]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] == [".gz"]
    suffix = "".join(suffixes[-2:-1] if packed else suffixes[-1:])
    if not path.is_file():
        raise ReleaseError(f"File '{path}' was not found; check the path.")
    if suffix in _PARQUET and not packed:
        return _told(path, "Parquet", _from_parquet(path, columns))
    if suffix in _SEPARATORS:
        return _told(path, "a table of text", _from_csv(path, _SEPARATORS[suffix], columns))
    raise ReleaseError(f"File '{path}' is of an unknown format; give a CSV or Parquet file.")


def _told(path: Path, what: str, batches: Iterator[Floats]) -> Iterator[Floats]:
    """Answer errors of the reader in one sentence."""
    try:
        yield from batches
    except (pa.ArrowException, OSError):
        raise ReleaseError(
            f"File '{path}' cannot be read as {what}; check that it is complete."
        ) from None


def _from_parquet(path: Path, columns: Names) -> Iterator[Floats]:
    with pq.ParquetFile(path) as file:
        _check_names(file.schema_arrow.names, columns)
        read = file.iter_batches(batch_size=_BATCH_ROWS, columns=list(columns))
        yield from _from_batches(read, columns)


def _from_csv(path: Path, separator: str, columns: Names) -> Iterator[Floats]:
    layout = pv.ParseOptions(delimiter=separator, newlines_in_values=True)
    with pv.open_csv(path, parse_options=layout) as reader:
        _check_names(reader.schema.names, columns)
    # Read as text first: the reader's own conversion would not name the column in its error.
    convert = pv.ConvertOptions(
        include_columns=list(columns),
        column_types=dict.fromkeys(columns, pa.string()),
        strings_can_be_null=True,
    )
    with pv.open_csv(path, parse_options=layout, convert_options=convert) as reader:
        yield from _from_batches(reader, columns, parse=True)


def _arrow(values: Any, name: str) -> Any:
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise ReleaseError(f"Column {name!r} mixes types; convert it to numbers.") from None


def _numbers(array: Any, name: str, parse: bool = False) -> Floats:
    """Return an Arrow column as float64, NaN where a value is missing."""
    if pt.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    kind = array.type
    if parse and pt.is_string(kind):
        array = pc.utf8_trim_whitespace(array)
    elif not (pt.is_boolean(kind) or pt.is_null(kind) or _is_number(kind)):
        what = "text" if "string" in str(kind) else f"values of type {kind}"
        raise _not_numbers(name, what)
    try:
        floats: Floats = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    except pa.ArrowException:
        raise _not_numbers(name, "text") from None
    return floats


def _is_number(kind: Any) -> bool:
    return bool(pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind))


def _not_numbers(name: str, what: str) -> ReleaseError:
    return ReleaseError(
        f"Column {name!r} holds {what} where the release needs numbers; convert it to numbers."
    )


def _stacked(columns: Iterable[Floats]) -> Floats:
    return np.ascontiguousarray(np.column_stack(list(columns)))
