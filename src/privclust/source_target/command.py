"""``privclust source-target`` and ``privclust plan source-target``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privclust.cli import options
from privclust.cli.fit import FitOptions, Planned, fit_command, plan_command
from privclust.cli.options import BudgetOptions, Reading, RowUnitOptions
from privclust.cli.screen import UsageError
from privclust.jobs.fit import Fit

if TYPE_CHECKING:
    import pyarrow as pa

    from privclust.release.release import Release
    from privclust.source_target.estimator import PrivateSourceTargetMedoids


SourcePath = Annotated[
    Path, typer.Option("--source", metavar="FILE", help="Private existing centres (CSV, Parquet).")
]
TargetPath = Annotated[
    Path, typer.Option("--target", metavar="FILE", help="Public points to serve (CSV, Parquet).")
]
Weights = Annotated[
    str | None,
    typer.Option("--weights", metavar="NAME", help="Column of the target: how much each counts."),
]
Names = Annotated[
    str | None,
    typer.Option("--names", metavar="NAME", help="Column of the target: what each is called."),
]
Sources = Annotated[
    int, typer.Option("--sources", min=1, help="About how many sources, from public knowledge.")
]


@dataclass(frozen=True)
class SourceTargetOptions:
    """The options of source-target alone."""

    schema: options.SchemaPath = None
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="NAME", help="A coordinate; repeat it, or use --schema."),
    ] = None
    bounds: options.Bounds = None
    centers: Annotated[
        int, typer.Option("--centers", "-k", min=1, help="Number of new centres.")
    ] = 8
    method: Annotated[
        Literal["rings", "nna", "nas"], typer.Option("--method", help="The algorithm.")
    ] = "rings"
    metric: Annotated[
        str,  # the names stand beside the metrics, which are too heavy to import for a help page
        typer.Option("--metric", metavar="NAME", help="Such as haversine: degrees to kilometres."),
    ] = "euclidean"
    projected: Annotated[
        int | None, typer.Option("--projected", min=1, help="Random dimensions to project to.")
    ] = None
    coreset: Annotated[
        Literal["auto", "halving", "net", "none"] | None,
        typer.Option("--coreset", hidden=True, help="How sites are made; nna, nas."),
    ] = None
    coreset_radius: Annotated[
        float | None,
        typer.Option(
            "--coreset-radius", metavar="C", hidden=True, help="Radius, in diameters of the target."
        ),
    ] = None
    nearest: Annotated[
        int | None,
        typer.Option("--nearest", min=1, metavar="T", hidden=True, help="Sources to average; nas."),
    ] = None
    spread_share: Annotated[
        float | None,
        typer.Option("--spread-share", metavar="SHARE", hidden=True, help="Pay for Δ_t(S); nas."),
    ] = None
    counts_share: Annotated[
        float | None,
        typer.Option(
            "--counts-share", metavar="SHARE", hidden=True, help="Share of the counts; nna."
        ),
    ] = None
    false_cells: Annotated[
        float | None,
        typer.Option(
            "--false-cells", metavar="GAMMA", hidden=True, help="Empty cells that may pass; nna."
        ),
    ] = None
    pull: Annotated[
        bool | None,
        typer.Option("--pull/--no-pull", hidden=True, help="Keep averages in their cells; nna."),
    ] = None

    def declared(self, reading: Reading | None = None) -> dict[str, Any]:
        """Return what is declared; if nothing is, bounds are drawn around the target."""
        if self.schema is None and self.bounds is None:
            return {}
        return options.declared(self.schema, self.bounds, reading)

    def model(self, declared: dict[str, Any], **shared: Any) -> PrivateSourceTargetMedoids:
        """Return the estimator."""
        from privclust.source_target.estimator import PrivateSourceTargetMedoids

        own = {"method": self.method, "metric": self.metric, **self._settings()}
        return PrivateSourceTargetMedoids(self.centers, **own, **declared, **shared)

    def _settings(self) -> dict[str, Any]:
        """Return the settings of the published methods that were given."""
        of_nas = {"n_nearest": self.nearest, "spread_share": self.spread_share}
        of_nna = {
            "counts_share": self.counts_share,
            "false_cells": self.false_cells,
            "pull": self.pull,
        }
        of_both = {"coreset": self.coreset, "coreset_radius": self.coreset_radius}
        if self.method != "nas":
            options.refuse_unless(
                "--method nas", nearest=self.nearest, spread_share=self.spread_share
            )
        if self.method != "nna":
            options.refuse_unless("--method nna", **of_nna)
        if self.method == "rings":
            options.refuse_unless("--method nna or nas", **of_both)
        given = options.given(n_projected=self.projected, **of_nas, **of_nna, **of_both)
        return given | ({"coreset": None} if self.coreset == "none" else {})

    def places(self, target: Path, declared: dict[str, Any]) -> pa.Table:
        """Read the coordinates of the public points."""
        import pyarrow as pa

        wanted = self._coordinates(declared)
        numbers = _numbers(target, wanted)
        return pa.table({name: numbers[:, i] for i, name in enumerate(wanted)})

    def _coordinates(self, declared: dict[str, Any]) -> list[str]:
        if "schema" in declared:
            if self.column:
                raise UsageError("--schema names the columns already; drop --column.")
            return list(declared["schema"].numeric)
        if not self.column:
            raise UsageError("Say which columns are coordinates: --schema FILE, or --column each.")
        if len({*self.column}) < len(self.column):
            raise UsageError("A --column is given twice; give each coordinate once.")
        return self.column


@fit_command
def fit(
    source: SourcePath,
    target: TargetPath,
    own: SourceTargetOptions,
    unit: RowUnitOptions,
    fitting: FitOptions,
    reading: Reading,
    weights: Weights = None,
    names: Names = None,
) -> Fit:
    """Choose new centres beside private ones. They are chosen among public points."""
    declared = own.declared(reading)
    shared = unit.parameters() | fitting.parameters_for(source)
    model = own.model(declared, **shared)
    counted = None if weights is None else _numbers(target, [weights])[:, 0]
    target_names = None if names is None else _texts(target, names)

    def chosen(release: Release) -> list[str]:
        chosen_ones = release.arrays["medoid_indices"].tolist()
        return [target_names[i] for i in chosen_ones] if target_names else []

    beside = {"source": source, "sample_weight": counted}
    places = own.places(target, declared)
    return Fit(model, places, beside, names=None if target_names is None else chosen)


@plan_command
def plan(
    target: TargetPath,
    own: SourceTargetOptions,
    budget: BudgetOptions,
    sources: Sources = 1000,
) -> Planned:
    """Rehearse the choice of new centres with synthetic sources: questions, cost, noise, error."""
    declared = own.declared()
    model = own.model(declared, **budget.parameters())
    return model.plan(sources, target=own.places(target, declared))


def _numbers(target: Path, names: list[str]) -> Any:
    """Read columns of numbers of the public points."""
    import numpy as np

    from privclust.opening.rows import public_rows

    return np.concatenate([np.empty((0, len(names))), *public_rows(target, names)])


def _texts(target: Path, name: str) -> list[str]:
    """Read a column of text of the public points."""
    from privclust.steward.check import column_texts

    return [*column_texts(target, name)]
