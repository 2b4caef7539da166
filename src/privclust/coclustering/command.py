"""``privclust cocluster`` and ``privclust plan cocluster``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privclust.cli import options
from privclust.cli.fit import FitOptions, Planned, fit_command, plan_command
from privclust.cli.options import BudgetOptions
from privclust.cli.screen import UsageError
from privclust.jobs.fit import Fit
from privclust.unit import MATRIX_UNITS, unit_from

if TYPE_CHECKING:
    from privclust.coclustering.estimator import PrivateCoclustering
    from privclust.papers.tau.private import PrivateTauCoclustering


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
        int | None, typer.Option("--cap", min=1, help="The most an entry counts for; unit entry.")
    ] = None
    unreadable: Annotated[
        Literal["error", "zero"],
        typer.Option("--unreadable", help="Refuse entries that are no counts, or count them as 0."),
    ] = "error"
    method: Annotated[Literal["tables", "tau"], typer.Option("--method", help="The algorithm.")] = (
        "tables"
    )
    rule: Annotated[
        Literal["prototypes", "tau"] | None,
        typer.Option("--rule", help="How rows are labelled; method tables."),
    ] = None
    rounds: Annotated[
        str | None,
        typer.Option("--rounds", metavar="N|auto", help="Rounds, 4 in the paper; method tau."),
    ] = None
    choice_share: Annotated[
        float | None,
        typer.Option("--choice-share", metavar="H", help="Share of the choices; method tau."),
    ] = None

    def model(self, **shared: Any) -> PrivateCoclustering | PrivateTauCoclustering:
        """Return the estimator."""
        from privclust.coclustering.estimator import PrivateCoclustering
        from privclust.papers.tau.private import PrivateTauCoclustering

        shared |= {"unit": self._unit()}
        if self.method == "tables":
            options.refuse_unless(
                "--method tau", rounds=self.rounds, choice_share=self.choice_share
            )
            shared |= options.given(rule=self.rule)
            return PrivateCoclustering(self.rows, self.columns, **shared)
        options.refuse_unless("--method tables", rule=self.rule)
        shared |= options.given(n_rounds=_rounds(self.rounds), choice_share=self.choice_share)
        return PrivateTauCoclustering(self.rows, self.columns, **shared)

    def _unit(self) -> Any:
        if self.cap is not None and self.unit != "entry":
            raise UsageError("--cap belongs to --unit entry; add it or drop the cap.")
        cap = options.given(cap=self.cap)
        return unit_from({"name": f"matrix-{self.unit}", "unreadable": self.unreadable, **cap})


def _rounds(said: str | None) -> int | str | None:
    if said is None or said == "auto":
        return said
    if not said.isdecimal():
        raise UsageError(f'--rounds takes a number or "auto", got {said!r}.')
    return int(said)


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
        typer.Option("--shape", metavar="ROWS COLUMNS", help="Approximate shape of the matrix."),
    ] = (1000, 1000),
    row_total: Annotated[
        float, typer.Option("--row-total", min=0, help="Approximate total of a row.")
    ] = 100,
) -> Planned:
    """Rehearse a co-clustering on a synthetic matrix: questions, cost, noise, error to expect."""
    return own.model(**budget.parameters()).plan(*shape, row_total=row_total)
