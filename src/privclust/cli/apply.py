"""``privclust apply``: the clusters of new rows, by a published release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from privclust.cli import options, screen
from privclust.cli.engines import EngineOptions
from privclust.cli.errors import UsageError
from privclust.cli.groups import takes_groups
from privclust.cli.reading import Reading

__all__ = ["apply"]

NewRows = Annotated[
    list[str],
    typer.Argument(metavar="DATA...", help="New rows: CSV or Parquet files, or a matrix."),
]
LabelsPath = Annotated[
    Path, typer.Option("--output", "-o", metavar="PATH", help="The .csv or .parquet file.")
]
CopiedColumn = Annotated[
    str | None,
    typer.Option("--id-column", metavar="NAME", help="A column to copy beside the labels."),
]
Shape = Annotated[
    tuple[int, int] | None,
    typer.Option("--shape", metavar="ROWS COLUMNS", help="Shape of a matrix given as triples."),
]


@takes_groups
def apply(
    release: options.ReleasePath,
    data: NewRows,
    reading: Reading,
    output: LabelsPath,
    id_column: CopiedColumn = None,
    shape: Shape = None,
    *,
    engine: EngineOptions,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Label new rows with a release. Line i of the result belongs to row i of the data."""
    from privclust.jobs import places
    from privclust.jobs.label import COLUMN, SUFFIXES, write_labels
    from privclust.release import Release

    places.check_file(output, "Labels", SUFFIXES, overwrite=overwrite)
    for part in map(Path, data):
        if output.exists() and part.exists() and output.samefile(part):
            raise ValueError(f"The labels would replace the data in '{part}'; choose another path.")
    rows = data[0] if len(data) == 1 else data
    if reading.columns:
        raise UsageError("A release reads the columns it was made from; drop --columns.")
    loaded = Release.load(release)
    loaded = replace(loaded, schema=reading.applied_to(loaded.schema))
    with engine.chosen(), screen.rows_progress("Labelling") as progress:
        write_labels(loaded, rows, output, id_column=id_column, shape=shape, progress=progress)
    # The exact number of rows is private: a log or a pipe must not have it.
    note = "The labels describe individual rows. Keep them with the data; they are not a release."
    document = {"labels": str(output), "column": COLUMN}
    screen.answer(document, f"Labels: {output}", note, as_json=as_json)
