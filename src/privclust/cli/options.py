"""Options that commands share, and what they stand for in the library."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privclust.cli.errors import UsageError

if TYPE_CHECKING:
    from privclust.cli.reading import Reading
    from privclust.unit import Unit

__all__ = [
    "Bounds",
    "Clusters",
    "DataPath",
    "DataPaths",
    "Dataset",
    "Delta",
    "Epsilon",
    "Holder",
    "IdColumn",
    "Json",
    "LedgerPlace",
    "MaxRows",
    "Overwrite",
    "ReleaseOutput",
    "ReleasePath",
    "Report",
    "SchemaPath",
    "Seed",
    "UnitName",
    "check_budget",
    "declared",
    "one_or_many",
    "unit_of",
]

DataPath = Annotated[
    Path, typer.Argument(metavar="DATA", help="CSV or Parquet file, or folder of Parquet files.")
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
    typer.Option("--schema", metavar="FILE", help="Public bounds of every column (TOML or JSON)."),
]
Bounds = Annotated[
    tuple[float, float] | None,
    typer.Option(
        "--bounds", metavar="LOW HIGH", help="The short form: public bounds of all columns."
    ),
]
Clusters = Annotated[int, typer.Option("--clusters", "-k", min=1, help="Number of clusters.")]
Epsilon = Annotated[
    float, typer.Option("--epsilon", metavar="NUMBER", help="Privacy loss allowed, above 0.")
]
Delta = Annotated[
    float,
    typer.Option(
        "--delta", metavar="NUMBER", help="0 for pure ε; a tiny number buys more accuracy."
    ),
]
UnitName = Annotated[
    Literal["add-remove-row", "replace-row", "person"],
    typer.Option("--unit", help="Whose presence is hidden; person needs the next two options."),
]
IdColumn = Annotated[
    str | None, typer.Option("--id-column", metavar="NAME", help="The column that names a person.")
]
MaxRows = Annotated[
    int | None, typer.Option("--max-rows", min=1, help="Rows of one person that count, at most.")
]
LedgerPlace = Annotated[
    str | None,
    typer.Option("--ledger", metavar="FILE", help="The ledger to charge before rows are read."),
]
Holder = Annotated[
    str | None,
    typer.Option("--holder", metavar="NAME", help="Whose grants in the ledger are spent."),
]
Dataset = Annotated[
    str | None,
    typer.Option(
        "--dataset", metavar="NAME", help="Data set in the ledger.", show_default="name of DATA"
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="For tests: reproducible noise, which is NOT PRIVATE."),
]
ReleaseOutput = Annotated[
    Path, typer.Option("--output", "-o", metavar="PATH", help="Folder or .privclust file to write.")
]
Report = Annotated[
    bool, typer.Option("--report/--no-report", help="Write an HTML report for readers as well.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there already.")]
Json = Annotated[bool, typer.Option("--json", help="Give one JSON document on stdout.")]


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


def check_budget(epsilon: float, delta: float) -> None:
    """Raise if the budget means nothing."""
    from privclust.budget import Budget

    Budget(epsilon, delta)


def unit_of(name: str, id_column: str | None, max_rows: int | None) -> Unit:
    """Return the privacy unit."""
    from privclust.unit import Person, unit_from

    if name != Person.name:
        if id_column is not None or max_rows is not None:
            raise UsageError("--id-column and --max-rows belong to --unit person; add it.")
        return unit_from(name)
    if id_column is None or max_rows is None:
        raise UsageError("--unit person needs --id-column NAME and --max-rows NUMBER.")
    return Person(id_column, max_rows)
