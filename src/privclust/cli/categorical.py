"""``privclust categorical``: a private metric on categories, or metric and clusters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privclust.cli import options, screen
from privclust.cli.charging import charged_to
from privclust.cli.errors import UsageError
from privclust.cli.publishing import checked_place, publish
from privclust.cli.reading import Reading, takes_reading

if TYPE_CHECKING:
    from privclust.categorical import PrivateCategoricalKMeans, PrivateDilca

__all__ = ["fit", "plan"]

Clusters = Annotated[
    int | None,
    typer.Option("--clusters", "-k", min=1, help="Number of clusters.", show_default="metric only"),
]
Method = Annotated[
    Literal["auto", "pairs", "tree", "baseline", "mean-su", "max-relevance", "max-dependency"],
    typer.Option("--method", help="How the metric is learned; with clusters, the first three."),
]
ContextSize = Annotated[
    int, typer.Option("--context-size", min=1, help="Attributes in a context, where it is fixed.")
]
Rows = Annotated[
    int, typer.Option("--rows", min=1, help="About how many rows, from public knowledge.")
]

_OURS = ("auto", "pairs", "tree")


@takes_reading
def fit(
    data: options.DataPaths,
    reading: Reading,
    schema: options.SchemaPath = None,
    clusters: Clusters = None,
    epsilon: options.Epsilon = 1.0,
    delta: options.Delta = 0.0,
    unit: options.UnitName = "add-remove-row",
    id_column: options.IdColumn = None,
    max_rows: options.MaxRows = None,
    method: Method = "auto",
    context_size: ContextSize = 3,
    ledger: options.LedgerPlace = None,
    holder: options.Holder = None,
    dataset: options.Dataset = None,
    seed: options.Seed = None,
    output: options.ReleaseOutput = Path("release"),
    report: options.Report = True,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Learn distances between categories. With -k, clusters too; both may be published."""
    from privclust.data.engines.progress import listening

    model = _model(
        clusters,
        schema,
        epsilon=epsilon,
        delta=delta,
        unit=options.unit_of(unit, id_column, max_rows),
        method=method,
        context_size=context_size,
        random_state=seed,
        reading=reading,
        **charged_to(ledger, holder, dataset, options.one_or_many(data), seed),
    )
    options.check_budget(epsilon, delta)
    place = checked_place(output, report=report, overwrite=overwrite)
    with screen.rows_progress("Reading") as tell, listening(tell):
        model.fit(options.one_or_many(data))
    release = model.release()
    publish(place, release, as_json=as_json)


def plan(
    schema: options.SchemaPath = None,
    rows: Rows = 10_000,
    clusters: Clusters = None,
    epsilon: options.Epsilon = 1.0,
    delta: options.Delta = 0.0,
    unit: options.UnitName = "add-remove-row",
    id_column: options.IdColumn = None,
    max_rows: options.MaxRows = None,
    method: Method = "auto",
    context_size: ContextSize = 3,
    as_json: options.Json = False,
) -> None:
    """Rehearse a categorical fit on synthetic rows: questions, cost, noise."""
    model = _model(
        clusters,
        schema,
        epsilon=epsilon,
        delta=delta,
        unit=options.unit_of(unit, id_column, max_rows),
        method=method,
        context_size=context_size,
    )
    made = model.plan(rows)
    screen.answer(made.to_dict(), str(made), as_json=as_json)


def _model(
    clusters: int | None, schema: Path | None, reading: Reading | None = None, **parameters: Any
) -> PrivateDilca | PrivateCategoricalKMeans:
    from privclust.categorical import PrivateCategoricalKMeans, PrivateDilca

    if schema is None:
        raise UsageError(
            "Give --schema FILE with the categories of every column, from public knowledge and "
            "never from the data."
        )
    declared = (reading or Reading()).schema(schema)
    if clusters is None:
        return PrivateDilca(schema=declared, **parameters)
    if parameters["method"] not in _OURS:
        raise UsageError("Clusters need --method auto, pairs or tree; drop one of the two.")
    return PrivateCategoricalKMeans(clusters, schema=declared, **parameters)
