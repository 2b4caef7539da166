"""``privclust kmeans`` and ``privclust plan kmeans``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privclust.cli import options
from privclust.cli.fit import NumericOptions, fit_of_rows, plan_of_numbers
from privclust.cli.options import Reading
from privclust.cli.screen import UsageError

if TYPE_CHECKING:
    from privclust.clustering.kmeans import PrivateKMeans
    from privclust.papers.zones.private import PrivateZoneKMeans


@dataclass(frozen=True)
class KMeansOptions(NumericOptions):
    """The options of k-means alone."""

    clusters: options.ClustersOrAuto = "8"
    method: Annotated[
        Literal["auto", "cells", "cautious", "grid", "lloyd", "zones"],
        typer.Option("--method", help="The algorithm."),
    ] = "auto"
    metric: Annotated[
        Literal["auto", "mismatch", "dilca"],
        typer.Option("--metric", help="Distances between categories."),
    ] = "auto"
    profile_share: options.ProfileShare = None
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, hidden=True, help="Iterations; zones.")
    ] = None
    candidates: Annotated[
        int | None,
        typer.Option("--candidates", min=1, hidden=True, help="Candidates in a zone; zones."),
    ] = None
    internal_k: Annotated[
        int | None,
        typer.Option("--internal-k", min=1, hidden=True, help="Sub-clusters of a zone; zones."),
    ] = None
    choice_share: Annotated[
        float | None,
        typer.Option(
            "--choice-share", metavar="SHARE", hidden=True, help="Share of the choices; zones."
        ),
    ] = None
    last_share: Annotated[
        float | None,
        typer.Option(
            "--last-share", metavar="SHARE", hidden=True, help="Share of the last step; zones."
        ),
    ] = None

    def model(
        self, reading: Reading | None = None, **shared: Any
    ) -> PrivateKMeans | PrivateZoneKMeans:
        """Return the estimator."""
        from privclust.clustering.kmeans import PrivateKMeans
        from privclust.papers.zones.private import PrivateZoneKMeans

        shared |= self.declared(reading)
        of_zones = {
            "internal_k": self.internal_k,
            "choice_share": self.choice_share,
            "last_share": self.last_share,
        }
        if self.method == "zones":
            if self.metric != "auto" or self.profile_share is not None:
                raise UsageError(
                    "--metric and --profile-share do not apply to --method zones; drop them."
                )
            of_zones |= {"n_steps": self.steps, "n_candidates": self.candidates}
            if self.clusters == "auto":
                raise UsageError("--method zones needs a number of clusters; give --clusters N.")
            return PrivateZoneKMeans(int(self.clusters), **options.given(**of_zones), **shared)
        named = {"steps": self.steps, "candidates": self.candidates, **of_zones}
        options.refuse_unless("--method zones", **named)
        shared |= {"method": self.method, "metric": self.metric}
        clusters: Any = self.clusters if self.clusters == "auto" else int(self.clusters)
        return PrivateKMeans(clusters, profile_share=self.profile_share, **shared)


fit = fit_of_rows(KMeansOptions, "Cluster private rows; centres and sizes may be published.")
plan = plan_of_numbers(
    KMeansOptions,
    "Rehearse a k-means fit on synthetic rows: questions, cost, noise, error to expect.",
)
