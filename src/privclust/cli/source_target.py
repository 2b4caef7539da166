"""``privclust source-target`` and ``privclust plan source-target``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from privclust.cli import options, screen
from privclust.cli.charging import charged_to
from privclust.cli.errors import UsageError
from privclust.cli.publishing import checked_place, publish
from privclust.cli.reading import Reading, takes_reading
from privclust.data.sites.metrics import CoordinateMetric

if TYPE_CHECKING:
    import pyarrow as pa

    from privclust.source_target import PrivateSourceTargetMedoids

__all__ = ["fit", "plan"]

SourcePath = Annotated[
    Path, typer.Option("--source", metavar="FILE", help="Private existing centres (CSV, Parquet).")
]
TargetPath = Annotated[
    Path, typer.Option("--target", metavar="FILE", help="Public points to serve (CSV, Parquet).")
]
Columns = Annotated[
    list[str] | None,
    typer.Option("--column", metavar="NAME", help="A coordinate; once each, or give --schema."),
]
Weights = Annotated[
    str | None,
    typer.Option("--weights", metavar="NAME", help="Column of the target: how much each counts."),
]
Names = Annotated[
    str | None,
    typer.Option("--names", metavar="NAME", help="Column of the target: what each is called."),
]
Centres = Annotated[int, typer.Option("--centers", "-k", min=1, help="Number of new centres.")]
Method = Annotated[Literal["rings", "nna", "nas"], typer.Option("--method", help="The algorithm.")]
MetricName = Annotated[
    CoordinateMetric,
    typer.Option("--metric", help="haversine: latitude and longitude in degrees, kilometres."),
]
Bounds = Annotated[
    tuple[float, float] | None,
    typer.Option("--bounds", metavar="LOW HIGH", help="Public bounds of all columns."),
]
Sources = Annotated[
    int, typer.Option("--sources", min=1, help="About how many sources, from public knowledge.")
]


@takes_reading
def fit(
    source: SourcePath,
    target: TargetPath,
    reading: Reading,
    schema: options.SchemaPath = None,
    column: Columns = None,
    bounds: Bounds = None,
    weights: Weights = None,
    names: Names = None,
    centers: Centres = 8,
    epsilon: options.Epsilon = 1.0,
    delta: options.Delta = 0.0,
    unit: options.UnitName = "add-remove-row",
    id_column: options.IdColumn = None,
    max_rows: options.MaxRows = None,
    method: Method = "rings",
    metric: MetricName = "euclidean",
    ledger: options.LedgerPlace = None,
    holder: options.Holder = None,
    dataset: options.Dataset = None,
    seed: options.Seed = None,
    output: options.ReleaseOutput = Path("release"),
    report: options.Report = True,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Choose new centres beside private ones. They are chosen among public points."""
    from privclust.jobs.publish import described_or_not
    from privclust.release import About
    from privclust.source_target import PrivateSourceTargetMedoids

    declared = _declared(schema, bounds, reading)
    model = PrivateSourceTargetMedoids(
        centers,
        epsilon=epsilon,
        delta=delta,
        method=method,
        metric=metric,
        unit=options.unit_of(unit, id_column, max_rows),
        random_state=seed,
        **declared,
        **charged_to(ledger, holder, dataset, source, seed),
    )
    options.check_budget(epsilon, delta)
    places = _places(target, declared, column)
    heaviness = None if weights is None else _numbers(target, weights)
    called = None if names is None else _words(target, names)
    place = checked_place(output, report=report, overwrite=overwrite)
    _fit(model, places, source, heaviness)
    release = model.release()
    if called is not None:
        chosen = [called[i] for i in release.arrays["medoid_indices"].tolist()]
        release = described_or_not(release, About(names=chosen))
    publish(place, release, as_json=as_json)


def plan(
    target: TargetPath,
    schema: options.SchemaPath = None,
    column: Columns = None,
    bounds: Bounds = None,
    sources: Sources = 1000,
    centers: Centres = 8,
    epsilon: options.Epsilon = 1.0,
    delta: options.Delta = 0.0,
    method: Method = "rings",
    metric: MetricName = "euclidean",
    as_json: options.Json = False,
) -> None:
    """Rehearse the choice of new centres with synthetic sources: questions, cost, noise, error."""
    from privclust.source_target import PrivateSourceTargetMedoids

    declared = _declared(schema, bounds)
    model = PrivateSourceTargetMedoids(
        centers, epsilon=epsilon, delta=delta, method=method, metric=metric, **declared
    )
    made = model.plan(sources, target=_places(target, declared, column))
    screen.answer(made.to_dict(), str(made), as_json=as_json)


def _declared(
    schema: Path | None, bounds: tuple[float, float] | None, reading: Reading | None = None
) -> dict[str, Any]:
    """Return what is declared about the columns; without, bounds are drawn around the target."""
    if schema is None and bounds is None:
        return {}
    return options.declared(schema, bounds, reading)


def _places(target: Path, declared: dict[str, Any], column: list[str] | None) -> pa.Table:
    """Read the coordinates of the public points."""
    import numpy as np
    import pyarrow as pa

    from privclust.data.points.door import public_rows

    if "schema" in declared:
        if column:
            raise UsageError("--schema names the columns already; drop --column.")
        wanted = list(declared["schema"].numeric)
    elif column:
        wanted = column
    else:
        raise UsageError("Say which columns are coordinates: --schema FILE, or --column for each.")
    numbers = np.concatenate([np.empty((0, len(wanted))), *public_rows(target, wanted)])
    return pa.table({name: numbers[:, i] for i, name in enumerate(wanted)})


def _numbers(target: Path, name: str) -> Any:
    """Read a column of numbers of the public points."""
    import numpy as np

    from privclust.data.points.door import public_rows

    return np.concatenate([*public_rows(target, [name])])[:, 0]


def _words(target: Path, name: str) -> list[str]:
    """Read a column of text of the public points."""
    import pyarrow.csv
    import pyarrow.parquet

    is_parquet = target.is_dir() or target.suffix.lower() in (".parquet", ".pq")
    table = (pyarrow.parquet.read_table if is_parquet else pyarrow.csv.read_csv)(target)
    if name not in table.column_names:
        raise UsageError(f"Column {name!r} is absent from '{target}'; name another with --names.")
    return [str(value) for value in table.column(name).to_pylist()]


def _fit(model: PrivateSourceTargetMedoids, places: pa.Table, source: Path, weights: Any) -> None:
    from privclust.data.engines.progress import listening

    with screen.rows_progress("Reading") as tell, listening(tell):
        model.fit(places, source=source, sample_weight=weights)
