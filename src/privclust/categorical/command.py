"""``privclust categorical``: a private metric on categories, or metric and clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privclust.cli import options
from privclust.cli.budgets import BudgetOptions, RowUnitOptions
from privclust.cli.errors import UsageError
from privclust.cli.fitting import Planned, plan_command
from privclust.cli.reading import Reading
from privclust.cli.rows import fit_of_rows

if TYPE_CHECKING:
    from privclust.categorical import PrivateCategoricalKMeans, PrivateDilca

__all__ = ["fit", "plan"]

_WITH_CLUSTERS = ("auto", "pairs", "tree")


@dataclass(frozen=True)
class CategoricalOptions:
    """The options of categorical data alone."""

    schema: options.SchemaPath = None
    clusters: Annotated[
        int | None,
        typer.Option(
            "--clusters", "-k", min=1, help="Number of clusters.", show_default="metric only"
        ),
    ] = None
    method: Annotated[
        Literal["auto", "pairs", "tree", "baseline", "mean-su", "max-relevance", "max-dependency"],
        typer.Option("--method", help="How the metric is learned; with -k, the first three."),
    ] = "auto"
    context_size: Annotated[
        int, typer.Option("--context-size", min=1, help="Attributes in a fixed context.")
    ] = 3

    def model(
        self, reading: Reading | None = None, **shared: Any
    ) -> PrivateDilca | PrivateCategoricalKMeans:
        """Return the estimator: with clusters, or of the metric alone."""
        from privclust.categorical import PrivateCategoricalKMeans, PrivateDilca

        if self.schema is None:
            raise UsageError(
                "Give --schema FILE with the categories of every column, from public knowledge and "
                "never from the data."
            )
        declared = (reading or Reading()).schema(self.schema)
        own: dict[str, Any] = {
            "schema": declared,
            "method": self.method,
            "context_size": self.context_size,
        }
        if self.clusters is None:
            return PrivateDilca(**own, **shared)
        if self.method not in _WITH_CLUSTERS:
            raise UsageError("Clusters need --method auto, pairs or tree; drop one of the two.")
        return PrivateCategoricalKMeans(self.clusters, **own, **shared)


fit = fit_of_rows(
    CategoricalOptions,
    "Learn distances between categories. With -k, clusters too; both may be published.",
)


@plan_command
def plan(
    own: CategoricalOptions,
    unit: RowUnitOptions,
    budget: BudgetOptions,
    rows: options.Rows = 10_000,
) -> Planned:
    """Rehearse a categorical fit on synthetic rows: questions, cost, noise."""
    return own.model(**unit.parameters(), **budget.parameters()).plan(rows)
