"""``privclust kmeans`` and ``privclust plan kmeans``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privclust.cli import options
from privclust.cli.reading import Reading
from privclust.cli.rows import NumericOptions, fit_of_rows, plan_of_numbers

if TYPE_CHECKING:
    from privclust.kmeans import PrivateKMeans

__all__ = ["fit", "plan"]


@dataclass(frozen=True)
class KMeansOptions(NumericOptions):
    """The options of k-means alone."""

    clusters: options.ClustersOrAuto = "8"
    method: Annotated[
        Literal["auto", "cells", "lloyd"], typer.Option("--method", help="The algorithm.")
    ] = "auto"
    metric: Annotated[
        Literal["auto", "mismatch", "dilca"],
        typer.Option("--metric", help="How categories are compared."),
    ] = "auto"
    profile_share: options.ProfileShare = None

    def model(self, reading: Reading | None = None, **shared: Any) -> PrivateKMeans:
        """Return the estimator."""
        from privclust.kmeans import PrivateKMeans

        own = {
            "method": self.method,
            "metric": self.metric,
            "profile_share": self.profile_share,
            **self.declared(reading),
        }
        clusters: Any = self.clusters if self.clusters == "auto" else int(self.clusters)
        return PrivateKMeans(clusters, **own, **shared)


fit = fit_of_rows(KMeansOptions, "Cluster private rows; centres and sizes may be published.")
plan = plan_of_numbers(
    KMeansOptions,
    "Rehearse a k-means fit on synthetic rows: questions, cost, noise, error to expect.",
)
