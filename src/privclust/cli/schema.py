"""``privclust schema``: draft a schema from a public sample, or with noise, and check one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privclust.cli import options, screen
from privclust.cli.errors import PLAIN, UsageError
from privclust.cli.groups import takes_groups
from privclust.cli.private_draft import PrivateDraft
from privclust.cli.reading import Reading
from privclust.jobs import places

if TYPE_CHECKING:
    from rich.table import Table

    from privclust.schema import Schema

__all__ = ["app", "check", "draft"]

app = typer.Typer(help="Draft and check schemas: what is publicly known about columns.", **PLAIN)

_PUBLIC = (
    "The sample must be PUBLIC: the schema shows its extremes and its categories. Check every "
    "bound, and never draft from private rows."
)


@app.command("draft")
@takes_groups
def draft(
    sample: Annotated[
        Path,
        typer.Argument(metavar="SAMPLE", help="A PUBLIC sample, or private rows with --private."),
    ],
    reading: Reading,
    paid: PrivateDraft,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="PATH", help="The .toml or .json file.", show_default="stdout"
        ),
    ] = None,
    rows: Annotated[int, typer.Option("--rows", min=1, help="Rows to look at.")] = 1000,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Draft a schema from a sample that is PUBLIC, or with --private from private rows."""
    if output is not None:
        places.check_file(output, "Schema", (".toml", ".json"), overwrite=overwrite)
    told: dict[str, Any] = {}
    if paid.private:
        published = paid.published(sample, reading, overwrite=overwrite)
        drafted, told = published.release.schema, published.to_dict()
    else:
        paid.check_unused()
        drafted = _public_draft(sample, rows, reading)
        screen.alarm(_PUBLIC)
    text = drafted.to_toml()
    if output is not None:
        in_json = output.suffix.lower() == ".json"
        with places.replacing(output) as temporary:
            temporary.write_text(drafted.to_json() if in_json else text, encoding="utf-8")
    schema = {"schema": drafted.to_dict(), "path": None if output is None else str(output)}
    shown = text if output is None else f"Schema: {output}"
    told_too = paid.private and output is not None
    said = [*paid.told, *published.sentences] if told_too else []
    screen.answer({**told, **schema}, *said, shown, as_json=as_json)


def _public_draft(sample: Path, rows: int, reading: Reading) -> Schema:
    from privclust.schema import Schema

    drafted = Schema.draft(sample, rows, reading.ignore or (), reading.dialect())
    return drafted.only(reading.columns) if reading.columns else drafted


@app.command("check")
@takes_groups
def check(
    schema: Annotated[Path, typer.Argument(metavar="SCHEMA", help="The .toml or .json file.")],
    reading: Reading,
    data: Annotated[
        Path | None,
        typer.Argument(metavar="DATA", help="Data whose columns are compared; no row is read."),
    ] = None,
    id_column: options.IdColumn = None,
    as_json: options.Json = False,
) -> None:
    """Check a schema and, if data are given, whether their columns are the declared ones."""
    from privclust.steward.checking import check_columns

    loaded = reading.schema(schema)
    message = f"Schema '{schema}' is valid."
    if data is not None:
        if id_column in loaded:
            raise UsageError(
                f"The id column {id_column!r} is declared in the schema; drop it there."
            )
        check_columns(data, loaded, id_column=id_column)
        message += f" The columns of '{data}' are the declared ones; no row was read."
    document = {
        "valid": True,
        "schema": loaded.to_dict(),
        "data": None if data is None else str(data),
    }
    screen.answer(document, _table(loaded), "", message, as_json=as_json)


def _table(schema: Schema) -> Table:
    from rich.table import Table

    table = Table("column", "declared", "missing values", box=None, pad_edge=False)
    for name, fact in schema.columns.items():
        rule = fact.to_dict()["missing"]
        table.add_row(name, fact.describe(), rule if isinstance(rule, str) else f"{rule:g}")
    return table
