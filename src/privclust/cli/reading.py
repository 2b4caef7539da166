"""Options of all commands that read rows: which columns, and how CSV files are written.

A command takes a :class:`Reading` as a group of options; a new one is added in this file alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privclust.cli.errors import UsageError

if TYPE_CHECKING:
    from privclust.schema import Csv, Schema

__all__ = ["Reading"]


@dataclass(frozen=True)
class Reading:
    """What the command line says about reading, on top of the schema."""

    columns: Annotated[
        list[str] | None,
        typer.Option("--columns", metavar="NAME", help="Use this column of the schema; repeat it."),
    ] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", metavar="NAME", help="A column that is not read; repeat it."),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            "--delimiter", metavar="CHAR", help="Of CSV fields.", show_default="by the header"
        ),
    ] = None
    decimal: Annotated[
        str | None, typer.Option("--decimal", metavar="CHAR", help="Decimal mark in CSV files.")
    ] = None
    encoding: Annotated[
        str | None, typer.Option("--encoding", metavar="NAME", help="Encoding of CSV files.")
    ] = None

    def schema(self, path: Path) -> Schema:
        """Return the schema of a file with what the command line adds to it."""
        from privclust.schema import Schema

        return self.applied_to(Schema.load(path))

    def applied_to(self, schema: Schema) -> Schema:
        """Return the schema with what the command line adds to it."""
        from privclust.schema import Schema

        if self.columns:
            schema = schema.only(self.columns)
        return Schema(
            schema.columns,
            ball=schema.ball,
            ignore=[*schema.ignore, *(self.ignore or ())],
            csv=self.dialect(schema.csv),
            note=schema.note,
        )

    def dialect(self, declared: Csv | None = None) -> Csv:
        """Return the dialect of CSV files: that of the schema, with what the options change."""
        from privclust.schema import Csv

        options = {"delimiter": self.delimiter, "decimal": self.decimal, "encoding": self.encoding}
        given = {key: value for key, value in options.items() if value is not None}
        return replace(declared or Csv(), **given)

    def of_bounds(self, bounds: tuple[float, float]) -> dict[str, Any]:
        """Return what ``--bounds`` declares: of the named columns, or of all that the data have."""
        from privclust.schema import Schema

        if self.columns:
            named = Schema.from_bounds(*bounds, names=self.columns)
            return {"schema": replace(self, columns=None).applied_to(named)}
        if any((self.ignore, self.delimiter, self.decimal, self.encoding)):
            raise UsageError("--bounds alone names no column; add --columns or use a --schema.")
        return {"bounds": bounds}
