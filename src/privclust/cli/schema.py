"""``privclust schema`` and ``privclust check``: draft a schema, check one, check the rows."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privclust.bounds.task import BOUNDS
from privclust.cli import options, screen
from privclust.cli.fit import FitOptions, options_of
from privclust.cli.inputs import FormOptions
from privclust.cli.options import BudgetOptions, ReadingOptions, RowUnitOptions, expand_groups
from privclust.cli.screen import PLAIN, REFUSED, UsageError
from privclust.jobs import output_paths as places
from privclust.jobs.fit import Fit

if TYPE_CHECKING:
    from rich.table import Table

    from privclust.jobs.fit import Publication
    from privclust.schema.schema import Schema
    from privclust.steward.check import CheckReport


# ``privclust schema draft --private``: its options, and the paid question behind it.


if TYPE_CHECKING:
    _BoundsOptions = FormOptions
else:
    _BoundsOptions = options_of(FormOptions, (BOUNDS,))


@dataclass(frozen=True)
class PrivateDraftOptions(_BoundsOptions, RowUnitOptions, BudgetOptions):
    """Options of a draft from private rows: the promise, the charge, and the output."""

    private: Annotated[
        bool, typer.Option("--private", help="Draft bounds from PRIVATE rows, with noise.")
    ] = False
    ledger: Annotated[
        str | None, typer.Option("--ledger", metavar="FILE", help="Charged before rows are read.")
    ] = None
    holder: Annotated[
        str | None, typer.Option("--holder", metavar="NAME", help="Whose grants are spent.")
    ] = None
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset", metavar="NAME", help="Name of the data.", show_default="file name"
        ),
    ] = None
    release: Annotated[
        Path, typer.Option("--release", metavar="PATH", help="Where the paid release goes.")
    ] = Path("bounds")

    def check_unused(self) -> None:
        """Raise if an option is given that a draft from a public sample does not use."""
        given = [f.name for f in fields(self) if getattr(self, f.name) != f.default]
        if given:
            option = given[0].replace("_", "-")
            raise UsageError(f"--{option} is for private rows; add --private or drop it.")

    def publish(self, data: Path, reading: ReadingOptions, *, overwrite: bool) -> Publication:
        """Pay for bounds of private rows and publish them."""
        from privclust.cli.fit import save_or_print
        from privclust.jobs.fit import Destination

        shared = {name: getattr(self, name) for name in ("ledger", "holder", "dataset")}
        budget = {field.name: getattr(self, field.name) for field in fields(BudgetOptions)}
        fitting = FitOptions(**budget, **shared)
        promise = RowUnitOptions.parameters(self) | fitting.parameters_for(data)
        fit = Fit(self.model(reading, **promise), data)
        place = Destination.check(self.release, report=True, overwrite=overwrite)
        for sentence in self.default_notice:
            screen.note(sentence)
        with save_or_print(fit), screen.rows_progress("Reading") as listener:
            return fit.run(place, fitting.about(), listener)


# ``privclust check_command``: the steward's pass over the rows, without a charge and NOT PRIVATE.


@expand_groups
def check_command(
    data: options.DataPaths,
    reading: ReadingOptions,
    schema: options.SchemaPath = None,
    id_column: options.IdColumn = None,
    max_rows: options.MaxRows = None,
) -> None:
    """Count what a fit would meet in the rows. NOT PRIVATE: for the steward's eyes only."""
    if schema is None:
        raise UsageError("Give --schema FILE, which declares the columns.")
    if max_rows is not None and id_column is None:
        raise UsageError("--max-rows counts rows of a person; add --id-column NAME.")
    declared = reading.schema(schema)
    with screen.rows_progress("Checking"):
        report = declared.check(options.one_or_many(data), id_column=id_column, max_rows=max_rows)
    _show(report)
    if report.problems or report.doubts:
        raise typer.Exit(REFUSED)


def _show(report: CheckReport) -> None:
    from privclust.steward.check import NOT_PRIVATE

    if not screen.wants_json():
        screen.show(NOT_PRIVATE)
    screen.answer(report.to_dict(), "", _check_table(report), "", *report.summary())


def _check_table(report: CheckReport) -> Table:
    from rich.table import Table

    heading, *lines = report.table()
    table = Table(*heading, box=None, pad_edge=False)
    for line in lines:
        table.add_row(*line)
    return table


# ``privclust schema``: draft a schema from a public sample, or with noise, and check one.

app = typer.Typer(help="Draft and check schemas: what is publicly known about columns.", **PLAIN)

_PUBLIC = (
    "The sample must be PUBLIC: the schema shows its extremes and its categories. Check every "
    "bound, and never draft from private rows."
)


@app.command("draft")
@expand_groups
def draft(
    sample: Annotated[
        Path,
        typer.Argument(metavar="SAMPLE", help="A PUBLIC sample, or private rows with --private."),
    ],
    reading: ReadingOptions,
    paid: PrivateDraftOptions,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="PATH", help="The .toml or .json file.", show_default="stdout"
        ),
    ] = None,
    rows: Annotated[int, typer.Option("--rows", min=1, help="Rows to look at.")] = 100_000,
    overwrite: options.Overwrite = False,
) -> None:
    """Draft a schema from a sample that is PUBLIC, or with --private from private rows."""
    if output is not None:
        places.check_file(output, "Schema", (".toml", ".json"), overwrite=overwrite)
    written: dict[str, Any] = {}
    if paid.private:
        published = paid.publish(sample, reading, overwrite=overwrite)
        drafted, written = published.release.schema, published.to_dict()
    else:
        paid.check_unused()
        drafted = _public_draft(sample, rows, reading)
        screen.alarm(_PUBLIC)
    text = drafted.to_toml()
    if output is not None:
        in_json = output.suffix.lower() == ".json"
        with places.replace_atomically(output) as temporary:
            temporary.write_text(drafted.to_json() if in_json else text, encoding="utf-8")
    schema = {"schema": drafted.to_dict(), "path": None if output is None else str(output)}
    shown = text if output is None else f"Schema: {output}"
    shows_release = paid.private and output is not None
    said = [*paid.default_notice, *published.sentences] if shows_release else []
    screen.answer({**written, **schema}, *said, shown)


def _public_draft(sample: Path, rows: int, reading: ReadingOptions) -> Schema:
    from privclust.schema.schema import Schema

    drafted = Schema.draft(sample, rows, reading.ignore or (), reading.dialect())
    return drafted.only(reading.columns) if reading.columns else drafted


@app.command("skeleton")
@expand_groups
def skeleton(
    header: Annotated[
        Path, typer.Argument(metavar="HEADER", help="Data, or a file with a header line alone.")
    ],
    reading: ReadingOptions,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="PATH", help="The file.", show_default="stdout"),
    ] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Write a schema to fill in, from the names of the columns alone; no row is read."""
    from privclust.steward.draft import draft_skeleton

    if output is not None:
        places.check_file(output, "Schema", (".toml",), overwrite=overwrite)
    text = draft_skeleton(header, ignore=reading.ignore or (), csv=reading.dialect())
    if output is not None:
        with places.replace_atomically(output) as temporary:
            temporary.write_text(text, encoding="utf-8")
    path = None if output is None else str(output)
    shown = text if output is None else f"Schema to fill in: {output}"
    screen.answer({"skeleton": text, "path": path}, shown)


@app.command("check")
@expand_groups
def check(
    schema: Annotated[Path, typer.Argument(metavar="SCHEMA", help="The .toml or .json file.")],
    reading: ReadingOptions,
    data: Annotated[
        Path | None,
        typer.Argument(metavar="DATA", help="Data whose columns are compared; no row is read."),
    ] = None,
    id_column: options.IdColumn = None,
) -> None:
    """Check a schema and, if data are given, whether their columns are the declared ones."""
    from privclust.steward.check import check_columns

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
    screen.answer(document, _schema_table(loaded), "", message)


def _schema_table(schema: Schema) -> Table:
    from rich.table import Table

    table = Table("column", "declared", "missing values", box=None, pad_edge=False)
    for name, fact in schema.columns.items():
        rule = fact.to_dict()["missing"]
        table.add_row(name, fact.describe(), rule if isinstance(rule, str) else f"{rule:g}")
    return table
