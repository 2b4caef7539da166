"""``open_rows``: find the right source for any form of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from privclust._lazy import is_instance_of
from privclust.data.rows import RowSource, Selection
from privclust.exceptions import DataError, as_one_sentence
from privclust.reading.arrays import ArrayRows, SparseRows, as_array, by_rows
from privclust.reading.files import open_files
from privclust.reading.frames import ArrowRows, pandas_batches, pandas_names, polars_batches
from privclust.reading.locations import FileLocations, resolve_locations
from privclust.reading.selection import select_by_name, select_by_position
from privclust.reading.spool import NOT_EVALUATED, Spool, write_lazy, write_stream
from privclust.schema.dialect import Csv

if TYPE_CHECKING:
    import pandas as pd


def open_rows(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    ignore: Sequence[str] | None = (),
    id_column: str | None = None,
    block_rows: int | None = None,
    csv: Csv | None = None,
) -> RowSource:
    """Open data as a stream of row blocks; no row is read yet.

    Parameters
    ----------
    data : array, sparse matrix, data frame, Arrow data, or path
        A 2-d NumPy array or nested list; a SciPy sparse matrix; a pandas or polars frame, or any
        that narwhals knows; an Arrow table, batch or reader, a DuckDB relation, an Ibis table, or
        anything with ``__arrow_c_stream__`` or ``__array__``; the path of a CSV, Excel, Parquet or
        Arrow file or of a directory of Parquet files, a pattern such as ``"visits-*.csv"``, or a
        list of these; ``"-"`` for standard input, or a file that is open in binary mode. What can
        be read only once is kept in a temporary file.
    columns : sequence of str or None
        The declared columns, in the order wanted; all columns if not given. An array without
        column names must have exactly these columns, in this order.
    ignore : sequence of str or None
        Columns of the data that are neither declared nor read; ``None`` allows any.
    id_column : str or None
        The column that names a person; it is read with the declared ones.
    block_rows : int or None
        Rows per block; by default 65,536, fewer when rows are wide.
    csv : Csv or None
        The dialect of CSV files.
    """
    if block_rows is not None and block_rows < 1:
        raise DataError(f"block_rows must be at least 1, got {block_rows!r}; enlarge it.")
    if isinstance(columns, str):
        raise DataError(f"The columns must be a list of names; write [{columns!r}].")
    by_name = partial(select_by_name, columns=columns, ignore=ignore, id_column=id_column)
    by_position = partial(select_by_position, columns=columns, id_column=id_column)
    data = resolve_locations(data)
    if isinstance(data, FileLocations):
        declared = None if columns is None else [*columns, *([id_column] if id_column else [])]
        aside = ignore or ()
        return open_files(data, by_name, block_rows, declared=declared, ignore=aside, csv=csv)
    return _open_in_memory(data, by_name, by_position, columns is not None, block_rows)


def _open_in_memory(
    data: Any,
    by_name: Callable[[Sequence[str]], Selection],
    by_position: Callable[[int], Selection],
    named: bool,
    block_rows: int | None,
) -> RowSource:
    """Open an object with its rows in memory, by its type."""
    if sparse.issparse(data):
        matrix = by_rows(data)
        return SparseRows(matrix, by_position(matrix.shape[1]), named=named, block_rows=block_rows)
    if isinstance(data, (np.ndarray, list, tuple)):
        array = as_array(data)
        return ArrayRows(array, by_position(array.shape[1]), named=named, block_rows=block_rows)
    if is_instance_of(data, "pandas", "DataFrame"):
        return _open_pandas(data, by_name, by_position, named, block_rows)
    if is_instance_of(data, "polars", "DataFrame"):
        chosen = by_name(data.columns)
        read = partial(polars_batches, data, chosen.read)
        return ArrowRows(read, chosen, n_rows=len(data), block_rows=block_rows)
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        return _open_arrow(data, by_name, block_rows)
    if is_instance_of(data, "polars", "LazyFrame") or hasattr(data, "__arrow_c_stream__"):
        return _open_once(data, by_name, block_rows)
    if hasattr(data, "__array__"):
        return _open_in_memory(np.asarray(data), by_name, by_position, named, block_rows)
    raise DataError(
        f"Rows cannot be read from an object of type {type(data).__name__}; "
        "give an array, a data frame, Arrow data, the path of a CSV, Excel or Parquet file, or a "
        "file that is open in binary mode."
    )


def _open_pandas(
    frame: pd.DataFrame,
    by_name: Callable[[Sequence[str]], Selection],
    by_position: Callable[[int], Selection],
    named: bool,
    block_rows: int | None,
) -> RowSource:
    names = pandas_names(frame)
    if names is None:
        chosen = by_position(frame.shape[1])
        positions = list(range(frame.shape[1]))
    else:
        chosen = by_name(names)
        places = {name: place for place, name in enumerate(names)}
        positions = [places[name] for name in chosen.read]
    named = named or names is not None
    read = partial(pandas_batches, frame, positions, chosen.read)
    return ArrowRows(read, chosen, n_rows=len(frame), block_rows=block_rows, named=named)


def _open_arrow(
    data: pa.Table | pa.RecordBatch,
    by_name: Callable[[Sequence[str]], Selection],
    block_rows: int | None,
) -> RowSource:
    chosen = by_name(data.schema.names)
    table = pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data
    table = table.select(list(chosen.read))
    return ArrowRows(table.to_batches, chosen, n_rows=table.num_rows, block_rows=block_rows)


def _open_once(
    data: Any, by_name: Callable[[Sequence[str]], Selection], block_rows: int | None
) -> RowSource:
    """Open data that give their rows only once, or compute them again each time."""
    if is_instance_of(data, "polars", "LazyFrame"):
        with as_one_sentence(NOT_EVALUATED, Exception):
            names = data.collect_schema().names()
        chosen = by_name(names)
        spool = Spool(partial(write_lazy, data, chosen.read), chosen.read)
    else:
        no_table = "The Arrow stream is not a table; give a table with named columns."
        with as_one_sentence(no_table, pa.ArrowException, TypeError):
            reader = pa.RecordBatchReader.from_stream(data)
        chosen = by_name(reader.schema.names)
        spool = Spool(partial(write_stream, reader, chosen.read), chosen.read)
    return ArrowRows(spool.batches, chosen, n_rows=None, block_rows=block_rows, close=spool.close)
