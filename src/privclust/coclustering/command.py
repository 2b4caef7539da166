"""``privclust cocluster`` and ``privclust plan cocluster``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privclust.cli import options
from privclust.cli.budgets import BudgetOptions
from privclust.cli.errors import UsageError
from privclust.cli.fitting import FitOptions, Planned, fit_command, plan_command
from privclust.jobs.fit import Fit
from privclust.unit import MATRIX_UNITS, MatrixEntry, matrix_unit_from

if TYPE_CHECKING:
    from privclust.coclustering import PrivateCoclustering
    from privclust.published import PrivateTauCoclustering

__all__ = ["fit", "plan"]

if TYPE_CHECKING:
    MatrixUnitName = str
else:
    MatrixUnitName = Literal[MATRIX_UNITS]

MatrixPath = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help=".npz or .mtx matrix; CSV or Parquet triples with --shape."
    ),
]
Shape = Annotated[
    tuple[int, int] | None,
    typer.Option("--shape", metavar="ROWS COLUMNS", help="Public shape, which triples need."),
]
Names = Annotated[
    Path | None,
    typer.Option("--names", metavar="FILE", help="Public names of columns, one per line."),
]


@dataclass(frozen=True)
class CoclusteringOptions:
    """The options of co-clustering alone."""

    rows: Annotated[int, typer.Option("--rows", min=1, help="Number of row clusters.")] = 5
    columns: Annotated[int, typer.Option("--columns", min=1, help="Number of column clusters.")] = 5
    unit: Annotated[
        MatrixUnitName,
        typer.Option("--unit", help="Hidden: one count, one entry, or one whole row."),
    ] = "count"
    cap: Annotated[
        int | None, typer.Option("--cap", min=1, help="What an entry counts at most; unit entry.")
    ] = None
    method: Annotated[Literal["tables", "tau"], typer.Option("--method", help="The algorithm.")] = (
        "tables"
    )

    def model(self, **shared: Any) -> PrivateCoclustering | PrivateTauCoclustering:
        """Return the estimator."""
        from privclust.coclustering import PrivateCoclustering
        from privclust.published import PrivateTauCoclustering

        chosen = PrivateCoclustering if self.method == "tables" else PrivateTauCoclustering
        return chosen(self.rows, self.columns, unit=self._unit(), **shared)

    def _unit(self) -> Any:
        if self.cap is None:
            return matrix_unit_from(self.unit)
        if self.unit != "entry":
            raise UsageError("--cap belongs to --unit entry; add it or drop the cap.")
        return MatrixEntry(self.cap)


@fit_command
def fit(
    data: MatrixPath,
    own: CoclusteringOptions,
    fitting: FitOptions,
    shape: Shape = None,
    names: Names = None,
) -> Fit:
    """Co-cluster a matrix of private counts. Clusters and block totals may be published."""
    column_names = None if names is None else options.lines_of(names)
    model = own.model(shape=shape, **fitting.parameters_for(data))
    return Fit(model, data, names=None if column_names is None else lambda release: column_names)


@plan_command
def plan(
    own: CoclusteringOptions,
    budget: BudgetOptions,
    shape: Annotated[
        tuple[int, int],
        typer.Option("--shape", metavar="ROWS COLUMNS", help="About the shape of the matrix."),
    ] = (1000, 1000),
    row_total: Annotated[
        float, typer.Option("--row-total", min=0, help="About what a row adds up to.")
    ] = 100,
) -> Planned:
    """Rehearse a co-clustering on a synthetic matrix: questions, cost, noise, error to expect."""
    return own.model(**budget.parameters()).plan(*shape, row_total=row_total)
