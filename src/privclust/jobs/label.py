"""Labels of new rows by a release, written part by part.

Labels say something about single rows. They go to a file of the holder of the rows and are not a
release; not even their number is shown.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privclust.jobs import output_paths as places

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from privclust.release.release import Release


COLUMN = "cluster"
SUFFIXES = (".csv", ".parquet")

Progress = Callable[[int, int | None], None]
# Ids of rows, if they are wanted, and their labels.
Part = tuple[list[str] | None, "NDArray[np.int64]"]


def write_labels(
    release: Release,
    data: Any,
    output: Path,
    *,
    id_column: str | None = None,
    shape: tuple[int, int] | None = None,
    progress: Progress = lambda done, total: None,
) -> None:
    """Write the label of every row to a CSV or Parquet file, all or nothing.

    ``output``: a file that ends in one of ``SUFFIXES``. ``id_column``: a column of the data to copy
    next to the labels. ``shape``: the shape of a matrix that is given as triples. ``progress``:
    called with the number of rows done, for the eyes of their holder only.
    """
    write = _write_parquet if output.suffix.lower() == ".parquet" else _write_csv
    with places.replace_atomically(output) as temporary:
        write(temporary, id_column, _parts(release, data, id_column, shape, progress))


def _parts(
    release: Release,
    data: Any,
    id_column: str | None,
    shape: tuple[int, int] | None,
    progress: Progress,
) -> Iterator[Part]:
    from privclust.steward.check import column_as_text

    done, ids = 0, None if id_column is None else column_as_text(data, id_column)
    for labels in release.predict_parts(data, shape=shape):
        yield None if ids is None else list(islice(ids, len(labels))), labels
        done += len(labels)
        progress(done, None)


def _write_csv(path: Path, id_column: str | None, parts: Iterator[Part]) -> None:
    with open(path, "x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([COLUMN] if id_column is None else [id_column, COLUMN])
        for ids, labels in parts:
            numbers = labels.tolist()
            writer.writerows(
                ([number] for number in numbers) if ids is None else zip(ids, numbers, strict=True)
            )


def _write_parquet(path: Path, id_column: str | None, parts: Iterator[Part]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [] if id_column is None else [(id_column, pa.string())]
    schema = pa.schema([*fields, (COLUMN, pa.int64())])
    with pq.ParquetWriter(path, schema) as writer:
        for ids, labels in parts:
            columns = [] if ids is None else [pa.array(ids, pa.string())]
            writer.write_batch(pa.record_batch([*columns, pa.array(labels)], schema))
