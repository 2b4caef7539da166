"""``privclust kmeans`` and ``privclust plan kmeans``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from privclust.cli import options, screen
from privclust.cli.charging import charged_to
from privclust.cli.errors import UsageError
from privclust.cli.publishing import checked_place, publish
from privclust.cli.reading import Reading, takes_reading

if TYPE_CHECKING:
    from privclust.kmeans import PrivateKMeans

__all__ = ["fit", "plan"]

Method = Annotated[
    Literal["auto", "cells", "lloyd"], typer.Option("--method", help="The algorithm.")
]
Rescale = Annotated[
    bool,
    typer.Option(
        "--rescale", help="Measure distances in units of the declared widths of the columns."
    ),
]

_CELL = 14  # characters per column of the data, in the table of clusters


@takes_reading
def fit(
    data: options.DataPaths,
    reading: Reading,
    schema: options.SchemaPath = None,
    bounds: options.Bounds = None,
    clusters: options.Clusters = 8,
    epsilon: options.Epsilon = 1.0,
    delta: options.Delta = 0.0,
    unit: options.UnitName = "add-remove-row",
    id_column: options.IdColumn = None,
    max_rows: options.MaxRows = None,
    method: Method = "auto",
    rescale: Rescale = False,
    ledger: options.LedgerPlace = None,
    holder: options.Holder = None,
    dataset: options.Dataset = None,
    seed: options.Seed = None,
    output: options.ReleaseOutput = Path("release"),
    report: options.Report = True,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Cluster private rows; centres and sizes may be published."""
    from privclust.kmeans import PrivateKMeans

    model = PrivateKMeans(
        clusters,
        epsilon=epsilon,
        delta=delta,
        unit=options.unit_of(unit, id_column, max_rows),
        method=method,
        rescale=rescale,
        random_state=seed,
        **options.declared(schema, bounds, reading),
        **charged_to(ledger, holder, dataset, options.one_or_many(data), seed),
    )
    options.check_budget(epsilon, delta)
    place = checked_place(output, report=report, overwrite=overwrite)
    _fit(model, options.one_or_many(data))
    release = model.release()
    publish(place, release, as_json=as_json)


def plan(
    schema: options.SchemaPath = None,
    bounds: options.Bounds = None,
    columns: Annotated[
        int | None, typer.Option("--columns", min=1, help="Number of columns, with --bounds.")
    ] = None,
    rows: Annotated[
        int, typer.Option("--rows", min=1, help="About how many rows, from public knowledge.")
    ] = 10_000,
    clusters: options.Clusters = 8,
    epsilon: options.Epsilon = 1.0,
    delta: options.Delta = 0.0,
    unit: options.UnitName = "add-remove-row",
    id_column: options.IdColumn = None,
    max_rows: options.MaxRows = None,
    method: Method = "auto",
    rescale: Rescale = False,
    as_json: options.Json = False,
) -> None:
    """Rehearse a k-means fit on synthetic rows: questions, cost, noise, error to expect."""
    from privclust.kmeans import PrivateKMeans

    if (bounds is None) != (columns is None):
        raise UsageError("--bounds and --columns go together; give both or a --schema.")
    model = PrivateKMeans(
        clusters,
        epsilon=epsilon,
        delta=delta,
        unit=options.unit_of(unit, id_column, max_rows),
        method=method,
        rescale=rescale,
        **options.declared(schema, bounds),
    )
    made = model.plan(rows, columns)
    screen.answer(made.to_dict(), str(made), as_json=as_json)


def _fit(model: PrivateKMeans, data: str | list[str]) -> None:
    from privclust.data.engines.progress import listening

    delta = f", δ = {model.delta:g}" if model.delta else ""
    charge = f", charged to the data set {model.dataset!r}" if model.dataset else ""
    screen.note(
        f"{model.n_clusters} clusters within ε = {model.epsilon:g}{delta}{charge}; "
        "'privclust plan kmeans' tells beforehand what is asked and how good it will be."
    )
    with screen.rows_progress("Reading") as tell, listening(tell):
        model.fit(data)
