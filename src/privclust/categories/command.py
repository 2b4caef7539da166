"""``privclust categorical``: a private metric on categories, or metric and clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privclust.cli import options
from privclust.cli.fit import Planned, fit_of_rows, plan_command
from privclust.cli.options import BudgetOptions, Reading, RowUnitOptions
from privclust.cli.screen import UsageError

if TYPE_CHECKING:
    from privclust.categories.estimator import PrivateDilca
    from privclust.clustering.categorical import PrivateCategoricalKMeans


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
        typer.Option("--method", help="How the metric is learned."),
    ] = "auto"
    context_size: Annotated[
        int,
        typer.Option("--context-size", min=1, hidden=True, help="Attributes in a fixed context."),
    ] = 3
    context_rule: Annotated[
        Literal["max-relevance", "mean-su", "relevant-non-redundant", "all"],
        typer.Option("--context-rule", help="For pairs and tree."),
    ] = "max-relevance"
    selection_share: Annotated[
        float,
        typer.Option(
            "--selection-share",
            metavar="H",
            hidden=True,
            help="Share of contexts; published methods.",
        ),
    ] = 0.3
    sigma: Annotated[
        float,
        typer.Option("--sigma", metavar="NUMBER", hidden=True, help="Factor on the mean; mean-su."),
    ] = 1.0
    target: Annotated[
        list[str] | None,
        typer.Option("--target", metavar="NAME", help="A column that gets distances; repeat it."),
    ] = None
    per_target: Annotated[
        bool,
        typer.Option(
            "--per-target", hidden=True, help="Spend the budget on each target; metric only."
        ),
    ] = False
    metric_share: Annotated[
        float | None,
        typer.Option("--metric-share", metavar="SHARE", help="Share of the metric; with -k."),
    ] = None

    def model(
        self, reading: Reading | None = None, **shared: Any
    ) -> PrivateDilca | PrivateCategoricalKMeans:
        """Return the estimator: with clusters, or of the metric alone."""
        from privclust.categories.estimator import PrivateDilca
        from privclust.clustering.categorical import PrivateCategoricalKMeans

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
            "context_rule": self.context_rule,
            "selection_share": self.selection_share,
            "sigma": self.sigma,
        }
        if self.clusters is None:
            options.refuse_unless("--clusters", metric_share=self.metric_share)
            own |= options.given(targets=self.target) | {"budget_per_target": self.per_target}
            return PrivateDilca(**own, **shared)
        if self.target or self.per_target:
            raise UsageError(
                "Clusters need all targets and one budget; drop the options of targets."
            )
        own |= options.given(metric_share=self.metric_share)
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
