"""The commands of families that fit a table of rows: what they declare, ``fit`` and ``plan``.

A family writes a group of its own options with a method ``model``; the commands are made here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import typer

from privclust.cli import options
from privclust.cli.budgets import BudgetOptions, RowUnitOptions
from privclust.cli.errors import UsageError
from privclust.cli.fitting import FitOptions, Planned, fit_command, plan_command
from privclust.cli.reading import Reading
from privclust.jobs.fit import Fit

__all__ = ["NumericOptions", "RowOptions", "fit_of_rows", "plan_of_numbers"]

Command = Callable[..., None]


class RowOptions(Protocol):
    """The options of a family that fits rows."""

    def model(self, reading: Reading | None = None, **shared: Any) -> Any:
        """Return the estimator."""
        ...


@dataclass(frozen=True)
class NumericOptions:
    """What is declared about columns of numbers, and how distances are measured in them."""

    schema: options.SchemaPath = None
    bounds: options.Bounds = None
    rescale: Annotated[
        bool | None,
        typer.Option(
            "--rescale/--no-rescale",
            help="Distances in widths of columns.",
            show_default="with a schema",
        ),
    ] = None

    def declared(self, reading: Reading | None = None) -> dict[str, Any]:
        """Return both as parameters of an estimator."""
        return {"rescale": self.rescale, **options.declared(self.schema, self.bounds, reading)}

    def model(self, reading: Reading | None = None, **shared: Any) -> Any:
        """Return the estimator."""
        raise NotImplementedError


def fit_of_rows(group: type[RowOptions], words: str) -> Command:
    """Return the command that fits the model of a group of options to files of rows.

    Parameters
    ----------
    group : type
        The options of the family.
    words : str
        What the command does.
    """

    def prepare(
        data: options.DataPaths,
        own: RowOptions,
        unit: RowUnitOptions,
        fitting: FitOptions,
        reading: Reading,
    ) -> Fit:
        rows = options.one_or_many(data)
        shared = unit.parameters() | fitting.parameters_for(rows)
        return Fit(own.model(reading, **shared), rows)

    return fit_command(_described(prepare, group, words))


def plan_of_numbers(group: type[NumericOptions], words: str) -> Command:
    """Return the command that rehearses a fit to columns of numbers; see :func:`fit_of_rows`."""

    def rehearse(
        own: NumericOptions,
        unit: RowUnitOptions,
        budget: BudgetOptions,
        columns: Annotated[
            int | None, typer.Option("--columns", min=1, help="Number of columns, with --bounds.")
        ] = None,
        rows: options.Rows = 10_000,
    ) -> Planned:
        if (own.bounds is None) != (columns is None):
            raise UsageError("--bounds and --columns go together; give both or a --schema.")
        planned: Planned = own.model(**unit.parameters(), **budget.parameters()).plan(rows, columns)
        return planned

    return plan_command(_described(rehearse, group, words))


def _described(command: Callable[..., Any], group: type, words: str) -> Callable[..., Any]:
    command.__doc__ = words
    command.__annotations__["own"] = group
    return command
