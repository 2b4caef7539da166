"""The commands of each shape of data: how rows, matrices and targets are named, fitted, planned.

A family whose task takes one of these shapes needs no code of its own: :func:`commands_of` makes
its commands.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privclust.cli import options
from privclust.cli.fit import (
    FitOptions,
    PlanLike,
    TaskOptions,
    fit_command,
    options_of,
    plan_command,
)
from privclust.cli.options import BudgetOptions, ReadingOptions, RowUnitOptions
from privclust.cli.screen import UsageError
from privclust.families import FAMILIES
from privclust.jobs.fit import Fit
from privclust.tasks import Task
from privclust.unit import MATRIX_UNITS, unit_from

if TYPE_CHECKING:
    import pyarrow as pa

    from privclust.release.release import Release

    MatrixUnitName = str
else:
    MatrixUnitName = Literal[MATRIX_UNITS]

Command = Callable[..., None]


def commands_of_families() -> dict[str, tuple[Command, Command]]:
    """Return the commands ``fit`` and ``plan`` of every family by name."""
    return {family.command: commands_of(tasks_of(family.command)) for family in FAMILIES}


def tasks_of(command: str) -> tuple[Task, ...]:
    """Return the tasks of a command."""
    (family,) = (family for family in FAMILIES if family.command == command)
    found: tuple[Task, ...] = import_module(family.task_module).COMMANDS[command]
    return found


def commands_of(tasks: tuple[Task, ...]) -> tuple[Command, Command]:
    """Return the commands that fit and plan some tasks; the first has the help texts."""
    base, fit, plan = SHAPES[tasks[0].takes]
    group = options_of(base, tasks)
    return (
        fit_command(_with_help(fit, group, tasks[0].fit_words)),
        plan_command(_with_help(plan, group, tasks[0].plan_words)),
    )


def _with_help(command: Callable[..., Any], group: type, words: str) -> Callable[..., Any]:
    """Return a command with a group of its own; functions of a shape are shared by families."""

    def own_command(**given: Any) -> Any:
        return command(**given)

    own_command.__doc__ = words
    own_command.__annotations__ = {**command.__annotations__, "own": group}
    own_command.__signature__ = _signature(command, group)  # type: ignore[attr-defined]
    return own_command


def _signature(command: Callable[..., Any], group: type) -> Any:
    import inspect

    found = inspect.signature(command, eval_str=True)
    shown = [
        p.replace(annotation=group) if name == "own" else p for name, p in found.parameters.items()
    ]
    return found.replace(parameters=shown)


# Rows of numbers and categories.


@dataclass(frozen=True)
class RowOptions(TaskOptions):
    """What is declared about columns of numbers and categories."""

    schema: options.SchemaPath = None
    bounds: options.Bounds = None

    def declaration(self, reading: ReadingOptions | None = None) -> dict[str, Any]:
        """Return the schema or the bounds."""
        return options.declaration_arguments(self.schema, self.bounds, reading)


def fit_rows(
    data: options.DataPaths,
    own: TaskOptions,
    unit: RowUnitOptions,
    fitting: FitOptions,
    reading: ReadingOptions,
) -> Fit:
    """Fit a model to files of rows."""
    rows = options.one_or_many(data)
    shared = unit.parameters() | fitting.parameters_for(rows)
    return Fit(own.model(reading, **shared), rows)


def plan_rows(
    own: RowOptions,
    unit: RowUnitOptions,
    budget: BudgetOptions,
    columns: Annotated[
        int | None, typer.Option("--columns", min=1, help="Number of columns, with --bounds.")
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(
            "--rows", min=1, metavar="N", help="About how many rows.", show_default="10000"
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="ERROR", help='Such as "inertia 1.05" or "size 50".'),
    ] = None,
) -> PlanLike:
    """Rehearse a fit to rows; with a target, find the ε it takes, or the rows for a given ε."""
    if (own.bounds is None) != (columns is None):
        raise UsageError("--bounds and --columns go together; give both or a --schema.")
    by_rows = target is not None and rows is None and budget.epsilon is not None
    n_rows = None if by_rows else rows or 10_000
    model = own.model(**unit.parameters(), **budget.parameters())
    if target is None:
        planned: PlanLike = model.plan(n_rows, columns)
    elif "target" in inspect.signature(model.plan).parameters:
        planned = model.plan(n_rows, columns, target=target)
    else:
        raise UsageError("--target is for plans of kmeans and summarise; drop it.")
    return planned


# Rows of categories only.


@dataclass(frozen=True)
class CategoryOptions(TaskOptions):
    """What is declared about columns of categories."""

    schema: options.SchemaPath = None

    def declaration(self, reading: ReadingOptions | None = None) -> dict[str, Any]:
        """Return the schema."""
        if self.schema is None:
            raise UsageError(
                "Give --schema FILE with the categories of every column, from public knowledge and "
                "never from the data."
            )
        return {"schema": (reading or ReadingOptions()).schema(self.schema)}


def plan_categories(
    own: CategoryOptions,
    unit: RowUnitOptions,
    budget: BudgetOptions,
    rows: options.Rows = 10_000,
) -> PlanLike:
    """Rehearse a fit to rows of categories."""
    planned: PlanLike = own.model(**unit.parameters(), **budget.parameters()).plan(rows)
    return planned


# Numbers of unknown range.


@dataclass(frozen=True)
class FormOptions(TaskOptions):
    """The forms of columns whose range is unknown."""

    form: Annotated[
        list[str] | None,
        typer.Option(
            "--form", metavar="NAME=FORM", help="integer, date, time, hours, ...; repeat it."
        ),
    ] = None

    def declaration(self, reading: ReadingOptions | None = None) -> dict[str, Any]:
        """Return the columns, and how CSV files are written."""
        from privclust.schema.dialect import Csv

        reading = reading or ReadingOptions()
        csv = reading.dialect()
        return {
            "columns": self._columns(reading),
            "ignore": tuple(reading.ignore or ()),
            "csv": None if csv == Csv() else csv,
        }

    def _columns(self, reading: ReadingOptions) -> dict[str, str] | None:
        forms = dict.fromkeys(reading.columns or (), "number")
        for said in self.form or ():
            name, mark, form = said.rpartition("=")
            if not mark:
                raise UsageError(f"--form takes NAME=FORM, such as born=date, got {said!r}.")
            if reading.columns and name not in forms:
                raise UsageError(f"--form names {name!r}, which is not among --columns; add it.")
            forms[name] = form
        return forms or None


def plan_forms(
    own: FormOptions,
    unit: RowUnitOptions,
    budget: BudgetOptions,
    n_columns: Annotated[
        int, typer.Option("--columns", min=1, metavar="N", help="Number of columns.")
    ] = 1,
    rows: options.Rows = 10_000,
) -> PlanLike:
    """Rehearse a search for bounds."""
    model = own.model(**unit.parameters(), **budget.parameters())
    planned: PlanLike = model.plan(rows, n_columns)
    return planned


# Matrices of counts.


@dataclass(frozen=True)
class MatrixOptions(TaskOptions):
    """What is hidden in a matrix of counts."""

    unit: Annotated[
        MatrixUnitName,
        typer.Option("--unit", help="Hidden: one count, one entry, or one whole row."),
    ] = "count"
    cap: Annotated[
        int | None, typer.Option("--cap", min=1, help="Largest value of an entry; unit entry.")
    ] = None
    unreadable: Annotated[
        Literal["error", "zero"],
        typer.Option("--unreadable", help="Refuse entries that are not counts, or use 0."),
    ] = "error"

    def declaration(self, reading: ReadingOptions | None = None) -> dict[str, Any]:
        """Return the unit."""
        if self.cap is not None and self.unit != "entry":
            raise UsageError("--cap belongs to --unit entry; add it or drop the cap.")
        cap = {} if self.cap is None else {"cap": self.cap}
        named = {"name": f"matrix-{self.unit}", "unreadable": self.unreadable, **cap}
        return {"unit": unit_from(named)}


def fit_matrix(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help=".npz, .mtx; a wide CSV or Parquet table, or triples with --shape."
        ),
    ],
    own: MatrixOptions,
    fitting: FitOptions,
    shape: Annotated[
        tuple[int, int] | None,
        typer.Option("--shape", metavar="ROWS COLUMNS", help="Public shape, which triples need."),
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option("--names", metavar="FILE", help="Public names of columns, one per line."),
    ] = None,
) -> Fit:
    """Fit a model to a matrix."""
    column_names = None if names is None else options.read_lines(names)
    model = own.model(shape=shape, **fitting.parameters_for(data))
    return Fit(model, data, names=None if column_names is None else lambda release: column_names)


def plan_matrix(
    own: MatrixOptions,
    budget: BudgetOptions,
    shape: Annotated[
        tuple[int, int],
        typer.Option("--shape", metavar="ROWS COLUMNS", help="Approximate shape of the matrix."),
    ] = (1000, 1000),
    row_total: Annotated[
        float, typer.Option("--row-total", min=0, help="Approximate total of a row.")
    ] = 100,
) -> PlanLike:
    """Rehearse a fit to a matrix."""
    planned: PlanLike = own.model(**budget.parameters()).plan(*shape, row_total=row_total)
    return planned


# Private sources and public targets.

TargetPath = Annotated[
    Path, typer.Option("--target", metavar="FILE", help="Public points to serve.")
]


@dataclass(frozen=True)
class TargetOptions(TaskOptions):
    """Which columns are coordinates, and their bounds."""

    schema: options.SchemaPath = None
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="NAME", help="A coordinate; repeat it, or use --schema."),
    ] = None
    bounds: options.Bounds = None

    def declaration(self, reading: ReadingOptions | None = None) -> dict[str, Any]:
        """Return what is declared; by default bounds around the target."""
        if self.schema is None and self.bounds is None:
            return {}
        return options.declaration_arguments(self.schema, self.bounds, reading)

    def points(self, target: Path, reading: ReadingOptions | None = None) -> pa.Table:
        """Read the coordinates of the public points."""
        import pyarrow as pa

        names = self._coordinates(self.declaration(reading))
        numbers = _numbers(target, names)
        return pa.table({name: numbers[:, i] for i, name in enumerate(names)})

    def _coordinates(self, declared: dict[str, Any]) -> list[str]:
        if "schema" in declared:
            if self.column:
                raise UsageError("--schema names the columns already; drop --column.")
            return list(declared["schema"].numeric)
        if not self.column:
            raise UsageError("Name the columns of coordinates: --schema FILE, or --column each.")
        if len({*self.column}) < len(self.column):
            raise UsageError("A --column is given twice; give each coordinate once.")
        return self.column


def fit_targets(
    source: Annotated[
        Path,
        typer.Option("--source", metavar="FILE", help="Private existing centres."),
    ],
    target: TargetPath,
    own: TargetOptions,
    unit: RowUnitOptions,
    fitting: FitOptions,
    reading: ReadingOptions,
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights", metavar="NAME", help="Column of the target: how much each counts."
        ),
    ] = None,
    names: Annotated[
        str | None,
        typer.Option("--names", metavar="NAME", help="Column of the target: what each is called."),
    ] = None,
) -> Fit:
    """Choose centres among public points, given a private source."""
    model = own.model(reading, **unit.parameters(), **fitting.parameters_for(source))
    counted = None if weights is None else _numbers(target, [weights])[:, 0]
    target_names = None if names is None else _texts(target, names)

    def chosen(release: Release) -> list[str]:
        chosen_ones = release.arrays["medoid_indices"].tolist()
        return [target_names[i] for i in chosen_ones] if target_names else []

    beside = {"source": source, "sample_weight": counted}
    points = own.points(target, reading)
    return Fit(model, points, beside, names=None if target_names is None else chosen)


def plan_targets(
    target: TargetPath,
    own: TargetOptions,
    budget: BudgetOptions,
    sources: Annotated[
        int, typer.Option("--sources", min=1, help="About how many sources there are.")
    ] = 1000,
) -> PlanLike:
    """Rehearse the choice of centres."""
    model = own.model(**budget.parameters())
    planned: PlanLike = model.plan(sources, target=own.points(target))
    return planned


def _numbers(target: Path, names: list[str]) -> Any:
    """Read columns of numbers of the public points."""
    import numpy as np

    from privclust.opening.rows import public_rows

    return np.concatenate([np.empty((0, len(names))), *public_rows(target, names)])


def _texts(target: Path, name: str) -> list[str]:
    """Read a column of text of the public points."""
    from privclust.steward.check import column_as_text

    return [*column_as_text(target, name)]


SHAPES: dict[str, tuple[type[TaskOptions], Callable[..., Fit], Callable[..., PlanLike]]] = {
    "rows": (RowOptions, fit_rows, plan_rows),
    "numbers": (RowOptions, fit_rows, plan_rows),
    "categories": (CategoryOptions, fit_rows, plan_categories),
    "forms": (FormOptions, fit_rows, plan_forms),
    "matrix": (MatrixOptions, fit_matrix, plan_matrix),
    "targets": (TargetOptions, fit_targets, plan_targets),
}
