"""``privclust apply``: the clusters of new rows, by a published release."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privclust.cli import files, options, screen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from privclust.release import Release

    Labels = Iterable[NDArray[np.intp]]

__all__ = ["apply", "write_labels"]

_COLUMN = "cluster"


def apply(
    release: options.ReleasePath,
    data: Annotated[Path, typer.Argument(metavar="DATA", help="New rows: a CSV or Parquet file.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PATH", help="The .csv or .parquet file.")
    ],
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Label new rows by a release. Line i of the result belongs to row i of the data."""
    from privclust.release import Release

    files.check_file(output, "Labels", (".csv", ".parquet"), overwrite=overwrite)
    if output.exists() and data.exists() and output.samefile(data):
        raise ValueError(f"The labels would replace the data in '{data}'; choose another path.")
    rows = write_labels(Release.load(release), data, output)
    document = {"labels": str(output), "column": _COLUMN, "rows": rows}
    told = "They tell about single rows: keep them with the data, they are no release."
    screen.answer(document, f"Labels of {rows:,} rows: {output}", told, as_json=as_json)


def write_labels(release: Release, data: Path, output: Path) -> int:
    """Write the labels of the rows in a file, part by part, and return their number."""
    write = _write_parquet if output.suffix.lower() == ".parquet" else _write_csv
    with files.replacing(output) as temporary, screen.rows_progress("Labelling") as tell:
        return write(temporary, release.predict_parts(data), tell)


def _write_csv(path: Path, labels: Labels, tell: Any) -> int:
    rows = 0
    with open(path, "x", encoding="ascii", newline="\n") as file:
        file.write(f"{_COLUMN}\n")
        for part in labels:
            file.writelines(f"{label}\n" for label in part.tolist())
            rows += len(part)
            tell(rows, None)
    return rows


def _write_parquet(path: Path, labels: Labels, tell: Any) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, schema = 0, pa.schema([(_COLUMN, pa.int32())])
    with pq.ParquetWriter(path, schema) as writer:
        for part in labels:
            writer.write_batch(pa.record_batch([pa.array(part, pa.int32())], schema))
            rows += len(part)
            tell(rows, None)
    return rows
