"""``privclust bounds`` and its plan: ranges of columns, found in private rows with noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privclust.cli import options
from privclust.cli.fit import Planned, fit_of_rows, plan_command
from privclust.cli.options import BudgetOptions, Reading, RowUnitOptions
from privclust.cli.screen import UsageError

if TYPE_CHECKING:
    from privclust.bounds.estimator import PrivateBounds


@dataclass(frozen=True)
class BoundsOptions:
    """The options of private bounds alone."""

    form: Annotated[
        list[str] | None,
        typer.Option(
            "--form", metavar="NAME=FORM", help="integer, date, time, hours, ...; repeat it."
        ),
    ] = None
    outside_share: Annotated[
        float,
        typer.Option(
            "--outside-share", metavar="NUMBER", help="Share of rows that may be left out."
        ),
    ] = 0.01
    unreadable: Annotated[
        Literal["error", "missing"],
        typer.Option("--unreadable", help="Refuse values that are not numbers, or count them."),
    ] = "error"

    def model(self, reading: Reading | None = None, **shared: Any) -> PrivateBounds:
        """Return the estimator."""
        from privclust.bounds.estimator import PrivateBounds
        from privclust.schema.dialect import Csv

        reading = reading or Reading()
        columns, csv = self._columns(reading), reading.dialect()
        return PrivateBounds(
            columns=columns,
            outside_share=self.outside_share,
            unreadable=self.unreadable,
            ignore=tuple(reading.ignore or ()),
            csv=None if csv == Csv() else csv,
            **shared,
        )

    def _columns(self, reading: Reading) -> dict[str, str] | None:
        forms = dict.fromkeys(reading.columns or (), "number")
        for said in self.form or ():
            name, mark, form = said.rpartition("=")
            if not mark:
                raise UsageError(f"--form takes NAME=FORM, such as born=date, got {said!r}.")
            if reading.columns and name not in forms:
                raise UsageError(f"--form names {name!r}, which is not among --columns; add it.")
            forms[name] = form
        return forms or None


fit = fit_of_rows(
    BoundsOptions, "Find the ranges of columns of numbers in private rows, with noise."
)


@plan_command
def plan(
    own: BoundsOptions,
    unit: RowUnitOptions,
    budget: BudgetOptions,
    n_columns: Annotated[
        int, typer.Option("--columns", min=1, metavar="N", help="Number of columns.")
    ] = 1,
    rows: options.Rows = 10_000,
) -> Planned:
    """Rehearse private bounds on synthetic rows: questions, cost, noise, width to expect."""
    model = own.model(**unit.parameters(), **budget.parameters())
    return model.plan(rows, n_columns)
