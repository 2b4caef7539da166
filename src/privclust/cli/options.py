"""Single options that commands share; groups of them are in ``fitting`` and ``reading``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privclust.cli.errors import UsageError

if TYPE_CHECKING:
    from privclust.cli.reading import Reading

__all__ = [
    "Bounds",
    "Clusters",
    "ClustersOrAuto",
    "DataPaths",
    "IdColumn",
    "Json",
    "MaxRows",
    "Overwrite",
    "ProfileShare",
    "ReleasePath",
    "Rows",
    "SchemaPath",
    "declared",
    "given",
    "lines_of",
    "one_or_many",
    "refuse_unless",
]

DataPaths = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="CSV, Parquet or Arrow files, a pattern, a folder of Parquet files, or - for stdin.",
    ),
]
ReleasePath = Annotated[
    Path, typer.Argument(metavar="RELEASE", help="A release: a folder or a .privclust file.")
]
SchemaPath = Annotated[
    Path | None,
    typer.Option("--schema", metavar="FILE", help="Public facts about columns (TOML, JSON)."),
]
Bounds = Annotated[
    tuple[float, float] | None,
    typer.Option(
        "--bounds", metavar="LOW HIGH", help="Short form: the same bounds for all columns."
    ),
]
Clusters = Annotated[
    int, typer.Option("--clusters", "-k", min=1, metavar="N", help="Number of clusters.")
]


def _clusters_or_auto(text: str) -> str:
    if text == "auto" or (text.isdecimal() and int(text) > 0):
        return text
    raise UsageError(f"--clusters must be a whole number of at least 1 or auto, got {text!r}.")


# A number, or "auto"; typer has no type that is one of two, so it stays text.
ClustersOrAuto = Annotated[
    str,
    typer.Option(
        "--clusters",
        "-k",
        metavar="N",
        parser=_clusters_or_auto,
        help="Number of clusters, or auto.",
    ),
]
Rows = Annotated[
    int,
    typer.Option("--rows", min=1, metavar="N", help="About how many rows, publicly known."),
]
ProfileShare = Annotated[
    float | None,
    typer.Option(
        "--profile-share", metavar="NUMBER", help="Budget share for histograms of clusters."
    ),
]
IdColumn = Annotated[
    str | None, typer.Option("--id-column", metavar="NAME", help="The column that names a person.")
]
MaxRows = Annotated[
    int | None,
    typer.Option("--max-rows", min=1, metavar="N", help="Rows of a person that count."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is already there.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document to stdout.")]


def one_or_many(paths: list[str]) -> str | list[str]:
    """Return the data: one path by itself."""
    return paths[0] if len(paths) == 1 else paths


def declared(
    schema: Path | None, bounds: tuple[float, float] | None, reading: Reading | None = None
) -> dict[str, Any]:
    """Return what is declared about the columns, as parameters of an estimator."""
    from privclust.cli.reading import Reading

    reading = reading or Reading()
    if schema is not None and bounds is None:
        return {"schema": reading.schema(schema)}
    if schema is None and bounds is not None:
        return reading.of_bounds(bounds)
    raise UsageError(
        "Give either --schema FILE or --bounds LOW HIGH, from public knowledge and never from the "
        "data."
    )


def lines_of(path: Path) -> list[str]:
    """Return the lines of a file of public names."""
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"The names in '{path}' cannot be read; give a text file.") from None


def given(**parameters: Any) -> dict[str, Any]:
    """Return the parameters that were given; the others keep the defaults of the estimator."""
    return {name: value for name, value in parameters.items() if value is not None}


def refuse_unless(belongs_to: str, **parameters: Any) -> None:
    """Raise if an option was given that belongs to another method."""
    for name in given(**parameters):
        option = f"--{name.replace('_', '-')}"
        raise UsageError(f"{option} belongs to {belongs_to}; add it or drop {option}.")
