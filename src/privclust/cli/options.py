"""Options that commands share: groups of them, and single ones.

A group is a dataclass whose fields are options. A command decorated by :func:`expand_groups`
annotates a parameter with such a class, gets its options and receives them as one object.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from privclust.cli.screen import UsageError
from privclust.unit import ROW_UNITS, UNITS_WITH_IDS, Unit, unit_from
from privclust.unit.rows import ReplaceRow

if TYPE_CHECKING:
    from privclust.schema.dialect import Csv
    from privclust.schema.schema import Schema

    RowUnitName = str
else:
    RowUnitName = Literal[ROW_UNITS]


# Groups of options: a dataclass whose fields are options, written once and taken by many commands.


def expand_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of every group among its parameters."""
    own = inspect.signature(command, eval_str=True).parameters.values()
    groups = {parameter.name: parameter.annotation for parameter in own if _is_group(parameter)}
    shown = [
        part
        for p in own
        for part in (_options_of(p.annotation) if p.name in groups else [_keyword_only(p)])
    ]

    @wraps(command)
    def with_options(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    with_options.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    with_options.__annotations__ = {part.name: part.annotation for part in shown}
    del with_options.__wrapped__  # typer would look for the options there
    return with_options


def _is_group(parameter: inspect.Parameter) -> bool:
    return isinstance(parameter.annotation, type) and is_dataclass(parameter.annotation)


def _keyword_only(parameter: inspect.Parameter) -> inspect.Parameter:
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)


def _options_of(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


# Single options that commands share; groups of them are in ``fitting`` and ``reading``.

DataPaths = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="CSV, Excel, Parquet, Arrow; a folder; or -.",
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

Rows = Annotated[
    int,
    typer.Option("--rows", min=1, metavar="N", help="About how many rows."),
]
IdColumn = Annotated[
    str | None, typer.Option("--id-column", metavar="NAME", help="The column that names a person.")
]
MaxRows = Annotated[
    int | None,
    typer.Option("--max-rows", min=1, metavar="N", help="Rows of a person that count."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is already there.")]


def one_or_many(paths: list[str]) -> str | list[str]:
    """Return the paths; a single path by itself."""
    return paths[0] if len(paths) == 1 else paths


def declaration_arguments(
    schema: Path | None, bounds: tuple[float, float] | None, reading: ReadingOptions | None = None
) -> dict[str, Any]:
    """Return what is declared about the columns, as parameters of an estimator."""
    reading = reading or ReadingOptions()
    if schema is not None and bounds is None:
        return {"schema": reading.schema(schema)}
    if schema is None and bounds is not None:
        return reading.bounds_arguments(bounds)
    raise UsageError(
        "Give either --schema FILE or --bounds LOW HIGH, from public knowledge and never from the "
        "data."
    )


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file of public names."""
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"The names in '{path}' cannot be read; give a text file.") from None


# Options of commands that read many rows: where they are read, and within how much memory.


@dataclass(frozen=True)
class EngineOptions:
    """Which engine reads the rows; no answer depends on it."""

    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler", metavar="ADDRESS", help="A Dask cluster, such as tls://host:8786."
        ),
    ] = None
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Allow a Dask cluster without encryption.")
    ] = False
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="SIZE",
            help="Limit for rows.",
            show_default="half of free",
        ),
    ] = None

    def engine_context(self) -> AbstractContextManager[None]:
        """Return the context in which rows are read."""
        from privclust import engine

        if self.insecure and self.scheduler is None:
            raise UsageError("--insecure is for a Dask cluster; add --scheduler.")
        return engine(self.scheduler, memory=self.memory, insecure=self.insecure)


# Options that say what is promised: how much may be spent, and whose presence is hidden.

DEFAULT_EPSILON = 1.0
# The notice of a command that uses the default budget.
DEFAULT_NOTICE = f"Using ε = {DEFAULT_EPSILON:g}, because --epsilon was not given."


@dataclass(frozen=True)
class EpsilonDelta:
    """A privacy loss as (ε, δ)."""

    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", metavar="NUMBER", help="Privacy loss.", show_default="1"),
    ] = None
    delta: Annotated[
        float, typer.Option("--delta", metavar="NUMBER", help="0; 1e-6 is more accurate.")
    ] = 0.0

    def parameters(self) -> dict[str, Any]:
        """Return the budget as parameters of an estimator; raise if it is meaningless."""
        from privclust.budget import Budget

        epsilon = DEFAULT_EPSILON if self.epsilon is None else self.epsilon
        Budget(epsilon, self.delta)
        return {"epsilon": epsilon, "delta": self.delta}


@dataclass(frozen=True)
class BudgetOptions(EpsilonDelta):
    """How much a fit may spend."""

    rho: Annotated[
        float | None, typer.Option("--rho", metavar="NUMBER", help="zCDP, in place of ε.")
    ] = None

    def parameters(self) -> dict[str, Any]:
        """Return the budget as parameters of an estimator; raise if it is meaningless."""
        from privclust.budget import Budget

        if self.rho is None:
            return super().parameters()
        if self.epsilon is not None:
            raise UsageError("--rho replaces --epsilon; drop one of them.")
        return {"budget": Budget.of_rho(self.rho, self.delta)}

    @property
    def default_notice(self) -> tuple[str, ...]:
        """The notice of the default budget, if none was given."""
        return (DEFAULT_NOTICE,) if self.epsilon is None and self.rho is None else ()


@dataclass(frozen=True)
class PersonOptions:
    """How people with several rows are identified, and the number of rows."""

    id_column: IdColumn = None
    max_rows: MaxRows = None
    id_type: Annotated[
        Literal["text", "number"],
        typer.Option("--id-type", help="As numbers, 7 and 07 are one person.", show_default=False),
    ] = "text"
    missing_ids: Annotated[
        Literal["error", "separate"],
        typer.Option("--missing-ids", help="Refuse them, or one person each.", show_default=False),
    ] = "error"
    n_rows: Annotated[
        int | None,
        typer.Option("--n-rows", min=1, metavar="N", help="Their public number; replace-row."),
    ] = None

    def unit_named(self, name: str) -> Unit:
        """Return the privacy unit of a name; those of people need an id column."""
        if self.n_rows is not None and name != ReplaceRow.name:
            raise UsageError(f"--n-rows belongs to --unit {ReplaceRow.name}; add it.")
        if name not in UNITS_WITH_IDS:
            given = (self.id_column, self.max_rows, self.id_type, self.missing_ids)
            if given != (None, None, "text", "error"):
                raise UsageError(
                    "--id-column, --max-rows, --id-type and --missing-ids belong to "
                    f"--unit {' or '.join(UNITS_WITH_IDS)}; add it."
                )
            return unit_from(name) if self.n_rows is None else ReplaceRow(self.n_rows)
        if self.id_column is None or self.max_rows is None:
            raise UsageError(f"--unit {name} needs --id-column NAME and --max-rows NUMBER.")
        return unit_from(
            {
                "name": name,
                "id_column": self.id_column,
                "max_rows": self.max_rows,
                "id_type": self.id_type,
                "missing": self.missing_ids,
            }
        )


@dataclass(frozen=True)
class RowUnitOptions(PersonOptions):
    """Whose presence among the rows is hidden."""

    unit: Annotated[
        RowUnitName,
        typer.Option(
            "--unit",
            metavar="UNIT",
            help=f"One of {', '.join(ROW_UNITS)}.",
            show_default=False,
        ),
    ] = "add-remove-row"

    def parameters(self) -> dict[str, Any]:
        """Return the unit as a parameter of an estimator."""
        return {"unit": self.unit_named(self.unit)}


# Options of all commands that read rows: which columns, and how CSV files are written.


@dataclass(frozen=True)
class ReadingOptions:
    """What the command line says about reading, in addition to the schema."""

    columns: Annotated[
        list[str] | None,
        typer.Option("--columns", metavar="NAME", help="Use this column alone; repeat it."),
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
    thousands: Annotated[
        str | None, typer.Option("--thousands", metavar="CHAR", help="As the . in 1.200,50.")
    ] = None
    dates: Annotated[
        str | None, typer.Option("--dates", metavar="FORMAT", help="Such as %d.%m.%Y.")
    ] = None
    encoding: Annotated[
        str | None, typer.Option("--encoding", metavar="NAME", help="Encoding of CSV files.")
    ] = None

    def schema(self, path: Path) -> Schema:
        """Return the schema of a file with what the command line adds to it."""
        from privclust.schema.schema import Schema

        return self.apply_to(Schema.load(path))

    def apply_to(self, schema: Schema) -> Schema:
        """Return the schema with what the command line adds to it."""
        from privclust.schema.schema import Schema

        aside = self.ignore or []
        ignore = [*schema.ignore, *aside]
        if self.columns:
            schema = schema.only(self.columns)
            ignore = [*schema.ignore, *aside]
        elif not schema.columns.keys().isdisjoint(aside):
            schema = schema.only([name for name in schema.names if name not in aside])
        return Schema(
            schema.columns,
            ball=schema.ball,
            ignore=ignore,
            csv=self.dialect(schema.csv),
            note=schema.note,
        )

    def dialect(self, declared: Csv | None = None) -> Csv:
        """Return the dialect of CSV files: that of the schema, with what the options change."""
        from privclust.schema.dialect import Csv

        options = {
            "delimiter": self.delimiter,
            "decimal": self.decimal,
            "thousands": self.thousands,
            "format": self.dates,
            "encoding": self.encoding,
        }
        given = {key: value for key, value in options.items() if value is not None}
        return replace(declared or Csv(), **given)

    def bounds_arguments(self, bounds: tuple[float, float]) -> dict[str, Any]:
        """Return what ``--bounds`` declares: for the named columns, or for all columns."""
        from privclust.schema.dialect import Csv
        from privclust.schema.schema import Schema

        if self.columns:
            named = Schema.from_bounds(*bounds, names=self.columns)
            return {"schema": self.apply_to(named)}
        if self.ignore or self.dialect() != Csv():
            raise UsageError("--bounds alone names no column; add --columns or use a --schema.")
        return {"bounds": bounds}
