"""``privclust kmeans`` and ``privclust plan kmeans``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privclust.cli import options
from privclust.cli.budgets import BudgetOptions, RowUnitOptions
from privclust.cli.errors import UsageError
from privclust.cli.fitting import FitOptions, Planned, fit_command, plan_command
from privclust.cli.reading import Reading
from privclust.jobs.fit import Fit

if TYPE_CHECKING:
    from privclust.kmeans import PrivateKMeans

__all__ = ["fit", "plan"]


@dataclass(frozen=True)
class KMeansOptions:
    """The options of k-means alone."""

    schema: options.SchemaPath = None
    bounds: options.Bounds = None
    clusters: options.ClustersOrAuto = "8"
    method: Annotated[
        Literal["auto", "cells", "lloyd"], typer.Option("--method", help="The algorithm.")
    ] = "auto"
    rescale: Annotated[
        bool | None,
        typer.Option(
            "--rescale/--no-rescale",
            help="Distances in widths of columns.",
            show_default="with a schema",
        ),
    ] = None

    def model(self, reading: Reading | None = None, **shared: Any) -> PrivateKMeans:
        """Return the estimator."""
        from privclust.kmeans import PrivateKMeans

        declared = options.declared(self.schema, self.bounds, reading)
        own: dict[str, Any] = {"method": self.method, "rescale": self.rescale}
        clusters: Any = self.clusters if self.clusters == "auto" else int(self.clusters)
        return PrivateKMeans(clusters, **own, **declared, **shared)


@fit_command
def fit(
    data: options.DataPaths,
    own: KMeansOptions,
    unit: RowUnitOptions,
    fitting: FitOptions,
    reading: Reading,
) -> Fit:
    """Cluster private rows; centres and sizes may be published."""
    rows = options.one_or_many(data)
    shared = unit.parameters() | fitting.parameters_for(rows)
    return Fit(own.model(reading, **shared), rows)


@plan_command
def plan(
    own: KMeansOptions,
    unit: RowUnitOptions,
    budget: BudgetOptions,
    columns: Annotated[
        int | None, typer.Option("--columns", min=1, help="Number of columns, with --bounds.")
    ] = None,
    rows: options.Rows = 10_000,
) -> Planned:
    """Rehearse a k-means fit on synthetic rows: questions, cost, noise, error to expect."""
    if (own.bounds is None) != (columns is None):
        raise UsageError("--bounds and --columns go together; give both or a --schema.")
    return own.model(**unit.parameters(), **budget.parameters()).plan(rows, columns)
